//! The way there: how an answer would say a given value in the adapted shape.
//!
//! Examples in prompts must look like the answers that are asked for.

use serde_json::{Map, Value, json};

use super::inverse::Inverse;
use super::lowerer::WRAPPER;
use super::shape::{Member, Presence, ShapeId};
use super::{Formats, Lowering, Narrowing, Unsayable};
use crate::json::Document;

/// How many readings of the branches are tried.
const CANDIDATE_LIMIT: usize = 64;

/// How deep branches may lead to branches without a step into the value.
const BRANCH_DEPTH: usize = 64;

impl Lowering {
    /// Returns an answer that the adapted schema accepts and the inverse turns into `value`.
    ///
    /// There is none if the adapted schema cannot say it, which is what the narrowings are about.
    pub fn pre_image(&self, value: &Value) -> Option<Value> {
        let accepts = self.as_read_by_the_provider()?;
        let meant = Document::from_value(value).ok()?;
        let says_it = |candidate: &Value| {
            let answer = Document::from_value(candidate).ok();
            let said = answer.and_then(|answer| self.inverse.apply(&answer).ok());
            said.is_some_and(|said| said.root().same_value(meant.root()))
        };
        self.candidates(value)
            .into_iter()
            .find(|answer| accepts.is_valid(answer) && says_it(answer))
    }

    /// Returns the adapted schema as the provider reads it.
    pub(super) fn as_read_by_the_provider(&self) -> Option<jsonschema::Validator> {
        let table = self.dialect.table();
        let options = jsonschema::options()
            .with_draft(table.vocabulary)
            .should_validate_formats(table.formats != Formats::Annotation);
        options.build(&self.schema).ok()
    }

    fn candidates(&self, value: &Value) -> Vec<Value> {
        let inner = if self.inverse.shapes.are_plain() {
            vec![value.clone()]
        } else {
            let forward = Forward { inverse: &self.inverse, narrowings: &self.narrowings };
            forward.say(value, self.inverse.root, 0)
        };
        if !self.inverse.is_wrapped {
            return inner;
        }
        inner.into_iter().map(|inner| json!({ WRAPPER: inner })).collect()
    }
}

struct Forward<'l> {
    inverse: &'l Inverse,
    narrowings: &'l [Narrowing],
}

impl Forward<'_> {
    fn say(&self, value: &Value, shape: ShapeId, branch_depth: usize) -> Vec<Value> {
        let Some(shape) = self.inverse.shapes.at(shape).filter(|_| branch_depth < BRANCH_DEPTH)
        else {
            return Vec::new();
        };
        if shape.is_text {
            return vec![json!({ self.inverse.carrier.as_str(): value.to_string() })];
        }
        let mut ways = Vec::new();
        for branch in &shape.branches {
            for way in self.say(value, *branch, branch_depth + 1) {
                if ways.len() < CANDIDATE_LIMIT && !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        match (value, &shape.members, shape.items) {
            (Value::Object(object), Some(members), _) => {
                let listed = members.iter().collect::<Vec<_>>();
                ways.extend(self.say_object(object, &listed));
            }
            (Value::Array(list), _, Some(items)) => ways.extend(self.say_array(list, items)),
            (Value::Object(members), None, _) if !members.is_empty() => {}
            (Value::Array(list), _, None) if !list.is_empty() => {}
            _ if shape.branches.is_empty() => ways.push(value.clone()),
            _ => {}
        }
        ways
    }

    fn say_object(
        &self,
        object: &Map<String, Value>,
        members: &[(&String, &Member)],
    ) -> Vec<Value> {
        if object.keys().any(|key| !members.iter().any(|(declared, _)| *declared == key)) {
            return Vec::new();
        }
        let mut ways = vec![Map::new()];
        for (key, member) in members {
            let said = match object.get(*key) {
                Some(value) => self.say(value, member.shape, 0),
                None if member.presence == Presence::NullIfAbsent
                    && self.can_say_absent(member) =>
                {
                    vec![Value::Null]
                }
                None if matches!(
                    member.presence,
                    Presence::Optional | Presence::OptionalOrNull
                ) =>
                {
                    continue;
                }
                None => return Vec::new(),
            };
            ways = extended(&ways, &said, |way: &mut Map<String, Value>, value| {
                way.insert((*key).clone(), value);
            });
        }
        ways.into_iter().map(Value::Object).collect()
    }

    fn say_array(&self, list: &[Value], items: ShapeId) -> Vec<Value> {
        let mut ways = vec![Vec::new()];
        for item in list {
            ways = extended(&ways, &self.say(item, items, 0), Vec::push);
        }
        ways.into_iter().map(Value::Array).collect()
    }

    fn can_say_absent(&self, member: &Member) -> bool {
        !self.narrowings.iter().any(|narrowing| {
            narrowing.unsayable == Unsayable::Absence && narrowing.pointer == member.pointer
        })
    }
}

/// Returns every way extended by every value, within the limit.
fn extended<W: Clone>(ways: &[W], values: &[Value], extend: impl Fn(&mut W, Value)) -> Vec<W> {
    let pairs = ways.iter().flat_map(|way| values.iter().map(move |value| (way, value)));
    pairs
        .take(CANDIDATE_LIMIT)
        .map(|(way, value)| {
            let mut longer = way.clone();
            extend(&mut longer, value.clone());
            longer
        })
        .collect()
}
