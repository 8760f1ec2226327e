//! What a shell command consists of, as far as a permission may count on it.
//!
//! To allow, everything must be understood: a command is taken apart into simple commands, and one
//! that runs, reads or writes something by other means than its own words (substitution,
//! redirection, subshell, comment, expansion with braces) is not understood. To exclude, anything
//! that looks like the pattern is enough.

use std::iter::Peekable;
use std::str::Chars;

/// Redirections that neither read nor write a file.
const HARMLESS: [&str; 6] =
    ["2>&1", "1>&2", "2>/dev/null", ">/dev/null", "1>/dev/null", "</dev/null"];

/// Takes a command apart into its simple commands, each as words joined by a space, words that
/// need quotes in single ones; `None` if there is anything in it that is not understood.
pub(super) fn simple_commands(text: &str) -> Option<Vec<String>> {
    let mut reader = Reader { rest: text.chars().peekable(), commands: Vec::new(), words: vec![] };
    reader.read()?;
    (!reader.commands.is_empty()).then_some(reader.commands)
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    commands: Vec<String>,
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
        self.words.retain(|word| !HARMLESS.contains(&word.as_str()));
        if !self.words.is_empty() {
            self.commands.push(self.words.join(" "));
            self.words.clear();
        }
    }

    /// Reads one word, quotes taken off.
    fn word(&mut self) -> Option<String> {
        let bare = self.bare_redirection();
        if bare.is_some() {
            return bare;
        }
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
        Some(quoted(word))
    }

    /// Reads a harmless redirection that stands by itself.
    fn bare_redirection(&mut self) -> Option<String> {
        let ahead = self.rest.clone();
        let delimits = |next: Option<char>| {
            next.is_none_or(|next| matches!(next, ' ' | '\t' | '\n' | ';' | '|'))
        };
        let found = HARMLESS.into_iter().find(|redirection| {
            let mut ahead = ahead.clone();
            redirection.chars().all(|expected| ahead.next() == Some(expected))
                && delimits(ahead.next())
        })?;
        for _ in found.chars() {
            let _: Option<char> = self.rest.next();
        }
        Some(found.to_owned())
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
pub(super) fn suspects(text: &str) -> impl Iterator<Item = String> {
    let unquoted: String =
        text.replace("\\\n", "").chars().filter(|next| !"'\"\\".contains(*next)).collect();
    let parts: Vec<Vec<String>> = unquoted
        .split([';', '&', '|', '\n', '`', '(', ')', '{', '}', '<', '>'])
        .map(|part| part.split_whitespace().map(str::to_owned).collect())
        .collect();
    parts.into_iter().flat_map(|words| {
        (0..words.len()).flat_map(move |start| {
            let words = words.get(start..).unwrap_or_default().join(" ");
            let (program, rest) = words.split_once(' ').unwrap_or((&words, ""));
            let name = program.rsplit('/').next().unwrap_or(program);
            let bare = format!("{name} {rest}").trim_end().to_owned();
            [words, bare]
        })
    })
}
