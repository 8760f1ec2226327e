//! Words of a model in Markdown, where they must do nothing but be read.
//!
//! A model repeats what stands in a diff, and a diff is anybody's: no picture is fetched from
//! elsewhere, nobody is notified, no HTML is made. Characters that turn text round or do not show are
//! spelt out, as the printer does.

use std::borrow::Cow;

use crate::is_treacherous;

/// Characters that mean something in Markdown.
const MARKS: &str = "\\`*_[]<>!|~$";

/// Characters that prose has seldom and code often.
const CODE: [char; 7] = ['{', '}', '=', ';', '(', '<', '_'];

/// Returns prose as Markdown that shows the same and does nothing; code on one line stays code.
pub(super) fn prose(text: &str) -> String {
    let text = text.trim().replace("\r\n", "\n");
    let pieces: Vec<&str> = text.split('`').collect();
    let is_code = |piece: &&str| !piece.trim().is_empty() && !piece.contains('\n');
    // Between an odd number of marks nobody knows what is meant as code.
    if pieces.len().is_multiple_of(2) || !pieces.iter().skip(1).step_by(2).all(is_code) {
        return escaped(&text);
    }
    let shown = pieces.iter().enumerate().map(|(position, piece)| match position % 2 {
        0 => escaped(piece),
        _ => format!("`{}`", spelt(piece)),
    });
    shown.collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("  \n"),
            // People and issues are found in what Markdown makes, so a backslash does not help.
            '@' | '#' => {
                out.push(character);
                out.push_str("<!-- -->");
            }
            '&' => out.push_str("&amp;"),
            mark if MARKS.contains(mark) => out.extend(['\\', mark]),
            hidden if is_hidden(hidden) => {
                // The backslash is to be seen as well.
                out.push('\\');
                out.extend(hidden.escape_debug());
            }
            other => out.push(other),
        }
    }
    out
}

/// Claims that a character is not seen as what it is; line breaks and tabs of a model are.
fn is_hidden(character: char) -> bool {
    is_treacherous(character) && !matches!(character, '\n' | '\t')
}

/// Returns code in which every character can be seen.
fn spelt(code: &str) -> Cow<'_, str> {
    if !code.contains(is_hidden) {
        return Cow::Borrowed(code);
    }
    let mut out = String::with_capacity(code.len() + 16);
    for character in code.chars() {
        if is_hidden(character) {
            out.extend(character.escape_debug());
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// Returns a suggestion: in a block of its own if it looks like code, else as prose.
pub(super) fn suggestion(text: &str) -> String {
    let text = text.trim();
    if text.contains('\n') || text.contains(CODE) { block(text) } else { prose(text) }
}

/// Returns a block of code that nothing in `text` can end.
fn block(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", spelt(&text.replace("\r\n", "\n")))
}

/// Returns a name as code on one line.
pub(super) fn name(text: &str) -> String {
    format!("`{}`", spelt(text).replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_model_do_nothing() {
        assert_eq!(
            prose("![x](http://evil/?q) <img> @ada & *b* #12\n# c"),
            "\\!\\[x\\](http://evil/?q) \\<img\\> @<!-- -->ada &amp; \\*b\\* #<!-- -->12  \n#<!-- --> c"
        );
        assert_eq!(prose("use `a_b` or <b>"), "use `a_b` or \\<b\\>");
        assert_eq!(prose("``` @ada"), "\\`\\`\\` @<!-- -->ada");
        assert_eq!(prose("`a` `"), "\\`a\\` \\`");
        assert_eq!(suggestion("Close it."), "Close it.");
        assert_eq!(suggestion("a == b"), "```text\na == b\n```");
        assert_eq!(suggestion("```\n@ada\n```"), "````text\n```\n@ada\n```\n````");
        assert_eq!(name("a`b"), "`a'b`");
    }

    #[test]
    fn what_turns_text_round_or_does_not_show_is_spelt_out() {
        assert_eq!(
            prose("an \u{202e}nimda `a\u{2066}b`\r\nc\td\u{7}"),
            "an \\\\u{202e}nimda `a\\u{2066}b`  \nc\td\\\\u{7}"
        );
        assert_eq!(
            suggestion("a\u{202e} == b\r\n\tc\re"),
            "```text\na\\u{202e} == b\n\tc\\re\n```"
        );
        assert_eq!(name("a\u{200b}b"), "`a\\u{200b}b`");
    }
}
