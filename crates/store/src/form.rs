//! The form in which bytes are stored and shown: as text where they are text, else in base64.
//!
//! PostgreSQL's TEXT takes neither NUL nor invalid UTF-8, and what a model said must come back byte
//! for byte.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::StoreError;

/// What TEXT can hold of `bytes`.
pub(crate) enum Form {
    /// The bytes themselves.
    Text(String),
    /// Their base64.
    Base64(String),
}

impl Form {
    pub(crate) fn of(bytes: Cow<'_, [u8]>) -> Self {
        if bytes.contains(&0) {
            return Self::Base64(STANDARD.encode(bytes));
        }
        match String::from_utf8(bytes.into_owned()) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Base64(STANDARD.encode(error.as_bytes())),
        }
    }
}

/// Collects the columns of one row, and which of them are in base64.
#[derive(Default)]
pub(crate) struct Packed {
    coded: Vec<&'static str>,
}

impl Packed {
    /// Returns what the column `name` is to hold.
    pub(crate) fn column(
        &mut self,
        name: &'static str,
        bytes: Option<Cow<'_, [u8]>>,
    ) -> Option<String> {
        match Form::of(bytes?) {
            Form::Text(text) => Some(text),
            Form::Base64(text) => {
                self.coded.push(name);
                Some(text)
            }
        }
    }

    /// Returns the names of the columns in base64.
    pub(crate) fn coded(&self) -> String {
        self.coded.join(" ")
    }
}

/// Returns the bytes of the column `name` in a row whose columns `coded` are in base64.
pub(crate) fn unpack(
    name: &str,
    text: Option<String>,
    coded: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(text) = text else { return Ok(None) };
    if !coded.split(' ').any(|column| column == name) {
        return Ok(Some(text.into_bytes()));
    }
    STANDARD.decode(text).map(Some).map_err(|_| StoreError::Damaged { what: "base64" })
}

/// Bytes in JSON: a string, or an object that says that it is base64.
#[derive(Debug)]
pub struct Shown<'b>(pub Option<&'b [u8]>);

#[derive(Serialize)]
struct Coded {
    base64: String,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.map(|bytes| (bytes, str::from_utf8(bytes))) {
            None => serializer.serialize_none(),
            Some((_, Ok(text))) => serializer.serialize_str(text),
            Some((bytes, Err(_))) => Coded { base64: STANDARD.encode(bytes) }.serialize(serializer),
        }
    }
}

/// A stored JSON text in JSON: itself, with all its digits; what is no JSON is a string.
pub(crate) struct Json<'t>(pub(crate) Option<&'t str>);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(text) = self.0 else { return serializer.serialize_none() };
        match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => raw.serialize(serializer),
            Err(_) => serializer.serialize_str(text),
        }
    }
}

#[expect(clippy::ref_option, reason = "serde's `serialize_with` passes the field by reference")]
pub(crate) fn serialize_bytes<S: Serializer>(
    bytes: &Option<Vec<u8>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Shown(bytes.as_deref()).serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde's `serialize_with` passes the field by reference")]
pub(crate) fn serialize_json<S: Serializer>(
    text: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Json(text.as_deref()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_come_back_as_they_went(bytes: Vec<u8>) {
            let mut packed = Packed::default();
            let column = packed.column("output", Some(Cow::Borrowed(&bytes)));
            prop_assert!(!column.as_ref().unwrap().contains('\0'));
            prop_assert_eq!(unpack("output", column, &packed.coded()).unwrap(), Some(bytes));
        }
    }

    #[test]
    fn numbers_are_shown_with_all_their_digits() {
        let shown = serde_json::to_string(&Json(Some("[1e400,12345678901234567890123]"))).unwrap();
        assert_eq!(shown, "[1e400,12345678901234567890123]");
        assert_eq!(serde_json::to_string(&Json(Some("{"))).unwrap(), r#""{""#);
    }

    #[test]
    fn bytes_that_are_no_text_say_so() {
        assert_eq!(serde_json::to_string(&Shown(Some(b"\xff"))).unwrap(), r#"{"base64":"/w=="}"#);
        assert_eq!(serde_json::to_string(&Shown(Some(b"a\0"))).unwrap(), r#""a\u0000""#);
    }
}
