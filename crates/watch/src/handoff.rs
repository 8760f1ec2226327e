//! The handoff file of older prompts, on disk.
//!
//! Whether a session wrote it is not a matter of time: the clocks of a file system and of a ledger are two.
//! One that could not be deleted before the session is known by what the file system says of it.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use airtight_core::watch::{HANDOFF_LIMIT_BYTES, HandoffFile};

/// What a file is known by, as long as nobody writes to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trace {
    inode: u64,
    changed: (i64, i64),
    length: u64,
}

impl Trace {
    fn of(metadata: &Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            length: metadata.len(),
        }
    }
}

/// Deletes a handoff; what cannot be deleted is found to be stale by its trace.
pub(crate) fn delete(handoff: Option<&Path>) {
    let Some(path) = handoff else { return };
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(%error, path = %path.display(), "a handoff is not deleted"),
    }
}

/// Returns the trace of a handoff that is there before a session.
pub(crate) fn trace(handoff: Option<&Path>) -> Option<Trace> {
    fs::metadata(handoff?).ok().as_ref().map(Trace::of)
}

/// Reads the handoff after a session; `before` is what was there before it.
pub(crate) fn read(handoff: Option<&Path>, before: Option<&Trace>) -> HandoffFile {
    let Some(path) = handoff else { return HandoffFile::Absent };
    match try_read(path, before) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => HandoffFile::Absent,
        Err(error) => HandoffFile::Unreadable(error.to_string()),
    }
}

fn try_read(path: &Path, before: Option<&Trace>) -> io::Result<HandoffFile> {
    let metadata = fs::metadata(path)?;
    if before == Some(&Trace::of(&metadata)) {
        return Ok(HandoffFile::Stale);
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let limit = u64::try_from(HANDOFF_LIMIT_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(HandoffFile::Present { bytes })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    /// CO-76, S2: whatever time a file claims, it is stale if it was there before.
    #[test]
    fn co_76_a_handoff_is_stale_by_itself_and_not_by_a_clock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("handoff.json");
        assert_eq!(read(Some(&path), None), HandoffFile::Absent);
        fs::write(&path, "{}").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        // Of a clock that is an hour ahead.
        let ahead = SystemTime::UNIX_EPOCH + Duration::from_hours(1_000_000);
        file.set_modified(ahead).unwrap();
        let before = trace(Some(&path));
        assert_eq!(read(Some(&path), before.as_ref()), HandoffFile::Stale);
        let of_session = HandoffFile::Present { bytes: b"{\"a\":1}".to_vec() };
        fs::write(&path, "{\"a\":1}").unwrap();
        // And one that is long past.
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(read(Some(&path), before.as_ref()), of_session);
        delete(Some(&path));
        assert_eq!(read(Some(&path), before.as_ref()), HandoffFile::Absent);
    }

    #[test]
    fn a_folder_is_no_handoff_and_stays_stale() {
        let folder = tempfile::tempdir().unwrap();
        delete(Some(folder.path()));
        let unreadable = HandoffFile::Unreadable("it is no regular file".to_owned());
        assert_eq!(read(Some(folder.path()), None), unreadable);
        let before = trace(Some(folder.path()));
        assert_eq!(read(Some(folder.path()), before.as_ref()), HandoffFile::Stale);
    }
}
