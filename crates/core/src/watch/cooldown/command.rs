//! Which commands act on services, and on which.
//!
//! Where a line is understood, programs are looked for where programs stand: behind `sudo`, in
//! `sh -c`, on another machine by `ssh`. Where it is not, everything that looks like an action is one. What
//! only prints or searches text never is, unless something runs that text. An action on a service that cannot
//! be named, and a script that cannot be read, are let pass, and told. An action in a loop is neither: nobody
//! can count it.

mod options;
mod programs;
#[cfg(test)]
mod tests;
mod text;
mod unseen;

use serde::{Deserialize, Serialize};

use super::CooldownAction;
use crate::excerpt;
use crate::shell::{assigned, behind_prefixes, command_words, program_name, suspect_words};
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::services::SERVICE_NAME_LIMIT_BYTES;
use programs::{Act, act, halts, own};
use text::{is_text, scripts};
use unseen::{Functions, Unseen};

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

/// Programs, and words of some, that run what they are given again and again.
const REPEATERS: [&str; 9] =
    ["xargs", "parallel", "watch", "repeat", "alias", "foreach", "-exec", "-execdir", "-ok"];

/// What makes a program that is not known by name look like one that acts on services.
const VERBS: [&str; 6] = ["restart", "stop", "start", "up", "upgrade", "rollout"];

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
    /// It runs a script that does not stand in it.
    Unread {
        /// The command.
        command: String,
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
            Self::Unread { command } => {
                format!("a script that cannot be read was let pass: {command}")
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
    /// How it starts this very program, by which people decide about sessions.
    pub own: Option<String>,
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
    text: Text,
}

/// What becomes of what a line prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Shown,
    /// It may be run.
    Run,
}

impl Scan {
    /// Looks at a line of shell.
    fn line(&mut self, text: &str, depth: u8) {
        let Some(deeper) = depth.checked_sub(1) else {
            self.suspicious(text);
            return;
        };
        let Functions { rest, bodies } = Functions::of(text);
        let (loops, shown) = (self.loops, self.text);
        self.loops = loops.saturating_add(1);
        for body in &bodies {
            // Nobody knows how often it is called.
            self.line(body, deeper);
        }
        self.loops = loops;
        match command_words(&rest) {
            Some(commands) => self.commands(&rest, &commands, deeper),
            None => self.suspicious(&rest),
        }
        (self.loops, self.text) = (loops, shown);
    }

    /// Looks at the simple commands of a line.
    fn commands(&mut self, text: &str, commands: &[Vec<String>], depth: u8) {
        let before = self.weight();
        let unseen = Unseen::of(commands);
        if unseen != Unseen::Nothing {
            self.text = Text::Run;
        }
        for words in commands {
            self.loops = loops_at(words, self.loops);
            self.simple(words, depth);
        }
        if unseen == Unseen::Script && text.contains('|') && before == self.weight() {
            self.note(CommandNote::Unread { command: told(text) });
        }
    }

    /// Looks at a simple command.
    fn simple(&mut self, words: &[String], depth: u8) {
        self.start(words);
        let behind = behind_prefixes(words);
        if self.text == Text::Run {
            let values = words.iter().filter_map(|word| assigned(word));
            for value in values.filter(|value| value.contains(char::is_whitespace)) {
                self.line(value, depth);
            }
        }
        let Some((program, arguments)) = behind.split_first() else {
            return;
        };
        if self.takes(behind) {
            return;
        }
        if is_text(behind) && self.text == Text::Shown {
            for script in scripts(behind) {
                self.line(script, depth);
            }
            return;
        }
        self.unnamed(behind);
        // Whatever else it is, it may run what it is given.
        let outside = self.loops;
        self.loops = outside.saturating_add(usize::from(repeats(program)));
        for (position, argument) in arguments.iter().enumerate() {
            if text::is_script(argument) {
                self.line(text::value(argument), depth);
            } else if self.takes(arguments.get(position..).unwrap_or_default()) {
                break;
            }
            self.loops = self.loops.saturating_add(usize::from(repeats(argument)));
        }
        self.loops = outside;
    }

    /// Looks at a line that is not understood.
    fn suspicious(&mut self, text: &str) {
        let before = self.weight();
        let text = text.replace("=!", " ");
        let runs = suspect_words(&text);
        let unseen = Unseen::in_text(&text, &runs);
        self.suspects(&runs, unseen);
        if before != self.weight() {
            return;
        }
        // Lists of words in other languages, and programs that a substitution names.
        if let Some(unlisted) = unseen::unlisted(&text) {
            self.suspects(&suspect_words(&unlisted), unseen);
        }
        for words in suspect_words(&unseen::unexpanded(&text)) {
            self.unnamed(behind_prefixes(&words));
        }
        if unseen == Unseen::Script && before == self.weight() {
            self.note(CommandNote::Unread { command: told(&text) });
        }
    }

    /// Looks at everything that may be run in a line that is not understood.
    fn suspects(&mut self, runs: &[Vec<String>], unseen: Unseen) {
        let before = self.loops;
        for words in runs {
            self.loops = loops_at(words, self.loops);
            self.start(words);
            let is_shown = unseen == Unseen::Nothing && self.text == Text::Shown;
            if is_shown && is_text(behind_prefixes(words)) {
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

    /// Looks at what stands where programs do: this very program, and what ends all services at once.
    fn start(&mut self, words: &[String]) {
        if let Some(words) = own(words) {
            self.found.own.get_or_insert_with(|| told(&words.join(" ")));
        }
        if let Some(words) = halts(words) {
            let command = told(&words.join(" "));
            self.repeat(&command);
            self.note(CommandNote::NoService { command });
        }
    }

    /// Tells of a program that a variable names, if it looks like one that acts on services.
    fn unnamed(&mut self, words: &[String]) {
        let Some((program, arguments)) = words.split_first() else { return };
        if program.starts_with('$') && arguments.iter().any(|word| VERBS.contains(&word.as_str())) {
            let command = told(&words.join(" "));
            self.repeat(&command);
            self.note(CommandNote::NoService { command });
        }
    }

    /// Returns how much was found so far.
    fn weight(&self) -> usize {
        let Recognised { actions, notes, repeated, own } = &self.found;
        let others = usize::from(repeated.is_some()) + usize::from(own.is_some());
        actions.len() + notes.len() + others
    }

    /// Takes the action that `words` are, if they are one.
    fn takes(&mut self, words: &[String]) -> bool {
        let looked_at = words.get(..WORDS_LIMIT).unwrap_or(words);
        let Some(Act { action, services }) = act(looked_at) else {
            return false;
        };
        let command = told(&looked_at.join(" "));
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
                self.note(CommandNote::UnknownService { written: told(&service) });
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

/// Returns as much of a command as is told.
fn told(command: &str) -> String {
    excerpt(command, TOLD_CHARS, "…").into_owned()
}

/// Returns how many loops are open behind the first word of a command, of `open` before it.
fn loops_at(words: &[String], open: usize) -> usize {
    let Some(first) = words.iter().find(|word| !is_before_loop(word)) else { return open };
    match first.as_str() {
        // What is defined in another language is called by it, and its end is not seen.
        "for" | "while" | "until" | "select" | "def" => open.saturating_add(1),
        "done" => open.saturating_sub(1),
        _ => open,
    }
}

/// Claims that a loop may follow this word in the same command: `do for …`, `then while …`.
fn is_before_loop(word: &str) -> bool {
    matches!(word, "do" | "then" | "else" | "if" | "elif" | "!" | "time")
        || assigned(word).is_some()
}

/// Claims that what stands behind this word is run again and again.
fn repeats(word: &str) -> bool {
    REPEATERS.contains(&program_name(word))
}

/// Claims that this is the name of a service, not a variable, a pattern or a path.
fn is_name(text: &str) -> bool {
    let is_inside = |next: char| next.is_alphanumeric() || "_.@:-".contains(next);
    text.len() <= SERVICE_NAME_LIMIT_BYTES
        && text.starts_with(char::is_alphanumeric)
        && text.chars().all(is_inside)
}
