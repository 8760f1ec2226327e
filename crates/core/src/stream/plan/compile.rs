//! From schemas to shapes.
//!
//! Each schema location becomes one shape, however often it is referred to; a worklist instead of
//! recursion, so neither depth nor recursive references matter. Where drafts differ or a reference
//! is not plainly local, the shape stays free and the keyword is listed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jsonschema::{Draft, PatternOptions};
use serde_json::{Map, Value, json};

use super::shape::{
    Alternatives, ArrayShape, Bound, Choice, End, Judge, Kinds, NumberShape, ObjectShape, Shape,
    ShapeId, TextShape,
};
use super::{Plan, Unenforced};
use crate::json::probe::Tape;
use crate::json::{Kind, Pointer};
use crate::stream::lexicon::Lexicon;
use crate::verdict::validator::build;

/// Assertions that wait for the final verdict.
const UNFOLLOWED: [&str; 16] = [
    "not",
    "if",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "contains",
    "uniqueItems",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
    "contentEncoding",
    "contentMediaType",
    "$dynamicRef",
    "$recursiveRef",
    "x-rules",
    "x-grounded",
];

/// How many different patterns and formats a plan follows; each costs a compilation.
const JUDGE_LIMIT: usize = 256;

struct Compiler<'s> {
    root: &'s Value,
    draft: Draft,
    shapes: Vec<Shape>,
    ids: HashMap<String, ShapeId>,
    queue: VecDeque<(ShapeId, Pointer, &'s Map<String, Value>)>,
    judges: HashMap<String, Option<Judge>>,
    unenforced: Vec<Unenforced>,
}

/// One schema and where it stands.
struct Schema<'s> {
    pointer: Pointer,
    map: &'s Map<String, Value>,
}

pub(super) fn compile(schema: &Value, draft: Draft) -> Plan {
    let mut compiler = Compiler {
        root: schema,
        draft,
        shapes: vec![Shape::anything(), Shape::nothing()],
        ids: HashMap::new(),
        queue: VecDeque::new(),
        judges: HashMap::new(),
        unenforced: Vec::new(),
    };
    let root = compiler.enlist(Pointer::root(), schema);
    while let Some((id, pointer, map)) = compiler.queue.pop_front() {
        let shape = compiler.shape(&Schema { pointer, map });
        if let Some(slot) = compiler.shapes.get_mut(id.index()) {
            *slot = shape;
        }
    }
    Plan { shapes: compiler.shapes, root, unenforced: compiler.unenforced }
}

impl<'s> Schema<'s> {
    fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.map.get(keyword)
    }

    fn object(&self, keyword: &str) -> Option<&'s Map<String, Value>> {
        self.get(keyword)?.as_object()
    }

    fn array(&self, keyword: &str) -> Option<&'s Vec<Value>> {
        self.get(keyword)?.as_array()
    }
}

impl<'s> Compiler<'s> {
    /// Returns the shape of the schema at `pointer`, to be filled in later if it is new.
    fn enlist(&mut self, pointer: Pointer, schema: &'s Value) -> ShapeId {
        let map = match schema {
            Value::Bool(false) => return ShapeId::NOTHING,
            Value::Object(map) if !map.is_empty() => map,
            Value::Null
            | Value::Bool(true)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => return ShapeId::ANYTHING,
        };
        if let Some(id) = self.ids.get(pointer.as_str()) {
            return *id;
        }
        let Ok(place) = u32::try_from(self.shapes.len()) else {
            return ShapeId::ANYTHING;
        };
        self.shapes.push(Shape::anything());
        self.ids.insert(pointer.as_str().to_owned(), ShapeId(place));
        self.queue.push_back((ShapeId(place), pointer, map));
        ShapeId(place)
    }

    fn list(&mut self, schema: &Schema<'s>, keyword: &str) {
        let pointer = schema.pointer.clone();
        self.unenforced.push(Unenforced { pointer, keyword: keyword.to_owned() });
    }

    fn shape(&mut self, schema: &Schema<'s>) -> Shape {
        if let Some(keyword) = self.foreign_keyword(schema) {
            self.list(schema, keyword);
            return Shape::anything();
        }
        let reference = self.reference(schema);
        let mut shape = Shape::anything();
        let hides_siblings = matches!(self.draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        if !(schema.map.contains_key("$ref") && hides_siblings) {
            for keyword in UNFOLLOWED {
                if schema.map.contains_key(keyword) {
                    self.list(schema, keyword);
                }
            }
            shape.kinds = kinds(schema);
            shape.choice = self.choice(schema).map(Box::new);
            shape.number = self.number(schema).map(Box::new);
            shape.text = self.text(schema).map(Box::new);
            shape.array = self.items(schema).map(Box::new);
            shape.object = self.members(schema).map(Box::new);
            shape.all = self.branches(schema, "allOf");
            shape.any = self.alternatives(schema);
        }
        shape.all.extend(reference);
        shape
    }

    /// Names the keyword that makes the schema's meaning depend on more than its own place.
    fn foreign_keyword(&self, schema: &Schema<'s>) -> Option<&'static str> {
        if self.draft == Draft::Unknown {
            return Some("$schema");
        }
        if schema.pointer.is_root() {
            return None;
        }
        let id = self.draft.id_keyword();
        ["$schema", id].into_iter().find(|keyword| schema.get(keyword).is_some())
    }

    fn reference(&mut self, schema: &Schema<'s>) -> Option<ShapeId> {
        let reference = schema.get("$ref")?;
        let Some((pointer, target)) = reference.as_str().and_then(|text| self.resolve(text)) else {
            self.list(schema, "$ref");
            return None;
        };
        Some(self.enlist(pointer, target))
    }

    /// Finds what a reference within the root resource points at.
    fn resolve(&self, reference: &str) -> Option<(Pointer, &'s Value)> {
        let fragment = reference.strip_prefix('#')?;
        let is_pointer = fragment.is_empty() || fragment.starts_with('/');
        if !is_pointer || fragment.contains('%') {
            return None;
        }
        let mut target = self.root;
        let mut pointer = Pointer::root();
        for segment in Pointer::from(fragment).segments() {
            target = match target {
                Value::Object(map) => {
                    let is_inner = !pointer.is_root();
                    if is_inner && map.get(self.draft.id_keyword()).is_some_and(Value::is_string) {
                        return None;
                    }
                    map.get(&segment)?
                }
                Value::Array(items) => items.get(segment.parse::<usize>().ok()?)?,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
            };
            pointer.push_key(&segment);
        }
        Some((pointer, target))
    }

    fn branches(&mut self, schema: &Schema<'s>, keyword: &str) -> Vec<ShapeId> {
        let pointer = schema.pointer.key(keyword);
        let branches = schema.array(keyword).into_iter().flatten().enumerate();
        branches.map(|(place, branch)| self.enlist(pointer.index(place), branch)).collect()
    }

    fn alternatives(&mut self, schema: &Schema<'s>) -> Vec<Alternatives> {
        let mut found = Vec::new();
        for keyword in ["anyOf", "oneOf"] {
            let shapes = self.branches(schema, keyword);
            if shapes.is_empty() {
                continue;
            }
            // That one alternative is left is followed; that only one is, cannot be.
            if keyword == "oneOf" {
                self.list(schema, keyword);
            }
            found.push(Alternatives { keyword, shapes });
        }
        found
    }

    fn choice(&mut self, schema: &Schema<'s>) -> Option<Choice> {
        let constant = schema.get("const").filter(|_| self.draft != Draft::Draft4);
        let (keyword, members) = match (constant, schema.array("enum")) {
            (Some(constant), members) => {
                if members.is_some() {
                    self.list(schema, "enum");
                }
                ("const", std::slice::from_ref(constant))
            }
            (None, Some(members)) => ("enum", members.as_slice()),
            (None, None) => return None,
        };
        let kinds = members.iter().map(kinds_of_value).fold(Kinds::NONE, Kinds::with);
        if [Kind::Array, Kind::Object].into_iter().any(|kind| kinds.meets(Kinds::of(kind))) {
            self.list(schema, keyword);
        }
        Some(Choice {
            keyword,
            kinds,
            texts: members.iter().filter_map(Value::as_str).collect(),
            numbers: members.iter().filter_map(Value::as_f64).collect(),
        })
    }

    fn number(&mut self, schema: &Schema<'s>) -> Option<NumberShape> {
        let is_whole = type_names(schema).any(|name| name == "integer")
            && !type_names(schema).any(|name| name == "number");
        // Draft 4 minds how a whole number is written.
        if is_whole && self.draft == Draft::Draft4 {
            self.list(schema, "type");
        }
        let mut bounds = Vec::new();
        for (keyword, exclusive, end) in [
            ("minimum", "exclusiveMinimum", End::Least),
            ("maximum", "exclusiveMaximum", End::Most),
        ] {
            let is_exclusive = schema.get(exclusive) == Some(&Value::Bool(true));
            let limits = [(keyword, is_exclusive), (exclusive, true)];
            bounds.extend(limits.into_iter().filter_map(|(keyword, is_exclusive)| {
                let limit = schema.get(keyword)?.as_number()?.clone();
                Some(Bound { keyword, end, limit, is_exclusive })
            }));
        }
        let multiple_of = self.judge(schema, "multipleOf");
        let is_free = !is_whole && bounds.is_empty() && multiple_of.is_none();
        (!is_free).then_some(NumberShape { is_whole, bounds, multiple_of })
    }

    fn text(&mut self, schema: &Schema<'s>) -> Option<TextShape> {
        let shape = TextShape {
            least: self.count(schema, "minLength").unwrap_or_default(),
            most: self.count(schema, "maxLength"),
            pattern: self.judge(schema, "pattern"),
            format: self.judge(schema, "format"),
        };
        let is_free = shape.least == 0 && shape.most.is_none() && !shape.needs_text();
        (!is_free).then_some(shape)
    }

    fn items(&mut self, schema: &Schema<'s>) -> Option<ArrayShape> {
        let positional = if self.draft == Draft::Draft202012 { "prefixItems" } else { "items" };
        let others = match (self.draft, schema.get("items")) {
            (Draft::Draft202012, _) | (_, Some(Value::Object(_) | Value::Bool(_))) => "items",
            (_, Some(_)) => "additionalItems",
            (_, None) => "items",
        };
        let prefix = self.branches(schema, positional);
        let rest = schema.get(others).map(|rest| self.enlist(schema.pointer.key(others), rest));
        let least = self.count(schema, "minItems").unwrap_or_default();
        let most = self.count(schema, "maxItems");
        let is_free = prefix.is_empty() && rest.is_none() && least == 0 && most.is_none();
        (!is_free).then_some(ArrayShape { prefix, rest, least, most })
    }

    fn members(&mut self, schema: &Schema<'s>) -> Option<ObjectShape> {
        let within = schema.pointer.key("properties");
        let properties: HashMap<Box<str>, ShapeId> = schema
            .object("properties")
            .into_iter()
            .flatten()
            .map(|(key, member)| (key.as_str().into(), self.enlist(within.key(key), member)))
            .collect();
        let patterns = self.key_patterns(schema);
        let additional = schema
            .get("additionalProperties")
            // A pattern that is not followed may admit any key.
            .filter(|_| patterns.is_some())
            .map(|rest| self.enlist(schema.pointer.key("additionalProperties"), rest));
        let patterns = patterns.unwrap_or_default();
        let is_closed = additional == Some(ShapeId::NOTHING) && patterns.is_empty();
        let required = schema.array("required").into_iter().flatten();
        let shape = ObjectShape {
            keys: is_closed.then(|| properties.keys().map(|key| &**key).collect::<Lexicon>()),
            required: required.filter_map(Value::as_str).map(Box::from).collect(),
            least: self.count(schema, "minProperties").unwrap_or_default(),
            most: self.count(schema, "maxProperties"),
            properties,
            patterns,
            additional,
        };
        let is_free = shape.properties.is_empty()
            && shape.patterns.is_empty()
            && shape.additional.is_none()
            && shape.required.is_empty()
            && shape.least == 0
            && shape.most.is_none();
        (!is_free).then_some(shape)
    }

    /// Returns the shapes of `patternProperties`, or `None` if a pattern cannot be followed.
    fn key_patterns(&mut self, schema: &Schema<'s>) -> Option<Vec<(Judge, ShapeId)>> {
        let within = schema.pointer.key("patternProperties");
        let mut patterns = Vec::new();
        for (pattern, member) in schema.object("patternProperties").into_iter().flatten() {
            let Some(judge) = self.judge_of(&json!({ "pattern": pattern })) else {
                self.list(schema, "patternProperties");
                return None;
            };
            patterns.push((judge, self.enlist(within.key(pattern), member)));
        }
        Some(patterns)
    }

    /// Returns a keyword's count; lists it if it is none that fits.
    fn count(&mut self, schema: &Schema<'s>, keyword: &str) -> Option<usize> {
        let value = schema.get(keyword)?;
        let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
        if count.is_none() {
            self.list(schema, keyword);
        }
        count
    }

    /// Returns a judge of one keyword; lists it if there can be none.
    fn judge(&mut self, schema: &Schema<'s>, keyword: &str) -> Option<Judge> {
        let value = schema.get(keyword)?;
        let judge = self.judge_of(&json!({ keyword: value }));
        if judge.is_none() {
            self.list(schema, keyword);
        }
        judge
    }

    fn judge_of(&mut self, schema: &Value) -> Option<Judge> {
        let text = schema.to_string();
        if let Some(judge) = self.judges.get(&text) {
            return judge.clone();
        }
        if self.judges.len() >= JUDGE_LIMIT {
            return None;
        }
        let options = jsonschema::options_for::<Tape>()
            .with_draft(self.draft)
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex());
        let judge = build(options, schema, Some(self.draft)).ok().map(Arc::new);
        self.judges.insert(text, judge.clone());
        judge
    }
}

fn type_names<'s>(schema: &Schema<'s>) -> impl Iterator<Item = &'s str> {
    let types = match schema.get("type") {
        Some(Value::Array(names)) => names.as_slice(),
        Some(name) => std::slice::from_ref(name),
        None => &[],
    };
    types.iter().filter_map(Value::as_str)
}

fn kinds(schema: &Schema<'_>) -> Kinds {
    if schema.get("type").is_none() {
        return Kinds::ALL;
    }
    type_names(schema).fold(Kinds::NONE, |kinds, name| {
        kinds.with(match name {
            "null" => Kinds::of(Kind::Null),
            "boolean" => Kinds::of(Kind::Boolean),
            "number" | "integer" => Kinds::of(Kind::Number),
            "string" => Kinds::of(Kind::String),
            "array" => Kinds::of(Kind::Array),
            "object" => Kinds::of(Kind::Object),
            _ => Kinds::ALL,
        })
    })
}

fn kinds_of_value(value: &Value) -> Kinds {
    match value {
        Value::Null => Kinds::of(Kind::Null),
        Value::Bool(true) => Kinds::TRUE,
        Value::Bool(false) => Kinds::FALSE,
        Value::Number(_) => Kinds::of(Kind::Number),
        Value::String(_) => Kinds::of(Kind::String),
        Value::Array(_) => Kinds::of(Kind::Array),
        Value::Object(_) => Kinds::of(Kind::Object),
    }
}
