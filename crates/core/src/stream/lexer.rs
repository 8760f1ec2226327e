//! JSON read as it arrives: bytes in, events out, nothing read twice.
//!
//! The chunks may be cut anywhere, also inside a character, an escape or a number. What is
//! reported, and at which byte, does not depend on where they are cut.

mod number;
mod text;

use crate::json::{Kind, Limits, ParseErrorKind};
use crate::verdict::Violation;
use number::NumberPart;
use text::{Piece, TextReader};

/// What hears of the values in a text, in reading order.
pub(super) trait Listener {
    /// Hears of a value by its first byte.
    fn begin(&mut self, kind: Kind) -> Result<(), Violation>;
    /// Hears of a key by its opening quote.
    fn begin_key(&mut self) -> Result<(), Violation>;
    /// Hears the next part of the open key or string, decoded.
    ///
    /// A refusal says how many bytes of `piece` were read, with the character that did not fit.
    fn text(&mut self, piece: &str) -> Result<(), (usize, Violation)>;
    /// Hears of the end of the open key.
    fn end_key(&mut self) -> Result<(), Violation>;
    /// Hears the whole number or word that began last, which ends it.
    fn literal(&mut self, literal: &str) -> Result<(), Violation>;
    /// Hears of the end of the string, array or object that began last.
    fn end(&mut self) -> Result<(), Violation>;
}

/// Why reading ended for good.
#[derive(Debug)]
pub(super) enum Fault {
    /// The text is not JSON, or over a limit.
    Malformed(ParseErrorKind),
    /// The listener refuses it.
    Refused(Violation),
}

/// A fault, and how many bytes before it were fine.
type At = (usize, Fault);

fn here(kind: ParseErrorKind) -> At {
    (0, Fault::Malformed(kind))
}

fn refused_here(violation: Violation) -> At {
    (0, Fault::Refused(violation))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    /// A value or `]`, right after `[`.
    FirstItem,
    /// A key or `}`, right after `{`.
    FirstKey,
    Key,
    Colon,
    /// `,` or the end of the container.
    Separator,
    /// Behind the outermost value.
    Done,
    InKey,
    InString,
    /// Inside `true`, `false` or `null`, with this many bytes read.
    InWord(&'static str, usize),
    InNumber(NumberPart),
}

/// A JSON reader that can stop at any byte and go on later.
#[derive(Debug)]
pub(super) struct Lexer {
    limits: Limits,
    /// Bytes read so far.
    offset: usize,
    nodes: usize,
    state: State,
    /// `Array` or `Object`, from the outermost inward.
    open: Vec<Kind>,
    text: TextReader,
    /// The number being read.
    literal: String,
}

impl Lexer {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            offset: 0,
            nodes: 0,
            state: State::Value,
            open: Vec::new(),
            text: TextReader::default(),
            literal: String::new(),
        }
    }

    /// Claims that a whole value has been read.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads `bytes`; a fault comes with the offset of the byte that caused it.
    pub(super) fn push(&mut self, bytes: &[u8], listener: &mut impl Listener) -> Result<(), At> {
        let allowed = self.limits.bytes.saturating_sub(self.offset);
        let mut rest = bytes.get(..allowed).unwrap_or(bytes);
        while let Some(byte) = rest.first() {
            let read = self
                .step(*byte, rest, listener)
                .map_err(|(ahead, fault)| (self.offset + ahead, fault))?;
            self.offset += read;
            rest = rest.get(read..).unwrap_or_default();
        }
        if bytes.len() > allowed {
            let limit = self.limits.bytes;
            let kind = ParseErrorKind::TooLarge { size: limit.saturating_add(1), limit };
            return Err((self.offset, Fault::Malformed(kind)));
        }
        Ok(())
    }

    /// Says that nothing follows.
    pub(super) fn finish(&mut self, listener: &mut impl Listener) -> Result<(), At> {
        if let State::InNumber(part) = self.state
            && part.may_end()
        {
            self.end_number(listener).map_err(|(_, fault)| (self.offset, fault))?;
        }
        let kind = match self.state {
            State::Done => return Ok(()),
            State::Value if self.open.is_empty() => ParseErrorKind::Empty,
            State::Value
            | State::FirstItem
            | State::FirstKey
            | State::Key
            | State::Colon
            | State::Separator
            | State::InKey
            | State::InString
            | State::InWord(..)
            | State::InNumber(_) => ParseErrorKind::Truncated,
        };
        Err((self.offset, Fault::Malformed(kind)))
    }

    /// Reads at least one byte of `rest`, or changes state.
    fn step(&mut self, byte: u8, rest: &[u8], listener: &mut impl Listener) -> Result<usize, At> {
        match self.state {
            State::InKey | State::InString => return self.read_text(rest, listener),
            State::InNumber(part) => return self.read_number(part, rest, listener),
            State::InWord(word, read) => return self.read_word(word, read, byte, listener),
            State::Value
            | State::FirstItem
            | State::FirstKey
            | State::Key
            | State::Colon
            | State::Separator
            | State::Done => {}
        }
        if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            return Ok(1);
        }
        match (self.state, byte) {
            (State::FirstItem, b']') | (State::FirstKey, b'}') => self.close(listener)?,
            (State::Value | State::FirstItem, _) => self.begin_value(byte, listener)?,
            (State::FirstKey | State::Key, b'"') => {
                self.count_node()?;
                listener.begin_key().map_err(refused_here)?;
                self.state = State::InKey;
            }
            (State::FirstKey | State::Key, _) => {
                return Err(unexpected(byte, "a key in double quotes"));
            }
            (State::Colon, b':') => self.state = State::Value,
            (State::Colon, _) => return Err(unexpected(byte, "`:`")),
            (State::Done, _) => return Err(here(ParseErrorKind::TrailingData)),
            _ => self.separate(byte, listener)?,
        }
        Ok(1)
    }

    fn separate(&mut self, byte: u8, listener: &mut impl Listener) -> Result<(), At> {
        match (self.open.last(), byte) {
            (Some(Kind::Array), b',') => self.state = State::Value,
            (Some(Kind::Array), b']') | (Some(Kind::Object), b'}') => self.close(listener)?,
            (Some(Kind::Object), b',') => self.state = State::Key,
            (Some(Kind::Array), _) => return Err(unexpected(byte, "`,` or `]`")),
            _ => return Err(unexpected(byte, "`,` or `}`")),
        }
        Ok(())
    }

    fn begin_value(&mut self, byte: u8, listener: &mut impl Listener) -> Result<(), At> {
        let (kind, state) = match byte {
            b'"' => (Kind::String, State::InString),
            b'{' => (Kind::Object, State::FirstKey),
            b'[' => (Kind::Array, State::FirstItem),
            b't' => (Kind::Boolean, State::InWord("true", 1)),
            b'f' => (Kind::Boolean, State::InWord("false", 1)),
            b'n' => (Kind::Null, State::InWord("null", 1)),
            0xEF if self.offset == 0 => return Err(here(ParseErrorKind::ByteOrderMark)),
            _ => match NumberPart::begin(byte) {
                Some(part) => (Kind::Number, State::InNumber(part)),
                None => return Err(unexpected(byte, "a value")),
            },
        };
        self.count_node()?;
        if matches!(kind, Kind::Array | Kind::Object) {
            if self.open.len() >= self.limits.depth {
                return Err(here(ParseErrorKind::TooDeep { limit: self.limits.depth }));
            }
            self.open.push(kind);
        }
        if kind == Kind::Number {
            self.literal.clear();
            self.literal.push(char::from(byte));
        }
        self.state = state;
        listener.begin(kind).map_err(refused_here)
    }

    fn count_node(&mut self) -> Result<(), At> {
        if self.nodes >= self.limits.nodes {
            return Err(here(ParseErrorKind::TooManyNodes { limit: self.limits.nodes }));
        }
        self.nodes += 1;
        Ok(())
    }

    fn close(&mut self, listener: &mut impl Listener) -> Result<(), At> {
        self.open.pop();
        self.end_value();
        listener.end().map_err(refused_here)
    }

    fn end_value(&mut self) {
        self.state = if self.open.is_empty() { State::Done } else { State::Separator };
    }

    fn read_text(&mut self, rest: &[u8], listener: &mut impl Listener) -> Result<usize, At> {
        let (read, piece) = self.text.read(rest).map_err(here)?;
        let last = read.saturating_sub(1);
        match piece {
            Piece::Nothing => {}
            Piece::Run(run) => listener
                .text(run)
                .map_err(|(read, refused)| (read.saturating_sub(1), Fault::Refused(refused)))?,
            Piece::Character(character) => {
                let mut buffer = [0; 4];
                listener
                    .text(character.encode_utf8(&mut buffer))
                    .map_err(|(_, refused)| (last, Fault::Refused(refused)))?;
            }
            Piece::End if self.state == State::InKey => {
                self.state = State::Colon;
                listener.end_key().map_err(refused_here)?;
            }
            Piece::End => {
                self.end_value();
                listener.end().map_err(refused_here)?;
            }
        }
        Ok(read)
    }

    fn read_word(
        &mut self,
        word: &'static str,
        read: usize,
        byte: u8,
        listener: &mut impl Listener,
    ) -> Result<usize, At> {
        if word.as_bytes().get(read) != Some(&byte) {
            return Err(unexpected(byte, "a value"));
        }
        if read + 1 < word.len() {
            self.state = State::InWord(word, read + 1);
            return Ok(1);
        }
        self.end_value();
        listener.literal(word).map_err(refused_here)?;
        Ok(1)
    }

    fn read_number(
        &mut self,
        mut part: NumberPart,
        rest: &[u8],
        listener: &mut impl Listener,
    ) -> Result<usize, At> {
        for (read, byte) in rest.iter().enumerate() {
            if let Some(next) = part.next(*byte) {
                part = next;
                self.literal.push(char::from(*byte));
                continue;
            }
            let ahead = |(_, fault)| (read, fault);
            if !part.may_end() {
                return Err(ahead(here(ParseErrorKind::InvalidNumber)));
            }
            self.end_number(listener).map_err(ahead)?;
            return Ok(read);
        }
        self.state = State::InNumber(part);
        Ok(rest.len())
    }

    fn end_number(&mut self, listener: &mut impl Listener) -> Result<(), At> {
        // Below 300 digits only an exponent can overflow.
        let suspicious = self.literal.len() >= 300 || self.literal.contains(['e', 'E']);
        if suspicious && !self.literal.parse::<f64>().is_ok_and(f64::is_finite) {
            return Err(here(ParseErrorKind::NumberOutOfRange));
        }
        self.end_value();
        listener.literal(&self.literal).map_err(refused_here)
    }
}

/// Faults `byte`; half a character cannot be shown, and waiting for the rest would move the fault.
fn unexpected(byte: u8, expected: &'static str) -> At {
    let found = if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER };
    here(ParseErrorKind::Unexpected { found, expected })
}
