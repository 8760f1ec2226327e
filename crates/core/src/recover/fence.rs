//! Fences and code spans: what stands in them is meant as code.

use super::prose::is_trivial;
use super::{Block, Fenced, Finder, Language, role, unopened};
use crate::repair;

/// The languages of an answer; a fence without one may hold an answer too.
const LANGUAGES: [&str; 4] = ["", "json", "jsonc", "json5"];

/// The languages of data that may be an answer, though it is none that can be read.
const NOTATIONS: [&str; 7] = ["yaml", "yml", "toml", "jsonl", "ndjson", "hjson", "ini"];

/// The languages of text that is no program code.
const TEXTS: [&str; 5] = ["text", "txt", "plaintext", "markdown", "md"];

/// How long the name of a language may be.
const TAG_LIMIT: usize = 64;

/// The languages of blocks that hold thoughts.
const THOUGHTS: [&str; 5] = ["think", "thinking", "thought", "thoughts", "reasoning"];

impl Finder<'_> {
    /// Steps over a fence's line, a block of program code, or a code span.
    pub(super) fn ticks(&mut self) {
        let start = self.at;
        let marker = self.bytes.get(start).copied().unwrap_or_default();
        self.at = run_end(self.bytes, start);
        match (self.at - start, marker) {
            (1 | 2, b'`') => self.span(start),
            (0..=2, _) => {}
            _ => self.fence(start, marker),
        }
    }

    fn fence(&mut self, start: usize, marker: u8) {
        let length = self.at - start;
        let Some((tag, end)) = tag(self.text, self.at) else {
            return self.last_fence(start);
        };
        if self.is_in_string(start) {
            return self.stop(start, &unopened(start), end);
        }
        self.open = 0;
        self.floor = end;
        let is_code = is_code(tag);
        let is_lone = self.block == Block::None && is_first(self.text, start);
        let closes = tag.is_empty()
            && (self.block != Block::None || is_lone && self.closes_prompt(start, end));
        if !closes {
            let language = if !is_code || is_one_of(tag, &TEXTS) {
                Language::Text
            } else if is_one_of(tag, &NOTATIONS) {
                Language::Notation
            } else {
                Language::Program
            };
            self.blocks.push(Fenced { start: self.skip_space(end), language });
        }
        self.at = end;
        if is_one_of(tag, &THOUGHTS) {
            self.block = Block::None;
            let behind = thought_end(self.text, end, marker, length);
            self.is_thinking = behind.is_none();
            return self.go_on(behind.unwrap_or(self.text.len()));
        }
        if is_code && !self.is_unclosed {
            match code_end(self.text, end, marker) {
                Some(behind) => return self.code(end, behind, marker),
                None => self.is_unclosed = true,
            }
        }
        self.note_fence(start, end, tag);
        self.block = if closes {
            Block::None
        } else if is_code || tag.is_empty() {
            Block::Unnamed
        } else {
            Block::Json { first: self.certain_start(start, end) }
        };
        self.scalar_alone();
    }

    /// Looks at a fence that no line end follows, which may be the last that the text holds.
    fn last_fence(&mut self, start: usize) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.len() > TAG_LIMIT {
            return;
        }
        let tag = if role::is_tokens(rest) { "" } else { rest.trim() };
        if tag.chars().all(is_tag) {
            self.note_fence(start, self.text.len(), tag);
        }
    }

    /// Returns where the content of the block starts whose fence is from `start` to `end`, if
    /// nothing stands before the fence and no string can be open there.
    fn certain_start(&mut self, start: usize, end: usize) -> Option<usize> {
        let is_certain = is_first(self.text, start) && self.pairs.are_complete(self.text, start);
        is_certain.then(|| self.skip_space(end))
    }

    /// Steps over a block of program code, unless it is one whole value.
    fn code(&mut self, from: usize, behind: usize, marker: u8) {
        self.block = Block::None;
        let content = self.text.get(..behind).unwrap_or_default();
        let inside = content.trim_end_matches(char::from(marker));
        if inside.len() < behind {
            self.whole(self.skip_space(from), inside.len());
        }
        self.at = self.at.max(behind);
        self.floor = self.at;
        self.scalar_alone();
    }

    /// Steps over the code span that `start` opens, unless it is one whole value.
    fn span(&mut self, start: usize) {
        let Some(end) = span_end(self.bytes, start, self.at) else {
            return;
        };
        let first = self.skip_blanks(self.at);
        let behind = end + (self.at - start);
        let inside = self.text.get(first..end).unwrap_or_default().trim_end();
        match (self.open, is_trivial(inside)) {
            (0, true) => self.note_aside(first..first + inside.len()),
            (0, false) => self.whole(first, end),
            _ => {}
        }
        self.at = self.at.max(behind);
    }

    /// Takes what stands from `first` to `end`, if it is one value.
    fn whole(&mut self, first: usize, end: usize) {
        let inside = self.text.get(..end).unwrap_or_default().trim_end();
        if matches!(self.bytes.get(first), Some(b'{' | b'['))
            && let Ok(reading) = repair::read(inside, first, self.limits.depth)
            && reading.range.end == inside.len()
        {
            self.take(reading);
        }
    }

    /// Returns where the blocks start that are no program code and no value.
    pub(super) fn unread(&self) -> Vec<usize> {
        let texts = self.blocks.iter().filter(|block| block.language == Language::Text);
        texts.map(|block| block.start).filter(|start| self.is_unread(*start)).collect()
    }

    /// Returns the blocks that are no value.
    pub(super) fn fenced(&self) -> Vec<Fenced> {
        self.blocks.iter().copied().filter(|block| self.is_unread(block.start)).collect()
    }

    /// Claims that the block whose content starts at `first` holds something, and not just one value.
    fn is_unread(&self, first: usize) -> bool {
        let candidates = &self.found.candidates;
        let found = candidates.binary_search_by_key(&first, |it| it.reading.range.start);
        let found = found.ok().and_then(|position| candidates.get(position));
        let is_value = found.is_some_and(|it| is_end(self.text, it.reading.range.end));
        !is_value && !is_end(self.text, first)
    }
}

/// Claims that nothing but blanks stands before `at` on its line.
pub(super) fn is_first(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

/// Claims that a block ends at `at`, or the whole text.
fn is_end(text: &str, at: usize) -> bool {
    closes(text, at) || text.get(at..).is_none_or(|rest| rest.trim_start().is_empty())
}

/// Claims that nothing but white space, a closing fence, and tokens of the chat template follow at `at`.
pub(super) fn closes(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default().trim_start();
    let ticks = run_end(rest.as_bytes(), 0);
    let line = rest.get(ticks..).and_then(|behind| behind.lines().next());
    rest.starts_with(['`', '~']) && ticks >= 3 && line.is_none_or(role::is_tokens)
}

/// Finds the end of the run of equal bytes at `at`.
fn run_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let first = rest.first();
    at + rest.iter().take_while(|byte| Some(*byte) == first).count()
}

/// Returns the language behind a fence's marker, and the end of its line; `None` if more words
/// follow than a language.
///
/// Reads no further than that takes: a line may be all of the text, and hold a fence at every word.
fn tag(text: &str, at: usize) -> Option<(&str, usize)> {
    let is_blank = |character: char| character.is_whitespace() && character != '\n';
    let rest = text.get(at..)?.trim_start_matches(is_blank);
    let behind = rest.trim_start_matches(is_tag);
    let tag = rest.get(..rest.len() - behind.len())?;
    let end = behind.trim_start_matches(is_blank);
    end.starts_with('\n').then_some((tag, text.len() - end.len()))
}

/// Claims that a fence with this language says that it holds JSON.
pub(super) fn is_json(tag: &str) -> bool {
    !tag.is_empty() && is_one_of(tag, &LANGUAGES)
}

fn is_tag(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_+-.#".contains(character)
}

/// Claims that a fence with this language holds program code.
fn is_code(tag: &str) -> bool {
    !is_one_of(tag, &LANGUAGES)
}

fn is_one_of(tag: &str, languages: &[&str]) -> bool {
    languages.iter().any(|language| tag.eq_ignore_ascii_case(language))
}

/// Finds where the block of code that starts at `from` ends: behind its closing fence, or before
/// a fence that opens an answer.
fn code_end(text: &str, from: usize, marker: u8) -> Option<usize> {
    let mut at = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        let fence = at + (line.len() - line.trim_start().len());
        let ticks = run_end(text.as_bytes(), fence) - fence;
        if ticks >= 3 && text.as_bytes().get(fence) == Some(&marker) {
            let tag = text.get(fence + ticks..at + line.len())?.trim();
            if tag.is_empty() {
                return Some(fence + ticks);
            }
            if !is_code(tag) {
                return Some(at);
            }
        }
        at += line.len();
    }
    None
}

/// Finds where the block of thoughts ends that starts at `from`, with a fence of `length`: other blocks in it
/// belong to it.
fn thought_end(text: &str, from: usize, marker: u8, length: usize) -> Option<usize> {
    let (mut at, mut depth) = (from, 0_usize);
    for line in text.get(from..)?.split_inclusive('\n') {
        let fence = at + (line.len() - line.trim_start().len());
        let ticks = run_end(text.as_bytes(), fence) - fence;
        if ticks >= 3 && text.as_bytes().get(fence) == Some(&marker) {
            let is_bare = text.get(fence + ticks..at + line.len())?.trim().is_empty();
            match (is_bare, depth) {
                (false, _) => depth += 1,
                (true, 0) if ticks >= length => return Some(fence + ticks),
                (true, _) => depth = depth.saturating_sub(1),
            }
        }
        at += line.len();
    }
    None
}

/// Finds the ticks in the same line that close the span whose ticks are from `start` to `end`.
fn span_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let mut at = end;
    loop {
        let rest = bytes.get(at..)?;
        let found = at + memchr::memchr2(b'`', b'\n', rest)?;
        if bytes.get(found) == Some(&b'\n') {
            return None;
        }
        at = run_end(bytes, found);
        if at - found == end - start {
            return Some(found);
        }
    }
}
