//! Files that change as a whole or not at all.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::{PathError, Place, Workspace, regular};

/// The permission bits that a rewritten file keeps; set-user-id and its kin are not among them.
const KEPT_MODE: u32 = 0o777;

/// How often a free temporary name is looked for.
const NAME_ATTEMPTS: u32 = 16;

/// Whether a file was there before it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is new.
    Created,
    /// It was there.
    Replaced,
}

/// A file as it was when it was read.
#[derive(Debug)]
pub(crate) struct Existing {
    place: Place,
    stat: Stat,
    /// What it holds.
    pub(crate) bytes: Vec<u8>,
}

impl Existing {
    /// Returns the path for people.
    pub(crate) fn shown(&self) -> String {
        self.place.shown()
    }

    /// Replaces what it holds, unless somebody else did meanwhile.
    pub(crate) fn replace(&self, bytes: &[u8]) -> Result<(), PathError> {
        let name = self.place.name.as_deref().ok_or(PathError::IsAFolder)?;
        let now = statat(&self.place.parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if !same_file(&self.stat, &now) {
            return Err(PathError::Changed);
        }
        put(self.place.parent.as_fd(), name, bytes, Some(self.stat.st_mode & KEPT_MODE))
    }
}

impl Workspace {
    /// Reads a file that is to be changed; `None` if it holds more than `limit_bytes`.
    pub(crate) fn read_whole(
        &self,
        given: &str,
        limit_bytes: u64,
    ) -> Result<Option<Existing>, PathError> {
        let place = self.find(given)?;
        place.writable()?;
        let file = place.open_file()?;
        let stat = fstat(&file)?;
        let mut bytes = Vec::new();
        let _: usize = file.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit_bytes {
            return Ok(None);
        }
        Ok(Some(Existing { place, stat, bytes }))
    }

    /// Writes a whole file, making the folders it needs; what was there is replaced at once.
    pub(crate) fn write(&self, given: &str, bytes: &[u8]) -> Result<(Written, Place), PathError> {
        let place = self.find(given)?;
        place.writable()?;
        if let Some((name, folders)) = place.missing.split_last() {
            let parent = make_folders(place.parent.as_fd(), folders)?;
            put(parent.as_fd(), name, bytes, None)?;
            return Ok((Written::Created, place));
        }
        let name = place.name.as_deref().ok_or(PathError::IsAFolder)?;
        let stat = statat(&place.parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        regular(FileType::from_raw_mode(stat.st_mode))?;
        put(place.parent.as_fd(), name, bytes, Some(stat.st_mode & KEPT_MODE))?;
        Ok((Written::Replaced, place))
    }
}

fn same_file(before: &Stat, now: &Stat) -> bool {
    let key =
        |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
    key(before) == key(now)
}

/// Makes folders one inside the other and returns a handle of the last.
fn make_folders(start: BorrowedFd<'_>, names: &[std::ffi::OsString]) -> Result<OwnedFd, PathError> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let mut here = start.try_clone_to_owned()?;
    for name in names {
        match mkdirat(&here, name.as_os_str(), Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        here = openat(&here, name.as_os_str(), flags, Mode::empty())?;
    }
    Ok(here)
}

/// Writes beside `name`, then renames over it: a reader sees the old file or the new one.
fn put(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    bytes: &[u8],
    mode: Option<u32>,
) -> Result<(), PathError> {
    let (temporary, file) = create_temporary(folder)?;
    let written = fill(file, bytes, mode)
        .and_then(|()| renameat(folder, temporary.as_str(), folder, name).map_err(PathError::from));
    if written.is_err() {
        // Already failing: that it could not be tidied up too would only hide why.
        let _ = unlinkat(folder, temporary.as_str(), AtFlags::empty());
    }
    written
}

fn fill(mut file: File, bytes: &[u8], mode: Option<u32>) -> Result<(), PathError> {
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        fchmod(&file, Mode::from_raw_mode(mode))?;
    }
    file.sync_data()?;
    Ok(())
}

fn create_temporary(folder: BorrowedFd<'_>) -> Result<(String, File), PathError> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..NAME_ATTEMPTS {
        let name = format!(".airtight-{:016x}.tmp", fastrand::u64(..));
        match openat(folder, name.as_str(), flags, Mode::from_raw_mode(0o666)) {
            Ok(handle) => return Ok((name, File::from(handle))),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(Errno::EXIST.into())
}
