//! Contract arguments: inline JSON, `@path`, `-`, a name in a contracts folder, or a plain path.
//!
//! A name, or a path, may be that of a role's contract, whose TOML file names the schema.
//!
//! What a file holds never shows in an error about reading or parsing it; what was typed may.

mod older;
mod role;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use airtight_core::Origin;
use airtight_core::contract::{Identity, SOURCE_LIMIT_BYTES};

use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file::{self, FileError};
pub(crate) use older::Older;
pub(crate) use role::Role;

/// Folders that hold contracts, below the launch directory; the user's own is in the configuration.
const FOLDERS: [&str; 2] = ["contracts", "schemas"];

/// How the files of contracts end, that of a role first: it names the other.
const ENDINGS: [&str; 2] = ["toml", "json"];

/// The roles whose contracts come with the source of this program.
const SHIPPED: [&str; 3] = ["blog-writer", "context-file-writer", "strategy-writer"];

/// Where a contract comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ContractSource {
    /// The argument is the contract.
    Inline(String),
    /// A file.
    File {
        /// As people know it.
        label: String,
        /// Resolved against the launch directory.
        path: PathBuf,
    },
    /// A file in a contracts folder.
    Named {
        /// The file's name without its ending.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// The contract of a role.
    Role(Box<Role>),
    /// Standard input.
    Stdin,
    /// As it was stored at another time.
    Stored {
        /// As people know it.
        label: String,
        /// What was in the file.
        text: Vec<u8>,
        /// What it was called.
        identity: Identity,
    },
}

impl ContractSource {
    /// Decides what `argument` means.
    pub(crate) fn find(
        argument: &str,
        folder: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, Error> {
        let typed = argument.trim();
        if typed.is_empty() {
            return Err(refused("contract cannot be empty")
                .hint("give inline JSON, `@path`, `-`, or the name of a contract"));
        }
        if typed == "-" {
            return Ok(Self::Stdin);
        }
        if typed.starts_with(['{', '[', '"']) || matches!(typed, "true" | "false" | "null") {
            return Ok(Self::Inline(typed.to_owned()));
        }
        if let Some(path) = argument.strip_prefix('@') {
            return Self::file(path, environment);
        }
        let folders = folders(folder, environment);
        if let Some(path) = named(argument, &folders) {
            if is_role(&path) {
                return Role::read(&path, argument).map(Box::new).map(Self::Role);
            }
            return Ok(Self::Named { name: argument.to_owned(), path });
        }
        if looks_like_path(argument) || environment.resolve(argument).exists() {
            return Self::file(argument, environment);
        }
        Err(unknown(argument, &folders))
    }

    /// Returns the names of all contracts that can be found by their names.
    pub(crate) fn names(environment: &Environment) -> Vec<String> {
        known_names(&folders(None, environment))
    }

    fn file(typed: &str, environment: &Environment) -> Result<Self, Error> {
        let path = environment.resolve(typed);
        if !is_role(&path) {
            return Ok(Self::File { label: typed.to_owned(), path });
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Role::read(&path, &name).map(Box::new).map(Self::Role)
    }

    /// Returns the role that it is the contract of.
    pub(crate) fn role(&self) -> Option<&Role> {
        let Self::Role(role) = self else { return None };
        Some(role)
    }

    /// Returns the name for this contract in messages.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::Inline(_) => "(inline)",
            Self::File { label: name, .. }
            | Self::Named { name, .. }
            | Self::Stored { label: name, .. } => name,
            Self::Role(role) => &role.name,
            Self::Stdin => "(stdin)",
        }
    }

    /// Returns a name for a contract that has none: that of its file.
    pub(crate) fn file_stem(&self) -> String {
        let stem = match self {
            Self::File { path, .. } | Self::Named { path, .. } => path.file_stem(),
            Self::Role(role) => Some(OsStr::new(&role.name)),
            Self::Inline(_) | Self::Stdin | Self::Stored { .. } => None,
        };
        stem.map_or_else(|| "contract".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    /// Returns the files that it was read from.
    pub(crate) fn paths(&self) -> Vec<&Path> {
        match self {
            Self::File { path, .. } | Self::Named { path, .. } => vec![path],
            Self::Role(role) => vec![&role.path, &role.schema],
            Self::Inline(_) | Self::Stdin | Self::Stored { .. } => Vec::new(),
        }
    }

    /// Returns what the contract is called where it was found.
    pub(crate) fn identity(&self) -> Identity {
        match self {
            Self::Named { name, .. } => Identity { name: Some(name.clone()), version: None },
            Self::Role(role) => {
                Identity { name: Some(role.name.clone()), version: role.version.clone() }
            }
            Self::Stored { identity, .. } => identity.clone(),
            Self::Inline(_) | Self::File { .. } | Self::Stdin => Identity::default(),
        }
    }

    /// Says what an error may repeat of the contract.
    pub(crate) fn origin(&self) -> Origin {
        match self {
            Self::Inline(_) => Origin::Inline,
            Self::File { .. }
            | Self::Named { .. }
            | Self::Role(_)
            | Self::Stdin
            | Self::Stored { .. } => Origin::File,
        }
    }

    /// Reads the contract's text.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Error> {
        let bytes = match self {
            Self::Inline(text) => Ok(text.clone().into_bytes()),
            Self::Stored { text, .. } => Ok(text.clone()),
            Self::File { path, .. } | Self::Named { path, .. } => {
                file::read(path, SOURCE_LIMIT_BYTES)
            }
            Self::Role(role) => file::read(&role.schema, SOURCE_LIMIT_BYTES),
            Self::Stdin => file::read_within(io::stdin().lock(), SOURCE_LIMIT_BYTES),
        };
        bytes.map_err(|error| self.unreadable(error))
    }

    /// Says that the contract cannot be read.
    pub(crate) fn unreadable(&self, error: FileError) -> Error {
        let hint = match self {
            Self::File { label, path } => error.neighbour(label, path),
            Self::Inline(_)
            | Self::Named { .. }
            | Self::Role(_)
            | Self::Stdin
            | Self::Stored { .. } => None,
        };
        let message = format!("could not read contract: `{}`", self.label());
        hint.into_iter().fold(refused(message).caused_by(error), Error::hint)
    }
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(Outcome::Contract, message)
}

fn looks_like_path(argument: &str) -> bool {
    argument.contains(['/', '\\']) || argument.starts_with('~') || has_ending(Path::new(argument))
}

fn has_ending(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ENDINGS.iter().any(|ending| extension == *ending))
}

fn is_role(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("toml"))
}

fn folders(folder: Option<&Path>, environment: &Environment) -> Vec<PathBuf> {
    let given = folder.map(|folder| environment.launch_directory().join(folder));
    let usual = FOLDERS.map(|name| environment.launch_directory().join(name));
    let own = environment.config_folder().map(|folder| folder.join("contracts"));
    given.into_iter().chain(usual).chain(own).collect()
}

/// Returns the file of the contract called `name`; a name never leads out of its folder.
fn named(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return None;
    }
    let files = |folder: &PathBuf| ENDINGS.map(|ending| folder.join(format!("{name}.{ending}")));
    folders.iter().flat_map(files).find(|path| path.is_file())
}

fn unknown(name: &str, folders: &[PathBuf]) -> Error {
    let known = known_names(folders);
    let hint = if known.is_empty() {
        format!("put it in `contracts/{name}.json`, or give a path: `@{name}.json`")
    } else {
        format!("known contracts: {}", known.join(", "))
    };
    let error = refused(format!("no contract of this name: `{name}`")).hint(hint);
    match folders.last() {
        Some(own) if SHIPPED.contains(&name) => error.hint(format!(
            "it is in `contracts` of the source of airtight: copy that folder here, or to `{}`",
            own.display()
        )),
        Some(_) | None => error,
    }
}

fn known_names(folders: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = folders
        .iter()
        .filter_map(|folder| folder.read_dir().ok())
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            has_ending(&path).then(|| path.file_stem()?.to_str().map(str::to_owned)).flatten()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(argument: &str) -> Result<ContractSource, Error> {
        ContractSource::find(argument, None, &Environment::default())
    }

    #[test]
    fn json_is_inline_and_a_dash_is_stdin() {
        assert_eq!(find(" {} ").unwrap(), ContractSource::Inline("{}".to_owned()));
        assert_eq!(find("[]").unwrap(), ContractSource::Inline("[]".to_owned()));
        assert_eq!(find("-").unwrap(), ContractSource::Stdin);
    }

    #[test]
    fn an_at_sign_always_means_a_file() {
        let file = ContractSource::File { label: "{}".to_owned(), path: "{}".into() };
        assert_eq!(find("@{}").unwrap(), file);
    }

    #[test]
    fn blank_arguments_are_refused() {
        for blank in ["", " ", "\n\t"] {
            assert_eq!(find(blank).unwrap_err().to_string(), "contract cannot be empty");
        }
    }

    #[test]
    fn names_never_lead_out_of_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("contracts")).unwrap();
        std::fs::write(folder.path().join("secret.json"), "{}").unwrap();
        let folders = [folder.path().join("contracts")];
        assert_eq!(named("../secret", &folders), None);
        assert_eq!(named("secret", &folders), None);
        assert!(named("secret", &[folder.path().to_owned()]).is_some());
    }
}
