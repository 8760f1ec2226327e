//! What models, tools and users said, made harmless and bounded before it stands on a page.
//!
//! maud escapes what HTML would obey. This module takes care of the rest: escape sequences of
//! terminals are left out, characters that show nothing or reorder what is around them are spelt out,
//! and whatever is long is cut, with a way to see all of it as plain text.

use std::borrow::Cow;
use std::fmt::Write as _;

use airtight_core::is_treacherous;
use maud::{Markup, html};

/// How much of a text one block shows. CO-104: 2,000 of what a tool says; texts of models a little more.
pub(super) const BLOCK_LIMIT: usize = 4_000;
/// How much of what a tool said one block shows.
pub(super) const RESULT_LIMIT: usize = 2_000;
/// How much of the arguments of a tool one line shows.
pub(super) const ARGUMENTS_LIMIT: usize = 200;
/// How much of a text one line of a list shows.
pub(super) const LINE_LIMIT: usize = 240;

/// The longest escape sequence that is taken for one: beyond that it is text.
const SEQUENCE_LIMIT: usize = 4_096;

/// Returns `text` without escape sequences, and with everything that does not show spelt out. Line breaks
/// and tabs stay.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_odd = |it: char| is_treacherous(it) && it != '\n' && it != '\t';
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = rest.get(character.len_utf8()..).unwrap_or_default();
        if let Some(length) = sequence(rest) {
            rest = rest.get(length..).unwrap_or_default();
            continue;
        }
        if character == '\r' && after.starts_with('\n') {
            rest = after;
            continue;
        }
        if is_odd(character) {
            spell(character, &mut shown);
        } else {
            shown.push(character);
        }
        rest = after;
    }
    Cow::Owned(shown)
}

/// Returns JSON in which everything that does not show is escaped: the same value, and in a field where it is
/// edited nothing reorders what is about to be accepted, or is lost.
pub(super) fn escaped(json: &str) -> Cow<'_, str> {
    let is_odd = |it: char| is_treacherous(it) && !matches!(it, '\n' | '\t' | '\r');
    if !json.contains(is_odd) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if is_odd(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                write!(shown, "\\u{unit:04x}").unwrap_or_default();
            }
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Returns the same as one line, whose white space is single spaces, with at most `limit` characters.
pub(super) fn line(text: &str, limit: usize) -> String {
    // What is far behind the end of the line need not be looked at.
    let beginning = head(text, limit.saturating_mul(8).max(SEQUENCE_LIMIT));
    let shown = harmless(beginning);
    let mut line = String::new();
    for (index, word) in shown.split_whitespace().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > limit.saturating_mul(4) {
            break;
        }
    }
    let is_cut = line.chars().nth(limit).is_some() || beginning.len() < text.len();
    let mut line = head(&line, limit).to_owned();
    if is_cut {
        line.push('…');
    }
    line
}

/// Renders a text of several lines; where it is cut, `all` leads to the rest.
pub(super) fn block(text: &str, limit: usize, all: Option<&str>) -> Markup {
    let shown = head(text, limit);
    let is_cut = shown.len() < text.len();
    html! {
        pre.said tabindex="0" { (harmless(shown)) @if is_cut { "…" } }
        @if is_cut {
            p.more-link {
                span.quiet { (format!("{} of {} bytes are shown. ", shown.len(), text.len())) }
                @if let Some(address) = all { a href=(address) { "Show all as plain text" } }
            }
        }
    }
}

/// Returns bytes as text; what is no text is shown as such.
pub(super) fn of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Returns the first `limit` characters.
fn head(text: &str, limit: usize) -> &str {
    let end = text.char_indices().nth(limit).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// Returns the length of the escape sequence that `text` begins with, if it does.
fn sequence(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    let introducer = match characters.next()?.1 {
        '\u{1b}' => characters.next()?.1,
        '\u{9b}' => '[',
        '\u{9d}' => ']',
        _ => return None,
    };
    let rest = characters.take(SEQUENCE_LIMIT);
    match introducer {
        '[' => ends(rest, |it| ('@'..='~').contains(&it), |it| ('\u{20}'..='?').contains(&it)),
        ']' | 'P' | 'X' | '^' | '_' => string_end(rest),
        '(' | ')' | '*' | '+' | '#' | '%' => rest.map(|(at, it)| at + it.len_utf8()).next(),
        '0'..='~' => Some(2),
        _ => None,
    }
}

/// Returns the end of a sequence of characters that `goes_on`, at the first that is the `last`.
fn ends(
    rest: impl Iterator<Item = (usize, char)>,
    last: impl Fn(char) -> bool,
    goes_on: impl Fn(char) -> bool,
) -> Option<usize> {
    for (at, character) in rest {
        if last(character) {
            return Some(at + character.len_utf8());
        }
        if !goes_on(character) {
            return Some(at);
        }
    }
    None
}

/// Returns the end of a string sequence: at BEL, or at the string terminator.
fn string_end(rest: impl Iterator<Item = (usize, char)>) -> Option<usize> {
    let mut is_escaped = false;
    for (at, character) in rest {
        match character {
            '\u{7}' | '\u{9c}' => return Some(at + character.len_utf8()),
            '\\' if is_escaped => return Some(at + 1),
            '\n' => return Some(at),
            _ => is_escaped = character == '\u{1b}',
        }
    }
    None
}

/// Spells a character out that does not show: pictures for control characters, else its number.
fn spell(character: char, shown: &mut String) {
    let picture = match u32::from(character) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    };
    match picture {
        Some(picture) => shown.push(picture),
        // Writing to a string cannot fail.
        None => drop(write!(shown, "⟨U+{:04X}⟩", u32::from(character))),
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(r#"{"a": "é 🙂"}"# => r#"{"a": "é 🙂"}"#; "what shows stays")]
    #[test_case("{\n\t\"a\": \"x\u{202e}\u{e0041}\"}" => "{\n\t\"a\": \"x\\u202e\\udb40\\udc41\"}"; "what hides or reorders")]
    #[test_case("no \0 JSON" => "no \\u0000 JSON"; "what is no JSON")]
    fn json_is_escaped(json: &str) -> String {
        let shown = escaped(json).into_owned();
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(json) {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
        shown
    }

    #[test_case("plain é 漢 🙂\n\tx" => "plain é 漢 🙂\n\tx"; "what shows stays")]
    #[test_case("\u{1b}[31mred\u{1b}[0m" => "red"; "colours are left out")]
    #[test_case("a\u{1b}]8;;https://evil.example\u{7}link\u{1b}]8;;\u{1b}\\b" => "alinkb"; "links of terminals too")]
    #[test_case("\u{9b}2Jx" => "x"; "introducers of one byte")]
    #[test_case("a\r\nb\rc" => "a\nb␍c"; "line ends")]
    #[test_case("a\u{202e}b\u{200b}c" => "a⟨U+202E⟩b⟨U+200B⟩c"; "what reorders or hides")]
    #[test_case("\0\u{7}\u{7f}" => "␀␇␡"; "control characters")]
    #[test_case("\u{1b}" => "␛"; "an escape at the end")]
    #[test_case("\u{1b}[31" => "␛[31"; "a sequence that does not end")]
    fn nothing_is_obeyed_and_nothing_hides(text: &str) -> String {
        harmless(text).into_owned()
    }

    #[test]
    fn lines_are_one_line_and_bounded() {
        assert_eq!(line("  a \n\n b\tc ", 10), "a b c");
        assert_eq!(line("abcdef", 3), "abc…");
        assert_eq!(line(&"é".repeat(100_000), 5), "ééééé…");
        assert_eq!(line(&format!("{}x", " ".repeat(100_000)), 5), "…");
    }

    #[test]
    fn a_block_escapes_and_says_what_it_leaves_out() {
        let shown = block("<script>alert(1)</script>", 100, None).into_string();
        assert!(shown.contains("&lt;script&gt;") && !shown.contains("<script"), "{shown}");
        let shown = block(&"x".repeat(50), 10, Some("/runs/a?b=<")).into_string();
        assert!(shown.contains("10 of 50 bytes") && shown.contains("/runs/a?b=&lt;"), "{shown}");
    }
}
