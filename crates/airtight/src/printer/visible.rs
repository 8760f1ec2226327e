//! Characters that a terminal would obey or hide, spelt out.

use std::borrow::Cow;

use airtight_core::is_treacherous;

/// How much of one line is shown. A message may quote a value of megabytes.
const LINE_LIMIT_CHARS: usize = 1_000;

/// Returns `text` as one bounded line in which every character can be seen.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    let end = text.char_indices().nth(LINE_LIMIT_CHARS).map(|(end, _)| end);
    if end.is_none() && !text.contains(is_treacherous) {
        return Cow::Borrowed(text);
    }
    let (shown, hidden) = text.split_at(end.unwrap_or(text.len()));
    let mut line = String::with_capacity(shown.len() + 32);
    for character in shown.chars() {
        if is_treacherous(character) {
            line.extend(character.escape_debug());
        } else {
            line.push(character);
        }
    }
    if !hidden.is_empty() {
        line.extend(["… (", &hidden.len().to_string(), " more bytes)"]);
    }
    Cow::Owned(line)
}

/// Returns the same JSON value in a spelling that a terminal shows as it is.
///
/// Such characters can only stand in strings, where an escape means the same; a line break can
/// only stand between values.
pub(super) fn visible_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_treacherous) {
        return Cow::Borrowed(json);
    }
    let mut spelt = String::with_capacity(json.len() + 32);
    for character in json.chars() {
        if character == '\n' || !is_treacherous(character) {
            spelt.push(character);
            continue;
        }
        spelt.extend(
            character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")),
        );
    }
    Cow::Owned(spelt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_obeys_survives() {
        let naughty = "\x1b[2J\x1b]52;c;aGk=\x07\r\n\u{9b}31m\u{202e}abc\u{200b}\u{e0041}";
        assert!(!visible(naughty).contains(is_treacherous));
        assert!(visible(naughty).starts_with("\\u{1b}[2J"));
        assert_eq!(visible("plain é 漢 🙂"), "plain é 漢 🙂");
    }

    #[test]
    fn json_means_the_same_when_spelt_out() {
        let json = "{\"a\":\"\u{9b}\u{202e}\u{e0041}\u{7f}é\",\n\"b\":1}";
        let spelt = visible_json(json);
        assert!(!spelt.replace('\n', "").contains(is_treacherous));
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&spelt), value(json));
    }

    #[test]
    fn lines_are_bounded() {
        let line = visible(&"é".repeat(LINE_LIMIT_CHARS + 5)).into_owned();
        assert!(line.ends_with("é… (10 more bytes)"));
        assert_eq!(visible(&"é".repeat(LINE_LIMIT_CHARS)).chars().count(), LINE_LIMIT_CHARS);
    }
}
