//! Words of a model in Markdown, where they must do nothing but be read.
//!
//! A model repeats what stands in a diff, and a diff is anybody's: no picture is fetched from
//! elsewhere, nobody is notified, no HTML is made.

use std::borrow::Cow;

/// Characters that mean something in Markdown.
const MARKS: &str = "\\`*_[]<>!|~$";

/// Characters that prose has seldom and code often.
const CODE: [char; 7] = ['{', '}', '=', ';', '(', '<', '_'];

/// Returns prose as Markdown that shows the same and does nothing; code on one line stays code.
pub(super) fn prose(text: &str) -> String {
    let pieces: Vec<&str> = text.trim().split('`').collect();
    let is_code = |piece: &&str| !piece.trim().is_empty() && !piece.contains('\n');
    // Between an odd number of marks nobody knows what is meant as code.
    if pieces.len().is_multiple_of(2) || !pieces.iter().skip(1).step_by(2).all(is_code) {
        return escaped(text.trim());
    }
    let shown = pieces.iter().enumerate().map(|(position, piece)| match position % 2 {
        0 => escaped(piece),
        _ => format!("`{piece}`"),
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
            control if control.is_control() && control != '\t' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
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
    format!("{fence}text\n{}\n{fence}", text.replace('\r', ""))
}

/// Returns a name as code on one line.
pub(super) fn name(text: &str) -> String {
    let text: Cow<'_, str> =
        if text.contains('`') { text.replace('`', "'").into() } else { text.into() };
    format!("`{text}`")
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
}
