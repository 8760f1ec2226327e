//! JSON as Python spells it: single quotes, `True`, `False` and `None`.
//!
//! Each of these tokens takes as many bytes as in JSON and means the same, so that such a text has
//! the tape of the JSON that was meant. It is read by the strict parser itself, in the same pass.
//! Whatever needs more than another spelling is left to repair: a double quote in single ones, an
//! escaped apostrophe, a scalar on its own.

use super::document::{Document, Kind, Slot};
use super::parse::{Failure, Limits, Mistake, Parser};
use super::scan::{next_mark_or_single, plain_single_quoted_end};
use super::string::Decoding;

/// How many tokens are respelt at once.
///
/// Their text fits the fastest cache, so that changing and checking it there costs little.
const PIECE_TOKENS: usize = 512;

/// How tokens may be spelt, or are.
#[derive(Debug, Clone)]
pub(super) enum Spelling {
    /// As in JSON.
    Json,
    /// As in JSON so far; Python's spelling is read, too.
    Either,
    /// As in Python from here on, where a strict reading ends.
    Python(Stop),
}

/// Where and why a text could not be read on.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    pub(super) kind: Mistake,
    pub(super) at: usize,
    /// How many containers were open.
    pub(super) open: usize,
}

impl Document {
    /// Parses `text` like [`Self::parse_text`], also where it is spelt as in Python; tells `respelt`
    /// the kind and place of each token that JSON spells otherwise.
    ///
    /// A failure is that of the strict reading.
    pub(crate) fn parse_respelt(
        text: &str,
        limits: &Limits,
        respelt: impl FnMut(Kind, usize),
    ) -> Result<Self, Failure> {
        let (parsed, spelling) = Parser::read(text, limits, Spelling::Either, Decoding::AtOnce)?;
        let text = match spelling {
            Spelling::Json | Spelling::Either => text.to_owned(),
            Spelling::Python(_) => respell(text, &parsed.slots, respelt),
        };
        Ok(Self { text, ..parsed })
    }
}

/// Returns `text`, whose tokens are `slots`, as JSON spells it.
fn respell(text: &str, slots: &[Slot], mut respelt: impl FnMut(Kind, usize)) -> String {
    let mut json = String::with_capacity(text.len());
    let mut piece = Vec::new();
    let mut pieces = slots.chunks(PIECE_TOKENS).peekable();
    while let Some(tokens) = pieces.next() {
        let from = json.len();
        let next = pieces.peek().and_then(|tokens| tokens.first());
        let to = next.map_or(text.len(), |token| token.start as usize);
        piece.clear();
        piece.extend_from_slice(text.as_bytes().get(from..to).unwrap_or_default());
        for Slot { kind, start, end, .. } in tokens {
            let start = *start as usize;
            // Containers may end in a later piece, but there is nothing to change about them.
            match piece.get_mut(start - from..*end as usize - from) {
                Some([open @ b'\'', .., close]) => (*open, *close) = (b'"', b'"'),
                Some(word @ [b'T' | b'F', ..]) => word.make_ascii_lowercase(),
                Some([a @ b'N', b, c, d]) => [*a, *b, *c, *d] = *b"null",
                _ => continue,
            }
            respelt(*kind, start);
        }
        json.push_str(str::from_utf8(&piece).unwrap_or_default());
    }
    json
}

impl Parser<'_> {
    /// Claims that the token here, where JSON has `expected`, may be spelt as in Python.
    #[inline]
    pub(super) fn may_be_python(&mut self, expected: &'static str) -> bool {
        matches!(self.spelling, Spelling::Python(_)) || self.becomes_python(expected)
    }

    /// Goes on in Python's spelling, unless this is a scalar on its own.
    #[inline(never)]
    fn becomes_python(&mut self, expected: &'static str) -> bool {
        let is_allowed = matches!(self.spelling, Spelling::Either) && !self.open.is_empty();
        if is_allowed {
            self.spelling = Spelling::Python(self.stop(Box::new(self.unexpected(expected))));
        }
        is_allowed
    }

    /// Returns where a strict reading ends that cannot go on here.
    pub(super) fn stop(&self, kind: Mistake) -> Stop {
        match &self.spelling {
            Spelling::Python(stop) => stop.clone(),
            Spelling::Json | Spelling::Either => Stop { kind, at: self.at, open: self.open.len() },
        }
    }

    /// Reads a string in single quotes.
    pub(super) fn single_quoted(&mut self) -> Result<(), Mistake> {
        match plain_single_quoted_end(self.text.as_bytes(), self.at + 1) {
            Ok(end) => self.scalar(Kind::String, end, 0),
            Err(mark) => self.escaped_string(mark, b'\'', next_mark_or_single),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;
    use crate::repair;

    fn respelt(text: &str) -> Result<(Document, Vec<(Kind, usize)>), Failure> {
        let mut changes = Vec::new();
        let limits = Limits::default();
        let document = Document::parse_respelt(text, &limits, |kind, at| changes.push((kind, at)))?;
        Ok((document, changes))
    }

    #[test]
    fn python_is_read_as_the_json_that_was_meant() {
        let (document, changes) =
            respelt(r#" {'a': [True, False, None, 'é\n'], "it's": ''}"#).unwrap();
        assert_eq!(document.text(), r#" {"a": [true, false, null, "é\n"], "it's": ""}"#);
        let expected = [
            (Kind::String, 2),
            (Kind::Boolean, 8),
            (Kind::Boolean, 14),
            (Kind::Null, 21),
            (Kind::String, 27),
            (Kind::String, 44),
        ];
        assert_eq!(changes, expected);
    }

    #[test_case("'a'"; "a scalar on its own")]
    #[test_case("True"; "a constant on its own")]
    #[test_case(r"['it\'s']"; "an escaped apostrophe")]
    #[test_case("['say \"hi\"']"; "a double quote in single ones")]
    #[test_case("['it's']"; "an apostrophe in single quotes")]
    #[test_case("['a\tb']"; "a control character")]
    #[test_case("[Nonesense]"; "another word")]
    #[test_case("['a',]"; "a trailing comma")]
    #[test_case("['a'"; "cut off")]
    fn what_needs_more_than_another_spelling_fails_as_strictly(text: &str) {
        let ours = respelt(text).unwrap_err();
        let strict = Document::parse_text(text, &Limits::default()).unwrap_err();
        assert_eq!((ours.error, ours.open), (strict.error, strict.open));
    }

    #[test]
    fn long_texts_are_respelt_across_all_pieces() {
        let said = format!("[{} None]", "{'é': True, 'b': [\"it's\"]}, ".repeat(PIECE_TOKENS));
        let meant = said.replace("'é'", "\"é\"").replace("'b'", "\"b\"");
        let meant = meant.replace("True", "true").replace("None", "null");
        let (document, changes) = respelt(&said).unwrap();
        assert_eq!((document.text(), changes.len()), (meant.as_str(), 3 * PIECE_TOKENS + 1));
    }

    /// Values as Python prints them, with tokens between that need repair.
    fn literal() -> impl Strategy<Value = String> {
        let token = prop::sample::select(vec![
            "'a'",
            "''",
            "'#&é'",
            r"'\n\\'",
            r#"'\"'"#,
            "\"it's\"",
            "\"\\u0041\"",
            "True",
            "False",
            "None",
            "true",
            "null",
            "-1.5e3",
            "1",
            "'it's'",
            r"'\''",
            "'a\"b'",
            "'a', 'b'",
            "'\t'",
            "'\\x'",
            "01",
            "“z”",
            "b",
        ]);
        token.prop_map(str::to_owned).prop_recursive(4, 24, 4, |inner| {
            let key = prop::sample::select(vec!["'a'", "'b'", "\"a\"", "'it's'", "c", r"'\u0061'"]);
            let members =
                vec((key, inner.clone()).prop_map(|(key, value)| format!("{key}: {value}")), 0..4);
            prop_oneof![
                vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
                members.prop_map(|members| format!("{{{}}}", members.join(","))),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_python_spells_is_what_repair_makes_of_it(text in literal()) {
            prop_assume!(text.starts_with(['{', '[']));
            if let Ok((document, changes)) = respelt(&text) {
                let reading = repair::read(&text, 0, Limits::default().depth).unwrap();
                prop_assert_eq!(document.text(), reading.text.as_ref());
                let offsets: Vec<_> = reading.edits.listed().iter().filter_map(|edit| edit.offset).collect();
                prop_assert_eq!(offsets, changes.into_iter().map(|(_, at)| at).collect::<Vec<_>>());
                let again = Document::parse(reading.text).unwrap();
                prop_assert_eq!(format!("{document:?}"), format!("{again:?}"));
            }
        }
    }
}
