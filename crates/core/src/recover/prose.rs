//! What around a value says that it is none, or only a part of one.

use std::ops::Range;

use super::{ASIDE_LIMIT, Block, Finder};
use crate::json::number_end;
use crate::repair::Reading;

/// How long an interval such as `(0, 1]` is at most.
const INTERVAL_LIMIT: usize = 24;

/// How far before a value the key is looked for that it may belong to.
const MEMBER_LIMIT: usize = 512;

/// What is to be done: `- [ ] x`.
const TICK_BOX: &str = "[ ]";

/// What a literal of several lines is quoted with.
const LONG_QUOTES: [&str; 2] = ["\"\"\"", "'''"];

/// What a string may be quoted with.
const QUOTES: [char; 6] = ['"', '\'', '“', '”', '‘', '’'];

impl Finder<'_> {
    /// Claims that the bracket here may close a value in this line that seemed to end before: it
    /// stands behind a string, or behind the last member of an object.
    pub(super) fn ends_value(&self) -> bool {
        if self.at >= self.line_end {
            return false;
        }
        let before = self.near(self.at);
        let is_member = before.rsplit_once(':').is_some_and(|(name, value)| {
            name.trim_end().ends_with(QUOTES) && is_scalar(value.trim())
        });
        before.ends_with(QUOTES) || is_member
    }

    /// Returns what stands before `end`, as far back as a key is looked for.
    fn near(&self, end: usize) -> &str {
        let from = end.saturating_sub(MEMBER_LIMIT).max(self.floor).min(end);
        let from = (from..end).find(|at| self.text.is_char_boundary(*at)).unwrap_or(end);
        self.text.get(from..end).unwrap_or_default()
    }

    /// Claims that the bracket here closes a parenthesis, as in `(0, 1]`.
    pub(super) fn ends_interval(&self) -> bool {
        let from = self.at.saturating_sub(INTERVAL_LIMIT).max(self.floor);
        let near = self.bytes.get(from..self.at);
        near.is_some_and(|near| near.contains(&b'('))
    }

    /// Claims that the value at `start` is that of a key before it, or stands in a string that is:
    /// the key stands in the same line, or is the last that is said above and no title of a review.
    pub(super) fn follows_key(&self, start: usize) -> bool {
        let near = self.near(start);
        let line = near.rsplit_once('\n').map_or(near, |(_, line)| line);
        if is_sentence(line) {
            return false;
        }
        let ends_key = |text: &str| text.trim_end().ends_with(QUOTES);
        let is_key = |(at, _): (usize, &str)| {
            let (before, behind) = line.split_at_checked(at).unwrap_or_default();
            let opens = behind.get(1..).is_some_and(|value| value.trim_start().starts_with(QUOTES));
            let is_word = before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
            ends_key(before) || is_word && opens
        };
        // What is said last before the value may stand lines above it.
        let before = self.text.get(self.floor.min(start)..start).unwrap_or_default();
        let is_direct = before.trim_end().strip_suffix(':').is_some_and(|before| {
            // Looked for only behind what may be a key: each value of a long line would look through all of it.
            ends_key(before)
                && !is_title(before.rsplit_once('\n').map_or(before, |(_, above)| above))
        });
        is_direct || line.match_indices(':').any(is_key)
    }

    /// Claims that the closer before `end` may be part of a string with quotes that are not escaped:
    /// a quote follows at once, or half a pair in the same line.
    pub(super) fn ends_in_string(&mut self, start: usize, end: usize) -> bool {
        let behind = self.text.get(end..).unwrap_or_default();
        let enclosed = self.text.get(..start).is_some_and(|before| before.ends_with('\''));
        if behind.starts_with(QUOTES) && !(enclosed && behind.starts_with('\'')) {
            return true;
        }
        if self.line_end < end {
            let rest = memchr::memchr(b'\n', behind.as_bytes()).unwrap_or(behind.len());
            self.line_end = end + rest;
        }
        !self.ahead.count(self.text, end, self.line_end).is_multiple_of(2)
    }

    /// Claims that the fence at `start` is part of a string that opens in the same line.
    pub(super) fn is_in_string(&self, start: usize) -> bool {
        let before = self.text.get(self.floor.min(start)..start).unwrap_or_default();
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        line.ends_with(QUOTES) || !count_quotes(line).is_multiple_of(2)
    }

    /// Claims that the value may stand in a string literal of a program, and would read otherwise
    /// with that literal's escapes undone.
    pub(super) fn is_escaped_again(&self, start: usize, end: usize) -> bool {
        let before = self.text.get(..start).unwrap_or_default();
        let near = self.text.get(self.floor.min(start)..start).unwrap_or_default();
        let is_open = |quotes: &str| near.matches(quotes).count() % 2 == 1;
        let is_template = self.block != Block::None && before.ends_with('`');
        let may_be_literal = is_template
            || before.ends_with(['\'', '"'])
            || LONG_QUOTES.iter().any(|quotes| is_open(quotes));
        let value = self.bytes.get(start..end).unwrap_or_default();
        let is_twice = |at: usize| matches!(value.get(at + 1), Some(b'\\' | b'"'));
        may_be_literal && memchr::memchr_iter(b'\\', value).any(is_twice)
    }

    /// Claims that what reads like a value is part of a sentence, or of a line of code in a block that does
    /// not say what it holds: `string[]`, `see [3]`, `- [ ] x`, `def f(out=[]):`.
    pub(super) fn is_prose(&self, Reading { range, text, .. }: &Reading<'_>) -> bool {
        let first = self.bytes.get(range.start);
        if matches!(self.block, Block::Json { .. }) || !matches!(first, Some(b'[' | b'{')) {
            return false;
        }
        if self.is_index(range.start) || self.is_part_of_word(range) {
            return true;
        }
        let before = self.bytes.get(..range.start).unwrap_or_default();
        let is_blank = |byte: &&u8| b" \t\r".contains(byte);
        let behind = self.bytes.get(range.end..).unwrap_or_default();
        let neighbours = [
            before.iter().rev().find(|byte| !is_blank(byte)),
            behind.iter().find(|byte| !is_blank(byte)),
        ];
        is_trivial(text) && neighbours.into_iter().flatten().any(|byte| *byte != b'\n')
    }

    /// Claims that the bracket at `start` belongs to the word before it: `string[]`, `f(x)[1]`.
    fn is_index(&self, start: usize) -> bool {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_)".contains(byte);
        let before = self.bytes.get(..start).and_then(|before| before.last());
        self.bytes.get(start) == Some(&b'[') && before.is_some_and(is_word)
    }

    /// Claims that a list is the text of a link, or what a function is called with: `["a"](https://…)`,
    /// `run(["git", "diff"])`.
    fn is_part_of_word(&self, Range { start, end }: &Range<usize>) -> bool {
        let before = self.bytes.get(..*start).unwrap_or_default();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let is_called = matches!(before, [.., word, b'('] if is_word(word));
        let is_linked = self.bytes.get(*end) == Some(&b'(');
        self.bytes.get(*start) == Some(&b'[') && (is_called || is_linked)
    }

    /// Keeps a value of a sentence that may be meant as the answer all the same: `the list is [].`
    pub(super) fn note_aside(&mut self, range: Range<usize>) {
        let start = range.start;
        let value = self.text.get(range).unwrap_or_default();
        let is_value = value.starts_with(['[', '{']) && value != TICK_BOX;
        if self.block != Block::None || !is_value || self.is_index(start) {
            return;
        }
        let asides = &mut self.found.asides;
        if asides.len() < ASIDE_LIMIT || !value.contains(|byte: char| byte.is_ascii_digit()) {
            asides.entry(value).or_insert(start);
        }
    }

    /// Claims that the value goes on as in a list: `{"a":1}, {` or `[1], "`.
    pub(super) fn precedes_item(&self, start: usize, end: usize) -> bool {
        let comma = self.skip_space(end);
        let next = self.bytes.get(self.skip_space(comma + 1));
        let item = next == Some(&b'"') || next == Some(&b'{') && self.bytes.get(start) == next;
        self.bytes.get(comma) == Some(&b',') && item
    }
}

/// Claims that `word` is a number or a constant of JSON.
fn is_scalar(word: &str) -> bool {
    matches!(word, "true" | "false" | "null")
        || number_end(word.as_bytes(), 0).is_some_and(|end| end == word.len())
}

/// The quotes from some offset to the next bracket or the end of the line.
///
/// Kept, so that values which follow each other without a bracket are not counted past for each.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    from: usize,
    to: usize,
    quotes: usize,
}

impl Ahead {
    /// Counts the quotes from `from` on to the next bracket, or `line_end`.
    fn count(&mut self, text: &str, from: usize, line_end: usize) -> usize {
        if (self.from..self.to).contains(&from) {
            let passed = text.get(self.from..from).unwrap_or_default();
            self.quotes = self.quotes.saturating_sub(count_quotes(passed));
        } else {
            let line = text.get(from..line_end).unwrap_or_default();
            let prose = line.split(['{', '[']).next().unwrap_or_default();
            self.to = from + prose.len();
            self.quotes = count_quotes(prose);
        }
        self.from = from;
        self.quotes
    }
}

/// Counts the quotes in `text` that are not escaped.
fn count_quotes(text: &str) -> usize {
    let is_escaped = |at: usize| text.get(..at).is_some_and(|before| before.ends_with('\\'));
    text.match_indices('"').filter(|(at, _)| !is_escaped(*at)).count()
}

/// Claims that `line` is prose up to the value behind it, though it quotes something:
/// `My review of "login.py": ` or `Verdict: "good". `.
fn is_sentence(line: &str) -> bool {
    let mut parts = line.split('"');
    let (Some(first), Some(last)) = (parts.next(), parts.next_back()) else {
        return false;
    };
    let is_paired = parts.count() % 2 == 1 && !line.contains('\\');
    let is_title = !first.contains(':') && first.trim().contains(' ') && last.trim() == ":";
    let starts_with_word = line.trim_start().starts_with(char::is_alphabetic);
    let is_apart = last.ends_with([' ', '\t']);
    is_paired
        && starts_with_word
        && is_apart
        && (is_title || last.trim_end().ends_with(['.', '!', '?']))
}

/// Claims that `line`, which a colon follows, says what the value below it is: `Here is the review of
/// "login.py"` or `## Result for 'x'`. Before a key that is lost there are quotes, colons or commas.
fn is_title(line: &str) -> bool {
    let words = line.trim_start_matches(|mark: char| mark.is_whitespace() || "#*>-".contains(mark));
    let mut title = words.chars();
    let opening = match title.next_back() {
        Some('”') => '“',
        Some('’') => '‘',
        Some(same) => same,
        None => return false,
    };
    let Some((said, _)) = title.as_str().rsplit_once(opening) else { return false };
    let is_said = said.starts_with(char::is_alphabetic) && said.trim_end().contains(' ');
    let is_apart = said.ends_with(' ') && said.trim_end().ends_with(char::is_alphanumeric);
    let is_paired = said.matches('"').count().is_multiple_of(2);
    is_said && is_apart && is_paired && !words.contains(['\\', ':', '{', '[', '}', ']'])
}

/// Claims that `value` is empty or holds nothing but numbers, as references and tick boxes do.
pub(super) fn is_trivial(value: &str) -> bool {
    let inside = value.get(1..value.len().saturating_sub(1)).unwrap_or_default();
    inside.bytes().all(|byte| byte.is_ascii_digit() || b" \t\n\r,.+-eE".contains(&byte))
}
