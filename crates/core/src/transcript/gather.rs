//! One document instead of a stream: `--output-format json` prints all lines as one array, or what
//! it all comes to as one object, over several lines if that is prettier.
//!
//! Printers begin such a document with a line that has a bracket alone, and indent all others but the
//! last. Lines that look like that are held back until it is whole; as soon as one does not, they are
//! lines like any other. So a stream that is damaged is never waited for.

use crate::wire::lines::{Content, Line};

/// Lines that may be one document.
#[derive(Debug)]
pub(super) struct Gatherer {
    /// The most bytes that are held back.
    limit_bytes: usize,
    held: Vec<Line>,
    bytes: usize,
}

impl Gatherer {
    /// Holds back at most `limit_bytes`.
    pub(super) fn within(limit_bytes: usize) -> Self {
        Self { limit_bytes, held: Vec::new(), bytes: 0 }
    }

    /// Claims that nothing is held back.
    pub(super) fn is_idle(&self) -> bool {
        self.held.is_empty()
    }

    /// Takes a line, and returns those that can be read now: nothing, itself, a document in one
    /// piece, or everything that turned out to be none.
    pub(super) fn take(&mut self, line: Line) -> Vec<Line> {
        let Content::Bytes(bytes) = &line.content else { return self.release(Some(line)) };
        let fits = bytes.len() < self.limit_bytes.saturating_sub(self.bytes);
        let is_part = match (self.opener(), bytes.trim_ascii()) {
            (None, b"{" | b"[") => fits && !is_indented(bytes),
            (None, _) => false,
            (Some(b"{"), b"}") | (Some(b"["), b"]") if !is_indented(bytes) => {
                return if fits { vec![self.join(line)] } else { self.release(Some(line)) };
            }
            (Some(_), _) => fits && is_indented(bytes),
        };
        if !is_part {
            return self.release(Some(line));
        }
        self.bytes += bytes.len() + 1;
        self.held.push(line);
        Vec::new()
    }

    /// Returns everything that is held back, and `line` behind it.
    pub(super) fn release(&mut self, line: Option<Line>) -> Vec<Line> {
        self.bytes = 0;
        let mut lines = std::mem::take(&mut self.held);
        lines.extend(line);
        lines
    }

    /// Returns the bracket that the lines held back begin with.
    fn opener(&self) -> Option<&[u8]> {
        match &self.held.first()?.content {
            Content::Bytes(bytes) => Some(bytes.trim_ascii()),
            Content::TooLong => None,
        }
    }

    /// Makes one of everything that is held back and its last line.
    fn join(&mut self, last: Line) -> Line {
        let ending = last.ending;
        let lines = self.release(Some(last));
        let (number, offset) = lines.first().map_or((0, 0), |line| (line.number, line.offset));
        let parts: Vec<Vec<u8>> = lines.into_iter().filter_map(into_bytes).collect();
        let bytes = parts.join(&b'\n');
        let length = bytes.len() as u64;
        Line { number, offset, length, content: Content::Bytes(bytes), ending }
    }
}

fn into_bytes(line: Line) -> Option<Vec<u8>> {
    match line.content {
        Content::Bytes(bytes) => Some(bytes),
        Content::TooLong => None,
    }
}

fn is_indented(bytes: &[u8]) -> bool {
    matches!(bytes, [b' ' | b'\t', ..])
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;
    use crate::wire::lines;

    /// Returns what can be read, one after the other.
    fn gathered(text: &str) -> Vec<String> {
        let (mut lines, mut gatherer) = (lines::Decoder::within(20), Gatherer::within(20));
        let mut all: Vec<Line> = lines.push(text.as_bytes());
        all.extend(lines.finish());
        let mut ready: Vec<Line> = all.into_iter().flat_map(|line| gatherer.take(line)).collect();
        ready.extend(gatherer.release(None));
        let text = |line| into_bytes(line).map(|bytes| String::from_utf8(bytes).unwrap());
        ready.into_iter().filter_map(text).collect()
    }

    #[test_case("{\n \"a\": 1\n}", &["{\n \"a\": 1\n}"]; "an object")]
    #[test_case("note\n[\r\n 1\r\n]\nend\n", &["note", "[\r\n 1\r\n]", "end"]; "an array, with others around it")]
    #[test_case("{\n{\"a\":1}\n", &["{", "{\"a\":1}"]; "a bracket before a stream")]
    #[test_case("{\n \"a\": 1\n", &["{", " \"a\": 1"]; "cut off")]
    #[test_case("{\n ]\n]\n}", &["{", " ]", "]", "}"]; "another bracket")]
    #[test_case("{\n 123456789\n 123456789\n}", &["{", " 123456789", " 123456789", "}"]; "too much")]
    fn lines_are_one_document_only_if_they_look_like_one(text: &str, ready: &[&str]) {
        assert_eq!(gathered(text), ready);
    }
}
