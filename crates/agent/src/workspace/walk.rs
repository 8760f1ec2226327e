//! From what the model wrote to a handle of the folder that holds it.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

use super::{PathError, Place, Workspace};

/// As many links as Linux follows in one path.
const LINK_LIMIT: u32 = 40;

/// A walk from the root.
pub(super) struct Walk<'w> {
    workspace: &'w Workspace,
    /// The names still to go, the next one last.
    ahead: Vec<OsString>,
    /// The folders below the root that were entered.
    behind: Vec<(OwnedFd, OsString)>,
    links: u32,
}

impl<'w> Walk<'w> {
    pub(super) fn new(workspace: &'w Workspace, mut names: Vec<OsString>) -> Self {
        names.reverse();
        Self { workspace, ahead: names, behind: Vec::new(), links: 0 }
    }

    /// Goes to the end.
    pub(super) fn run(mut self) -> Result<Place, PathError> {
        while let Some(name) = self.ahead.pop() {
            if name == OsStr::new("..") {
                self.behind.pop().ok_or(PathError::Outside)?;
                continue;
            }
            match readlinkat(self.here(), name.as_os_str(), Vec::new()) {
                Ok(target) => self.follow(Path::new(OsStr::from_bytes(target.as_bytes())))?,
                Err(Errno::NOENT) => return self.missing(name),
                // Not a link.
                Err(Errno::INVAL) if self.ahead.is_empty() => return self.arrive(Some(name)),
                Err(Errno::INVAL) => self.enter(name)?,
                Err(errno) => return Err(errno.into()),
            }
        }
        self.arrive_at_folder()
    }

    /// The folder that the next name is looked up in.
    fn here(&self) -> BorrowedFd<'_> {
        self.behind.last().map_or(self.workspace.handle.as_fd(), |(handle, _)| handle.as_fd())
    }

    fn enter(&mut self, name: OsString) -> Result<(), PathError> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let handle = openat(self.here(), name.as_os_str(), flags, Mode::empty())?;
        self.behind.push((handle, name));
        Ok(())
    }

    fn follow(&mut self, target: &Path) -> Result<(), PathError> {
        self.links += 1;
        if self.links > LINK_LIMIT {
            return Err(PathError::Links);
        }
        if target.is_absolute() {
            self.behind.clear();
        }
        let names = self.workspace.below_root(target)?;
        self.ahead.extend(names.into_iter().rev());
        Ok(())
    }

    /// Ends at a name that does not exist; what follows it must be plain names.
    fn missing(mut self, name: OsString) -> Result<Place, PathError> {
        let mut missing = vec![name];
        missing.extend(std::mem::take(&mut self.ahead).into_iter().rev());
        if missing.iter().any(|name| name == OsStr::new("..")) {
            return Err(PathError::NotFound);
        }
        let place = self.arrive(None)?;
        let relative = missing.iter().fold(place.relative.clone(), |path, name| path.join(name));
        Ok(Place { relative, missing, ..place })
    }

    /// Ends at a folder that was entered, or at the root.
    fn arrive_at_folder(mut self) -> Result<Place, PathError> {
        match self.behind.pop() {
            Some((_, name)) => self.arrive(Some(name)),
            None => self.arrive(None),
        }
    }

    fn arrive(self, name: Option<OsString>) -> Result<Place, PathError> {
        let mut relative: PathBuf = self.behind.iter().map(|(_, name)| name).collect();
        relative.extend(&name);
        let parent = self.here().try_clone_to_owned()?;
        Ok(Place { relative, parent, name, missing: Vec::new() })
    }
}
