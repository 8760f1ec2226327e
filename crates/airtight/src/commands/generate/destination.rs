//! Where generated text goes: a file that is replaced as a whole, or compared.

use std::io;
use std::path::{Path, PathBuf};

use airtight_core::generate::Target;

use crate::commands::shell_word;
use crate::error::{Error, Outcome};
use crate::file::{self, FileError};
use crate::source::ContractSource;

/// How much of a file is read to compare it: more than is ever generated.
const FILE_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Where text goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// This file.
    File(PathBuf),
    /// A file in this folder, by the name of the contract.
    Folder(PathBuf),
}

impl Destination {
    /// Decides what `path` means for so many contracts.
    pub(super) fn find(path: &Path, contracts: usize) -> Result<Self, Error> {
        if path.is_dir() {
            return Ok(Self::Folder(path.to_owned()));
        }
        let is_meant = contracts > 1 || path.to_string_lossy().ends_with('/');
        if is_meant {
            let message = format!("there is no such folder: `{}`", path.display());
            let hint = format!("run `mkdir -p {}`", shell_word(&path.to_string_lossy()));
            return Err(Error::new(Outcome::Usage, message).hint(hint));
        }
        Ok(Self::File(path.to_owned()))
    }

    /// Returns the file for the contract called `name`.
    pub(super) fn path(&self, target: Target, name: &str) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Folder(folder) => folder.join(target.file_name(name)),
        }
    }
}

/// Whether a file is what would be written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Staleness {
    Current,
    Missing,
    /// The first line that is not the same, from 1.
    Differs {
        line: usize,
    },
}

/// Compares a file with what would be written.
pub(super) fn compare(path: &Path, text: &[u8]) -> Result<Staleness, Error> {
    let found = match file::read(path, FILE_LIMIT_BYTES) {
        Ok(found) => found,
        Err(FileError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Staleness::Missing);
        }
        Err(error) => {
            let message = format!("could not read `{}`", path.display());
            return Err(Error::new(Outcome::Input, message).caused_by(error));
        }
    };
    if found == text {
        return Ok(Staleness::Current);
    }
    let same = found.iter().zip(text).take_while(|(left, right)| left == right);
    let line = 1 + same.filter(|(byte, _)| **byte == b'\n').count();
    Ok(Staleness::Differs { line })
}

/// Refuses to write over the contract itself.
pub(super) fn refuse_input(path: &Path, source: &ContractSource) -> Result<(), Error> {
    let is_same = |read: &Path| {
        let (Ok(read), Ok(written)) = (read.canonicalize(), path.canonicalize()) else {
            return false;
        };
        read == written
    };
    if source.paths().into_iter().any(is_same) {
        let message = format!("the contract itself would be written over: `{}`", path.display());
        return Err(Error::new(Outcome::Usage, message).hint("name another file by `--output`"));
    }
    Ok(())
}

/// Puts `text` in its place as a whole; a file that has it already stays as it is.
pub(super) fn write(path: &Path, text: &[u8]) -> Result<(), Error> {
    match compare(path, text) {
        Ok(Staleness::Current) => Ok(()),
        Ok(Staleness::Missing | Staleness::Differs { .. }) => {
            // A link keeps pointing where it points.
            let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            file::replace(&place, text).map_err(|error| unwritable(path, error))
        }
        Err(error) => {
            Err(error.hint("name a regular file, or leave `--output` out and redirect stdout"))
        }
    }
}

fn unwritable(path: &Path, error: io::Error) -> Error {
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    let written = Error::new(Outcome::Machine, format!("could not write `{}`", path.display()));
    let written = written.caused_by(error);
    match path.parent() {
        Some(folder) if is_missing => {
            written.hint(format!("run `mkdir -p {}`", shell_word(&folder.to_string_lossy())))
        }
        _ => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_current_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rs");
        write(&path, b"a\nb\n").unwrap();
        let before = path.metadata().unwrap().modified().unwrap();
        write(&path, b"a\nb\n").unwrap();
        assert_eq!(path.metadata().unwrap().modified().unwrap(), before);
        assert_eq!(compare(&path, b"a\nb\n").unwrap(), Staleness::Current);
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn the_first_line_that_differs_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rs");
        assert_eq!(compare(&path, b"").unwrap(), Staleness::Missing);
        write(&path, b"a\nb\nc").unwrap();
        assert_eq!(compare(&path, b"a\nb\nd").unwrap(), Staleness::Differs { line: 3 });
        assert_eq!(compare(&path, b"a\nb").unwrap(), Staleness::Differs { line: 2 });
    }

    #[test]
    fn what_is_no_regular_file_is_left_alone() {
        assert_eq!(write(Path::new("/dev/null"), b"x").unwrap_err().kind, Outcome::Input);
    }
}
