//! Why a path is refused. No message holds more than the model already said: not where a link
//! leads, not what a file holds.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

/// A folder that cannot be a workspace.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {} as the workspace", path.display())]
pub struct WorkspaceError {
    /// The folder.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Why a path is refused.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Empty, too long, or with a NUL.
    #[error("is not a path: it is empty, longer than 4096 bytes, or holds a NUL")]
    Malformed,
    /// It leads out of the workspace.
    #[error("leads out of the workspace; use a path inside it")]
    Outside,
    /// Nothing is there.
    #[error("does not exist (paths are relative to the workspace; ~ is not expanded)")]
    NotFound,
    /// A folder is there instead of a file.
    #[error("is a folder, not a file")]
    IsAFolder,
    /// Something else is there instead of a folder.
    #[error("is not a folder")]
    NotAFolder,
    /// A pipe, socket or device is there.
    #[error("is a pipe, socket or device, which no tool opens")]
    Special,
    /// Links that lead to each other.
    #[error("goes through too many links")]
    Links,
    /// It became a link while it was opened.
    #[error("was replaced while it was opened; try again")]
    Swapped,
    /// It makes other programs run something.
    #[error("is protected: it configures programs outside of the workspace's limits")]
    Protected,
    /// The file is not what it was when it was read.
    #[error("was changed by somebody else meanwhile; read it again")]
    Changed,
    /// The system refused.
    #[error("cannot be used: {0}")]
    Io(#[source] io::Error),
}

impl From<Errno> for PathError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR => Self::NotAFolder,
            Errno::ISDIR => Self::IsAFolder,
            // `O_NOFOLLOW` met a link that was no link when it was looked at.
            Errno::LOOP | Errno::MLINK => Self::Swapped,
            Errno::NXIO => Self::Special,
            Errno::NAMETOOLONG => Self::Malformed,
            other => Self::Io(other.into()),
        }
    }
}

impl From<io::Error> for PathError {
    fn from(error: io::Error) -> Self {
        error
            .raw_os_error()
            .map_or_else(|| Self::Io(error), |code| Self::from(Errno::from_raw_os_error(code)))
    }
}
