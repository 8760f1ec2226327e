//! Where a setting comes from, so that nobody has to guess which file to edit.

use std::fmt;
use std::path::PathBuf;

/// Where a setting comes from, weakest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// The `airtight.toml` of the project.
    Project(Place),
    /// The file of a contract that the user has no reason to trust.
    Borrowed(Place),
    /// The `airtight.toml` of the user.
    User(Place),
    /// The file of a contract.
    Contract(Place),
    /// An environment variable.
    Environment(&'static str),
    /// A tier in the file of a watch, which the user named.
    Tier(Place),
    /// A flag.
    Flag(&'static str),
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its line, from 1.
    pub(crate) line: usize,
}

impl Origin {
    /// Returns the origin of what a contract's file says that is not trusted.
    pub(crate) fn distrusted(self) -> Self {
        match self {
            Self::Contract(place) => Self::Borrowed(place),
            origin @ (Self::Project(_)
            | Self::Borrowed(_)
            | Self::User(_)
            | Self::Environment(_)
            | Self::Tier(_)
            | Self::Flag(_)) => origin,
        }
    }

    /// Returns the word for the layer.
    pub(crate) fn layer(&self) -> &'static str {
        match self {
            Self::Project(_) => "project",
            Self::User(_) => "user",
            Self::Borrowed(_) | Self::Contract(_) => "contract",
            Self::Environment(_) => "environment",
            Self::Tier(_) => "tier",
            Self::Flag(_) => "flag",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(place) | Self::User(place) | Self::Tier(place) => {
                write!(formatter, "{}:{}", place.path.display(), place.line)
            }
            Self::Borrowed(place) | Self::Contract(place) => {
                write!(formatter, "contract {}:{}", place.path.display(), place.line)
            }
            Self::Environment(name) => write!(formatter, "${name}"),
            Self::Flag(flag) => formatter.write_str(flag),
        }
    }
}
