//! Files named by people: opened without blocking, read within a limit, never quoted in an error,
//! replaced as a whole.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::Path;

use airtight_core::nearest;

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

/// How many neighbours of a file that is not there are looked at.
const NEIGHBOUR_LIMIT: usize = 1_000;

impl FileError {
    /// Returns what to type instead of `typed`, which led to `path`, if nothing is there.
    pub(crate) fn neighbour(&self, typed: &str, path: &Path) -> Option<String> {
        let Self::Unreadable(error) = self else { return None };
        if error.kind() != io::ErrorKind::NotFound {
            return None;
        }
        let folder = path.parent()?;
        let entries = match folder.read_dir() {
            Ok(entries) => entries.take(NEIGHBOUR_LIMIT),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some(format!("there is no folder `{}`", folder.display()));
            }
            Err(_) => return None,
        };
        let files = entries.flatten().filter(|entry| entry.path().is_file());
        let mut names: Vec<String> =
            files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        // The same of several that are as near, whatever order the system has.
        names.sort();
        let meant = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str));
        Some(match meant {
            Some(meant) => {
                format!("did you mean `{}`?", Path::new(typed).with_file_name(meant).display())
            }
            None => format!("it is looked for in `{}`", folder.display()),
        })
    }
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

/// Puts `content` in the place of the file at `path`, which is there as it was or as a whole.
///
/// It is written beside it first, to a file that is not there yet: in a folder of somebody else's, a
/// name that can be foreseen may be a link to a file of the user's. A link at `path` is replaced itself.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}.partial", fastrand::u64(..)));
    let partial = path.with_file_name(name);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&partial)?;
    let moved = file.write_all(content).and_then(|()| {
        if let Some(there) = path.symlink_metadata().ok().filter(Metadata::is_file) {
            file.set_permissions(there.permissions())?;
        }
        file.sync_all()?;
        std::fs::rename(&partial, path)
    });
    if moved.is_err() {
        drop(std::fs::remove_file(&partial));
    }
    moved
}

fn require_regular(metadata: &Metadata) -> Result<(), FileError> {
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

    #[test]
    fn a_path_that_leads_nowhere_has_a_neighbour() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("triage.json"), "{}").unwrap();
        std::fs::create_dir(folder.path().join("contact.json")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("review.json")).unwrap();
        let hint = |name: &str| {
            let path = folder.path().join(name);
            let hint = open(&path).unwrap_err().neighbour(&format!("~/{name}"), &path);
            hint.map(|hint| hint.replace(&folder.path().display().to_string(), "/home"))
        };
        let expected = [
            ("trage.json", "did you mean `~/triage.json`?"),
            ("answer.txt", "it is looked for in `/home`"),
            ("contacts.json", "it is looked for in `/home`"),
            ("review.json", "it is looked for in `/home`"),
            ("none/triage.json", "there is no folder `/home/none`"),
        ];
        for (name, expected) in expected {
            assert_eq!((name, hint(name).as_deref()), (name, Some(expected)));
        }
        assert_eq!(hint("contact.json"), None);
    }

    #[test]
    fn a_link_is_replaced_and_what_it_points_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["known.json", "other"].map(|name| folder.path().join(name));
        std::fs::write(&other, "theirs").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        replace(&path, b"ours").unwrap();
        let both = [&path, &other].map(|path| std::fs::read_to_string(path).unwrap());
        assert_eq!(both, ["ours", "theirs"]);
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }

    #[test]
    fn a_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        std::fs::write(&path, "before").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        replace(&path, b"after").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_cannot_be_put_in_its_place_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("folder");
        std::fs::create_dir(&path).unwrap();
        assert!(replace(&path, b"x").is_err());
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
