//! Events in which the arguments of calls stay as they are written.
//!
//! A number must not change on its way through a float, a repeated key must not vanish, and what no
//! machine type holds is for the judge to refuse: arguments are what the model said, not the format.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Error, Map, Value};

/// Parses an event; members called `arguments` are text, whatever they hold, unless they are `null`.
pub(super) fn parse(data: &str, arguments: &'static str) -> Result<Value, Error> {
    let mut json = serde_json::Deserializer::from_str(data);
    let value = Event { arguments }.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Reads one value of an event.
#[derive(Clone, Copy)]
struct Event {
    /// What arguments are called.
    arguments: &'static str,
}

impl<'de> DeserializeSeed<'de> for Event {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Event {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = if key == self.arguments {
                text(members.next_value()?).map_err(A::Error::custom)?
            } else {
                members.next_value_seed(self)?
            };
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// Returns arguments as text: formats that stream them hold text already.
fn text(written: &RawValue) -> Result<Value, Error> {
    let written = written.get();
    if written == "null" || written.starts_with('"') {
        return serde_json::from_str(written);
    }
    Ok(written.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
            assert_eq!(parse(&event, "args").unwrap(), expected, "{written}");
        }
    }

    #[test]
    fn arguments_that_are_text_are_read_as_text() {
        let event = r#"{"arguments": "{\"n\": 1}", "other": {"arguments": null}}"#;
        let expected = json!({ "arguments": "{\"n\": 1}", "other": { "arguments": null } });
        assert_eq!(parse(event, "arguments").unwrap(), expected);
    }

    #[test]
    fn arguments_may_be_deeper_than_an_event() {
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        let event = format!(r#"{{"args": {deep}}}"#);
        assert_eq!(parse(&event, "args").unwrap(), json!({ "args": deep }));
        assert!(parse(&event, "input").is_err());
    }

    #[test]
    fn what_follows_an_event_is_no_part_of_it() {
        assert!(parse("{} {}", "args").is_err());
    }
}
