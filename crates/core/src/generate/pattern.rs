//! Patterns in the words of other engines.
//!
//! A pattern is read as the verdict reads it and written out again in the few forms that all engines
//! agree on, so that it matches the same texts everywhere. What has no such form (look-around, word
//! boundaries beyond ASCII, classes of thousands of characters) is left to the verdict.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// How long a pattern may become: classes of all letters would fill pages.
const LENGTH_LIMIT_BYTES: usize = 2_000;

/// How often anything may be repeated, in all: what Go's engine takes.
const REPEAT_LIMIT: u32 = 1_000;

/// How deep groups may nest.
const DEPTH_LIMIT: usize = 100;

/// An engine that patterns are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    /// JavaScript's, with the flag `u`.
    JavaScript,
    /// RE2's, as Go has it.
    Re2,
    /// Rust's `regex`, which Pydantic uses.
    Rust,
}

/// Returns `pattern` for another engine, if it can mean the same there.
pub(super) fn translated(pattern: &str, engine: Engine) -> Option<String> {
    let rust = jsonschema_regex::to_rust_regex(pattern).ok()?;
    let parsed = regex_syntax::Parser::new().parse(&rust).ok()?;
    if engine == Engine::Rust {
        return Some(rust.into_owned());
    }
    let mut writer = Writer { engine, text: String::new() };
    writer.write(&parsed, 1, 0)?;
    Some(writer.text)
}

struct Writer {
    engine: Engine,
    text: String,
}

impl Writer {
    /// Writes a part that is repeated `times` in all.
    fn write(&mut self, part: &Hir, times: u32, depth: usize) -> Option<()> {
        if depth > DEPTH_LIMIT || self.text.len() > LENGTH_LIMIT_BYTES {
            return None;
        }
        match part.kind() {
            HirKind::Empty => self.text.push_str("(?:)"),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                text.chars().for_each(|character| self.character(character));
            }
            HirKind::Class(Class::Unicode(class)) => {
                let ranges: Vec<_> =
                    class.ranges().iter().map(|it| (it.start(), it.end())).collect();
                self.class(&ranges);
            }
            HirKind::Class(Class::Bytes(class)) => {
                if !class.is_ascii() {
                    return None;
                }
                let range = |it: &regex_syntax::hir::ClassBytesRange| {
                    (char::from(it.start()), char::from(it.end()))
                };
                self.class(&class.ranges().iter().map(range).collect::<Vec<_>>());
            }
            HirKind::Look(Look::Start) => self.text.push('^'),
            HirKind::Look(Look::End) => self.text.push('$'),
            HirKind::Look(Look::WordAscii) => self.text.push_str("\\b"),
            HirKind::Look(Look::WordAsciiNegate) => self.text.push_str("\\B"),
            HirKind::Look(_) => return None,
            HirKind::Repetition(repetition) => {
                let most = repetition.max.unwrap_or(repetition.min.max(1));
                let times =
                    times.checked_mul(most.max(1)).filter(|times| *times <= REPEAT_LIMIT)?;
                self.grouped(&repetition.sub, times, depth)?;
                self.text.push_str(&match (repetition.min, repetition.max) {
                    (0, None) => "*".to_owned(),
                    (1, None) => "+".to_owned(),
                    (0, Some(1)) => "?".to_owned(),
                    (least, None) => format!("{{{least},}}"),
                    (least, Some(most)) if least == most => format!("{{{least}}}"),
                    (least, Some(most)) => format!("{{{least},{most}}}"),
                });
            }
            HirKind::Capture(capture) => self.group(&capture.sub, times, depth)?,
            HirKind::Concat(parts) => {
                for part in parts {
                    if let HirKind::Alternation(_) = part.kind() {
                        self.group(part, times, depth)?;
                    } else {
                        self.write(part, times, depth + 1)?;
                    }
                }
            }
            HirKind::Alternation(parts) => {
                for (position, part) in parts.iter().enumerate() {
                    self.text.push_str(if position > 0 { "|" } else { "" });
                    self.write(part, times, depth + 1)?;
                }
            }
        }
        Some(())
    }

    fn group(&mut self, part: &Hir, times: u32, depth: usize) -> Option<()> {
        self.text.push_str("(?:");
        self.write(part, times, depth + 1)?;
        self.text.push(')');
        Some(())
    }

    /// Writes what a repetition repeats: a class or one character stands for itself.
    fn grouped(&mut self, part: &Hir, times: u32, depth: usize) -> Option<()> {
        let is_one = match part.kind() {
            HirKind::Class(_) | HirKind::Capture(_) => true,
            HirKind::Literal(literal) => literal.0.len() == 1,
            HirKind::Empty
            | HirKind::Look(_)
            | HirKind::Repetition(_)
            | HirKind::Concat(_)
            | HirKind::Alternation(_) => false,
        };
        if is_one { self.write(part, times, depth + 1) } else { self.group(part, times, depth) }
    }

    fn class(&mut self, ranges: &[(char, char)]) {
        if ranges.is_empty() {
            // Nothing is in it; not every engine takes empty brackets.
            return self.text.push_str("[^\\s\\S]");
        }
        if let [('\u{0}', char::MAX)] = ranges {
            return self.text.push_str("[\\s\\S]");
        }
        self.text.push('[');
        for (first, last) in ranges {
            self.member(*first);
            if first != last {
                if u32::from(*last) > u32::from(*first) + 1 {
                    self.text.push('-');
                }
                self.member(*last);
            }
        }
        self.text.push(']');
    }

    /// Writes a character of a class, where few mean something.
    fn member(&mut self, character: char) {
        match character {
            '(' | ')' | '+' | '*' | '?' | '.' | '$' | '|' | '{' | '}' => self.text.push(character),
            other => self.character(other),
        }
    }

    fn character(&mut self, character: char) {
        match character {
            letter if letter.is_ascii_alphanumeric() => self.text.push(letter),
            ' ' | '_' | '"' | '\'' | '!' | '#' | '%' | '&' | ',' | ':' | ';' | '<' | '=' | '>'
            | '@' | '`' | '~' => self.text.push(character),
            '/' if self.engine != Engine::JavaScript => self.text.push('/'),
            mark if mark.is_ascii_punctuation() => self.text.extend(['\\', mark]),
            other => {
                let code = u32::from(other);
                self.text.push_str(&match self.engine {
                    Engine::JavaScript => format!("\\u{{{code:x}}}"),
                    Engine::Re2 | Engine::Rust => format!("\\x{{{code:x}}}"),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("^[a-z0-9-]+$" => Some("^[\\-0-9a-z]+$".to_owned()))]
    #[test_case("^\\d{3}(-x)?$" => Some("^[0-9]{3}(?:\\-x)?$".to_owned()); "digits are those of ASCII")]
    #[test_case("a|b" => Some("[ab]".to_owned()); "not anchored")]
    #[test_case("^(?:ab|c)*é" => Some("^(?:ab|c)*\\u{e9}".to_owned()); "group")]
    #[test_case("^(?=a)" => None; "look-ahead")]
    #[test_case("^\\p{L}+$" => None; "too long")]
    #[test_case("^(a{100}){100}$" => None; "too often")]
    fn patterns_are_written_in_the_forms_that_all_engines_share(pattern: &str) -> Option<String> {
        translated(pattern, Engine::JavaScript)
    }

    #[test_case("^[a-z0-9-]+$", &["a-1", "", "A", "a\n"])]
    #[test_case("^[+0-9][0-9 ()/.-]{4,28}$", &["+45 33 12 00 41", "12", "pigeon"])]
    #[test_case("^\\S+@\\S+\\.\\w{2,}$", &["a@b.cd", "a@b", "ä@ö.üü", "a@b.c d"])]
    #[test_case("(^a|b$)[&~# ]?", &["a", "xb", "xa", "b "])]
    #[test_case("[^\\s\\S]|^x$", &["x", "y", ""])]
    #[test_case("^.$", &["x", "\n", "\u{2028}", "é", ""])]
    fn what_is_written_matches_the_same(pattern: &str, texts: &[&str]) {
        let original = jsonschema_regex::to_rust_regex(pattern).unwrap();
        let original = regex::Regex::new(&original).unwrap();
        let written = translated(pattern, Engine::Re2).unwrap();
        let written = regex::Regex::new(&written).unwrap();
        for text in texts {
            assert_eq!(written.is_match(text), original.is_match(text), "{pattern} {text:?}");
        }
    }
}
