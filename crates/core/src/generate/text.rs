//! Text of a contract inside of generated text: inert, whatever it holds.

use crate::{excerpt, is_treacherous};

/// How much of a description is repeated.
const DESCRIPTION_LIMIT_CHARS: usize = 2_000;

/// How a language escapes characters in strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `\u{7f}`.
    Braces,
    /// `\u007f`, in two halves beyond 16 bits.
    Halves,
    /// `\u007f`, or `\U0001f600` beyond 16 bits.
    Long,
}

/// Returns `text` as a string literal in double quotes.
pub(super) fn quoted(text: &str, escapes: Escapes) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            other if is_treacherous(other) => literal.push_str(&escaped(other, escapes)),
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

fn escaped(character: char, escapes: Escapes) -> String {
    let code = u32::from(character);
    match escapes {
        Escapes::Braces => format!("\\u{{{code:x}}}"),
        Escapes::Long if code > 0xffff => format!("\\U{code:08x}"),
        Escapes::Long | Escapes::Halves => {
            let units: Vec<u16> = character.encode_utf16(&mut [0; 2]).to_vec();
            units.iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }
    }
}

/// Returns a description as lines in which nothing ends a comment of any language, and no character
/// hides.
pub(super) fn lines(description: &str) -> Vec<String> {
    let shown = excerpt(description, DESCRIPTION_LIMIT_CHARS, "…");
    let lines = shown.split(|it: char| {
        matches!(it, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
    });
    let mut lines: Vec<String> = lines.map(inert).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let blank = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..blank);
    lines.dedup_by(|next, last| next.is_empty() && last.is_empty());
    lines
}

/// Returns a text as one line of the same kind.
pub(super) fn line(text: &str) -> String {
    lines(text).join(" ")
}

/// Returns the same JSON, spread out, in a spelling in which no character hides.
pub(super) fn spelt(json: &serde_json::Value) -> String {
    let mut text = String::new();
    for character in format!("{json:#}").chars() {
        // A line break stands between values, all others in strings.
        if character != '\n' && is_treacherous(character) {
            text.push_str(&escaped(character, Escapes::Halves));
        } else {
            text.push(character);
        }
    }
    text
}

fn inert(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for character in line.trim_end().chars() {
        match character {
            '\t' => shown.push(' '),
            other if is_treacherous(other) => shown.push_str(&escaped(other, Escapes::Braces)),
            other => shown.push(other),
        }
    }
    // A block comment would end here, or another begin.
    shown.trim_end().replace("*/", "* /").replace("/*", "/ *")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_what_they_were_and_hide_nothing() {
        let text = "a\"\\\n\u{7f}\u{202e}\u{e0041}é";
        assert_eq!(quoted(text, Escapes::Braces), r#""a\"\\\n\u{7f}\u{202e}\u{e0041}é""#);
        assert_eq!(quoted(text, Escapes::Long), r#""a\"\\\n\u007f\u202e\U000e0041é""#);
        let halves = quoted(text, Escapes::Halves);
        assert_eq!(serde_json::from_str::<String>(&halves).unwrap(), text);
    }

    #[test]
    fn descriptions_end_no_comment() {
        let lines = lines("\n\na */ b\r\n\u{2028}\n// c\u{202e}\t/*d\n");
        assert_eq!(lines, ["a * / b", "", "// c\\u{202e} / *d"]);
        assert_eq!(line("a\nb\u{85}c"), "a b c");
    }

    #[test]
    fn descriptions_are_bounded() {
        assert_eq!(
            line(&"x".repeat(DESCRIPTION_LIMIT_CHARS + 1)).chars().count(),
            DESCRIPTION_LIMIT_CHARS + 1
        );
    }
}
