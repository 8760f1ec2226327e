//! A walk through the workspace that sees what git would.
//!
//! `.gitignore` and `.ignore` hold, also without a repository; `.git` is left out; links are not
//! followed. Names come in order, so that two walks over the same files say the same.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use super::blocking::Stop;
use crate::toolbox::ToolError;
use crate::workspace::{Place, Workspace};

/// How many files and folders one walk looks at.
const ENTRY_LIMIT: usize = 500_000;

/// How deep a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// One folder.
    One,
    /// All below.
    All,
}

/// Returns a name as one line of a listing: what could end the line is spelt out, in quotes, so that
/// no file can pass for several.
pub(super) fn spelt(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    if name.contains(char::is_control) || name.starts_with('"') {
        return format!("{name:?}");
    }
    name.into_owned()
}

/// Something that a walk came across.
#[derive(Debug)]
pub(super) struct Found {
    /// Its path from the root of the workspace.
    pub(super) relative: PathBuf,
    /// What it is, links not followed.
    pub(super) kind: Kind,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, socket or device.
    Special,
}

/// Whether a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Onward {
    Yes,
    /// There is more than can be shown.
    No,
}

/// Shows `visit` everything below `start`, `start` itself if it is a file.
pub(super) fn walk(
    workspace: &Workspace,
    start: &Place,
    depth: Depth,
    stop: &Stop,
    mut visit: impl FnMut(Found) -> Result<Onward, ToolError>,
) -> Result<(), ToolError> {
    let from = workspace.root().join(&start.relative);
    if !has_plain_rules(&from) {
        return Err(ToolError(".gitignore or .ignore there is not a file".to_owned()));
    }
    let mut builder = WalkBuilder::new(&from);
    builder
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .follow_links(false)
        .max_depth((depth == Depth::One).then_some(1))
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git" && has_plain_rules(entry.path()));
    for (count, entry) in builder.build().enumerate() {
        stop.check()?;
        if count > ENTRY_LIMIT {
            return Err(ToolError(format!("more than {ENTRY_LIMIT} files; look at a part")));
        }
        // What cannot be read is not there for the model either.
        let Some(found) = entry.ok().and_then(|entry| found(workspace, &entry)) else { continue };
        if visit(found)? == Onward::No {
            break;
        }
    }
    Ok(())
}

fn found(workspace: &Workspace, entry: &DirEntry) -> Option<Found> {
    let kind = entry.file_type()?;
    let kind = match () {
        () if kind.is_file() => Kind::File,
        () if kind.is_dir() && entry.depth() == 0 => return None,
        () if kind.is_dir() => Kind::Folder,
        () if kind.is_symlink() => Kind::Link,
        () => Kind::Special,
    };
    let relative = entry.path().strip_prefix(workspace.root()).ok()?.to_owned();
    Some(Found { relative, kind })
}

/// Claims that rules in this folder can be read without waiting: a pipe in their place would hold
/// the walk for ever.
fn has_plain_rules(folder: &Path) -> bool {
    [".gitignore", ".ignore"]
        .iter()
        .all(|name| fs::metadata(folder.join(name)).map_or(true, |metadata| metadata.is_file()))
}
