//! Answers to judge: one text, or a stream of lines.

use std::fs::File;
use std::io::{self, IsTerminal, Read};

use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file::{self, FileError};

mod lines;

pub(crate) use lines::Lines;

/// The most one answer may hold, in agreement with the parser's own limit.
pub(crate) const ANSWER_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Where answers come from.
#[derive(Debug)]
pub(crate) enum Input {
    /// A file.
    File {
        /// As it was typed.
        label: String,
        /// Open.
        file: File,
    },
    /// Standard input.
    Stdin,
}

impl Input {
    /// Opens what `argument` names: a file, or stdin for `-` and for nothing.
    pub(crate) fn open(argument: Option<&str>, environment: &Environment) -> Result<Self, Error> {
        let Some(path) = argument.filter(|argument| *argument != "-") else {
            if argument.is_none() && io::stdin().is_terminal() {
                return Err(Error::new(Outcome::Input, "no input")
                    .hint("name a file, or pipe an answer in: `… | airtight validate CONTRACT`"));
            }
            return Ok(Self::Stdin);
        };
        let place = environment.resolve(path);
        match file::open(&place) {
            Ok(file) => Ok(Self::File { label: path.to_owned(), file }),
            Err(error) => {
                let hint = error.neighbour(path, &place);
                Err(hint.into_iter().fold(unreadable(path, error), Error::hint))
            }
        }
    }

    /// Returns the name for this input in messages.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::File { label, .. } => label,
            Self::Stdin => "(stdin)",
        }
    }

    /// Reads all of it as one answer.
    pub(crate) fn read(self) -> Result<Vec<u8>, Error> {
        let label = self.label().to_owned();
        file::read_within(self.into_reader(), ANSWER_LIMIT_BYTES)
            .map_err(|error| unreadable(&label, error))
    }

    /// Returns the lines as they come in.
    pub(crate) fn lines(self) -> Lines<Box<dyn Read + Send>> {
        Lines::new(self.into_reader())
    }

    /// Returns the bytes as they come in.
    pub(crate) fn into_reader(self) -> Box<dyn Read + Send> {
        match self {
            Self::File { file, .. } => Box::new(file),
            Self::Stdin => Box::new(io::stdin()),
        }
    }
}

/// Says that the input called `label` cannot be read.
pub(crate) fn unreadable(label: &str, error: FileError) -> Error {
    let hint = match error {
        FileError::NotRegular => Some("pipe it in instead, with `-` in its place"),
        FileError::Directory => Some("name one of the files in it"),
        FileError::Unreadable(_) | FileError::TooLarge { .. } => None,
    };
    let message = format!("could not read input: `{label}`");
    hint.into_iter().fold(Error::new(Outcome::Input, message).caused_by(error), Error::hint)
}
