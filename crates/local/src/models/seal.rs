//! A note beside weights that they were found to be what they should be, and of which file that was
//! said: a checksum of a gigabyte takes seconds, and a file that nobody touched is the same still.
//!
//! What changes bytes of a file without a trace (a disk that fails) is found by `airtight doctor`,
//! which counts them all.

use std::fs::{self, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The longest note that is read: five numbers.
const LIMIT_BYTES: u64 = 256;

/// The place of a note.
pub(super) struct Seal {
    path: PathBuf,
}

/// What tells a file from one that was changed: also by who sets its time back.
#[derive(Debug)]
pub(super) struct Trace {
    numbers: String,
    /// When something was done to it, in seconds and nanoseconds.
    changed_at: (i64, i64),
}

impl Trace {
    /// Looks at a file, if it is there.
    pub(super) fn of(file: &Path) -> Option<Self> {
        fs::metadata(file).ok().map(|about| Self::read(&about))
    }

    fn read(about: &Metadata) -> Self {
        let changed_at = (about.ctime(), about.ctime_nsec());
        let numbers = [about.mtime(), about.mtime_nsec(), changed_at.0, changed_at.1];
        let numbers = numbers.map(|number| number.to_string()).join(" ");
        Self { numbers: format!("{} {numbers}", about.len()), changed_at }
    }
}

impl Seal {
    /// Names the note about the weights that are called `name`.
    pub(super) fn in_folder(folder: &Path, name: &str) -> Self {
        Self { path: folder.join(format!("{name}.sound")) }
    }

    /// Claims that the note is about a file with this trace, and later than it: clocks of files tick
    /// slowly, and what is done within one tick leaves no trace.
    pub(super) fn is_about(&self, trace: &Trace, sha256: &str) -> bool {
        let mut text = String::new();
        let is_later = |about: Metadata| {
            about.is_file() && (about.mtime(), about.mtime_nsec()) > trace.changed_at
        };
        let counts = fs::symlink_metadata(&self.path).is_ok_and(is_later);
        let opened = counts.then(|| fs::File::open(&self.path).ok()).flatten();
        let read = opened.map(|file| file.take(LIMIT_BYTES).read_to_string(&mut text));
        matches!(read, Some(Ok(_))) && text == line(trace, sha256)
    }

    /// Notes that the file with this trace has this checksum. Where that cannot be noted, it is counted
    /// again.
    pub(super) fn set(&self, trace: &Trace, sha256: &str) {
        let whole = self.path.with_extension("sound.new");
        let written = fs::write(&whole, line(trace, sha256));
        drop(written.and_then(|()| fs::rename(&whole, &self.path)));
    }

    /// Takes the note away.
    pub(super) fn remove(&self) {
        drop(fs::remove_file(&self.path));
    }
}

fn line(trace: &Trace, sha256: &str) -> String {
    format!("{} {sha256}\n", trace.numbers)
}
