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

/// Hides the environment and memory of this process from other programs of the same user.
///
/// Without it every command could read in `/proc` what was taken from its own environment. Programs
/// that are started get their own, so nothing else changes for them. Whoever may trace any process,
/// such as root, still can, and there will be no core dump.
pub fn hide_process() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}

fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
    let is_proxy = name.to_ascii_uppercase().ends_with("_PROXY");
    names_secret(&name) || (!is_proxy && holds_secret(&value))
}
