//! A line that is parsed: most of the work, and all of it that no other line matters for.

use super::BYTE_ORDER_MARK;
use super::event::Place;
use super::object::{NoObject, Object};
use crate::wire::lines::{Content, Ending, Line};

/// A line that is parsed, and of which nobody has heard yet.
#[derive(Debug)]
pub struct Parsed {
    pub(super) at: Place,
    pub(super) ending: Ending,
    pub(super) content: Parsing,
}

/// What a line turned out to be.
#[derive(Debug)]
pub(super) enum Parsing {
    /// More bytes than are kept.
    TooLong,
    /// White space.
    Blank(String),
    /// The text, empty where the object has it, and the object.
    Text(String, Result<Object, NoObject>),
}

impl Parsed {
    /// Parses a line.
    pub fn read(line: Line) -> Self {
        let at = Place { line: line.number, offset: line.offset, length: line.length };
        let (is_blank, ending) = (line.is_blank(), line.ending);
        let content = match line.content {
            Content::TooLong => Parsing::TooLong,
            Content::Bytes(bytes) if is_blank => {
                Parsing::Blank(String::from_utf8_lossy(&bytes).into_owned())
            }
            Content::Bytes(bytes) => parse(bytes, line.number),
        };
        Self { at, ending, content }
    }
}

fn parse(bytes: Vec<u8>, number: u64) -> Parsing {
    let mut text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let object = Object::read(error.as_bytes());
            return Parsing::Text(String::from_utf8_lossy(error.as_bytes()).into_owned(), object);
        }
    };
    let marked = text.strip_prefix(BYTE_ORDER_MARK).filter(|_| number == 1);
    let object = match marked {
        Some(said) => Object::read(said.as_bytes()),
        None => Object::take(&mut text),
    };
    Parsing::Text(text, object)
}
