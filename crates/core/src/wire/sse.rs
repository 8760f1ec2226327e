//! Server-sent events.
//!
//! Written by hand because neither crate for it bounds an event: a server that never sends a blank
//! line must cost a named error, not memory. `retry` is left out, for when to ask again is the transport's
//! to decide, and so is `id`: no stream is taken up again.

/// The largest event that is read: far above any real one, far below what hurts.
pub const EVENT_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The `event` field; empty if there was none.
    pub name: String,
    /// The `data` lines, joined by newlines.
    pub data: String,
}

/// Why a stream cannot be read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// An event outgrew the limit.
    #[error("an event is over the {limit}-byte limit")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// An event is not UTF-8.
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// Splits bytes into events.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    state: State,
    /// The line that has no end yet.
    line: Vec<u8>,
    name: String,
    /// The `data` lines so far, each with its newline.
    data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first line, which may begin with a byte order mark.
    Start,
    Reading,
    /// A carriage return was the last byte: a line feed next belongs to it.
    AfterReturn,
    Over,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Default for Decoder {
    fn default() -> Self {
        Self::within(EVENT_LIMIT_BYTES)
    }
}

impl Decoder {
    /// Starts a stream whose events may have `limit` bytes.
    pub fn within(limit: usize) -> Self {
        Self {
            limit,
            state: State::Start,
            line: Vec::new(),
            name: String::new(),
            data: String::new(),
        }
    }

    /// Reads the next bytes, which may be cut anywhere, and returns the events they complete.
    ///
    /// After an error the stream is over.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<Event, SseError>> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.state {
                State::Over => break,
                State::AfterReturn => {
                    self.state = State::Reading;
                    rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                }
                State::Start | State::Reading => match self.read_line(&mut rest) {
                    Ok(event) => events.extend(event.map(Ok)),
                    Err(error) => {
                        self.end();
                        events.push(Err(error));
                    }
                },
            }
        }
        events
    }

    /// Claims that bytes of an event without an end remain.
    pub fn is_mid_event(&self) -> bool {
        !(self.line.is_empty() && self.name.is_empty() && self.data.is_empty())
    }

    /// Takes a line, or what there is of it, off the front of `rest`.
    fn read_line(&mut self, rest: &mut &[u8]) -> Result<Option<Event>, SseError> {
        let end = memchr::memchr2(b'\r', b'\n', rest);
        let (piece, tail) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, &[]));
        let held = self.line.len() + self.name.len() + self.data.len();
        if held + piece.len() > self.limit {
            return Err(SseError::TooLarge { limit: self.limit });
        }
        let Some((&terminator, after)) = tail.split_first() else {
            self.line.extend_from_slice(piece);
            *rest = tail;
            return Ok(None);
        };
        *rest = after;
        let mut buffer = std::mem::take(&mut self.line);
        let line = if buffer.is_empty() {
            piece
        } else {
            buffer.extend_from_slice(piece);
            buffer.as_slice()
        };
        let line = match self.state {
            State::Start => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            State::Reading | State::AfterReturn | State::Over => line,
        };
        self.state = if terminator == b'\r' { State::AfterReturn } else { State::Reading };
        let event = self.take_line(line)?;
        buffer.clear();
        self.line = buffer;
        Ok(event)
    }

    fn take_line(&mut self, line: &[u8]) -> Result<Option<Event>, SseError> {
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        if line.starts_with(b":") {
            return Ok(None);
        }
        let line = std::str::from_utf8(line).map_err(|_| SseError::NotUtf8)?;
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let mut data = std::mem::take(&mut self.data);
        // No `data` line, no event, as the standard says.
        data.pop()?;
        Some(Event { name, data })
    }

    fn end(&mut self) {
        *self = Self { state: State::Over, ..Self::within(self.limit) };
    }
}

#[cfg(test)]
mod laws;
