//! Examples: one value that a contract accepts, made without randomness.
//!
//! The generator guesses from the keywords: `examples`, `default`, `const` and `enum` first, else
//! short text and small numbers within the bounds, every property that may be there. Each guess
//! that has alternatives (a branch, a type, whether to include a property) is a choice. The
//! contract then judges the value, and the choice nearest to the first violation is changed, until
//! the contract accepts or the work is used up. The generator need not understand every keyword:
//! what it overlooks, the contract rejects.

mod array;
mod choice;
mod demand;
mod known;
mod number;
mod object;
mod pattern;
mod text;

use referencing::{Registry, uri};
use serde_json::Value;

use crate::contract::references::DEFAULT_BASE;
use crate::contract::{Contract, Source};
use crate::json::meter::{Meter, bounded};
use crate::json::probe::Probe;
use crate::json::{Document, Pointer};
use crate::verdict::{Violation, check_against};
use choice::Choices;
use demand::{Demand, Place};
use known::Known;

/// How many values are tried.
const ATTEMPT_LIMIT: usize = 400;

/// How many places all attempts together may fill.
const STEP_LIMIT: usize = 200_000;

/// How many containers the validations of all attempts together may step into.
const WORK_LIMIT: u64 = 4_000_000;

/// How deep an example nests.
const DEPTH_LIMIT: usize = 64;

/// How long a string, and how many items, an example is willing to have.
const LENGTH_LIMIT: usize = 100_000;

/// How many characters cost as much as one place.
const CHARACTERS_PER_STEP: usize = 16;

/// What the texts for one pattern cost, even if it was read before.
const PATTERN_STEPS: usize = 10;

/// Why there is no example.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExampleError {
    /// The schema is not even a resource.
    #[error("references of the contract cannot be resolved: {0}")]
    Unresolvable(String),
    /// No value could be built, most likely because none exists.
    #[error("no value could be built after {attempts} attempts")]
    Nothing {
        /// How many times it was tried.
        attempts: usize,
    },
    /// Values were built, but the contract accepts none of them.
    #[error("none of {attempts} values conforms; the last one fails at {}: {}", .last.pointer, .last.message)]
    Rejected {
        /// How many were tried.
        attempts: usize,
        /// The first thing wrong with the last one.
        last: Box<Violation>,
    },
    /// The example would be too large, or takes too much work.
    #[error("an example takes too much work")]
    OverLimit,
}

/// What may be spent on looking for values, over several searches.
#[derive(Debug)]
pub(crate) struct Effort {
    /// How many values are tried in one search.
    pub(crate) attempts: usize,
    /// How many places all values together may fill.
    pub(crate) steps: usize,
    /// How many containers the validations of all values together may step into.
    pub(crate) work: u64,
    /// What earlier searches found out about patterns.
    known: Known,
}

impl Effort {
    /// Allows as many `attempts` in each search, and as many `steps` and as much `work` in all of them.
    pub(crate) fn new(attempts: usize, steps: usize, work: u64) -> Self {
        Self { attempts, steps, work, known: Known::default() }
    }
}

impl Contract {
    /// Returns a value that this contract accepts, the same one each time.
    ///
    /// Grounded strings are taken to be quoted from a source that holds them.
    pub fn example(&self) -> Result<Document, ExampleError> {
        let registry = self.registry(None)?;
        let generator = Generator::default();
        let places = [self.place(&registry)?];
        let mut effort = Effort::new(ATTEMPT_LIMIT, STEP_LIMIT, WORK_LIMIT);
        search(self, &places, generator, (&mut effort, &mut |_| None))
    }

    /// Looks for a value that this contract accepts, that `focus` describes and that is `wanted`: what
    /// is not names the place to be changed.
    pub(crate) fn seek(
        &self,
        focus: &Value,
        effort: &mut Effort,
        wanted: &mut dyn FnMut(&Document) -> Option<Pointer>,
    ) -> Option<Document> {
        let registry = self.registry(Some(focus)).ok()?;
        let resolver = registry.resolver(uri::from_str(FOCUS_BASE).ok()?);
        let focus = Place { schema: focus, resolver, draft: self.draft() };
        let places = [self.place(&registry).ok()?, focus];
        let generator = Generator { fullness: Fullness::Lean, ..Generator::default() };
        search(self, &places, generator, (effort, wanted)).ok()
    }

    fn registry<'s>(&'s self, focus: Option<&'s Value>) -> Result<Registry<'s>, ExampleError> {
        let resource = self.draft().create_resource_ref(self.schema());
        let mut builder = Registry::new().draft(self.draft()).add(DEFAULT_BASE, resource);
        if let Some(focus) = focus {
            let focus = self.draft().create_resource_ref(focus);
            builder = builder.and_then(|builder| builder.add(FOCUS_BASE, focus));
        }
        builder.and_then(referencing::RegistryBuilder::prepare).map_err(unresolvable)
    }

    fn place<'s>(&'s self, registry: &'s Registry<'s>) -> Result<Place<'s>, ExampleError> {
        let base = uri::from_str(DEFAULT_BASE).map_err(unresolvable)?;
        let resource = self.draft().create_resource_ref(self.schema());
        let resolver = registry.resolver(base).in_subresource(resource).map_err(unresolvable)?;
        Ok(Place { schema: self.schema(), resolver, draft: self.draft() })
    }
}

/// Returns a short text that `pattern` matches, if one can be made.
pub(crate) fn text_matching(pattern: &str) -> Option<String> {
    pattern::sample(&pattern::read(pattern)?, 1, 0)
}

/// What a schema is called that narrows a search.
const FOCUS_BASE: &str = "json-schema:///focus";

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
fn unresolvable(error: referencing::Error) -> ExampleError {
    ExampleError::Unresolvable(error.to_string())
}

/// Says where a value is not what is wanted.
type Wanted<'w> = dyn FnMut(&Document) -> Option<Pointer> + 'w;

fn search(
    contract: &Contract,
    places: &[Place<'_>],
    mut generator: Generator,
    (effort, wanted): (&mut Effort, &mut Wanted<'_>),
) -> Result<Document, ExampleError> {
    generator.known = std::mem::take(&mut effort.known);
    let found = attempt(contract, places, &mut generator, (&mut *effort, wanted));
    effort.known = generator.known;
    found
}

fn attempt(
    contract: &Contract,
    places: &[Place<'_>],
    generator: &mut Generator,
    (effort, wanted): (&mut Effort, &mut Wanted<'_>),
) -> Result<Document, ExampleError> {
    generator.steps = STEP_LIMIT - effort.steps.min(STEP_LIMIT);
    let mut last = None;
    for attempt in 1..=effort.attempts {
        let before = generator.steps;
        generator.choices.begin();
        let built = generator.value(places, &Pointer::root(), 0);
        effort.steps = effort.steps.saturating_sub(generator.steps.saturating_sub(before));
        if generator.steps >= STEP_LIMIT {
            return Err(ExampleError::OverLimit);
        }
        let blame = match built {
            None => Pointer::root(),
            Some(value) => {
                let document = Document::from_value(&value).map_err(|_| ExampleError::OverLimit)?;
                match first_violation(contract, &document, &value, &mut effort.work)? {
                    Some(violation) => {
                        let pointer = violation.pointer.clone();
                        last = Some(Box::new(violation));
                        pointer
                    }
                    None => match wanted(&document) {
                        None => return Ok(document),
                        Some(blame) => blame,
                    },
                }
            }
        };
        if !generator.choices.reconsider(&blame) {
            return Err(failure(attempt, last));
        }
    }
    Err(failure(effort.attempts, last))
}

fn failure(attempts: usize, last: Option<Box<Violation>>) -> ExampleError {
    match last {
        Some(last) => ExampleError::Rejected { attempts, last },
        None => ExampleError::Nothing { attempts },
    }
}

/// Returns the first thing wrong with `document`; only a full verdict says that nothing is.
fn first_violation(
    contract: &Contract,
    document: &Document,
    value: &Value,
    work: &mut u64,
) -> Result<Option<Violation>, ExampleError> {
    let source = Source::new(&strings(value));
    let meter = Meter::strict(*work).with_source(Some(&source)).with_patterns(contract.patterns());
    let probe = Probe::Node(document.root(), &meter);
    let first = bounded(|| contract.validator().iter_errors(probe).next());
    *work = meter.left();
    let Ok(first) = first else {
        return Err(ExampleError::OverLimit);
    };
    if let Some(error) = first {
        return Ok(Some(Violation {
            pointer: error.instance_path().as_str().into(),
            keyword: error.kind().keyword().to_owned(),
            message: error.to_string(),
            masked: error.masked().to_string(),
        }));
    }
    Ok(check_against(contract, document, &source).list.into_iter().next())
}

/// Returns every string of `value`, one per line.
pub(crate) fn strings(value: &Value) -> String {
    match value {
        Value::String(string) => format!("{string}\n"),
        Value::Array(items) => items.iter().map(strings).collect(),
        Value::Object(members) => members.values().map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Builds values from schemas and choices.
#[derive(Default)]
struct Generator {
    choices: Choices,
    steps: usize,
    depth: usize,
    /// Schemas whose values are being built, by address: meeting one again is recursion.
    open: Vec<usize>,
    fullness: Fullness,
    known: Known,
}

/// Which of the properties that need not be there are shown first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Fullness {
    /// All of them.
    #[default]
    Full,
    /// None.
    Lean,
}

/// How often the choices of one place are changed before its parent's are.
const LOCAL_LIMIT: usize = 24;

impl Generator {
    /// Builds a value that `places` are all about; the `variant`-th, where values must differ.
    fn value(&mut self, places: &[Place<'_>], at: &Pointer, variant: usize) -> Option<Value> {
        if self.depth == DEPTH_LIMIT {
            return None;
        }
        self.depth += 1;
        let mut built = None;
        for _ in 0..LOCAL_LIMIT {
            self.steps += 1;
            if self.steps >= STEP_LIMIT {
                break;
            }
            built = self.demanded(places, at, variant);
            if built.is_some() || !self.choices.advance(at) {
                break;
            }
        }
        self.depth -= 1;
        built
    }

    fn demanded(&mut self, places: &[Place<'_>], at: &Pointer, variant: usize) -> Option<Value> {
        let demand = Demand::gather(places, at, &mut self.choices)?;
        let addresses: Vec<usize> = demand.addresses().collect();
        if addresses.iter().any(|address| self.open.contains(address)) {
            return None;
        }
        let before = self.open.len();
        self.open.extend(addresses);
        let built = self.fitting(&demand, at, variant);
        self.open.truncate(before);
        built
    }

    fn fitting(&mut self, demand: &Demand<'_>, at: &Pointer, variant: usize) -> Option<Value> {
        if let Some(allowed) = demand.allowed() {
            let count = allowed.len();
            let first = self.choices.pick(at, "enum", count) + variant;
            return allowed.into_iter().nth(first.checked_rem(count)?).cloned();
        }
        let given = demand.given();
        let chosen = self.choices.pick(at, "given", given.len() + 1) + variant;
        if let Some(value) = given.get(chosen) {
            return Some((*value).clone());
        }
        let kinds = demand.kinds();
        let kind = kinds.get(self.choices.pick(at, "type", kinds.len()))?;
        match *kind {
            "object" => self.object(demand, at, variant),
            "array" => self.array(demand, at, variant),
            "string" => {
                self.steps += demand.at_least("minLength") / CHARACTERS_PER_STEP;
                self.steps += demand.all("pattern").count() * PATTERN_STEPS;
                let (choices, known) = (&mut self.choices, &mut self.known);
                text::sample(demand, at, variant, choices, known).map(Value::String)
            }
            "integer" | "number" => number::sample(demand, at, variant, &mut self.choices),
            "boolean" => {
                Some(Value::Bool((self.choices.pick(at, "boolean", 2) + variant).is_multiple_of(2)))
            }
            _ => Some(Value::Null),
        }
    }
}

#[cfg(test)]
mod tests;
