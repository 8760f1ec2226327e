//! The environment of commands, servers and hooks: the user's, without the user's secrets.

use std::ffi::{OsStr, OsString};

use airtight_core::redact::{holds_secret, names_secret};

/// Variables for commands.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
}

impl Environment {
    /// Takes all variables that hold no secrets.
    ///
    /// Proxies are kept as they are: without them commands have no network in many places.
    pub fn without_secrets(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let variables =
            variables.into_iter().filter(|(name, value)| !is_secret(name, value)).collect();
        Self { variables }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
    let is_proxy = name.to_ascii_uppercase().ends_with("_PROXY");
    names_secret(&name) || (!is_proxy && holds_secret(&value))
}
