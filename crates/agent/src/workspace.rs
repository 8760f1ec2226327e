//! The one folder that tools may touch.
//!
//! A path is walked one name at a time from a handle of the root, never following a link that the
//! kernel would follow for us: links are read and walked like the rest, `..` goes back to the
//! handle it came from. Nothing is opened by a whole path, so that a folder or file that is swapped
//! for a link between check and use is refused, not followed.
//!
//! Left out: hard links (a file is where it is named), bind mounts below the root, and the order in
//! which names are listed by [`Workspace::root`] walks, which may show names (never content) of a
//! folder that is swapped for a link meanwhile.

mod error;
mod walk;
mod write;

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};

pub use error::{PathError, WorkspaceError};
pub(crate) use write::Written;

use walk::Walk;

/// Longer paths are no paths: Linux takes none over this either.
const PATH_LIMIT_BYTES: usize = 4096;

/// What no tool writes: each of these makes a program outside of the sandbox run something.
const PROTECTED: [&str; 3] = [".git", "airtight.toml", ".mcp.json"];

/// The folder that tools are confined to.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    spelt: PathBuf,
    handle: OwnedFd,
}

/// Where a path leads.
#[derive(Debug)]
pub(crate) struct Place {
    /// The path from the root, without links; empty for the root itself.
    pub(crate) relative: PathBuf,
    parent: OwnedFd,
    /// The last name, unless it is the root or its folders are missing.
    name: Option<std::ffi::OsString>,
    /// The names that do not exist yet, last name included.
    missing: Vec<std::ffi::OsString>,
}

impl Workspace {
    /// Opens a workspace at an existing folder.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let spelt = root.as_ref().to_owned();
        let open = || -> std::io::Result<Self> {
            let root = spelt.canonicalize()?;
            let handle = rustix::fs::open(
                &root,
                OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY,
                Mode::empty(),
            )?;
            Ok(Self { root, spelt: spelt.clone(), handle })
        };
        open().map_err(|source| WorkspaceError { path: spelt.clone(), source })
    }

    /// Returns the folder, links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Finds where `given` leads, whether or not there is something.
    pub(crate) fn find(&self, given: &str) -> Result<Place, PathError> {
        let names = self.names(given)?;
        Walk::new(self, names).run()
    }

    /// Returns the path of `given` from the root, links resolved; as given if it cannot be.
    ///
    /// For permission patterns: `..` and links must not disguise a path.
    pub(crate) fn subject(&self, given: &str) -> String {
        self.find(given).map_or_else(|_| given.to_owned(), |place| place.shown())
    }

    /// Opens a regular file for reading.
    pub(crate) fn open_file(&self, given: &str) -> Result<(File, Place), PathError> {
        let place = self.find(given)?;
        let file = place.open_file()?;
        Ok((file, place))
    }

    /// Finds an existing folder.
    pub(crate) fn folder(&self, given: &str) -> Result<Place, PathError> {
        let place = self.find(given)?;
        if place.kind()? != FileType::Directory {
            return Err(PathError::NotAFolder);
        }
        Ok(place)
    }

    /// Opens a regular file by a path from the root, as a listing of the workspace gave it.
    pub(crate) fn open_listed(&self, relative: &Path) -> Result<File, PathError> {
        self.find(relative.to_str().ok_or(PathError::Malformed)?)?.open_file()
    }

    /// Splits what the model wrote into names below the root.
    fn names(&self, given: &str) -> Result<Vec<std::ffi::OsString>, PathError> {
        if given.is_empty() || given.len() > PATH_LIMIT_BYTES || given.contains('\0') {
            return Err(PathError::Malformed);
        }
        self.below_root(Path::new(given))
    }

    /// Returns the names of `path` below the root; an absolute path must begin with the root.
    fn below_root(&self, path: &Path) -> Result<Vec<std::ffi::OsString>, PathError> {
        let below = if path.is_absolute() {
            path.strip_prefix(&self.root)
                .or_else(|_| path.strip_prefix(&self.spelt))
                .map_err(|_| PathError::Outside)?
        } else {
            path
        };
        Ok(below
            .components()
            .filter(|component| !matches!(component, Component::CurDir))
            .map(|component| component.as_os_str().to_owned())
            .collect())
    }
}

impl Place {
    /// Returns the path for people and patterns; the root is `.`.
    pub(crate) fn shown(&self) -> String {
        if self.relative.as_os_str().is_empty() {
            return ".".to_owned();
        }
        self.relative.to_string_lossy().into_owned()
    }

    /// Refuses a path at which there is nothing.
    pub(crate) fn exists(&self) -> Result<(), PathError> {
        self.kind().map(drop)
    }

    /// Returns what is there.
    fn kind(&self) -> Result<FileType, PathError> {
        if !self.missing.is_empty() {
            return Err(PathError::NotFound);
        }
        let Some(name) = &self.name else { return Ok(FileType::Directory) };
        let stat = statat(&self.parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    /// Opens it for reading if it is a regular file, before and after opening.
    fn open_file(&self) -> Result<File, PathError> {
        regular(self.kind()?)?;
        let name = self.name.as_deref().ok_or(PathError::IsAFolder)?;
        // A pipe that takes the file's place in between must not make the open wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = openat(&self.parent, name, flags | OFlags::NOCTTY, Mode::empty())?;
        regular(FileType::from_raw_mode(fstat(&handle)?.st_mode))?;
        Ok(File::from(handle))
    }

    /// Refuses what makes other programs run something.
    fn writable(&self) -> Result<(), PathError> {
        let protected = |name: &OsStr| PROTECTED.iter().any(|it| name.eq_ignore_ascii_case(it));
        if self.relative.iter().any(protected) {
            return Err(PathError::Protected);
        }
        Ok(())
    }
}

/// Refuses all but regular files.
fn regular(kind: FileType) -> Result<(), PathError> {
    match kind {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(PathError::IsAFolder),
        FileType::Symlink => Err(PathError::Swapped),
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Err(PathError::Special),
    }
}

#[cfg(test)]
mod tests;
