//! Versions that programs said they have, kept in the data folder: `gemini --version` takes four seconds,
//! and nobody wants to wait for it twice.
//!
//! An answer counts for the same path, size and time of change, and for a day: a launcher may lead to
//! another program tomorrow, and is the same file still. What cannot be read or written is not there.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::env::Environment;
use crate::file;

/// What the file is called, in the data folder.
const FILE: &str = "versions.json";

/// The version of its shape; a file of another one is not read.
const SHAPE: u32 = 1;

/// The largest file that is read: a program takes a hundred bytes of it.
const LIMIT_BYTES: usize = 64 * 1024;

/// How many programs are remembered, the latest first: there are five, in a few places each.
const REMEMBERED: usize = 32;

/// How long an answer counts.
const LIFETIME: Duration = Duration::from_hours(24);

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    schema_version: u32,
    programs: Vec<Known>,
}

/// What a program said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    /// Which file said it.
    mark: Mark,
    /// When, in seconds since 1970.
    asked_at: u64,
    version: String,
}

/// What tells a file from its next version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    path: PathBuf,
    size: u64,
    modified_ns: u64,
}

impl Mark {
    /// Looks at a file; nothing if it has no time of change.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let about = std::fs::metadata(path).ok()?;
        let modified = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let modified_ns = u64::try_from(modified.as_nanos()).ok()?;
        Some(Self { path: path.to_owned(), size: about.len(), modified_ns })
    }
}

/// What programs said before.
#[derive(Debug)]
pub(super) struct Versions {
    folder: Option<PathBuf>,
    known: Vec<Known>,
    now: u64,
}

impl Versions {
    /// Reads what is kept.
    pub(super) fn load(environment: &Environment, now: SystemTime) -> Self {
        let folder = environment.data_folder();
        let path = folder.as_ref().map(|folder| folder.join(FILE));
        let bytes = path.and_then(|path| file::read(&path, LIMIT_BYTES).ok());
        let kept = bytes.and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        let kept = kept.filter(|kept| kept.schema_version == SHAPE).unwrap_or_default();
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Self { folder, known: kept.programs, now }
    }

    /// Returns what the file said, if that still counts.
    pub(super) fn of(&self, mark: &Mark) -> Option<String> {
        let counts = |known: &&Known| {
            let age = self.now.checked_sub(known.asked_at);
            known.mark == *mark && age.is_some_and(|age| age < LIFETIME.as_secs())
        };
        self.known.iter().find(counts).map(|known| known.version.clone())
    }

    /// Keeps what files said just now, beside what was said before.
    pub(super) fn keep(mut self, said: Vec<(Mark, String)>) {
        if said.is_empty() {
            return;
        }
        self.known.retain(|known| said.iter().all(|(mark, _)| mark.path != known.mark.path));
        let asked_at = self.now;
        let new = said.into_iter().map(|(mark, version)| Known { mark, asked_at, version });
        let programs: Vec<Known> = new.chain(self.known).take(REMEMBERED).collect();
        let kept = Kept { schema_version: SHAPE, programs };
        let (Some(folder), Ok(json)) = (self.folder, serde_json::to_vec(&kept)) else { return };
        // Where nothing can be kept, the program is asked again.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        drop(made.and_then(|()| file::replace(&folder.join(FILE), &json)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_for_the_same_file_and_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let variables = [("XDG_DATA_HOME", data.to_str().unwrap())];
        let environment = Environment::of(folder.path(), &variables);
        let at = |hours: u64| UNIX_EPOCH + Duration::from_hours(1_000 + hours);
        let program = folder.path().join("codex");
        std::fs::write(&program, "one").unwrap();
        let mark = Mark::of(&program).unwrap();
        let known = |mark: &Mark, hours| Versions::load(&environment, at(hours)).of(mark);
        assert_eq!(known(&mark, 0), None);
        Versions::load(&environment, at(0)).keep(vec![(mark.clone(), "0.170.1".to_owned())]);
        assert_eq!(known(&mark, 23).as_deref(), Some("0.170.1"));
        assert_eq!(known(&mark, 24), None);
        let moved = Mark { path: folder.path().join("other"), ..mark.clone() };
        let touched = Mark { modified_ns: mark.modified_ns + 1, ..mark.clone() };
        let grown = Mark { size: mark.size + 1, ..mark.clone() };
        for other in [moved, touched, grown] {
            assert_eq!(known(&other, 0), None, "{other:?}");
        }
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_shape_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let variables = [("XDG_DATA_HOME", folder.path().to_str().unwrap())];
        let environment = Environment::of(folder.path(), &variables);
        let path = environment.data_folder().unwrap().join(FILE);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        for text in ["", "{", r#"{"schema_version":2,"programs":[]}"#, "[]"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Versions::load(&environment, UNIX_EPOCH).known, []);
        }
    }
}
