//! Patterns in the words of other engines.
//!
//! A pattern is read as the verdict reads it and written out again in the few forms that all engines
//! agree on, so that it matches the same texts everywhere. What has no such form (look-around, word
//! boundaries beyond ASCII, classes of thousands of characters) is left to the verdict. Where people and
//! models read it, it stays as it is written, if the engine can read that.

mod script;

use regex_syntax::hir::{Class, Hir, HirKind, Look};

pub(crate) use script::is_read_by_script;

/// How long a pattern may become: classes of all letters would fill pages.
const LENGTH_LIMIT_BYTES: usize = 2_000;

/// How often anything may be repeated, in all: what Go's engine takes.
const REPEAT_LIMIT: u32 = 1_000;

/// How deep groups may nest.
const DEPTH_LIMIT: usize = 100;

/// An engine that patterns are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// JavaScript's, with the flag `u`.
    JavaScript,
    /// RE2's, as Go has it.
    Re2,
    /// Rust's `regex`, which Pydantic uses.
    Rust,
    /// llama.cpp's converter, which makes of it a grammar for the text between the quotes of a JSON string.
    LlamaCpp,
}

/// Returns `pattern` for another engine, if it can mean the same there.
pub(crate) fn translated(pattern: &str, engine: Engine) -> Option<String> {
    let rust = jsonschema_regex::to_rust_regex(pattern).ok()?;
    let parsed = regex_syntax::Parser::new().parse(&rust).ok()?;
    if engine == Engine::Rust {
        return Some(rust.into_owned());
    }
    let mut writer = Writer { engine, text: String::new() };
    if engine == Engine::LlamaCpp {
        writer.whole(&parsed)?;
    } else {
        writer.write(&parsed, 1, 0)?;
    }
    (writer.text.len() <= LENGTH_LIMIT_BYTES).then_some(writer.text)
}

struct Writer {
    engine: Engine,
    text: String,
}

impl Writer {
    /// Writes a pattern that `^` and `$` enclose.
    fn whole(&mut self, pattern: &Hir) -> Option<()> {
        let HirKind::Concat(parts) = pattern.kind() else { return None };
        let [first, inner @ .., last] = parts.as_slice() else { return None };
        let is = |part: &Hir, look| *part.kind() == HirKind::Look(look);
        if !is(first, Look::Start) || !is(last, Look::End) || inner.is_empty() {
            return None;
        }
        self.text.push('^');
        self.concat(inner, 1, 0)?;
        self.text.push('$');
        Some(())
    }

    /// Writes a part that is repeated `times` in all.
    fn write(&mut self, part: &Hir, times: u32, depth: usize) -> Option<()> {
        if depth > DEPTH_LIMIT || self.text.len() > LENGTH_LIMIT_BYTES {
            return None;
        }
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) if self.engine == Engine::LlamaCpp => return None,
            HirKind::Empty => self.text.push_str("(?:)"),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                text.chars().try_for_each(|character| self.character(character))?;
            }
            HirKind::Class(Class::Unicode(class)) => {
                let ranges: Vec<_> =
                    class.ranges().iter().map(|it| (it.start(), it.end())).collect();
                self.class(&ranges)?;
            }
            HirKind::Class(Class::Bytes(class)) => {
                if !class.is_ascii() {
                    return None;
                }
                let range = |it: &regex_syntax::hir::ClassBytesRange| {
                    (char::from(it.start()), char::from(it.end()))
                };
                self.class(&class.ranges().iter().map(range).collect::<Vec<_>>())?;
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
                match (repetition.min, repetition.max) {
                    (0, None) => self.text.push('*'),
                    (1, None) => self.text.push('+'),
                    (0, Some(1)) => self.text.push('?'),
                    (least, None) => self.text.extend(["{", &least.to_string(), ",}"]),
                    (least, Some(most)) if least == most => {
                        self.text.extend(["{", &least.to_string(), "}"]);
                    }
                    (least, Some(most)) => {
                        self.text.extend(["{", &least.to_string(), ",", &most.to_string(), "}"]);
                    }
                }
            }
            HirKind::Capture(capture) => self.group(&capture.sub, times, depth)?,
            HirKind::Concat(parts) => self.concat(parts, times, depth)?,
            HirKind::Alternation(parts) => {
                for (position, part) in parts.iter().enumerate() {
                    self.text.push_str(if position > 0 { "|" } else { "" });
                    self.write(part, times, depth + 1)?;
                }
            }
        }
        Some(())
    }

    fn concat(&mut self, parts: &[Hir], times: u32, depth: usize) -> Option<()> {
        parts.iter().try_for_each(|part| {
            if let HirKind::Alternation(_) = part.kind() {
                self.group(part, times, depth)
            } else {
                self.write(part, times, depth + 1)
            }
        })
    }

    fn group(&mut self, part: &Hir, times: u32, depth: usize) -> Option<()> {
        // Older converters know no other groups, and nobody asks what was captured.
        self.text.push_str(if self.engine == Engine::LlamaCpp { "(" } else { "(?:" });
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

    fn class(&mut self, ranges: &[(char, char)]) -> Option<()> {
        if self.engine == Engine::LlamaCpp
            && (ranges.is_empty() || !ranges.iter().all(|range| is_bare(range.0, range.1)))
        {
            return None;
        }
        if ranges.is_empty() {
            // Nothing is in it; not every engine takes empty brackets.
            self.text.push_str("[^\\s\\S]");
            return Some(());
        }
        if let [('\u{0}', char::MAX)] = ranges {
            self.text.push_str("[\\s\\S]");
            return Some(());
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
        Some(())
    }

    /// Writes a character of a class, where few mean something.
    fn member(&mut self, character: char) {
        match (character, self.engine) {
            ('-', Engine::LlamaCpp) => self.text.push_str("\\x2D"),
            ('^', Engine::LlamaCpp) => self.text.push_str("\\x5E"),
            ('[' | ']', Engine::LlamaCpp) => self.text.extend(['\\', character]),
            (_, Engine::LlamaCpp) => self.text.push(character),
            ('-', _) => self.text.push_str("\\-"),
            ('(' | ')' | '+' | '*' | '?' | '.' | '$' | '|' | '{' | '}', _) => {
                self.text.push(character);
            }
            _ => self.escaped(character),
        }
    }

    fn character(&mut self, character: char) -> Option<()> {
        let is_text = is_plain(character) && is_bare(character, character);
        if self.engine != Engine::LlamaCpp || is_text {
            self.escaped(character);
            return Some(());
        }
        // Behind a backslash, and of more than one byte, it is taken for a part of what stands before
        // it, also by what repeats it.
        self.class(&[(character, character)])
    }

    fn escaped(&mut self, character: char) {
        match character {
            plain if is_plain(plain) => self.text.push(plain),
            '/' if self.engine != Engine::JavaScript => self.text.push('/'),
            mark if mark.is_ascii_punctuation() => self.text.extend(['\\', mark]),
            other => {
                let code = format!("{:x}", u32::from(other));
                let letter = if self.engine == Engine::JavaScript { "u" } else { "x" };
                self.text.extend(["\\", letter, "{", &code, "}"]);
            }
        }
    }
}

/// Claims that a character means itself, and no engine takes a backslash before it.
fn is_plain(character: char) -> bool {
    // JavaScript refuses `\-` where it means nothing.
    let marks = " _-\"'!#%&,:;<=>@`~";
    character.is_ascii_alphanumeric() || marks.contains(character)
}

/// Claims that all of these stand for themselves between the quotes of a JSON string.
fn is_bare(first: char, last: char) -> bool {
    first >= ' ' && !(first..=last).contains(&'"') && !(first..=last).contains(&'\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("^[a-z0-9-]+$" => Some("^[\\-0-9a-z]+$".to_owned()))]
    #[test_case("^\\d{3}(-x)?$" => Some("^[0-9]{3}(?:-x)?$".to_owned()); "digits are those of ASCII")]
    #[test_case("a|b" => Some("[ab]".to_owned()); "not anchored")]
    #[test_case("^(?:ab|c)*é" => Some("^(?:ab|c)*\\u{e9}".to_owned()); "group")]
    #[test_case("^(?=a)" => None; "look-ahead")]
    #[test_case("^\\p{L}+$" => None; "too long")]
    #[test_case("^(a{100}){100}$" => None; "too often")]
    fn patterns_are_written_in_the_forms_that_all_engines_share(pattern: &str) -> Option<String> {
        translated(pattern, Engine::JavaScript)
    }

    #[test_case(r"^\d{3}(-x)?$" => Some("^[0-9]{3}(-x)?$".to_owned()); "a set has no letter there")]
    #[test_case(r"^v1\.+(?:a|b\/c)$" => Some("^v1[.]+(a|b[/]c)$".to_owned()); "marks are classes")]
    #[test_case(r"^[\w\-.]+@é+$" => Some(r"^[\x2D.0-9A-Z_a-z]+@([é])+$".to_owned()); "a hyphen by its number")]
    #[test_case(r"^[\^\]]$" => Some(r"^[\]\x5E]$".to_owned()); "what means something in a class")]
    #[test_case("a" => None; "open at both ends")]
    #[test_case("^a|b$" => None; "each branch open at one end")]
    #[test_case("^a^b$" => None; "an anchor amid")]
    #[test_case(r"^a\b$" => None; "a word boundary")]
    #[test_case("^[^,]$" => None; "a quote ends the string")]
    #[test_case(r"^\S+$" => None; "a backslash begins an escape")]
    #[test_case("^a\"$" => None; "a quote by itself")]
    #[test_case(r"^a\tb$" => None; "a tab is none in JSON")]
    #[test_case("^(a|)$" => None; "nothing")]
    #[test_case("^\\p{L}+$" => None; "too long for it")]
    fn llama_cpp_is_asked_for_the_text_of_json_strings(pattern: &str) -> Option<String> {
        translated(pattern, Engine::LlamaCpp)
    }

    #[test_case("^[a-z0-9-]+$", &["a-1", "", "A", "a\n"])]
    #[test_case("^[+0-9][0-9 ()/.-]{4,28}$", &["+45 33 12 00 41", "12", "pigeon"])]
    #[test_case("^\\S+@\\S+\\.\\w{2,}$", &["a@b.cd", "a@b", "ä@ö.üü", "a@b.c d"])]
    #[test_case("(^a|b$)[&~# ]?", &["a", "xb", "xa", "b "])]
    #[test_case("[^\\s\\S]|^x$", &["x", "y", ""])]
    #[test_case("^.$", &["x", "\n", "\u{2028}", "é", ""])]
    fn what_is_written_matches_the_same(pattern: &str, texts: &[&str]) {
        matches_the_same(pattern, Engine::Re2, texts);
    }

    #[test_case(r"^[\w\-.^\[\]]{2,3}$", &["a-", ".^[", "]]", "a", "é-", "----"])]
    #[test_case(r"^(?:[0-9.]+|x\*{2}|é)\/$", &["1.2/", "x**/", "x*/", "é/", "/"])]
    fn what_is_written_for_llama_cpp_matches_the_same(pattern: &str, texts: &[&str]) {
        matches_the_same(pattern, Engine::LlamaCpp, texts);
    }

    fn matches_the_same(pattern: &str, engine: Engine, texts: &[&str]) {
        let original = jsonschema_regex::to_rust_regex(pattern).unwrap();
        let original = regex::Regex::new(&original).unwrap();
        let written = translated(pattern, engine).unwrap();
        let written = regex::Regex::new(&written).unwrap();
        for text in texts {
            assert_eq!(written.is_match(text), original.is_match(text), "{pattern} {text:?}");
        }
    }
}
