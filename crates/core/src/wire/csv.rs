//! Records of comma-separated values, as RFC 4180 has them.
//!
//! Pushed bytes like every other decoder. A record over the limit, or one that breaks the rules, is
//! reported with its line and costs no memory; decoding goes on behind it. An open quote, however,
//! swallows what follows it until the limit: nothing tells where it was meant to end.

/// The most fields of a record: as many as the widest spreadsheets have, and far from those of a
/// record that is nothing but separators, each of which costs more memory than its byte.
const FIELDS_LIMIT: usize = 16_384;

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The line it begins on, from 1.
    pub line: u64,
    /// Its fields, or what is wrong with it.
    pub fields: Result<Vec<Vec<u8>>, CsvError>,
}

/// What is wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CsvError {
    /// It has more bytes than are kept.
    #[error("the record is over the {limit}-byte limit")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// It has more fields than are kept.
    #[error("the record has more than {limit} fields")]
    TooWide {
        /// The limit.
        limit: usize,
    },
    /// Something stands between a closing quote and the next separator.
    #[error("text follows a closing quote")]
    AfterQuote,
    /// The stream ends within quotes.
    #[error("a quote is never closed")]
    OpenQuote,
}

/// Splits bytes into records.
#[derive(Debug)]
pub struct Decoder {
    separator: u8,
    limit_bytes: usize,
    state: State,
    fields: Vec<Vec<u8>>,
    field: Vec<u8>,
    size: usize,
    fault: Option<CsvError>,
    line: u64,
    first_line: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first byte of a record.
    Between,
    /// Before the first byte of a field.
    Start,
    Plain,
    Quoted,
    /// Behind a quote within quotes: the end, or the first of two.
    Quote,
}

impl Decoder {
    /// Starts a stream whose records may have `limit_bytes`.
    pub fn within(separator: u8, limit_bytes: usize) -> Self {
        Self {
            separator,
            limit_bytes,
            state: State::Between,
            fields: Vec::new(),
            field: Vec::new(),
            size: 0,
            fault: None,
            line: 1,
            first_line: 1,
        }
    }

    /// Reads the next bytes, which may be cut anywhere, and returns the records they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Record> {
        bytes.iter().filter_map(|byte| self.take(*byte)).collect()
    }

    /// Returns the last record, if it has no line break.
    pub fn finish(&mut self) -> Option<Record> {
        match self.state {
            State::Between => None,
            State::Quoted => {
                self.fault = self.fault.or(Some(CsvError::OpenQuote));
                Some(self.close())
            }
            State::Start | State::Plain | State::Quote => Some(self.close()),
        }
    }

    fn take(&mut self, byte: u8) -> Option<Record> {
        let is_break = byte == b'\n';
        let line = self.line;
        self.line += u64::from(is_break);
        if self.state == State::Between {
            self.first_line = line;
            // Blank lines are no records.
            if is_break || byte == b'\r' {
                return None;
            }
            self.state = State::Start;
        }
        match (self.state, byte) {
            (State::Quoted, b'"') => self.state = State::Quote,
            (State::Quoted, _) => self.keep(byte),
            (_, b'\n') => return Some(self.close()),
            (State::Quote, b'"') => {
                self.keep(byte);
                self.state = State::Quoted;
            }
            (State::Start, b'"') => self.state = State::Quoted,
            (_, byte) if byte == self.separator => {
                self.end_field();
                self.state = State::Start;
            }
            // The first half of a line break.
            (State::Quote, b'\r') => {}
            (State::Quote, _) => self.fault = self.fault.or(Some(CsvError::AfterQuote)),
            (State::Between | State::Start | State::Plain, _) => {
                self.keep(byte);
                self.state = State::Plain;
            }
        }
        None
    }

    fn keep(&mut self, byte: u8) {
        self.size += 1;
        if self.size > self.limit_bytes {
            self.fault = Some(CsvError::TooLong { limit: self.limit_bytes });
        }
        if self.fault.is_none() {
            self.field.push(byte);
        } else {
            self.fields.clear();
            self.field.clear();
        }
    }

    fn end_field(&mut self) {
        // Empty fields count, too: a record of nothing but separators has a limit.
        self.size += 1;
        let field = std::mem::take(&mut self.field);
        if self.size > self.limit_bytes {
            self.fault = Some(CsvError::TooLong { limit: self.limit_bytes });
            self.fields.clear();
        }
        if self.fields.len() >= FIELDS_LIMIT {
            self.fault = Some(CsvError::TooWide { limit: FIELDS_LIMIT });
            self.fields.clear();
        }
        if self.fault.is_none() {
            self.fields.push(field);
        }
    }

    fn close(&mut self) -> Record {
        if self.state == State::Plain && self.field.last() == Some(&b'\r') {
            self.field.pop();
        }
        self.end_field();
        self.state = State::Between;
        self.size = 0;
        let fields = std::mem::take(&mut self.fields);
        let fields = self.fault.take().map_or(Ok(fields), Err);
        Record { line: self.first_line, fields }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    fn split(text: &[u8], size: usize) -> Vec<Record> {
        let mut decoder = Decoder::within(b',', 40);
        let mut records: Vec<Record> =
            text.chunks(size.max(1)).flat_map(|chunk| decoder.push(chunk)).collect();
        records.extend(decoder.finish());
        records
    }

    fn texts(record: &Record) -> Vec<String> {
        let fields = record.fields.as_ref().unwrap();
        fields.iter().map(|field| String::from_utf8(field.clone()).unwrap()).collect()
    }

    #[test_case("a,b\r\n" => vec!["a", "b"]; "plain")]
    #[test_case("a,b" => vec!["a", "b"]; "no last line break")]
    #[test_case("\"a,1\",\"b \"\"x\"\"\"\n" => vec!["a,1", "b \"x\""]; "quotes")]
    #[test_case("\"one\r\ntwo\",\"\"\r\n" => vec!["one\r\ntwo", ""]; "line breaks in quotes")]
    #[test_case(",\n" => vec!["", ""]; "empty fields")]
    #[test_case("a\"b,c\n" => vec!["a\"b", "c"]; "quotes in plain text")]
    fn records_are_read_as_the_rules_say(text: &str) -> Vec<String> {
        let records = split(text.as_bytes(), 1000);
        assert_eq!(records.len(), 1);
        texts(&records[0])
    }

    #[test]
    fn records_know_their_line_also_behind_line_breaks_in_quotes() {
        let lines: Vec<u64> =
            split(b"a\n\n\"b\n\n\"\r\nc", 1000).iter().map(|record| record.line).collect();
        assert_eq!(lines, [1, 3, 6]);
    }

    #[test]
    fn a_bad_record_is_reported_once_and_the_next_is_read() {
        let long = "x".repeat(41);
        let many = ",".repeat(41);
        let text = format!("\"a\"b,c\n{long}\n{many}\nok\n\"open\n");
        let said: Vec<_> = split(text.as_bytes(), 1000)
            .into_iter()
            .map(|record| (record.line, record.fields.map(|fields| fields.len())))
            .collect();
        let too_long = CsvError::TooLong { limit: 40 };
        let expected = [
            (1, Err(CsvError::AfterQuote)),
            (2, Err(too_long)),
            (3, Err(too_long)),
            (4, Ok(1)),
            (5, Err(CsvError::OpenQuote)),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_record_has_so_many_fields_and_no_more() {
        let mut decoder = Decoder::within(b',', 1 << 20);
        let mut widest = ",".repeat(FIELDS_LIMIT - 1);
        widest.push('\n');
        let text = format!("{widest},{widest}ok\n");
        let said: Vec<_> = decoder
            .push(text.as_bytes())
            .into_iter()
            .map(|record| record.fields.map(|fields| fields.len()))
            .collect();
        let too_wide = CsvError::TooWide { limit: FIELDS_LIMIT };
        assert_eq!(said, [Ok(FIELDS_LIMIT), Err(too_wide), Ok(1)]);
    }

    fn quoted(field: &str) -> String {
        format!("\"{}\"", field.replace('"', "\"\""))
    }

    proptest! {
        #[test]
        fn records_survive_any_chunking(
            text in prop::collection::vec(prop::sample::select(b"ab,\"\r\n".as_slice()), 0..60),
            size in 1_usize..9,
        ) {
            prop_assert_eq!(split(&text, size), split(&text, 1000));
        }

        #[test]
        fn what_is_quoted_comes_back(fields in prop::collection::vec("[a\",\r\n]{0,6}", 1..4)) {
            let line: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
            let records = split(line.join(",").as_bytes(), 3);
            prop_assert_eq!(records.len(), 1);
            prop_assert_eq!(texts(&records[0]), fields);
        }
    }
}
