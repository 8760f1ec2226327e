//! Texts that are on record as they were said: JSON with all its digits, bytes that may be no text.

use airtight_store::Shown;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{Object, OneOfBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// JSON that is on record as text: itself, with all its digits; what is no JSON is a string.
#[derive(Debug)]
pub(crate) struct Json(Box<RawValue>);

impl Json {
    pub(crate) fn of(text: String) -> Self {
        let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
        let json = if is_json { text } else { serde_json::Value::from(text).to_string() };
        Self(RawValue::from_string(json).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl PartialSchema for Json {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::AnyValue)
            .description(Some("Any JSON value."))
            .into()
    }
}

impl ToSchema for Json {}

/// What was said: text, or an object with the base64 of bytes that are no text.
#[derive(Debug)]
pub(crate) struct Said(pub(crate) Vec<u8>);

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown(Some(&self.0)).serialize(serializer)
    }
}

impl PartialSchema for Said {
    fn schema() -> RefOr<Schema> {
        let text = Object::with_type(Type::String);
        let coded = ObjectBuilder::new()
            .schema_type(Type::Object)
            .property("base64", Object::with_type(Type::String))
            .required("base64");
        OneOfBuilder::new().item(text).item(coded).into()
    }
}

impl ToSchema for Said {}
