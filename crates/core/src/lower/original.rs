//! The contract as lowering reads it: places, each a conjunction of clauses.
//!
//! `allOf` is a longer conjunction and a reference stands for the clauses of its target, so
//! merging branches is concatenation and no lowering rule needs to know either.

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};

use jsonschema::Draft;
use serde_json::Value;

use crate::contract::{GROUNDED, Holds, Keyword, RULES, reference_stands_alone};
use crate::json::Pointer;

/// How many steps the search for recursive references may take; past it they count as recursive.
const REFERENCE_STEPS: u64 = 1_000_000;

/// How many references one place may consist of; longer chains would take quadratic time.
const EXPANSION_LIMIT: usize = 256;

/// How many branches are searched for `null` before the answer is "perhaps".
const BRANCH_LIMIT: usize = 256;

/// What a `format` that the draft does not know is called: it informs, and the verdict never looks at it.
pub(super) const FORMAT_HINT: &str = "format as an annotation";

/// One keyword of one schema.
#[derive(Debug, Clone)]
pub(crate) struct Clause<'c> {
    /// The schema that the keyword stands in.
    pub(crate) at: Pointer,
    pub(crate) keyword: &'c str,
    pub(crate) value: &'c Value,
}

impl<'c> Clause<'c> {
    /// Returns the place of the schema that is this clause's value, or its member `segment`.
    pub(crate) fn inside(&self, segment: Option<&str>) -> Pointer {
        let pointer = self.at.key(self.keyword);
        segment.map_or(pointer.clone(), |segment| pointer.key(segment))
    }

    /// Returns the list that is this clause's value, each with its pointer.
    pub(crate) fn branches(&self) -> impl Iterator<Item = (Pointer, &'c Value)> {
        let base = self.inside(None);
        let list = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().enumerate().map(move |(index, branch)| (base.index(index), branch))
    }

    /// Claims that every value satisfies the clause, so that nothing is lost without it.
    pub(crate) fn demands_nothing(&self) -> bool {
        let is_empty = || match self.value {
            Value::Object(members) => members.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        };
        match self.keyword {
            "minLength" | "minItems" | "minProperties" => self.value.as_f64() == Some(0.0),
            "uniqueItems" | GROUNDED => self.value == &Value::Bool(false),
            "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "unevaluatedItems"
            | "additionalItems"
            | "propertyNames" => self.value == &Value::Bool(true) || is_empty(),
            "required" | RULES | "prefixItems" | "properties" | "patternProperties"
            | "dependentRequired" | "dependentSchemas" | "dependencies" => is_empty(),
            // Void by themselves; the keyword that gives them a meaning is the one that is listed.
            "then" | "else" | "minContains" | "maxContains" => true,
            _ => false,
        }
    }
}

/// What must hold of one value: every clause.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place<'c> {
    pub(crate) clauses: Vec<Clause<'c>>,
    /// The schema `false` that nothing satisfies, if there is one among them.
    pub(crate) never: Option<Pointer>,
}

impl<'c> Place<'c> {
    /// Adds what must hold as well.
    pub(crate) fn and(&mut self, other: Self) {
        self.clauses.extend(other.clauses);
        self.never = self.never.take().or(other.never);
    }

    /// Returns the clauses of `keyword`.
    pub(crate) fn all(&self, keyword: &str) -> impl Iterator<Item = &Clause<'c>> {
        self.clauses.iter().filter(move |clause| clause.keyword == keyword)
    }

    /// Returns the clauses that restrict values.
    pub(crate) fn constraints(&self) -> impl Iterator<Item = &Clause<'c>> {
        self.clauses.iter().filter(|clause| is_constraint(clause.keyword))
    }

    /// Returns the first schema that this place was read from.
    pub(crate) fn pointer(&self) -> Pointer {
        self.clauses.first().map(|clause| clause.at.clone()).unwrap_or_default()
    }

    /// Identifies the conjunction by the addresses of its clauses, which outlive the lowering.
    pub(crate) fn key(&self) -> Vec<usize> {
        let mut key: Vec<usize> =
            self.constraints().map(|clause| std::ptr::from_ref(clause.value).addr()).collect();
        key.sort_unstable();
        key.dedup();
        key
    }
}

/// Claims that `keyword` restricts values; the others inform, name or define.
pub(crate) fn is_constraint(keyword: &str) -> bool {
    match Keyword::named(keyword) {
        Some(keyword) => keyword.is_constraint(),
        None => [RULES, GROUNDED].contains(&keyword),
    }
}

/// What a part of a contract's text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Schema,
    /// An object whose keys are names and whose values are schemas.
    Named,
    /// What `const`, `enum`, `default` or `examples` hold, in which nothing is a keyword.
    Data,
}

impl Part {
    /// Returns what the member called `key` is; unknown keywords may hold schemas.
    fn member(self, key: &str) -> Self {
        match self {
            Self::Data => Self::Data,
            Self::Named => Self::Schema,
            Self::Schema => match Keyword::named(key).map(|keyword| keyword.holds) {
                Some(Holds::Data) => Self::Data,
                Some(Holds::SchemaMap | Holds::Dependencies) => Self::Named,
                Some(Holds::Schema | Holds::Schemas | Holds::SchemaOrSchemas) | None => {
                    Self::Schema
                }
            },
        }
    }
}

/// Returns the keyword by which `draft` gives a schema its address.
fn id_keyword(draft: Draft) -> &'static str {
    if draft == Draft::Draft4 { "id" } else { "$id" }
}

/// A contract's schema and where its references lead.
#[derive(Debug)]
pub(crate) struct Original<'c> {
    root: &'c Value,
    pub(crate) draft: Draft,
    /// The root's own address, which references may repeat.
    id: &'c str,
    anchors: BTreeMap<&'c str, Pointer>,
    /// A schema inside has an address of its own, so that fragments mean something else there.
    has_inner_resources: bool,
    /// Every reference: where it stands and what it leads to, sorted.
    references: Vec<(String, Pointer)>,
    steps: Cell<u64>,
}

impl<'c> Original<'c> {
    pub(crate) fn new(root: &'c Value, draft: Draft) -> Self {
        let id = root.get(id_keyword(draft)).and_then(Value::as_str).unwrap_or_default();
        let mut original = Self {
            root,
            draft,
            id: id.trim_end_matches('#'),
            anchors: BTreeMap::new(),
            has_inner_resources: false,
            references: Vec::new(),
            steps: Cell::new(REFERENCE_STEPS),
        };
        let mut found = Vec::new();
        original.survey(root, &Pointer::root(), Part::Schema, &mut found);
        original.references = found
            .into_iter()
            .filter_map(|(at, name)| Some((at, original.resolve(name)?.0)))
            .collect();
        original.references.sort();
        original
    }

    /// Notes anchors, inner resources and references. Recurses as deep as the schema text.
    ///
    /// References are noted in data as well: another one may lead there and make it a schema, and
    /// one too many only looks like recursion.
    fn survey(
        &mut self,
        value: &'c Value,
        at: &Pointer,
        part: Part,
        found: &mut Vec<(String, &'c str)>,
    ) {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    match member.as_str() {
                        Some(text) if key == "$ref" => found.push((at.as_str().to_owned(), text)),
                        Some(text) if part == Part::Schema => self.note_name(key, text, at),
                        _ => {}
                    }
                    self.survey(member, &at.key(key), part.member(key), found);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.survey(item, &at.index(index), part, found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Notes what a schema is called by its keyword `key`, if that is what it is for.
    fn note_name(&mut self, key: &str, text: &'c str, at: &Pointer) {
        if key == "$anchor" {
            self.anchors.insert(text, at.clone());
        } else if key == id_keyword(self.draft) {
            match text.strip_prefix('#') {
                Some(_) => drop(self.anchors.insert(text.trim_start_matches('#'), at.clone())),
                None => self.has_inner_resources |= !at.is_root(),
            }
        }
    }

    /// Returns the whole contract as a place.
    pub(crate) fn whole(&self) -> Place<'c> {
        self.place(self.root, &Pointer::root())
    }

    /// Reads a schema, with its `allOf` branches, as a place.
    pub(crate) fn place(&self, schema: &'c Value, at: &Pointer) -> Place<'c> {
        let mut place = Place::default();
        let mut unread = vec![(schema, at.clone())];
        while let Some((schema, at)) = unread.pop() {
            let Value::Object(keywords) = schema else {
                if schema == &Value::Bool(false) {
                    place.never.get_or_insert(at);
                }
                continue;
            };
            let reference_alone =
                reference_stands_alone(self.draft) && keywords.contains_key("$ref");
            for (keyword, value) in keywords {
                if keyword == "allOf" && !reference_alone {
                    let clause = Clause { at: at.clone(), keyword, value };
                    let branches: Vec<_> = clause.branches().collect();
                    unread.extend(branches.into_iter().rev().map(|(at, branch)| (branch, at)));
                } else if !reference_alone || keyword == "$ref" || !is_constraint(keyword) {
                    place.clauses.extend(self.clause(&at, keyword, value, schema));
                }
            }
        }
        place
    }

    /// Reads one keyword, if the draft gives it a meaning; draft 4's boolean `exclusiveMinimum` becomes the later drafts' number.
    fn clause(
        &self,
        at: &Pointer,
        keyword: &'c str,
        value: &'c Value,
        schema: &'c Value,
    ) -> Option<Clause<'c>> {
        let is_content = matches!(keyword, "contentEncoding" | "contentMediaType");
        if is_content && self.draft > Draft::Draft7 {
            return None;
        }
        // A dialect must not give a keyword a meaning that the draft does not give it.
        if is_constraint(keyword)
            && Keyword::named(keyword).is_some_and(|known| !known.is_in(self.draft))
        {
            return None;
        }
        let is_exclusive = |flag: &str| schema.get(flag) == Some(&Value::Bool(true));
        let keyword = match keyword {
            _ if self.draft != Draft::Draft4 => keyword,
            "minimum" if is_exclusive("exclusiveMinimum") => "exclusiveMinimum",
            "maximum" if is_exclusive("exclusiveMaximum") => "exclusiveMaximum",
            "exclusiveMinimum" | "exclusiveMaximum" => return None,
            keyword => keyword,
        };
        let is_known = |name| jsonschema::options().is_known_format(self.draft, name);
        let is_hint = keyword == "format" && !value.as_str().is_some_and(is_known);
        let keyword = if is_hint { FORMAT_HINT } else { keyword };
        Some(Clause { at: at.clone(), keyword, value })
    }

    /// Returns what `reference` leads to, if that is certain.
    pub(crate) fn resolve(&self, reference: &str) -> Option<(Pointer, &'c Value)> {
        if self.has_inner_resources {
            return None;
        }
        let fragment = reference.strip_prefix(self.id).unwrap_or(reference);
        let fragment = match fragment.strip_prefix('#') {
            Some(fragment) => fragment,
            None if fragment.is_empty() => "",
            None => return None,
        };
        let pointer = if fragment.is_empty() || fragment.starts_with('/') {
            Pointer::from(fragment)
        } else {
            self.anchors.get(fragment)?.clone()
        };
        let target = self.root.pointer(pointer.as_str())?;
        Some((pointer, target))
    }

    /// Returns what `reference` leads to in the end, past schemas that are references alone.
    pub(crate) fn follow(&self, reference: &str) -> Option<(Pointer, &'c Value)> {
        let mut found = self.resolve(reference)?;
        for _ in 0..EXPANSION_LIMIT {
            let next =
                found.1.get("$ref").filter(|_| found.1.as_object().is_some_and(|s| s.len() == 1));
            let Some(further) = next.and_then(Value::as_str).and_then(|next| self.resolve(next))
            else {
                break;
            };
            found = further;
        }
        Some(found)
    }

    /// Replaces references by the clauses of their targets; what is left stays unresolved.
    pub(crate) fn expand(&self, place: &Place<'c>) -> Place<'c> {
        let mut expanded = Place { clauses: Vec::new(), never: place.never.clone() };
        let mut seen = HashSet::new();
        let mut unread: Vec<Clause<'c>> = place.clauses.iter().rev().cloned().collect();
        while let Some(clause) = unread.pop() {
            let name = (clause.keyword == "$ref").then(|| clause.value.as_str()).flatten();
            let name = name.filter(|_| seen.len() < EXPANSION_LIMIT);
            let Some((pointer, target)) = name.and_then(|name| self.resolve(name)) else {
                expanded.clauses.push(clause);
                continue;
            };
            if seen.insert(pointer.clone()) {
                let target = self.place(target, &pointer);
                expanded.never = expanded.never.take().or(target.never);
                unread.extend(target.clauses.into_iter().rev());
            }
        }
        expanded
    }

    /// Claims that a reference at `at` to `target` may close a circle.
    pub(crate) fn closes_circle(&self, at: &Pointer, target: &Pointer) -> bool {
        self.reaches(vec![target.clone()], at)
    }

    /// Claims that what stands at `target` may refer to itself.
    pub(crate) fn is_recursive(&self, target: &Pointer) -> bool {
        self.reaches(self.references_in(target).cloned().collect(), target)
    }

    fn references_in<'o>(&'o self, target: &'o Pointer) -> impl Iterator<Item = &'o Pointer> {
        let start = self.references.partition_point(|(at, _)| at.as_str() < target.as_str());
        self.references
            .get(start..)
            .unwrap_or_default()
            .iter()
            .take_while(|(at, _)| at.starts_with(target.as_str()))
            .filter(|(at, _)| is_within(at, target))
            .map(|(_, target)| target)
    }

    fn reaches(&self, mut unread: Vec<Pointer>, goal: &Pointer) -> bool {
        let mut seen = HashSet::new();
        while let Some(target) = unread.pop() {
            if is_within(goal.as_str(), &target) {
                return true;
            }
            if !seen.insert(target.clone()) {
                continue;
            }
            for next in self.references_in(&target) {
                let left = self.steps.get();
                if left == 0 {
                    return true;
                }
                self.steps.set(left - 1);
                unread.push(next.clone());
            }
        }
        false
    }

    /// Claims that `null` may satisfy the place; false is certain.
    pub(crate) fn may_be_null(&self, place: &Place<'c>) -> bool {
        self.null_passes(place, &mut HashSet::new())
    }

    fn null_passes(&self, place: &Place<'c>, seen: &mut HashSet<Pointer>) -> bool {
        // Each level below adds to `seen`, so this bounds the recursion as well.
        if seen.len() > BRANCH_LIMIT {
            return true;
        }
        let place = self.expand(place);
        place.never.is_none()
            && place.clauses.iter().all(|clause| match clause.keyword {
                "type" => names(clause.value).any(|name| name == "null"),
                "enum" => clause.value.as_array().is_none_or(|list| list.contains(&Value::Null)),
                "const" => clause.value.is_null(),
                "anyOf" | "oneOf" => clause.branches().any(|(at, branch)| {
                    // The same branch seen again adds nothing to the answer.
                    !seen.insert(at.clone()) || self.null_passes(&self.place(branch, &at), seen)
                }),
                _ => true,
            })
    }
}

/// Returns the type names that `type` lists.
pub(crate) fn names(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().filter_map(Value::as_str)
}

fn is_within(at: &str, target: &Pointer) -> bool {
    at.strip_prefix(target.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
