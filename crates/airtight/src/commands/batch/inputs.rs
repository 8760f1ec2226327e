//! The inputs of a batch, read one by one however many there are.
//!
//! What is wrong with one input is said with its place and costs that input, not the batch.

mod body;
mod source;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use airtight_core::wire::csv;
use airtight_core::wire::lines::{self, Content, Line};

use crate::env::Environment;
use crate::error::Error;
use crate::file;

pub(crate) use body::Body;
pub(crate) use source::{Form, Source};

/// The most that one input may hold: about two million tokens, more than models read.
const INPUT_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// How much is read at once.
const READ_BYTES: usize = 64 * 1024;

/// One input.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its place among all inputs, from 1.
    pub(crate) position: u64,
    /// Where it is: the file, and the line in it.
    pub(crate) place: Place,
    /// What it holds, or what is wrong with it.
    pub(crate) body: Result<Body, String>,
    /// How many bytes it takes of its source.
    pub(crate) size: u64,
}

/// Where an input is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    label: Arc<str>,
    line: Option<u64>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}", self.label),
            None => formatter.write_str(&self.label),
        }
    }
}

/// All inputs, in order.
pub(crate) struct Inputs {
    sources: std::vec::IntoIter<Source>,
    open: Option<Open>,
    /// What was read and not asked for yet, last first.
    ready: Vec<Found>,
    label: Arc<str>,
    position: u64,
    /// How many bytes all sources have together, unless one is a pipe.
    pub(crate) total_bytes: Option<u64>,
}

/// What was found in a source.
struct Found {
    line: Option<u64>,
    body: Result<Body, String>,
    size: u64,
}

/// A source that is being read.
struct Open {
    reader: Box<dyn Read + Send>,
    decoder: Decoder,
    is_over: bool,
}

enum Decoder {
    Lines(lines::Decoder),
    Records { decoder: csv::Decoder, header: Option<Arc<[String]>> },
}

impl Inputs {
    /// Finds everything that `arguments` name, and refuses what is not there.
    pub(crate) fn find(
        arguments: &[String],
        form: Option<Form>,
        environment: &Environment,
    ) -> Result<Self, Error> {
        let sources = source::find(arguments, form, environment)?;
        let total_bytes = sources.iter().map(Source::size).sum();
        Ok(Self {
            sources: sources.into_iter(),
            open: None,
            ready: Vec::new(),
            label: Arc::from(""),
            position: 0,
            total_bytes,
        })
    }

    /// Returns the files that they are in, of those that were not opened yet.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.sources.as_slice().iter().filter_map(Source::path)
    }

    /// Reads on until an input is ready; returns whether there is one.
    pub(super) fn fill(&mut self) -> bool {
        while self.ready.is_empty() {
            match &mut self.open {
                Some(open) if !open.is_over => {
                    self.ready = open.read();
                    self.ready.reverse();
                }
                _ => {
                    self.open = None;
                    if !self.advance() {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Opens the next source; returns whether there is one.
    fn advance(&mut self) -> bool {
        let Some(source) = self.sources.next() else { return false };
        self.label = Arc::from(source.label.as_str());
        match source.form {
            Form::Text => {
                let (body, size) = (whole(&source), source.size().unwrap_or(0));
                self.ready.push(Found { line: None, body, size });
            }
            Form::Jsonl | Form::Csv => match source.open() {
                Ok(reader) => {
                    let decoder = Decoder::of(&source);
                    self.open = Some(Open { reader, decoder, is_over: false });
                }
                Err(why) => {
                    let size = source.size().unwrap_or(0);
                    self.ready.push(Found { line: None, body: Err(why), size });
                }
            },
        }
        true
    }
}

impl Iterator for Inputs {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        self.fill();
        let Found { line, body, size } = self.ready.pop()?;
        self.position += 1;
        let place = Place { label: Arc::clone(&self.label), line };
        Some(Input { position: self.position, place, body, size })
    }
}

/// Reads a file that is one input.
fn whole(source: &Source) -> Result<Body, String> {
    let reader = source.open()?;
    let bytes = file::read_within(reader, INPUT_LIMIT_BYTES).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| body::NOT_TEXT.to_owned())?;
    Ok(Body::File { name: source.name(), path: source.label.clone(), text })
}

impl Decoder {
    fn of(source: &Source) -> Self {
        match source.form {
            Form::Csv => {
                let separator = source.separator();
                let decoder = csv::Decoder::within(separator, INPUT_LIMIT_BYTES);
                Self::Records { decoder, header: None }
            }
            Form::Jsonl | Form::Text => Self::Lines(lines::Decoder::within(INPUT_LIMIT_BYTES)),
        }
    }
}

impl Open {
    /// Reads on until there is something, or nothing more.
    fn read(&mut self) -> Vec<Found> {
        let mut chunk = vec![0; READ_BYTES];
        match self.reader.read(&mut chunk) {
            Ok(0) => {
                self.is_over = true;
                self.decoder.finish()
            }
            Ok(length) => self.decoder.push(chunk.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Vec::new(),
            Err(error) => {
                self.is_over = true;
                let body = Err(format!("cannot be read on: {error}"));
                vec![Found { line: None, body, size: 0 }]
            }
        }
    }
}

impl Decoder {
    fn push(&mut self, bytes: &[u8]) -> Vec<Found> {
        match self {
            Self::Lines(decoder) => decoder.push(bytes).into_iter().filter_map(line).collect(),
            Self::Records { decoder, header } => {
                let records = decoder.push(bytes);
                records.into_iter().filter_map(|record| row(record, header)).collect()
            }
        }
    }

    fn finish(&mut self) -> Vec<Found> {
        match self {
            Self::Lines(decoder) => decoder.finish().into_iter().filter_map(line).collect(),
            Self::Records { decoder, header } => {
                decoder.finish().into_iter().filter_map(|record| row(record, header)).collect()
            }
        }
    }
}

/// Reads a line; blank ones are no inputs.
fn line(line: Line) -> Option<Found> {
    if line.is_blank() {
        return None;
    }
    let body = match line.content {
        Content::Bytes(bytes) => Body::of_line(bytes),
        Content::TooLong => Err(format!(
            "the line has {} bytes, over the limit of {INPUT_LIMIT_BYTES}",
            line.length
        )),
    };
    Some(Found { line: Some(line.number), body, size: line.length + 1 })
}

/// Reads a record; the first of a file names the fields.
fn row(record: csv::Record, header: &mut Option<Arc<[String]>>) -> Option<Found> {
    let size = record
        .fields
        .as_ref()
        .map_or(0, |fields| fields.iter().map(|field| field.len() as u64 + 1).sum());
    let fields = record.fields.map_err(|error| error.to_string());
    let fields = fields.and_then(body::texts);
    let body = if let Some(names) = header {
        fields.and_then(|values| Body::of_row(Arc::clone(names), values))
    } else {
        match fields.and_then(body::header) {
            Ok(names) => {
                *header = Some(names);
                return None;
            }
            Err(why) => {
                // Without names nothing behind it can be understood, and each row says so.
                *header = Some(Arc::from([]));
                Err(format!("the header cannot be read: {why}"))
            }
        }
    };
    Some(Found { line: Some(record.line), body, size })
}

#[cfg(test)]
mod tests;
