//! A contract as git has it at another revision.
//!
//! `git cat-file` prints what is stored and runs nothing that a repository could name: no filters, no
//! pagers, no fetches.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use airtight_core::contract::{Identity, SOURCE_LIMIT_BYTES};

use crate::config::{Owner, read_text};
use crate::error::{Error, Outcome};
use crate::file::{self, FileError};
use crate::source::{ContractSource, Role};

/// How long git may take: it reads one file.
const PATIENCE: Duration = Duration::from_secs(20);

/// How much is read of what git complains about.
const COMPLAINT_LIMIT_BYTES: u64 = 4096;

/// Returns the contract `source` as it was at `revision`.
pub(super) fn at(revision: &str, source: &ContractSource) -> Result<ContractSource, Error> {
    let is_odd = |character: char| character.is_control() || character == ':';
    if revision.is_empty() || revision.starts_with('-') || revision.contains(is_odd) {
        let message = format!("this is no revision: `{revision}`");
        return Err(Error::new(Outcome::Usage, message)
            .hint("name a branch, a tag or a commit, such as `main` or `HEAD~1`"));
    }
    let label = format!("{} at {revision}", source.label());
    match source {
        ContractSource::File { path, .. } | ContractSource::Named { path, .. } => {
            let identity = source.identity();
            let text = shown(revision, path)?;
            Ok(ContractSource::Stored { label, text, identity })
        }
        ContractSource::Role(role) => stored_role(revision, role, label),
        ContractSource::Inline(_) | ContractSource::Stdin | ContractSource::Stored { .. } => {
            Err(Error::new(Outcome::Usage, "`--rev` needs a contract that is in a file")
                .hint("name a path or the name of a contract"))
        }
    }
}

/// Reads a role as it was: its file says where its schema was, and its version.
fn stored_role(revision: &str, role: &Role, label: String) -> Result<ContractSource, Error> {
    let contents = read_text(&role.path, Owner::Contract, shown(revision, &role.path)?)?;
    let (schema, version) = Role::stored(&role.path, &role.name, &contents)?;
    let identity = Identity { name: Some(role.name.clone()), version };
    let text = shown(revision, &schema)?;
    Ok(ContractSource::Stored { label, text, identity })
}

/// Returns what was in the file `path` at `revision`.
fn shown(revision: &str, path: &Path) -> Result<Vec<u8>, Error> {
    let folder = path.parent().unwrap_or(path);
    let name = path.file_name().unwrap_or_else(|| OsStr::new(""));
    let mut object = std::ffi::OsString::from(format!("{revision}:./"));
    object.push(name);
    let refused = |what: &str| {
        let message = format!("git has no `{}` at `{revision}`: {what}", path.display());
        Error::new(Outcome::Input, message)
    };
    let child = Command::new("git")
        .args(["cat-file", "blob"])
        .arg(object)
        .current_dir(folder)
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            Error::new(Outcome::Input, "git could not be started")
                .caused_by(error)
                .hint("`--rev` asks git; without it, name both contracts")
        })?;
    let (text, complaint) = read(child).map_err(|error| refused(&error.to_string()))?;
    if let Some(complaint) = complaint {
        return Err(refused(complaint.lines().next().unwrap_or("it does not say why"))
            .hint("see `git log -- FILE` for the revisions that have it"));
    }
    Ok(text)
}

/// Reads what a child says until it ends, within bounds; returns its complaint if it fails.
fn read(mut child: Child) -> Result<(Vec<u8>, Option<String>), FileError> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let text = stdout.map_or(Ok(Vec::new()), |it| file::read_within(it, SOURCE_LIMIT_BYTES));
        let mut complaint = Vec::new();
        if let Some(stderr) = stderr {
            drop(stderr.take(COMPLAINT_LIMIT_BYTES).read_to_end(&mut complaint));
        }
        drop(sender.send((text, complaint)));
    });
    let said = receiver.recv_timeout(PATIENCE);
    if said.is_err() {
        drop(child.kill());
    }
    let status = match &said {
        // It may have more to say than is read.
        Ok((Err(_), _)) | Err(_) => {
            drop(child.kill());
            child.wait()?
        }
        Ok(_) => child.wait()?,
    };
    let (text, complaint) = said.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?;
    let complaint = String::from_utf8_lossy(&complaint).into_owned();
    Ok((text?, (!status.success()).then_some(complaint)))
}
