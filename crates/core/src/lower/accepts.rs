//! Whether a dialect accepts a schema, read off its table.
//!
//! Written apart from the lowering, so that one can be held against the other.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::automata;
use super::dialect::{
    Bounds, Dialect, EnumMembers, Extras, Formats, Leaves, Optionals, Recursion, Root, Table,
    Unions, Untyped,
};
use super::grammar;
use super::leaf::LARGE_ENUM;
use super::place::SAYS_WHAT;
use crate::json::Pointer;

/// Something in a schema that a dialect does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the schema.
    pub pointer: Pointer,
    /// What is not accepted.
    pub why: String,
}

impl Dialect {
    /// Returns everything in `schema` that this dialect does not accept.
    pub fn problems(self, schema: &Value) -> Vec<Problem> {
        let table = self.table();
        let mut reader =
            Reader { table, problems: Vec::new(), count: Count::default(), links: HashMap::new() };
        reader.root(schema);
        reader.problems
    }
}

/// What is counted over the whole schema.
#[derive(Default)]
struct Count {
    properties: usize,
    optionals: usize,
    unions: usize,
    enum_values: usize,
    name_chars: usize,
}

struct Reader<'s> {
    table: &'static Table,
    problems: Vec<Problem>,
    count: Count,
    /// The references in each definition; the root has no name.
    links: HashMap<&'s str, Vec<&'s str>>,
}

impl<'s> Reader<'s> {
    fn report(&mut self, at: &Pointer, why: impl Into<String>) {
        self.problems.push(Problem { pointer: at.clone(), why: why.into() });
    }

    fn root(&mut self, schema: &'s Value) {
        let root = Pointer::root();
        if self.table.root == Root::Object && schema.get("type") != Some(&Value::from("object")) {
            self.report(&root, "the root is no object");
        }
        self.schema(schema, &root, "", 0);
        let word = self.table.definitions();
        let definitions = schema.get(word).and_then(Value::as_object);
        for (name, definition) in definitions.into_iter().flatten() {
            self.schema(definition, &root.key(word).key(name), name, 0);
        }
        self.links(definitions);
        let (count, limits) = (&self.count, self.table.limits);
        let sums = [
            ("properties", count.properties, limits.properties),
            ("optional properties", count.optionals, limits.optionals),
            ("unions", count.unions, limits.unions),
            ("enum values", count.enum_values, limits.enum_values),
            ("characters of names and enums", count.name_chars, limits.name_chars),
        ];
        for (what, sum, limit) in sums {
            if sum > limit {
                self.report(&root, format!("{sum} {what}, over the limit of {limit}"));
            }
        }
    }

    fn schema(&mut self, schema: &'s Value, at: &Pointer, home: &'s str, depth: usize) {
        let Value::Object(keywords) = schema else {
            let is_known = self.table.untyped == Untyped::Allowed && schema.is_boolean();
            if !is_known {
                self.report(at, "not a schema object");
            }
            return;
        };
        for (keyword, value) in keywords {
            let is_definitions = at.is_root() && keyword == self.table.definitions();
            let is_known =
                self.table.supports(keyword) || self.table.annotations.contains(&keyword.as_str());
            if !is_known && !is_definitions {
                self.report(at, format!("unknown keyword `{keyword}`"));
            }
            self.keyword(keyword, value, keywords, at);
        }
        if let Some(target) = keywords.get("$ref") {
            self.reference(target, keywords, at, home);
            return;
        }
        self.types(keywords, at);
        if self.table.leaves == Leaves::Grammar
            && let Some(keyword) = grammar::passed_over(keywords)
        {
            self.report(at, format!("`{keyword}` is passed over"));
        }
        if keywords.contains_key("properties") || names_type(keywords, "object") {
            self.object(keywords, at);
        }
        self.children(keywords, at, home, depth);
    }

    fn reference(
        &mut self,
        target: &'s Value,
        keywords: &Map<String, Value>,
        at: &Pointer,
        home: &'s str,
    ) {
        let prefix = format!("#/{}/", self.table.definitions());
        match target.as_str().and_then(|target| target.strip_prefix(&prefix)) {
            Some(name) => self.links.entry(home).or_default().push(name),
            None => self.report(at, "a reference leads elsewhere than to a definition"),
        }
        if keywords.keys().any(|keyword| keyword != "$ref" && keyword != self.table.definitions()) {
            self.report(at, "a reference has siblings");
        }
    }

    fn types(&mut self, keywords: &Map<String, Value>, at: &Pointer) {
        let has_union = keywords.contains_key("anyOf");
        if has_union || keywords.get("type").is_some_and(Value::is_array) {
            self.count.unions += 1;
        }
        let has_type = keywords.contains_key("type");
        let says_what = match self.table.untyped {
            Untyped::Allowed => true,
            Untyped::Listed => SAYS_WHAT.iter().any(|keyword| keywords.contains_key(*keyword)),
            Untyped::AsText => has_type || has_union,
        };
        if !says_what {
            self.report(at, "no type");
        }
        let beside =
            keywords.keys().any(|keyword| keyword != "anyOf" && self.table.supports(keyword));
        if self.table.unions == Unions::Alone && has_union && beside {
            self.report(at, "constraints beside `anyOf`");
        }
    }

    fn object(&mut self, keywords: &Map<String, Value>, at: &Pointer) {
        let extras = keywords.get("additionalProperties");
        if self.table.extras == Extras::Forbidden && extras != Some(&Value::Bool(false)) {
            self.report(at, "`additionalProperties` is not false");
        }
        let properties = keywords.get("properties").and_then(Value::as_object);
        let required = keywords.get("required").and_then(Value::as_array);
        let required: HashSet<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        for key in properties.into_iter().flat_map(Map::keys) {
            self.count.properties += 1;
            self.count.name_chars += key.chars().count();
            if !required.contains(key.as_str()) {
                self.count.optionals += 1;
                if self.table.optionals == Optionals::Nullable {
                    self.report(at, format!("`{key}` is not required"));
                }
            }
        }
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &'s Value,
        beside: &Map<String, Value>,
        at: &Pointer,
    ) {
        let limits = self.table.limits;
        match (keyword, value) {
            ("enum", Value::Array(choices)) => self.choices(choices, at),
            ("const", constant) => self.choices(std::slice::from_ref(constant), at),
            ("format", Value::String(format)) => {
                if let Formats::Listed(listed) = self.table.formats
                    && !listed.contains(&format.as_str())
                {
                    self.report(at, format!("unknown format `{format}`"));
                }
            }
            ("pattern", _) if self.table.read(keyword, value, true).is_none() => {
                self.report(at, "the pattern uses what the dialect does not know");
            }
            ("minItems", Value::Number(count))
                if count.as_u64().is_none_or(|count| count > limits.min_items) =>
            {
                self.report(at, format!("`minItems` is over {}", limits.min_items));
            }
            ("minItems" | "maxItems" | "minLength" | "maxLength", _)
                if self.table.read(keyword, value, true).is_none() =>
            {
                self.report(at, format!("`{keyword}` is more than the dialect counts"));
            }
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", _)
                if self.table.bounds == Bounds::Integers
                    && beside.get("type") != Some(&Value::from("integer")) =>
            {
                self.report(at, format!("`{keyword}` of what is no integer"));
            }
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf", _)
                if self.table.read(keyword, value, true).is_none() =>
            {
                self.report(at, format!("`{keyword}` is a number that the dialect cannot follow"));
            }
            _ => {}
        }
    }

    fn choices(&mut self, choices: &[Value], at: &Pointer) {
        let chars: usize =
            choices.iter().filter_map(Value::as_str).map(|text| text.chars().count()).sum();
        self.count.enum_values += choices.iter().filter(|choice| !choice.is_null()).count();
        self.count.name_chars += chars;
        if choices.len() > LARGE_ENUM && chars > self.table.limits.enum_chars {
            self.report(at, format!("an enum of {chars} characters"));
        }
        let is_listable = |choice: &Value| match self.table.enum_members {
            EnumMembers::Any => true,
            EnumMembers::Scalars => !choice.is_array() && !choice.is_object(),
            EnumMembers::StringsAndNumbers => choice.is_string() || choice.is_number(),
        };
        let is_followed =
            self.table.leaves != Leaves::Automata || choices.iter().all(automata::lists);
        if !choices.iter().all(is_listable) || !is_followed {
            self.report(at, "an enum lists what the dialect cannot list");
        }
    }

    fn children(
        &mut self,
        keywords: &'s Map<String, Value>,
        at: &Pointer,
        home: &'s str,
        depth: usize,
    ) {
        let inner = depth + usize::from(keywords.contains_key("properties"));
        if inner > self.table.limits.depth {
            self.report(at, format!("over {} levels of objects", self.table.limits.depth));
        }
        for (keyword, value) in keywords {
            let at = at.key(keyword);
            match (keyword.as_str(), value) {
                ("properties" | "patternProperties", Value::Object(members)) => {
                    for (key, member) in members {
                        self.schema(member, &at.key(key), home, inner);
                    }
                }
                ("dependencies", Value::Object(members)) => {
                    for (key, member) in members.iter().filter(|(_, member)| !member.is_array()) {
                        self.schema(member, &at.key(key), home, inner);
                    }
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(list)) => {
                    for (index, branch) in list.iter().enumerate() {
                        self.schema(branch, &at.index(index), home, inner);
                    }
                }
                (
                    "additionalProperties"
                    | "items"
                    | "additionalItems"
                    | "contains"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "propertyNames",
                    Value::Object(_),
                ) => self.schema(value, &at, home, inner),
                _ => {}
            }
        }
    }

    /// Looks for references to nowhere and, where they are not accepted, for circles.
    fn links(&mut self, definitions: Option<&'s Map<String, Value>>) {
        let links = std::mem::take(&mut self.links);
        let targets: HashSet<&str> = links.values().flatten().copied().collect();
        for name in targets {
            if definitions.is_none_or(|definitions| !definitions.contains_key(name)) {
                self.report(&Pointer::root(), format!("no definition `{name}`"));
            }
        }
        if self.table.recursion == Recursion::Allowed {
            return;
        }
        // What refers to nothing is free of circles, and so is what refers only to that.
        let mut unsettled = HashMap::new();
        let mut referrers: HashMap<&str, Vec<&str>> = HashMap::new();
        for (home, links) in &links {
            unsettled.insert(*home, links.len());
            for target in links {
                referrers.entry(target).or_default().push(home);
            }
        }
        let is_settled = |name: &&str| !unsettled.contains_key(name);
        let mut settled: Vec<&str> = referrers.keys().copied().filter(is_settled).collect();
        while let Some(name) = settled.pop() {
            for home in referrers.get(name).into_iter().flatten() {
                if let Some(left) = unsettled.get_mut(home) {
                    *left -= 1;
                    if *left == 0 {
                        settled.push(home);
                    }
                }
            }
        }
        if unsettled.values().any(|left| *left > 0) {
            self.report(&Pointer::root(), "a reference leads back to itself");
        }
    }
}

fn names_type(keywords: &Map<String, Value>, name: &str) -> bool {
    keywords.get("type").is_some_and(|types| super::original::names(types).any(|t| t == name))
}
