//! The members of a request, and of objects within it: each is taken once, and what is left over was not
//! understood.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::NAME_LIMIT;
use crate::problem::Problem;

/// The members of an object, as they were written: a contract keeps its digits.
#[derive(Debug, Default)]
struct Members {
    named: BTreeMap<String, Box<RawValue>>,
    /// The name of one that is there twice: readers disagree about which one counts.
    twice: Option<String>,
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Members, A::Error> {
                let mut members = Members::default();
                while let Some((name, raw)) = object.next_entry::<String, Box<RawValue>>()? {
                    if members.named.insert(name.clone(), raw).is_some() {
                        members.twice = Some(name);
                    }
                }
                Ok(members)
            }
        }

        json.deserialize_map(Object)
    }
}

impl Members {
    /// Returns the members, each of which is there once; `place` says where they stand.
    fn once(self, place: &str) -> Result<BTreeMap<String, Box<RawValue>>, Problem> {
        let Some(name) = self.twice else { return Ok(self.named) };
        let name: String = name.escape_default().take(NAME_LIMIT).collect();
        Err(Problem::request(format!("`{place}{name}` is there twice: leave one out")))
    }
}

/// The members of a request, or of an object within it.
#[derive(Debug)]
pub(super) struct Fields {
    /// The names of the objects around them, each with a dot behind it.
    place: String,
    members: BTreeMap<String, Box<RawValue>>,
    /// What is left of objects within.
    within: Vec<String>,
}

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
        let members: Members = serde_json::from_slice(bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message = format!("the request is no JSON object: line {line}, column {column}");
            Problem::request(message)
        })?;
        Ok(Self { place: String::new(), members: members.once("")?, within: Vec::new() })
    }

    /// Takes a member that is an object; [`Fields::leave`] tells what is left of it.
    pub(super) fn inner(&mut self, name: &'static str) -> Result<Option<Self>, Problem> {
        let Some(members) = self.take::<Members>(name)? else { return Ok(None) };
        let place = format!("{}{name}.", self.place);
        let members = members.once(&place).map_err(|problem| problem.at(name))?;
        Ok(Some(Self { place, members, within: Vec::new() }))
    }

    /// Counts what is left of an object within as left.
    pub(super) fn leave(&mut self, inner: &Self) {
        self.within.extend(inner.left());
    }

    /// Says that something within a member is not honoured.
    pub(super) fn ignore(&mut self, name: &str) {
        self.within.push(format!("{}{name}", self.place));
    }

    /// Passes over a member that changes nothing about an answer.
    pub(super) fn pass_over(&mut self, name: &'static str) {
        self.members.remove(name);
    }

    /// Takes a member; `null` counts as absent.
    pub(super) fn take<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Problem> {
        let Some(raw) = self.members.remove(name).filter(|raw| raw.get() != "null") else {
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
        let said = self.members.iter().filter(|(_, raw)| raw.get() != "null").map(|(name, _)| name);
        let left = said.filter(|name| !IDLE.contains(&name.as_str()));
        left.map(|name| format!("{}{name}", self.place)).chain(self.within.clone()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_is_there_twice_is_refused_by_name() {
        let told = Fields::read(br#"{"model": "a", "n": 1, "model": "b"}"#).unwrap_err();
        assert_eq!(told.message, "`model` is there twice: leave one out");
        let mut fields = Fields::read(br#"{"text": {"format": {}, "format": {}}}"#).unwrap();
        let told = fields.inner("text").unwrap_err();
        assert_eq!(told.message, "`text.format` is there twice: leave one out");
        assert_eq!(told.parameter, Some("text"));
    }
}
