//! Contracts: a JSON Schema that passed preflight, ready to judge.

mod automaton;
mod compile;
pub(crate) mod coverage;
mod cycle;
mod derived;
mod diagnostic;
mod example;
mod faults;
mod fingerprint;
mod identity;
mod keywords;
mod parts;
mod preflight;
mod references;
mod root;
mod rules;
mod source;
mod strict;
mod subschemas;
mod weight;
mod worked;

use jsonschema::Draft;
use serde_json::Value;

use crate::carry::Carry;
use crate::verdict::validator::Validator;
use derived::Derived;

pub use compile::Patterns;
pub use cycle::Expansion;
pub use diagnostic::{Diagnostic, Refusal, Severity};
pub use example::ExampleError;
pub(crate) use example::{Effort, strings, text_matching};
pub use fingerprint::Fingerprint;
pub use identity::Identity;
pub(crate) use keywords::{Holds, Judges, Keyword, reference_stands_alone};
pub use preflight::{Options, Preflight, Scrutiny, Wrap};
pub(crate) use references::References;
pub use root::Decision;
pub(crate) use root::INVERTING;
pub use rules::Source;
pub(crate) use rules::{GROUNDED, RULES};
pub use semver::Version;
pub use source::{Origin, SOURCE_LIMIT_BYTES};
pub(crate) use subschemas::{Site, SiteId, Slot, Subschemas};
pub use worked::WorkedExample;

/// A JSON Schema with its rules and identity, compiled.
#[derive(Debug)]
pub struct Contract {
    schema: Value,
    draft: Draft,
    validator: Validator,
    patterns: Patterns,
    identity: Identity,
    fingerprint: Fingerprint,
    expansion: Expansion,
    /// Worked examples that were added; they are no part of what identifies it.
    added: Vec<WorkedExample>,
    /// Older versions whose answers are taken, too; no part of what identifies it either.
    pub(crate) carries: Vec<Carry>,
    /// What was made of its schema.
    derived: Derived,
}

impl Contract {
    /// Compiles `schema` strictly, or refuses it with all that is wrong.
    pub fn compile(schema: Value) -> Result<Self, Refusal> {
        Preflight::of(schema, &Options::default()).into_result()
    }

    /// Compiles a contract again that was accepted before, or refuses what cannot be read any more.
    pub fn again(text: &[u8]) -> Option<Self> {
        // Whatever engine its patterns needed then, they mean the same with this one.
        let options = Options { patterns: Patterns::LookAround, ..Options::default() };
        Preflight::run(text, Origin::File, &options).contract
    }

    /// Returns the schema as it was given.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Returns the draft that the schema declares, 2020-12 if none.
    pub fn draft(&self) -> Draft {
        self.draft
    }

    /// Returns what people call it.
    pub fn name(&self) -> Option<&str> {
        self.identity.name.as_deref()
    }

    /// Returns its semantic version.
    pub fn version(&self) -> Option<&Version> {
        self.identity.version.as_ref()
    }

    /// Returns the hash that identifies it.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns how many schemas apply to one value, at worst.
    pub fn expansion(&self) -> Expansion {
        self.expansion
    }

    /// Claims that a verdict may go by the source text: without `x-grounded`, its own or that of an older
    /// version whose answers it takes, nobody reads that.
    pub fn reads_source(&self) -> bool {
        rules::names_grounding(&self.schema) || self.carries.iter().any(Carry::reads_source)
    }

    pub(crate) fn patterns(&self) -> Patterns {
        self.patterns
    }

    pub(crate) fn validator(&self) -> &Validator {
        &self.validator
    }
}
