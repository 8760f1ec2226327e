//! A file of results: written beside its place, and put there as a whole.
//!
//! Whatever kills the process, the file is either as it was or holds all that the batch came to: the
//! ledger has every result, so that the next process can write it anew.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Outcome};
use crate::printer::Printer;

/// Where lines go.
pub(super) enum Sheet<'p> {
    /// A file that is put in its place at the end.
    File { path: PathBuf, partial: PathBuf, out: BufWriter<File> },
    /// A pipe or a device, which cannot be replaced.
    Device { path: PathBuf, out: BufWriter<File> },
    /// Stdout.
    Printer(&'p mut Printer),
    /// Nowhere.
    Nowhere,
}

impl Sheet<'_> {
    /// Begins the file that is to be at `path`. Two processes cannot write the same.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let unwritable = |error| unwritable(path, error);
        if is_stream(path) {
            // Behind `/dev/stdout` may be a file with lines of others, which stay.
            let out = OpenOptions::new().append(true).open(path).map_err(unwritable)?;
            return Ok(Self::Device { path: path.to_owned(), out: BufWriter::new(out) });
        }
        // A link keeps pointing where it points.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let partial = partial(&path);
        let file = claim(&path, &partial)?;
        file.set_len(0).map_err(unwritable)?;
        Ok(Self::File { path, partial, out: BufWriter::with_capacity(256 * 1024, file) })
    }

    /// Writes a line.
    pub(super) fn line(&mut self, line: &str) -> Result<(), Error> {
        match self {
            Self::File { path, out, .. } | Self::Device { path, out } => {
                let written = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n"));
                written.map_err(|error| unwritable(path, error))
            }
            Self::Printer(printer) => printer.json(line),
            Self::Nowhere => Ok(()),
        }
    }

    /// Hands on what was written, for those who follow it.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        match self {
            Self::File { path, out, .. } | Self::Device { path, out } => {
                out.flush().map_err(|error| unwritable(path, error))
            }
            Self::Printer(printer) => printer.flush(),
            Self::Nowhere => Ok(()),
        }
    }

    /// Puts the file in its place, once it is on disk.
    pub(super) fn publish(mut self) -> Result<(), Error> {
        self.flush()?;
        let Self::File { path, partial, out } = self else { return Ok(()) };
        let published = || -> io::Result<()> {
            out.get_ref().sync_all()?;
            std::fs::rename(&partial, &path)?;
            // The new name is on disk when the folder is.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
        };
        published().map_err(|error| unwritable(&path, error))
    }
}

/// Returns the unfinished file of `path`.
pub(super) fn partial(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}

/// Claims that there is a pipe or a device at `path`, or what this process has open already: nothing can
/// be put in its place, or beside it.
pub(super) fn is_stream(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    let is_open = ["/dev", "/dev/fd"].iter().any(|open| folder == Path::new(open));
    is_open || folder.starts_with("/proc") || path.metadata().is_ok_and(|there| !there.is_file())
}

/// Opens the unfinished file of `path`, for this process alone.
///
/// It is written over from its beginning, so it must be ours: in a folder that others write to, a link
/// would lead to any file of the user's. Nor is a pipe waited for.
fn claim(path: &Path, partial: &Path) -> Result<File, Error> {
    let unwritable = |error| unwritable(path, error);
    loop {
        let mut options = OpenOptions::new();
        let options = options.create(true).write(true).truncate(false);
        let options = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(partial).map_err(unwritable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another batch writes to `{}`", path.display());
                return Err(Error::new(Outcome::Usage, message)
                    .hint("wait for it, or name another file by `--output`"));
            }
            Err(TryLockError::Error(error)) => return Err(unwritable(error)),
        }
        // Another may have put it in its place between the two: that file is finished.
        if is_at(&file, partial).map_err(unwritable)? {
            return Ok(file);
        }
    }
}

/// Claims that `file` is still the one at `path`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let mine = file.metadata()?;
    match path.symlink_metadata() {
        Ok(there) => Ok((there.dev(), there.ino()) == (mine.dev(), mine.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn unwritable(path: &Path, error: io::Error) -> Error {
    Error::new(Outcome::Machine, format!("could not write `{}`", path.display()))
        .caused_by(error)
        .hint("every result so far is in the ledger: mend it, and type the same command again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_as_it_was_until_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        std::fs::write(&path, "before\n").unwrap();
        let mut sheet = Sheet::create(&path).unwrap();
        sheet.line("{}").unwrap();
        sheet.flush().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before\n");
        sheet.publish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn two_batches_cannot_write_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        let first = Sheet::create(&path).unwrap();
        assert_eq!(Sheet::create(&path).err().unwrap().kind, Outcome::Usage);
        drop(first);
        assert!(Sheet::create(&path).is_ok());
    }

    #[test]
    fn a_file_that_was_put_in_its_place_is_not_the_unfinished_one() {
        let folder = tempfile::tempdir().unwrap();
        let [path, partial] = ["out", "out.partial"].map(|name| folder.path().join(name));
        let file = File::create(&partial).unwrap();
        assert!(is_at(&file, &partial).unwrap());
        std::fs::rename(&partial, &path).unwrap();
        assert!(!is_at(&file, &partial).unwrap());
        File::create(&partial).unwrap();
        assert!(!is_at(&file, &partial).unwrap());
    }

    #[test]
    fn what_a_killed_process_left_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("out.jsonl.partial"), "{\"torn\": ").unwrap();
        let path = folder.path().join("out.jsonl");
        Sheet::create(&path).unwrap().publish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
    }

    #[test]
    fn a_link_in_place_of_the_unfinished_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["out.jsonl", "other"].map(|name| folder.path().join(name));
        std::fs::write(&other, "mine").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("out.jsonl.partial")).unwrap();
        assert_eq!(Sheet::create(&path).err().unwrap().kind, Outcome::Machine);
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine");
        assert!(!path.exists());
    }

    #[test]
    fn devices_are_written_to_and_not_replaced() {
        let mut sheet = Sheet::create(Path::new("/dev/null")).unwrap();
        sheet.line("{}").unwrap();
        sheet.publish().unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }
}
