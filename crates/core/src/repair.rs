//! Reads one almost-JSON value and says what must change to make it JSON.
//!
//! One pass, an explicit stack, lookahead that never crosses a token: time is linear in the text
//! read. A change is made only where there is one way to read the text; nothing inside a value is
//! dropped but comments and the commas before closing brackets, and nothing is invented. The
//! strict parser has the last word on what comes out.

mod patch;
mod quote;
mod string;
mod token;

use std::borrow::Cow;
use std::ops::Range;

use crate::json::number_end;
use crate::verdict::{EditKind, Edits};
use patch::Patch;
use quote::Quote;
use string::Role;
use token::is_word;

/// One value, as JSON if the strict parser agrees.
#[derive(Debug)]
pub(crate) struct Reading<'t> {
    /// Where it stands in the text.
    pub(crate) range: Range<usize>,
    /// Its text after repair; borrowed if nothing was repaired.
    pub(crate) text: Cow<'t, str>,
    /// The repairs.
    pub(crate) edits: Edits,
}

/// Why no value could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is prose or program code; `open` brackets were not closed before `resume`.
    Foreign { resume: usize, open: usize },
    /// It is JSON, but damaged beyond repair.
    Damaged { offset: usize, expected: &'static str },
    /// The text ends inside the value.
    Truncated { offset: usize },
    /// Too many nested containers.
    TooDeep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    FirstItem,
    FirstKey,
    Key,
    Separator,
}

/// The comma before the next item or member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comma {
    Absent,
    /// In the text at this offset.
    At(usize),
    /// Held back, because a comment behind it was dropped before its use was known.
    Withheld(usize),
}

/// What the last token was, which decides what may be missing behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Closer,
    Number,
    Scalar,
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    open: Vec<Container>,
    depth_limit: usize,
    /// Whether this can only be meant as JSON.
    is_json: bool,
    comma: Comma,
    last: Last,
    /// Where the last token ended.
    token_end: usize,
    patch: Patch<'t>,
}

/// Reads the value whose opening bracket is at `start`.
pub(crate) fn read(text: &str, start: usize, depth_limit: usize) -> Result<Reading<'_>, Fault> {
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: start,
        open: Vec::new(),
        depth_limit,
        is_json: false,
        comma: Comma::Absent,
        last: Last::Scalar,
        token_end: start,
        patch: Patch::new(text, start),
    };
    reader.container()?;
    let end = reader.token_end.max(reader.patch.copied());
    let (repaired, edits) = reader.patch.finish(end);
    Ok(Reading { range: start..end, text: repaired, edits })
}

impl Reader<'_> {
    fn container(&mut self) -> Result<(), Fault> {
        let mut expect = Expect::Value;
        loop {
            let Some(next) = self.next()? else {
                return self.close_missing(expect);
            };
            expect = match expect {
                Expect::Value | Expect::FirstItem => self.value(next, expect)?,
                Expect::Key | Expect::FirstKey => self.key(next, expect)?,
                Expect::Separator => self.separator(next)?,
            };
            if self.open.is_empty() {
                return Ok(());
            }
        }
    }

    fn value(&mut self, next: u8, expect: Expect) -> Result<Expect, Fault> {
        match next {
            b']' if self.may_close(expect, Container::Array) => return Ok(self.close()),
            b'{' => return self.enter(Container::Object, Expect::FirstKey),
            b'[' => return self.enter(Container::Array, Expect::FirstItem),
            _ => self.write_comma(),
        }
        if let Some(quote) = Quote::at(self.bytes, self.at) {
            let role = match self.open.last() {
                Some(Container::Object) => Role::Member,
                Some(Container::Array) | None => Role::Item,
            };
            self.string(quote, role)?;
            self.token(Last::Scalar);
            return Ok(Expect::Separator);
        }
        match next {
            b'-' | b'0'..=b'9' => self.number()?,
            _ if is_word(next) => self.word()?,
            _ => return Err(self.fault(self.at, "a value")),
        }
        Ok(Expect::Separator)
    }

    fn key(&mut self, next: u8, expect: Expect) -> Result<Expect, Fault> {
        if next == b'}' && self.may_close(expect, Container::Object) {
            return Ok(self.close());
        }
        let lacked_comma = expect == Expect::Key && matches!(self.comma, Comma::Absent);
        self.write_comma();
        let (start, quote) = (self.at, Quote::at(self.bytes, self.at));
        match quote {
            Some(quote) => self.string(quote, Role::Key)?,
            None => self.bare_key()?,
        }
        let key = self.text.get(start..self.at).unwrap_or_default();
        if lacked_comma && key.contains([',', ':']) {
            return Err(
                self.fault(start, "no `,` or `:` in a key: a quote before it may be displaced")
            );
        }
        match self.next()? {
            Some(b':') => {}
            Some(_) => return Err(self.fault(self.at, "`:`")),
            None => return Err(Fault::Truncated { offset: self.at }),
        }
        // Prose has no double-quoted keys, and no second member.
        let is_double = matches!(quote, Some(Quote::Double | Quote::CurlyDouble));
        self.is_json |= is_double || expect == Expect::Key;
        self.at += 1;
        Ok(Expect::Value)
    }

    fn bare_key(&mut self) -> Result<(), Fault> {
        let (start, end) = (self.at, self.bare_key_end(self.at));
        if end == self.bytes.len() && end > start {
            return Err(Fault::Truncated { offset: end });
        }
        if !self.is_bare_key(start) {
            return Err(self.fault(start, "a key in double quotes"));
        }
        self.patch.insert(start, "\"");
        self.patch.insert(end, "\"");
        self.patch.record(EditKind::UnquotedKey, start);
        self.at = end;
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        let Some(end) = number_end(self.bytes, self.at) else {
            let cut = self.bytes.get(self.at..).unwrap_or_default();
            let digits = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
            return Err(if cut.iter().all(digits) {
                Fault::Truncated { offset: self.bytes.len() }
            } else {
                self.fault(self.at, "a number")
            });
        };
        if self.bytes.get(end).is_some_and(|byte| is_word(*byte) || *byte == b'.') {
            return Err(self.fault(end, "`,` behind the number"));
        }
        self.at = end;
        self.token(Last::Number);
        Ok(())
    }

    fn word(&mut self) -> Result<(), Fault> {
        let (start, end) = (self.at, self.word_end(self.at));
        let word = self.text.get(start..end).unwrap_or_default();
        let constant = match word {
            "true" | "false" | "null" => word,
            "True" => "true",
            "False" => "false",
            "None" => "null",
            _ if end == self.bytes.len() => return Err(Fault::Truncated { offset: end }),
            _ => return Err(self.fault(start, "a value")),
        };
        if constant != word {
            self.patch.replace(start..end, constant);
            self.patch.record(EditKind::Constant, start);
        }
        self.at = end;
        self.token(Last::Scalar);
        Ok(())
    }

    fn separator(&mut self, found: u8) -> Result<Expect, Fault> {
        let Some(innermost) = self.open.last().copied() else {
            return Ok(Expect::Separator);
        };
        let next = match innermost {
            Container::Object => Expect::Key,
            Container::Array => Expect::Value,
        };
        match (found, innermost) {
            (b',', _) => {
                self.comma = Comma::At(self.at);
                self.at += 1;
                return Ok(next);
            }
            (b'}', Container::Object) | (b']', Container::Array) => return Ok(self.close()),
            _ => {}
        }
        if !self.lacks_comma(innermost) {
            return Err(self.fault(self.at, "`,` or a closing bracket"));
        }
        self.patch.insert(self.at, ",");
        self.patch.record(EditKind::MissingComma, self.at);
        Ok(next)
    }

    /// Claims that what comes next can only be another item or member.
    ///
    /// Two scalars on one line may be one value with something lost in it, so they are not.
    fn lacks_comma(&self, innermost: Container) -> bool {
        let opens = matches!(self.bytes.get(self.at), Some(b'{' | b'['));
        match innermost {
            Container::Object => self.is_member_after(self.token_end, self.at),
            Container::Array if self.last == Last::Closer && opens => true,
            Container::Array => self.is_value(self.at) && self.has_newline(self.token_end, self.at),
        }
    }

    fn enter(&mut self, container: Container, expect: Expect) -> Result<Expect, Fault> {
        if self.open.len() >= self.depth_limit {
            return Err(Fault::TooDeep);
        }
        self.write_comma();
        self.open.push(container);
        self.at += 1;
        Ok(expect)
    }

    /// Claims that `container` may close before another item; drops a comma that stands there.
    fn may_close(&mut self, expect: Expect, container: Container) -> bool {
        match (expect, self.comma) {
            (Expect::FirstItem | Expect::FirstKey, _) => true,
            (_, Comma::Absent) => false,
            _ if self.open.last() != Some(&container) => false,
            (_, Comma::At(offset)) => {
                self.patch.replace(offset..offset + 1, "");
                self.patch.record(EditKind::TrailingComma, offset);
                true
            }
            (_, Comma::Withheld(offset)) => {
                self.patch.record(EditKind::TrailingComma, offset);
                true
            }
        }
    }

    fn close(&mut self) -> Expect {
        self.open.pop();
        self.at += 1;
        self.token(Last::Closer);
        Expect::Separator
    }

    fn token(&mut self, last: Last) {
        self.last = last;
        self.token_end = self.at;
        self.comma = Comma::Absent;
    }

    /// Adds the closer that is missing at the end of the text, unless a value was cut there.
    ///
    /// Two missing closers mean that an inner value was cut, and so does a number that the very
    /// end of the text touches.
    fn close_missing(&mut self, expect: Expect) -> Result<(), Fault> {
        let may_be_cut = self.last == Last::Number && self.token_end == self.bytes.len();
        let closer = match self.open.as_slice() {
            [Container::Object] => "}",
            [Container::Array] => "]",
            _ => return Err(Fault::Truncated { offset: self.at }),
        };
        // What was dropped as a comment behind the last token may have been more of the value.
        let has_comment = self.patch.copied() > self.token_end;
        if expect != Expect::Separator || may_be_cut || has_comment {
            return Err(Fault::Truncated { offset: self.at });
        }
        self.patch.insert(self.token_end, closer);
        self.patch.record(EditKind::MissingCloser, self.token_end);
        self.open.clear();
        Ok(())
    }

    fn write_comma(&mut self) {
        if let Comma::Withheld(_) = self.comma {
            self.patch.insert(self.patch.copied(), ",");
        }
        self.comma = Comma::Absent;
    }
}
