//! The lowering of a whole contract: the root, the definitions, and what all places share.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, Leaves, Optionals, Root, Table};
use super::inverse::Inverse;
use super::original::{Clause, Original, Place};
use super::place::{Lowered, Sketch, kind_of};
use super::shape::{Shape, ShapeId, Shapes};
use super::{EnforcedBy, Loss, Lowering, Narrowing, Unportable, Unsayable};
use crate::contract::Contract;
use crate::json::Pointer;

/// How many places may be lowered for each value in the contract, and some for small contracts: a
/// merge of branches can multiply them without end.
const PLACES_PER_VALUE: usize = 8;
const PLACES_AT_LEAST: usize = 10_000;

/// How many places one attempt at an exact copy may take, since it inlines every reference.
const EXACT_LIMIT: usize = 1_000;

/// The member that a wrapped root stands in.
pub(super) const WRAPPER: &str = "value";

struct Definition {
    name: String,
    shape: ShapeId,
    schema: Value,
}

/// What has been used up of the dialect's limits.
#[derive(Default)]
pub(super) struct Used {
    pub(super) optionals: usize,
    pub(super) unions: usize,
    pub(super) enum_values: usize,
    /// Required names that were declared only so that they are heeded.
    pub(super) declared: usize,
}

pub(super) struct Lowerer<'c> {
    pub(super) original: Original<'c>,
    pub(super) table: &'static Table,
    pub(super) shapes: Shapes,
    pub(super) used: Used,
    /// The member that carries JSON text; no contract member has this name.
    pub(super) carrier: String,
    definitions: Vec<Definition>,
    names: HashSet<String>,
    by_target: HashMap<Pointer, usize>,
    pending: VecDeque<(usize, Place<'c>)>,
    /// The places that are being lowered, outermost first.
    pub(super) open: Vec<Vec<usize>>,
    pub(super) places: usize,
    pub(super) place_limit: usize,
    losses: BTreeMap<(Pointer, String), EnforcedBy>,
    narrowings: Vec<Narrowing>,
    /// Counts losses and narrowings, repeated ones too.
    deviations: usize,
    /// Until this many places references are inlined, because the result must be exact.
    pub(super) exact_until: Option<usize>,
}

impl<'c> Lowerer<'c> {
    pub(super) fn new(contract: &'c Contract, table: &'static Table) -> Self {
        Self {
            original: Original::new(contract.schema(), contract.draft()),
            table,
            shapes: Shapes::default(),
            used: Used::default(),
            carrier: super::text::carrier_for(contract.schema()),
            definitions: Vec::new(),
            names: HashSet::new(),
            by_target: HashMap::new(),
            pending: VecDeque::new(),
            open: Vec::new(),
            places: 0,
            place_limit: PLACES_AT_LEAST + PLACES_PER_VALUE * count_values(contract.schema()),
            losses: BTreeMap::new(),
            narrowings: Vec::new(),
            deviations: 0,
            exact_until: None,
        }
    }

    pub(super) fn lower(mut self, dialect: Dialect, allowed: Root) -> Result<Lowering, Unportable> {
        let whole = self.original.expand(&self.original.whole());
        let is_object = self.types(&whole).is_none() && kind_of(&whole) == Some("object");
        let Some(mut root) = self.place(&whole, 0)? else {
            return Err(unsatisfiable(Pointer::root()));
        };
        while let Some((index, place)) = self.pending.pop_front() {
            let pointer = place.pointer();
            let lowered = self.place(&place, 0)?.ok_or_else(|| unsatisfiable(pointer))?;
            if let Some(definition) = self.definitions.get_mut(index) {
                definition.schema = Value::Object(lowered.schema);
                let branches = vec![lowered.shape];
                self.shapes.set(definition.shape, Shape { branches, ..Shape::default() });
            }
        }
        let mut wrapped = false;
        if allowed == Root::Object && root.schema.get("type") != Some(&json!("object")) {
            if is_object && !root.schema.contains_key("type") {
                self.narrow(Pointer::root(), Unsayable::OtherTypes);
                root.schema.shift_insert(0, "type".to_owned(), json!("object"));
            } else {
                wrapped = true;
                root.schema = wrap(&root.schema);
            }
        }
        self.finish(root, wrapped, dialect)
    }

    fn finish(
        mut self,
        root: Lowered,
        wrapped: bool,
        dialect: Dialect,
    ) -> Result<Lowering, Unportable> {
        let ambiguous = if self.shapes.are_plain() {
            Vec::new()
        } else {
            self.shapes.ambiguous_nulls(root.shape).ok_or_else(too_complex)?
        };
        for pointer in ambiguous {
            self.narrow(pointer, Unsayable::Absence);
        }
        let mut schema = root.schema;
        if !self.definitions.is_empty() {
            let definitions: Map<String, Value> = self
                .definitions
                .into_iter()
                .map(|definition| (definition.name, definition.schema))
                .collect();
            schema.insert(self.table.definitions().to_owned(), Value::Object(definitions));
        }
        let schema = Value::Object(schema);
        if let Some(problem) = dialect.problems(&schema).into_iter().next() {
            return Err(Unportable { pointer: problem.pointer, why: problem.why });
        }
        let losses = self
            .losses
            .into_iter()
            .map(|((pointer, keyword), enforced_by)| Loss { pointer, keyword, enforced_by })
            .collect();
        self.narrowings.sort();
        self.narrowings.dedup();
        let inverse = Inverse::new(self.shapes, root.shape, wrapped, self.carrier);
        Ok(Lowering {
            dialect,
            schema: Arc::new(schema),
            losses,
            narrowings: self.narrowings,
            inverse,
        })
    }

    /// Returns the name and shape of the definition for `target`, which is lowered later.
    pub(super) fn definition(&mut self, target: &Pointer, schema: &'c Value) -> (String, ShapeId) {
        let known = self.by_target.get(target).and_then(|index| self.definitions.get(*index));
        if let Some(definition) = known {
            return (definition.name.clone(), definition.shape);
        }
        let last = target.segments().last().unwrap_or_else(|| "root".to_owned());
        // llama.cpp's converter joins names of rules by hyphens, and takes all other marks for one: only
        // without any is a definition none of the parts of another.
        let mark = if self.table.leaves == Leaves::Grammar { "" } else { "_" };
        let stays = |c: &char| c.is_ascii_alphanumeric() || mark.contains(*c);
        let name: String = last.chars().filter(stays).collect();
        let index = self.definitions.len();
        let numbered = (index..).map(|number| format!("{name}{mark}{number}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let is_fresh = |name: &String| !name.is_empty() && self.names.insert(name.clone());
        let name = candidates.find(is_fresh).unwrap_or(name);
        let shape = self.shapes.add(Shape::default());
        self.definitions.push(Definition { name: name.clone(), shape, schema: Value::Null });
        self.by_target.insert(target.clone(), index);
        self.pending.push_back((index, self.original.place(schema, target)));
        (name, shape)
    }

    /// Records that a keyword is not enforced; the weaker substitute wins.
    pub(super) fn lose(&mut self, at: &Pointer, keyword: &str, by: EnforcedBy) {
        self.deviations += 1;
        let entry = self.losses.entry((at.clone(), keyword.to_owned())).or_insert(by);
        *entry = (*entry).max(by);
    }

    /// Records a lost clause and tells the model in words if it can be said.
    pub(super) fn tell(&mut self, clause: &Clause<'c>, sketch: &mut Sketch) {
        let note = super::describe::describe(clause.keyword, clause.value);
        let by = if note.is_some() { EnforcedBy::Description } else { EnforcedBy::VerdictOnly };
        self.lose(&clause.at, clause.keyword, by);
        sketch.notes.extend(note);
    }

    pub(super) fn narrow(&mut self, pointer: Pointer, unsayable: Unsayable) {
        self.deviations += 1;
        self.narrowings.push(Narrowing { pointer, unsayable });
    }

    /// Lowers a place so that exactly the same values satisfy it; nothing if that is impossible.
    pub(super) fn exactly(
        &mut self,
        place: &Place<'c>,
        depth: usize,
    ) -> Result<Option<Value>, Unportable> {
        let before = (self.exact_until, self.deviations);
        self.exact_until.get_or_insert(self.places + EXACT_LIMIT);
        let lowered = self.place(place, depth);
        self.exact_until = before.0;
        let schema = lowered?.map_or(Value::Bool(false), |lowered| Value::Object(lowered.schema));
        Ok((self.deviations == before.1).then_some(schema))
    }

    /// Claims that absence is said by `null`.
    pub(super) fn says_null(&self) -> bool {
        self.table.optionals == Optionals::Nullable
    }
}

fn count_values(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(count_values).sum::<usize>(),
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

fn wrap(schema: &Map<String, Value>) -> Map<String, Value> {
    let wrapped = json!({
        "type": "object",
        "properties": { WRAPPER: schema },
        "required": [WRAPPER],
        "additionalProperties": false,
    });
    wrapped.as_object().cloned().unwrap_or_default()
}

fn unsatisfiable(pointer: Pointer) -> Unportable {
    Unportable { pointer, why: "nothing satisfies this schema".to_owned() }
}

pub(super) fn too_complex() -> Unportable {
    Unportable {
        pointer: Pointer::root(),
        why: "its branches multiply beyond what can be adapted".to_owned(),
    }
}
