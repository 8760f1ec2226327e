//! Files named by people: opened without blocking, read within a limit, never quoted in an error.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Why a file cannot be used. Says nothing of what is in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The system refuses.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// It is a directory.
    #[error("must be a regular file, is a directory")]
    Directory,
    /// It is a pipe, a socket or a device.
    #[error("must be a regular file, is a pipe, socket or device")]
    NotRegular,
    /// It holds more than is read.
    #[error("over the limit of {limit} bytes")]
    TooLarge {
        /// How many bytes are read at most.
        limit: usize,
    },
}

/// Opens a regular file.
///
/// It is looked at before it is opened, so that a device is never touched, and again afterwards,
/// since it may have been replaced in between; opening does not wait for a pipe's writer.
pub(crate) fn open(path: &Path) -> Result<File, FileError> {
    require_regular(&std::fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, FileError> {
    let file = open(path)?;
    if file.metadata()?.len() > limit as u64 {
        return Err(FileError::TooLarge { limit });
    }
    read_within(file, limit)
}

/// Reads everything `reader` has, unless that is more than `limit` bytes.
pub(crate) fn read_within(reader: impl Read, limit: usize) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(FileError::TooLarge { limit });
    }
    Ok(bytes)
}

fn require_regular(metadata: &std::fs::Metadata) -> Result<(), FileError> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    Err(if kind.is_dir() { FileError::Directory } else { FileError::NotRegular })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_inclusive() {
        assert_eq!(read_within(&b"1234"[..], 4).unwrap(), b"1234");
        assert!(matches!(read_within(&b"12345"[..], 4), Err(FileError::TooLarge { limit: 4 })));
    }

    #[test]
    fn endless_readers_are_given_up_at_the_limit() {
        assert!(matches!(
            read_within(io::repeat(0), 1024),
            Err(FileError::TooLarge { limit: 1024 })
        ));
    }
}
