//! Contracts that know the Rust type of their answers.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use airtight_core::{Preflight, Refusal};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A contract whose answers are of type `T`; any JSON value unless said otherwise.
///
/// It is cheap to clone, and can be used wherever [`airtight_core::Contract`] is asked for.
///
/// ```
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
/// #[derive(Deserialize, JsonSchema)]
/// struct Review {
///     /// One sentence.
///     summary: String,
///     #[schemars(range(min = 0, max = 10))]
///     score: u8,
/// }
///
/// let contract = airtight::Contract::<Review>::from_type()?;
/// assert_eq!(contract.schema()["required"], serde_json::json!(["summary", "score"]));
/// # Ok::<(), airtight::Refusal>(())
/// ```
pub struct Contract<T = Value> {
    shared: Arc<airtight_core::Contract>,
    answer: PhantomData<fn() -> T>,
}

impl Contract<Value> {
    /// Compiles `schema` strictly, or refuses it with all that is wrong.
    pub fn compile(schema: Value) -> Result<Self, Refusal> {
        airtight_core::Contract::compile(schema).map(Self::from)
    }
}

impl<T: JsonSchema + DeserializeOwned> Contract<T> {
    /// Makes a contract of a type: what conforms can be read as it.
    pub fn from_type() -> Result<Self, Refusal> {
        let mut settings = SchemaSettings::draft2020_12().for_deserialize();
        settings.meta_schema = None;
        let mut schema = settings.into_generator().into_root_schema_for::<T>();
        RecursiveTransform(drop_machine_formats).transform(&mut schema);
        let preflight =
            Preflight::of(schema.to_value(), &airtight_core::contract::Options::default());
        preflight.into_result().map(|contract| Self::wrap(Arc::new(contract)))
    }
}

/// Leaves out `uint8`, `int64`, `double` and the like: no validator checks them, and bounds say it.
fn drop_machine_formats(schema: &mut Schema) {
    let is_machine = |format: &str| {
        ["int", "uint", "float", "double"].iter().any(|kind| format.starts_with(kind))
    };
    if schema.get("format").and_then(Value::as_str).is_some_and(is_machine) {
        schema.remove("format");
    }
}

impl<T> Contract<T> {
    fn wrap(shared: Arc<airtight_core::Contract>) -> Self {
        Self { shared, answer: PhantomData }
    }

    /// Returns the contract as runs share it.
    pub(crate) fn shared(&self) -> Arc<airtight_core::Contract> {
        Arc::clone(&self.shared)
    }
}

impl From<airtight_core::Contract> for Contract<Value> {
    fn from(contract: airtight_core::Contract) -> Self {
        Self::wrap(Arc::new(contract))
    }
}

impl<T> Deref for Contract<T> {
    type Target = airtight_core::Contract;

    fn deref(&self) -> &Self::Target {
        &self.shared
    }
}

impl<T> Clone for Contract<T> {
    fn clone(&self) -> Self {
        Self::wrap(self.shared())
    }
}

impl<T> fmt::Debug for Contract<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Contract").field(&self.shared).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the shape counts")]
    struct Finding {
        /// Where.
        path: String,
        line: Option<u32>,
        severity: Severity,
        related: Vec<Self>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Severity {
        Low,
        High,
    }

    #[test]
    fn types_become_contracts_without_findings() {
        let contract = Contract::<Vec<Finding>>::from_type().unwrap();
        assert!(!contract.schema().to_string().contains("uint32"));
        let accepted = r#"[{"path": "a", "line": null, "severity": "low", "related": []}]"#;
        let document = airtight_core::Document::parse(accepted).unwrap();
        assert!(airtight_core::verdict::check(&contract, &document).is_empty());
        let refused = airtight_core::Document::parse(r#"[{"path": "a"}]"#).unwrap();
        assert!(!airtight_core::verdict::check(&contract, &refused).is_empty());
    }
}
