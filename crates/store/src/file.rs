//! The files of a ledger on SQLite.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::StoreError;
use crate::settings::Access;

/// How often the files are looked at before the log is called lost, and the pause in between: other
/// processes may be making or deleting them.
const LOOKS: (u32, Duration) = (5, Duration::from_millis(20));

/// Notices a log that somebody deleted, and the last runs with it.
///
/// SQLite makes the log before its index and deletes it after, so an index that stays alone means
/// that somebody else deleted the log.
pub(crate) async fn check_log(path: &Path) -> Result<(), StoreError> {
    let (wal, shm) = (beside(path, "-wal"), beside(path, "-shm"));
    for _ in 0..LOOKS.0 {
        if !shm.exists() || wal.exists() {
            return Ok(());
        }
        tokio::time::sleep(LOOKS.1).await;
    }
    let [wal, shm] = [wal, shm].map(|path| path.display().to_string());
    Err(StoreError::LogMissing { wal, shm })
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the file and its folder if they are missing, for the eyes of their owner alone.
pub(crate) fn make(path: &Path, access: Access) -> Result<(), StoreError> {
    let place = || path.display().to_string();
    // A folder or a pipe would be opened, and fail like a disk.
    if let Ok(there) = path.metadata() {
        return match (there.is_file(), access) {
            (false, _) => Err(StoreError::NotAFile { place: place() }),
            // SQLite would make a database of it, which whoever only reads may not.
            (true, Access::Read) if there.len() == 0 => Err(StoreError::Empty { place: place() }),
            (true, Access::Read | Access::Write) => Ok(()),
        };
    }
    if access == Access::Read {
        return Err(StoreError::NotFound { what: "file", name: place() });
    }
    let failed =
        |source: io::Error| StoreError::CannotOpen { place: place(), source: Arc::new(source) };
    let mut file = OpenOptions::new();
    file.write(true).create(true).truncate(false);
    let mut folder = DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        file.mode(0o600);
        folder.mode(0o700);
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        folder.create(parent).map_err(failed)?;
    }
    file.open(path).map_err(failed).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_may_become_a_ledger_and_is_none_to_readers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty.db");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(make(&path, Access::Read), Err(StoreError::Empty { .. })));
        assert!(make(&path, Access::Write).is_ok());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    }
}
