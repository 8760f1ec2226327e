//! The members of a request: each is taken once, and what is left over was not understood.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::problem::Problem;

/// The members of a request, as they were written: a contract keeps its digits.
#[derive(Debug)]
pub(super) struct Fields(BTreeMap<String, Box<RawValue>>);

/// Members that change nothing about an answer, so that nobody need be told that they are not used.
const IDLE: [&str; 11] = [
    "metadata",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "stream_options",
    "truncation",
    "user",
    "include",
];

impl Fields {
    /// Reads a JSON object.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Problem> {
        serde_json::from_slice(bytes).map(Self).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message = format!("the request is no JSON object: line {line}, column {column}");
            Problem::request(message)
        })
    }

    /// Takes a member; `null` counts as absent.
    pub(super) fn take<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Problem> {
        let Some(raw) = self.0.remove(name).filter(|raw| raw.get() != "null") else {
            return Ok(None);
        };
        read(&raw)
            .map(Some)
            .map_err(|error| Problem::request(format!("`{name}` cannot be read: {error}")).at(name))
    }

    /// Takes a member that must be there.
    pub(super) fn need<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<T, Problem> {
        let missing = || Problem::request(format!("`{name}` is missing")).at(name);
        self.take(name)?.ok_or_else(missing)
    }

    /// Returns the names of what is left and would have changed the answer.
    pub(super) fn left(&self) -> Vec<String> {
        let said = self.0.iter().filter(|(_, raw)| raw.get() != "null").map(|(name, _)| name);
        said.filter(|name| !IDLE.contains(&name.as_str())).cloned().collect()
    }
}

/// Reads what was written, and says what is wrong with it without quoting it.
pub(super) fn read<T: DeserializeOwned>(raw: &RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| {
        let told = error.to_string();
        // Behind the place, which counts from the beginning of the member.
        told.split(" at line ").next().unwrap_or_default().to_owned()
    })
}
