//! Events as trees that borrow from their text, in which the arguments of calls stay as they are written.
//!
//! Most events are a few words of an answer amid ten members that are looked at once: a map of copies would
//! cost several times what the words do. And a number must not change on its way through a float, a repeated
//! key must not vanish, and what no machine type holds is for the judge to refuse: arguments are what the
//! model said, not the format.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Error, Number, Value};

/// A value of an event.
#[derive(Debug)]
pub(super) enum Tree<'e> {
    Null,
    Boolean(bool),
    Number(Number),
    Text(Cow<'e, str>),
    Array(Vec<Self>),
    /// The members as they were written: of those of one name the last counts.
    Object(Vec<Member<'e>>),
}

/// A member of an object, with its name.
pub(super) type Member<'e> = (Cow<'e, str>, Tree<'e>);

impl<'e> Tree<'e> {
    /// Parses an event; members called `arguments` are text, whatever they hold, unless they are `null`.
    pub(super) fn parse(data: &'e str, arguments: &'static str) -> Result<Self, Error> {
        let mut json = serde_json::Deserializer::from_str(data);
        let tree = Event { arguments }.deserialize(&mut json)?;
        json.end()?;
        Ok(tree)
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(super) fn is_array(&self) -> bool {
        self.as_array().is_some()
    }

    pub(super) fn is_object(&self) -> bool {
        self.as_object().is_some()
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        if let Self::Boolean(flag) = self { Some(*flag) } else { None }
    }

    pub(super) fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(super) fn as_object(&self) -> Option<&[Member<'e>]> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// Returns a copy that can be kept.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Boolean(flag) => Value::Bool(*flag),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::String(text.clone().into_owned()),
            Self::Array(items) => items.iter().map(Self::to_value).collect(),
            Self::Object(members) => {
                let copy = |(name, member): &Member<'_>| (name.to_string(), member.to_value());
                Value::Object(members.iter().map(copy).collect())
            }
        }
    }
}

/// Reads one value of an event.
#[derive(Clone, Copy)]
struct Event {
    /// What arguments are called.
    arguments: &'static str,
}

impl<'de> DeserializeSeed<'de> for Event {
    type Value = Tree<'de>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Tree<'de>, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Event {
    type Value = Tree<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree<'de>, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Tree<'de>, E> {
        Ok(Tree::Boolean(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree<'de>, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree<'de>, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree<'de>, E> {
        Ok(Number::from_f64(number).map_or(Tree::Null, Tree::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(Cow::Borrowed(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree<'de>, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Tree::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree<'de>, A::Error> {
        let mut object = Vec::new();
        while let Some(name) = members.next_key_seed(Name)? {
            let member = if name == self.arguments {
                self.arguments(members.next_value()?).map_err(A::Error::custom)?
            } else {
                members.next_value_seed(self)?
            };
            object.push((name, member));
        }
        Ok(Tree::Object(object))
    }
}

impl Event {
    /// Returns arguments as text: formats that stream them hold text already.
    fn arguments(self, written: &RawValue) -> Result<Tree<'_>, Error> {
        let written = written.get();
        if written == "null" || written.starts_with('"') {
            return self.deserialize(&mut serde_json::Deserializer::from_str(written));
        }
        Ok(Tree::Text(Cow::Borrowed(written)))
    }
}

/// Reads the name of a member.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(data: &str, arguments: &'static str) -> Result<Value, Error> {
        Tree::parse(data, arguments).map(|tree| tree.to_value())
    }

    #[test]
    fn a_copy_is_what_anybody_else_reads() {
        let event = r#"{"a": [null, true, -1, 18446744073709551615, 1.5e3, "\u00e9\n", {}], "b\t": "x", "a": 2}"#;
        assert_eq!(value(event, "args").unwrap(), serde_json::from_str::<Value>(event).unwrap());
    }

    #[test]
    fn arguments_are_kept_as_they_are_written() {
        for written in [
            r#"{"n": 1e400}"#,
            r#"{"n": 0.10, "n": 12345678901234567890123}"#,
            r#"{"text": "\ud800"}"#,
            r#"{"args": [1, 2.50]}"#,
            "17",
        ] {
            let event = format!(r#"{{"parts": [{{"args": {written}, "n": 1.5}}]}}"#);
            let expected = json!({ "parts": [{ "args": written, "n": 1.5 }] });
            assert_eq!(value(&event, "args").unwrap(), expected, "{written}");
        }
    }

    #[test]
    fn arguments_that_are_text_are_read_as_text() {
        let event = r#"{"arguments": "{\"n\": 1}", "other": {"arguments": null}}"#;
        let expected = json!({ "arguments": "{\"n\": 1}", "other": { "arguments": null } });
        assert_eq!(value(event, "arguments").unwrap(), expected);
    }

    #[test]
    fn arguments_may_be_deeper_than_an_event() {
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        let event = format!(r#"{{"args": {deep}}}"#);
        assert_eq!(value(&event, "args").unwrap(), json!({ "args": deep }));
        assert!(value(&event, "input").is_err());
    }

    #[test]
    fn what_follows_an_event_is_no_part_of_it() {
        assert!(value("{} {}", "args").is_err());
    }
}
