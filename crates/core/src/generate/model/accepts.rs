//! Which values are of a type: what generated code must agree with.

use serde_json::Value;

use super::{Bound, Edge, Form, Id, Integer, Model, Number, Object, Presence, Rest, Text, Type};

impl Model {
    /// Claims that the root accepts `value`; patterns are not looked at.
    pub(in crate::generate) fn accepts(&self, value: &Value) -> bool {
        self.is_of(value, &Type::Named(Id::ROOT))
    }

    fn is_of(&self, value: &Value, of: &Type) -> bool {
        match of {
            Type::Any => true,
            Type::Null => value.is_null(),
            Type::Boolean => value.is_boolean(),
            Type::Integer => is_whole(value),
            Type::Number => value.is_number(),
            Type::Text => value.is_string(),
            Type::List(items) => {
                value.as_array().is_some_and(|list| list.iter().all(|it| self.is_of(it, items)))
            }
            Type::Map(values) => {
                value.as_object().is_some_and(|map| map.values().all(|it| self.is_of(it, values)))
            }
            Type::Nullable(inner) => value.is_null() || self.is_of(value, inner),
            Type::Named(id) => self.has_form(value, &self.get(*id).unwrap().form),
        }
    }

    fn has_form(&self, value: &Value, form: &Form) -> bool {
        match form {
            Form::Alias(of) => self.is_of(value, of),
            Form::Words(words) => {
                value.as_str().is_some_and(|it| words.iter().any(|word| word == it))
            }
            Form::Flag(flag) => value.as_bool() == Some(*flag),
            Form::Text(text) => value.as_str().is_some_and(|it| fits(it, text)),
            Form::Integer(integer) => is_whole(value) && is_within(value, integer),
            Form::Number(number) => value.as_f64().is_some_and(|it| is_between(it, number)),
            Form::List(list) => value.as_array().is_some_and(|items| {
                let count = items.len() as u64;
                count >= list.min
                    && list.max.is_none_or(|max| count <= max)
                    && items.iter().all(|it| self.is_of(it, &list.items))
            }),
            Form::Tuple(types) => value.as_array().is_some_and(|items| {
                items.len() == types.len()
                    && items.iter().zip(types).all(|(it, of)| self.is_of(it, of))
            }),
            Form::Object(object) => self.has_members(value, object),
            Form::Union(union) => union.variants.iter().any(|it| self.is_of(value, &it.of)),
        }
    }

    fn has_members(&self, value: &Value, object: &Object) -> bool {
        let Some(found) = value.as_object() else { return false };
        let is_complete = object.members.iter().all(|member| match found.get(&member.key) {
            Some(it) => self.is_of(it, &member.of),
            None => member.presence == Presence::Optional,
        });
        let known = |key: &String| object.members.iter().any(|member| member.key == *key);
        is_complete
            && found.iter().filter(|(key, _)| !known(key)).all(|(_, it)| match &object.rest {
                Rest::Closed => false,
                Rest::Open => true,
                Rest::Typed(of) => self.is_of(it, of),
            })
    }
}

fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
}

fn fits(value: &str, text: &Text) -> bool {
    let count = value.chars().count() as u64;
    count >= text.min && text.max.is_none_or(|max| count <= max)
}

fn is_within(value: &Value, integer: &Integer) -> bool {
    let Some(value) = value.as_f64() else { return false };
    #[expect(clippy::cast_precision_loss, reason = "tests use small numbers")]
    let float = |it: i64| it as f64;
    #[expect(clippy::float_cmp, reason = "both are whole")]
    let is_same = |it: &i64| float(*it) == value;
    integer.min.is_none_or(|min| value >= float(min))
        && integer.max.is_none_or(|max| value <= float(max))
        && integer.multiples.iter().all(|it| value % float(*it) == 0.0)
        && (integer.allowed.is_empty() || integer.allowed.iter().any(is_same))
}

fn is_between(value: f64, number: &Number) -> bool {
    let from = |bound: Bound| match bound.edge {
        Edge::Inclusive => value >= bound.value,
        Edge::Exclusive => value > bound.value,
    };
    let to = |bound: Bound| match bound.edge {
        Edge::Inclusive => value <= bound.value,
        Edge::Exclusive => value < bound.value,
    };
    number.min.is_none_or(from)
        && number.max.is_none_or(to)
        && (number.allowed.is_empty() || number.allowed.contains(&value))
}
