//! The environment of commands, servers and hooks: the user's, without the user's secrets.

use std::ffi::{OsStr, OsString};

/// Names that end like this hold secrets.
const SECRET_ENDINGS: [&str; 10] =
    ["_AUTH", "_DSN", "_HEADERS", "_KEY", "_KEY_ID", "_PASS", "_PAT", "_PWD", "_TOKEN", "_TOKENS"];

/// Names that contain this hold secrets, or say where they are.
const SECRET_PARTS: [&str; 10] = [
    "ACCESS_KEY",
    "APIKEY",
    "API_KEY",
    "AUTH_TOKEN",
    "CREDENTIAL",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PRIVATE_KEY",
    "SECRET",
];

/// Names that are secrets as they are.
const SECRET_NAMES: [&str; 3] = ["AUTHORIZATION", "PGPASSFILE", "TOKEN"];

/// Values that begin like this are keys, whatever the name says.
const SECRET_SHAPES: [&str; 12] = [
    "sk-",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AIza",
    "-----BEGIN",
];

/// The shell's own, in spite of their endings.
const KEPT: [&str; 2] = ["PWD", "OLDPWD"];

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
    let name = name.to_string_lossy().to_ascii_uppercase();
    let value = value.to_string_lossy();
    if KEPT.contains(&name.as_str()) {
        return false;
    }
    SECRET_NAMES.contains(&name.as_str())
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || SECRET_PARTS.iter().any(|part| name.contains(part))
        || SECRET_SHAPES.iter().any(|shape| value.starts_with(shape))
        || (!name.ends_with("_PROXY") && has_password(&value))
}

/// Claims that a value is a URL with a password, such as a database's.
fn has_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}
