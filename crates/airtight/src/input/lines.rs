//! Lines of a stream, in batches, each within a limit.
//!
//! A batch is what one read completes, so that a slow stream is judged line by line and a fast
//! one in large pieces. A line over the limit is reported once and skipped; reading goes on.

use std::io::{self, ErrorKind, Read};

/// The most one line may hold: what the readers of agent transcripts are known to need.
const LINE_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// How much is read at once, and so about how much a batch holds.
const READ_BYTES: usize = 256 * 1024;

/// One line that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// What it holds.
    pub(crate) content: LineContent,
}

/// What a line holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineContent {
    /// Its bytes without the line break.
    Bytes(Vec<u8>),
    /// More bytes than are kept.
    TooLong,
}

/// Splits a reader into lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    limit_bytes: usize,
    chunk: Vec<u8>,
    /// The start of a line whose end has not been read.
    open: LineContent,
    number: usize,
    is_over: bool,
}

impl<R: Read> Lines<R> {
    /// Starts before the first line.
    pub(crate) fn new(reader: R) -> Self {
        Self::within(reader, LINE_LIMIT_BYTES)
    }

    fn within(reader: R, limit_bytes: usize) -> Self {
        Self {
            reader,
            limit_bytes,
            chunk: vec![0; READ_BYTES],
            open: LineContent::Bytes(Vec::new()),
            number: 1,
            is_over: false,
        }
    }

    /// Splits what was read, keeping the start of an unfinished line for later.
    fn split(&mut self, length: usize) -> Vec<Line> {
        let chunk = std::mem::take(&mut self.chunk);
        let mut batch = Vec::new();
        for piece in chunk.get(..length).unwrap_or_default().split_inclusive(|byte| *byte == b'\n')
        {
            match piece.strip_suffix(b"\n") {
                Some(end) => {
                    self.extend(end);
                    batch.extend(self.close());
                }
                None => self.extend(piece),
            }
        }
        self.chunk = chunk;
        batch
    }

    fn extend(&mut self, piece: &[u8]) {
        if let LineContent::Bytes(bytes) = &mut self.open {
            if bytes.len() + piece.len() > self.limit_bytes {
                self.open = LineContent::TooLong;
            } else {
                bytes.extend_from_slice(piece);
            }
        }
    }

    /// Ends the line; nothing if it is blank.
    fn close(&mut self) -> Option<Line> {
        let content = std::mem::replace(&mut self.open, LineContent::Bytes(Vec::new()));
        let number = self.number;
        self.number += 1;
        let is_blank =
            matches!(&content, LineContent::Bytes(bytes) if bytes.trim_ascii().is_empty());
        (!is_blank).then_some(Line { number, content })
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = io::Result<Vec<Line>>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            let batch = match self.reader.read(&mut self.chunk) {
                Ok(0) => {
                    self.is_over = true;
                    self.close().into_iter().collect()
                }
                Ok(length) => self.split(length),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            };
            if !batch.is_empty() {
                return Some(Ok(batch));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out a text in pieces of `size` bytes.
    struct Drip<'t>(&'t [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(buffer.len()).min(self.0.len());
            let (now, later) = self.0.split_at(length);
            buffer[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }

    fn lines(text: &str, size: usize) -> Vec<(usize, Option<String>)> {
        Lines::within(Drip(text.as_bytes(), size), 4)
            .flat_map(Result::unwrap)
            .map(|line| match line.content {
                LineContent::Bytes(bytes) => (line.number, String::from_utf8(bytes).ok()),
                LineContent::TooLong => (line.number, None),
            })
            .collect()
    }

    #[test]
    fn lines_survive_any_chunking() {
        let text = "a\n\nbc\r\n12345678\n1234\n  \nend";
        let whole = lines(text, 1000);
        let expected = [(1, "a"), (3, "bc\r"), (5, "1234"), (7, "end")];
        let kept: Vec<_> =
            whole.iter().filter_map(|(number, text)| Some((*number, text.as_deref()?))).collect();
        assert_eq!(kept, expected);
        assert!(whole.contains(&(4, None)));
        for size in 1..8 {
            assert_eq!(lines(text, size), whole);
        }
    }

    #[test]
    fn an_endless_line_needs_no_memory_and_is_reported_once() {
        let reader = io::repeat(b'x').take(1024 * 1024).chain(&b"\nok"[..]);
        let found: Vec<Line> = Lines::within(reader, 100).flat_map(Result::unwrap).collect();
        let ok = LineContent::Bytes(b"ok".to_vec());
        assert_eq!(
            found,
            [Line { number: 1, content: LineContent::TooLong }, Line { number: 2, content: ok }]
        );
    }
}
