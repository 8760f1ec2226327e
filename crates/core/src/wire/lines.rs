//! Lines of a stream.
//!
//! Split at byte 0x0A alone: agent CLIs write U+2028 and U+2029 as they are. A line over the limit is
//! reported once, with its place and its length, and costs no memory; decoding goes on behind it.

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How many bytes it has without the line break.
    pub length: u64,
    /// What it holds.
    pub content: Content,
    /// What ends it.
    pub ending: Ending,
}

/// What a line holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Its bytes without the line break.
    Bytes(Vec<u8>),
    /// More bytes than are kept.
    TooLong,
}

/// What ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A line break.
    Newline,
    /// The end of the stream: it may have been cut.
    EndOfStream,
}

impl Line {
    /// Claims that there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        matches!(&self.content, Content::Bytes(bytes) if bytes.trim_ascii().is_empty())
    }
}

/// Splits bytes into lines.
#[derive(Debug)]
pub struct Decoder {
    limit_bytes: usize,
    /// The start of a line whose end has not been seen.
    open: Content,
    number: u64,
    offset: u64,
    length: u64,
}

impl Decoder {
    /// Starts a stream whose lines may have `limit_bytes`.
    pub fn within(limit_bytes: usize) -> Self {
        Self { limit_bytes, open: Content::Bytes(Vec::new()), number: 1, offset: 0, length: 0 }
    }

    /// Reads the next bytes, which may be cut anywhere, and returns the lines they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (piece, tail) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            self.extend(piece);
            lines.push(self.close(Ending::Newline));
            rest = tail.get(1..).unwrap_or_default();
        }
        self.extend(rest);
        lines
    }

    /// Returns the last line, if it has no line break.
    pub fn finish(&mut self) -> Option<Line> {
        (self.length > 0).then(|| self.close(Ending::EndOfStream))
    }

    fn extend(&mut self, piece: &[u8]) {
        self.length += piece.len() as u64;
        if let Content::Bytes(bytes) = &mut self.open {
            if bytes.len() + piece.len() > self.limit_bytes {
                self.open = Content::TooLong;
            } else {
                bytes.extend_from_slice(piece);
            }
        }
    }

    fn close(&mut self, ending: Ending) -> Line {
        let content = std::mem::replace(&mut self.open, Content::Bytes(Vec::new()));
        let (number, offset, length) = (self.number, self.offset, self.length);
        self.number += 1;
        self.offset += length + 1;
        self.length = 0;
        Line { number, offset, length, content, ending }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(bytes: &[u8], size: usize) -> Vec<Line> {
        let mut decoder = Decoder::within(4);
        let mut lines: Vec<Line> =
            bytes.chunks(size).flat_map(|chunk| decoder.push(chunk)).collect();
        lines.extend(decoder.finish());
        lines
    }

    fn text(line: &Line) -> Option<&str> {
        match &line.content {
            Content::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            Content::TooLong => None,
        }
    }

    #[test]
    fn lines_know_where_they_are_and_what_ended_them() {
        let lines = split("a\n\nbc\r\n12345678\n\u{2028}\nend".as_bytes(), 100);
        let told: Vec<_> =
            lines.iter().map(|line| (line.number, line.offset, line.length, text(line))).collect();
        let expected = [
            (1, 0, 1, Some("a")),
            (2, 2, 0, Some("")),
            (3, 3, 3, Some("bc\r")),
            (4, 7, 8, None),
            (5, 16, 3, Some("\u{2028}")),
            (6, 20, 3, Some("end")),
        ];
        assert_eq!(told, expected);
        let cut: Vec<_> = lines.iter().filter(|line| line.ending == Ending::EndOfStream).collect();
        assert_eq!(cut, [&lines[5]]);
    }

    #[test]
    fn an_endless_line_needs_no_memory_and_is_reported_once() {
        let mut decoder = Decoder::within(100);
        for _ in 0..1024 {
            assert_eq!(decoder.push(&[b'x'; 1024]), []);
            assert_eq!(decoder.open, Content::TooLong);
        }
        let lines = decoder.push(b"\nok\n");
        let told: Vec<_> = lines.iter().map(|line| (line.length, text(line))).collect();
        assert_eq!(told, [(1024 * 1024, None), (2, Some("ok"))]);
    }

    proptest! {
        #[test]
        fn lines_survive_any_chunking(bytes in prop::collection::vec(0_u8..16, 0..60), size in 1_usize..9) {
            prop_assert_eq!(split(&bytes, size), split(&bytes, 1000));
        }
    }
}
