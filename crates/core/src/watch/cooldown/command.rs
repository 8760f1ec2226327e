//! Which commands act on services, and on which.
//!
//! Where a line is understood, programs are looked for where programs stand: behind `sudo`, in
//! `sh -c`, on another machine by `ssh`. Where it is not, everything that looks like an action is one. What
//! only prints or searches text never is. An action on a service that cannot be named is let pass, and told.
//! One in a loop is neither: nobody can count it.

mod programs;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::CooldownAction;
use crate::excerpt;
use crate::shell::{command_words, program_name, suspect_words};
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::services::SERVICE_NAME_LIMIT_BYTES;
use programs::{Act, act};

/// The most bytes of a command that are looked at: what the kernel takes as one argument.
const COMMAND_LIMIT_BYTES: usize = 128 * 1024;

/// How deep commands in arguments are looked into.
const DEPTH_LIMIT: u8 = 4;

/// The most actions of one command: whoever does more in one line is not understood.
const ACTIONS_LIMIT: usize = 64;

/// How many words of an action are looked at.
const WORDS_LIMIT: usize = 256;

/// How much of a command is told.
const TOLD_CHARS: usize = 200;

/// Programs that print, search or edit text, and run none of it.
const TEXT_PROGRAMS: [&str; 26] = [
    "awk",
    "cat",
    "cd",
    "cut",
    "diff",
    "echo",
    "egrep",
    "export",
    "fgrep",
    "gh",
    "git",
    "grep",
    "head",
    "jq",
    "journalctl",
    "less",
    "ls",
    "man",
    "printf",
    "rg",
    "sed",
    "sort",
    "tail",
    "tee",
    "type",
    "which",
];

/// Programs that read a script from a pipe if they are given none.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ash", "ksh"];

/// Programs, and options of `find`, that run what they are given again and again.
const REPEATERS: [&str; 7] = ["xargs", "parallel", "watch", "repeat", "-exec", "-execdir", "-ok"];

/// What makes a program that is not known by name look like one that acts on services.
const VERBS: [&str; 6] = ["restart", "stop", "start", "up", "upgrade", "rollout"];

/// Words that stand before a program.
const KEYWORDS: [&str; 9] = ["if", "then", "elif", "else", "while", "until", "do", "!", "time"];

/// What a command does to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandAction {
    /// What.
    pub action: CooldownAction,
    /// To which.
    pub service: String,
}

/// Something in a command that was let pass without being understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CommandNote {
    /// It acts on every service, on one that it does not name, or by a program that it does not name.
    NoService {
        /// The command.
        command: String,
    },
    /// It names a service by a variable, a pattern or a substitution.
    UnknownService {
        /// The name as it is written.
        written: String,
    },
    /// It is too long, or does too much.
    TooLong {
        /// How long.
        bytes: usize,
    },
}

impl CommandNote {
    /// Returns the event that tells of it.
    pub fn event(&self) -> Event {
        let message = match self {
            Self::NoService { command } => {
                format!("an action was let pass, for its service cannot be told: {command}")
            }
            Self::UnknownService { written } => {
                format!("an action on a service that is not known by name was let pass: {written}")
            }
            Self::TooLong { bytes } => {
                format!("a command of {bytes} bytes was let pass without a look for actions")
            }
        };
        Event::of_watch(Level::Warning, message)
    }
}

/// What a command does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recognised {
    /// What it does to services, in order.
    pub actions: Vec<CommandAction>,
    /// What was not understood.
    pub notes: Vec<CommandNote>,
    /// What it does in a loop, and nobody can say how often.
    pub repeated: Option<String>,
}

/// Says what `command` does to services.
pub fn recognise(command: &str) -> Recognised {
    let mut scan = Scan::default();
    if command.len() > COMMAND_LIMIT_BYTES {
        scan.note(CommandNote::TooLong { bytes: command.len() });
        return scan.found;
    }
    scan.line(command, DEPTH_LIMIT);
    scan.found
}

/// A look at a command.
#[derive(Debug, Default)]
struct Scan {
    found: Recognised,
    /// How many loops are open.
    loops: usize,
}

impl Scan {
    /// Looks at a line of shell.
    fn line(&mut self, text: &str, depth: u8) {
        let before = self.loops;
        match command_words(text).filter(|commands| !reads_script(commands)) {
            Some(commands) if depth > 0 => {
                for words in &commands {
                    self.loops = loops_at(words, self.loops);
                    self.simple(words, depth - 1);
                }
            }
            _ => self.suspicious(text),
        }
        self.loops = before;
    }

    /// Looks at a simple command.
    fn simple(&mut self, words: &[String], depth: u8) {
        let words = behind_prefixes(words);
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        if self.takes(words) || TEXT_PROGRAMS.contains(&program_name(program)) {
            return;
        }
        if program.starts_with('$') && arguments.iter().any(|word| VERBS.contains(&word.as_str())) {
            let command = excerpt(&words.join(" "), TOLD_CHARS, "…").into_owned();
            self.repeat(&command);
            self.note(CommandNote::NoService { command });
        }
        // Whatever else it is, it may run what it is given.
        let outside = self.loops;
        self.loops = outside.saturating_add(usize::from(repeats(program)));
        for (position, argument) in arguments.iter().enumerate() {
            if argument.contains(char::is_whitespace) {
                self.line(argument, depth);
            } else if self.takes(arguments.get(position..).unwrap_or_default()) {
                break;
            }
            self.loops = self.loops.saturating_add(usize::from(repeats(argument)));
        }
        self.loops = outside;
    }

    /// Looks at a line that is not understood.
    fn suspicious(&mut self, text: &str) {
        let before = self.loops;
        for words in suspect_words(text) {
            self.loops = loops_at(&words, self.loops);
            let is_text = words.first().is_some_and(|it| TEXT_PROGRAMS.contains(&it.as_str()));
            if is_text && !text.contains('|') {
                continue;
            }
            let outside = self.loops;
            for (start, word) in words.iter().enumerate() {
                let _: bool = self.takes(words.get(start..).unwrap_or_default());
                self.loops = self.loops.saturating_add(usize::from(repeats(word)));
            }
            self.loops = outside;
        }
        self.loops = before;
    }

    /// Takes the action that `words` are, if they are one.
    fn takes(&mut self, words: &[String]) -> bool {
        let looked_at = words.get(..WORDS_LIMIT).unwrap_or(words);
        let Some(Act { action, services }) = act(looked_at) else {
            return false;
        };
        let command = excerpt(&looked_at.join(" "), TOLD_CHARS, "…").into_owned();
        self.repeat(&command);
        if looked_at.len() < words.len() {
            self.note(CommandNote::TooLong { bytes: words.iter().map(String::len).sum() });
        }
        // What is behind this is a comment.
        let services: Vec<String> =
            services.into_iter().take_while(|service| !service.starts_with('#')).collect();
        if services.is_empty() {
            self.note(CommandNote::NoService { command });
        }
        for service in services {
            if is_name(&service) && self.found.actions.len() < ACTIONS_LIMIT {
                self.found.actions.push(CommandAction { action, service });
            } else {
                let written = excerpt(&service, TOLD_CHARS, "…").into_owned();
                self.note(CommandNote::UnknownService { written });
            }
        }
        true
    }

    /// Says that `command` acts, which must not be in a loop.
    fn repeat(&mut self, command: &str) {
        if self.loops > 0 {
            self.found.repeated.get_or_insert_with(|| command.to_owned());
        }
    }

    fn note(&mut self, note: CommandNote) {
        let notes = &mut self.found.notes;
        if !notes.contains(&note) && notes.len() < ACTIONS_LIMIT {
            notes.push(note);
        }
    }
}

/// Returns how many loops are open behind the first word of a command, of `open` before it.
fn loops_at(words: &[String], open: usize) -> usize {
    let Some(first) = words.iter().find(|word| !is_before_loop(word)) else { return open };
    match first.as_str() {
        "for" | "while" | "until" | "select" => open.saturating_add(1),
        "done" => open.saturating_sub(1),
        _ => open,
    }
}

/// Claims that a loop may follow this word in the same command: `do for …`, `then while …`.
fn is_before_loop(word: &str) -> bool {
    matches!(word, "do" | "then" | "else" | "if" | "elif" | "!" | "time") || is_assignment(word)
}

/// Claims that what stands behind this word is run again and again.
fn repeats(word: &str) -> bool {
    REPEATERS.contains(&program_name(word))
}

/// Claims that a shell among `commands` runs what comes to it by a pipe.
fn reads_script(commands: &[Vec<String>]) -> bool {
    commands.len() > 1
        && commands.iter().any(|words| {
            let is_option = |word: &String| word.starts_with('-') && !word.contains('c');
            let shell = words.iter().position(|word| SHELLS.contains(&program_name(word)));
            shell.is_some_and(|shell| words.iter().skip(shell + 1).all(is_option))
        })
}

/// Claims that this is the name of a service, not a variable, a pattern or a path.
fn is_name(text: &str) -> bool {
    let is_inside = |next: char| next.is_alphanumeric() || "_.@:-".contains(next);
    text.len() <= SERVICE_NAME_LIMIT_BYTES
        && text.starts_with(char::is_alphanumeric)
        && text.chars().all(is_inside)
}

/// Returns what is behind assignments and keywords.
fn behind_prefixes(words: &[String]) -> &[String] {
    let is_prefix = |word: &String| KEYWORDS.contains(&word.as_str()) || is_assignment(word);
    let prefixes = words.iter().take_while(|word| is_prefix(word)).count();
    words.get(prefixes..).unwrap_or_default()
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|next: char| next.is_ascii_alphabetic() || next == '_')
            && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}
