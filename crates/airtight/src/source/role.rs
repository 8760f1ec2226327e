//! Contracts of roles: a schema with instructions, examples and a policy of its own, in `NAME.toml`.
//!
//! Everything that such a file names is in its own folder: a repository must not have us read other
//! files to a model.

use std::path::{Component, Path, PathBuf};

use airtight_core::contract::Version;
use serde_json::Value as Json;

use super::older::{self, Older};
use crate::config::{Contents, Entry, Own, Owner, read_file};
use crate::error::{Error, Outcome};
use crate::file;

/// The longest instructions: about as much as models can heed.
const PROMPT_LIMIT_BYTES: usize = 1024 * 1024;

/// The contract of a role.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Role {
    /// What people call it.
    pub(crate) name: String,
    /// The file that says all this.
    pub(crate) path: PathBuf,
    /// The file of the schema.
    pub(crate) schema: PathBuf,
    pub(crate) version: Option<Version>,
    /// Standing instructions of the role.
    pub(crate) prompt: Option<String>,
    /// The file that they are in, if they have one of their own.
    pub(crate) prompt_file: Option<PathBuf>,
    /// The folder of worked examples.
    pub(crate) examples: Option<PathBuf>,
    /// The versions before it whose answers are taken, too.
    pub(crate) older: Vec<Older>,
    /// Which model, and the policy.
    pub(crate) entries: Vec<Entry>,
}

impl Role {
    /// Reads the contract `name` from `path`.
    pub(crate) fn read(path: &Path, name: &str) -> Result<Self, Error> {
        let contents = read_file(path, Owner::Contract)?;
        let own = |name: &str| contents.own.iter().find(|own| own.name == name);
        Ok(Self {
            name: name.to_owned(),
            path: path.to_owned(),
            schema: beside(path, own("schema").unwrap_or(&usual_schema(name)))?,
            version: own("version").map(|own| version(path, own)).transpose()?,
            older: older::read(path, own("accepts"), own("carry"))?,
            prompt: prompt(path, own("prompt"), own("prompt_file"))?,
            prompt_file: own("prompt_file").map(|own| beside(path, own)).transpose()?,
            examples: own("examples").map(|own| beside(path, own)).transpose()?,
            entries: contents.entries,
        })
    }

    /// Returns where the schema of a role is that was stored with these `contents`, and its version.
    pub(crate) fn stored(
        path: &Path,
        name: &str,
        contents: &Contents,
    ) -> Result<(PathBuf, Option<Version>), Error> {
        let own = |name: &str| contents.own.iter().find(|own| own.name == name);
        let usual = usual_schema(name);
        let schema = named_beside(path, own("schema").unwrap_or(&usual))?;
        Ok((schema, own("version").map(|own| version(path, own)).transpose()?))
    }

    /// Returns the folder that must be trusted for it to count fully: the root of its git repository,
    /// without one its own.
    pub(crate) fn home(&self) -> &Path {
        let folder = self.path.parent().unwrap_or(&self.path);
        let root = folder.ancestors().find(|folder| folder.join(".git").exists());
        root.unwrap_or(folder)
    }
}

/// Says where the schema of a role is if its file does not.
fn usual_schema(name: &str) -> Own {
    Own {
        name: "schema",
        text: format!("{name}.json"),
        list: Vec::new(),
        value: Json::Null,
        line: 1,
    }
}

/// Returns where the file or folder that is named would be, in the folder of `path`.
fn named_beside(path: &Path, own: &Own) -> Result<PathBuf, Error> {
    let folder = path.parent().unwrap_or(path);
    let named = Path::new(&own.text);
    let stays = named.components().all(|part| matches!(part, Component::Normal(_)));
    if !stays || own.text.is_empty() {
        return Err(refuse(path, own, "must be beside it, or in a folder beside it"));
    }
    Ok(folder.join(named))
}

/// Returns the file or folder that is named, which must be in the folder of `path`.
pub(super) fn beside(path: &Path, own: &Own) -> Result<PathBuf, Error> {
    let folder = path.parent().unwrap_or(path);
    let unreadable = |error| refuse(path, own, &format!("`{}`", own.text)).caused_by(error);
    let found = named_beside(path, own)?.canonicalize().map_err(unreadable)?;
    let folder = folder.canonicalize().map_err(unreadable)?;
    if !found.starts_with(folder) {
        return Err(refuse(path, own, "leads out of the folder of the contract"));
    }
    Ok(found)
}

fn version(path: &Path, own: &Own) -> Result<Version, Error> {
    Version::parse(&own.text)
        .map_err(|_| refuse(path, own, "is no semantic version such as `1.4.0`"))
}

fn prompt(path: &Path, inline: Option<&Own>, file: Option<&Own>) -> Result<Option<String>, Error> {
    let own = match (inline, file) {
        (Some(_), Some(file)) => return Err(refuse(path, file, "stands beside `prompt`")),
        (inline, None) => return Ok(inline.map(|own| own.text.clone())),
        (None, Some(file)) => file,
    };
    let bytes = file::read(&beside(path, own)?, PROMPT_LIMIT_BYTES)
        .map_err(|error| refuse(path, own, "cannot be read").caused_by(error))?;
    let text = String::from_utf8(bytes).map_err(|_| refuse(path, own, "is not UTF-8"))?;
    Ok(Some(text.trim().to_owned()))
}

pub(super) fn refuse(path: &Path, own: &Own, what: &str) -> Error {
    let place = format!("{}:{}", path.display(), own.line);
    Error::new(Outcome::Contract, format!("{place}: `{}` {what}", own.name))
}
