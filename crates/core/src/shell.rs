//! What a shell command consists of, as far as a permission or a guard may count on it.
//!
//! To allow, everything must be understood: a command is taken apart into simple commands, and one
//! that runs, reads or writes something by other means than its own words (substitution,
//! redirection, subshell, comment, expansion with braces) is not understood. To exclude, anything
//! that looks like the pattern is enough.

mod operands;
mod place;

use std::iter::Peekable;
use std::str::Chars;

pub use operands::Operands;
pub use place::{assigned, behind_prefixes, programs};

/// Redirections that neither read nor write a file.
const HARMLESS: [&str; 6] =
    ["2>&1", "1>&2", "2>/dev/null", ">/dev/null", "1>/dev/null", "</dev/null"];

/// Takes a command apart into its simple commands, each as words joined by a space, words that
/// need quotes in single ones; `None` if there is anything in it that is not understood.
pub fn simple_commands(text: &str) -> Option<Vec<String>> {
    let join = |words: Vec<String>| words.into_iter().map(quoted).collect::<Vec<_>>().join(" ");
    Some(command_words(text)?.into_iter().map(join).collect())
}

/// Takes a command apart into the words of its simple commands, quotes taken off; `None` if there is
/// anything in it that is not understood.
pub fn command_words(text: &str) -> Option<Vec<Vec<String>>> {
    let mut reader = Reader { rest: text.chars().peekable(), commands: Vec::new(), words: vec![] };
    reader.read()?;
    (!reader.commands.is_empty()).then_some(reader.commands)
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    commands: Vec<Vec<String>>,
    words: Vec<String>,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        while let Some(&next) = self.rest.peek() {
            match next {
                ' ' | '\t' => drop(self.rest.next()),
                '\\' if self.continues() => {}
                ';' | '&' | '|' | '\n' => {
                    let _: Option<char> = self.rest.next();
                    self.end_command();
                }
                _ if self.skips_redirection() => {}
                _ => {
                    let word = self.word()?;
                    self.words.push(word);
                }
            }
        }
        self.end_command();
        Some(())
    }

    /// Skips a backslash and the line break that it hides, if that is what comes.
    fn continues(&mut self) -> bool {
        let mut ahead = self.rest.clone();
        let hidden = ahead.next() == Some('\\') && ahead.next() == Some('\n');
        if hidden {
            self.rest = ahead;
        }
        hidden
    }

    fn end_command(&mut self) {
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }

    /// Reads one word, quotes taken off.
    fn word(&mut self) -> Option<String> {
        // A comment may hold quotes, which would hide the lines after it.
        if self.rest.peek() == Some(&'#') {
            return None;
        }
        let mut word = String::new();
        while let Some(&next) = self.rest.peek() {
            match next {
                ' ' | '\t' | '\n' | ';' | '&' | '|' => break,
                '`' | '(' | ')' | '<' | '>' => return None,
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    let _: Option<char> = self.rest.next();
                    word.extend(self.rest.next().filter(|&escaped| escaped != '\n'));
                }
                '$' => self.dollar(&mut word)?,
                other => {
                    let _: Option<char> = self.rest.next();
                    word.push(other);
                }
            }
        }
        Some(word)
    }

    /// Skips a harmless redirection that stands by itself, if that is what comes.
    fn skips_redirection(&mut self) -> bool {
        let ahead = self.rest.clone();
        let delimits = |next: Option<char>| {
            next.is_none_or(|next| matches!(next, ' ' | '\t' | '\n' | ';' | '|'))
        };
        let found = HARMLESS.into_iter().find(|redirection| {
            let mut ahead = ahead.clone();
            redirection.chars().all(|expected| ahead.next() == Some(expected))
                && delimits(ahead.next())
        });
        for _ in found.unwrap_or_default().chars() {
            let _: Option<char> = self.rest.next();
        }
        found.is_some()
    }

    fn single_quoted(&mut self, word: &mut String) -> Option<()> {
        let _: Option<char> = self.rest.next();
        loop {
            match self.rest.next()? {
                '\'' => return Some(()),
                other => word.push(other),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut String) -> Option<()> {
        let _: Option<char> = self.rest.next();
        loop {
            match self.rest.peek()? {
                '`' => return None,
                '$' => self.dollar(word)?,
                _ => match self.rest.next()? {
                    '"' => return Some(()),
                    '\\' => self.escaped_in_quotes(word)?,
                    other => word.push(other),
                },
            }
        }
    }

    fn escaped_in_quotes(&mut self, word: &mut String) -> Option<()> {
        match self.rest.next()? {
            '\n' => {}
            escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
            other => word.extend(['\\', other]),
        }
        Some(())
    }

    /// Reads a dollar sign: a plain variable is a word like others, all else is not understood.
    fn dollar(&mut self, word: &mut String) -> Option<()> {
        word.extend(self.rest.next());
        match self.rest.peek() {
            Some('(' | '{' | '\'' | '"' | '`' | '[') => None,
            _ => Some(()),
        }
    }
}

/// Quotes a word that could otherwise be taken for several, or for something else.
fn quoted(word: String) -> String {
    let plain = |next: char| next.is_alphanumeric() || "_@%+=:,./-~^*?[]{}$!#".contains(next);
    if !word.is_empty() && word.chars().all(plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns everything in a command that may be run: each run of words, from each of its words on.
///
/// Quotes and backslashes are dropped, whatever they quote, and the folder of a program is.
pub fn suspects(text: &str) -> impl Iterator<Item = String> {
    suspect_words(text).into_iter().flat_map(|words| {
        (0..words.len()).flat_map(move |start| {
            let words = words.get(start..).unwrap_or_default().join(" ");
            let (program, rest) = words.split_once(' ').unwrap_or((&words, ""));
            let bare = format!("{} {rest}", program_name(program)).trim_end().to_owned();
            [words, bare]
        })
    })
}

/// Returns the runs of words in a command: quotes and backslashes are dropped, whatever they quote.
pub fn suspect_words(text: &str) -> Vec<Vec<String>> {
    let unquoted: String =
        text.replace("\\\n", "").chars().filter(|next| !"'\"\\".contains(*next)).collect();
    unquoted
        .split([';', '&', '|', '\n', '`', '(', ')', '{', '}', '<', '>'])
        .map(|part| part.split_whitespace().map(str::to_owned).collect())
        .collect()
}

/// Returns the name of a program without its folder.
pub fn program_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
