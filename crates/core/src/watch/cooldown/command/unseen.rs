//! What a line runs although it does not stand where commands do: text that it prints, writes or assigns, the
//! bodies of functions, lists of words in other languages, and programs that a substitution names.

use std::collections::HashSet;

use super::text::is_text;
use crate::shell::{behind_prefixes, program_name, programs, suspect_words};

/// Programs that read a script from a pipe if they are given none.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ash", "ksh"];

/// Languages that do so, too.
const LANGUAGES: [&str; 7] = ["python", "python3", "perl", "ruby", "node", "php", "lua"];

/// Programs that run what comes to them by a pipe, elsewhere or later.
const ELSEWHERE: [&str; 5] = ["at", "batch", "crontab", "parallel", "ssh"];

/// The most functions that are told apart in one line; what is behind them counts as one more.
const FUNCTIONS_LIMIT: usize = 16;

/// What a line runs that does not stand where commands do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unseen {
    /// Nothing.
    Nothing,
    /// Text that it prints, writes or assigns, perhaps.
    Text,
    /// What comes to a shell by a pipe.
    Script,
}

impl Unseen {
    /// Looks at a line that is understood.
    pub(super) fn of(commands: &[Vec<String>]) -> Self {
        let are_several = commands.len() > 1;
        if are_several && commands.iter().any(|words| reads_script(words)) {
            return Self::Script;
        }
        let runs = |words: &Vec<String>| are_several && takes_text(words) || runs_value(words);
        if commands.iter().any(runs) { Self::Text } else { Self::Nothing }
    }

    /// Looks at a line that is not understood, and the runs of words in it.
    pub(super) fn in_text(text: &str, runs: &[Vec<String>]) -> Self {
        // What stands in a here document can be read.
        let is_piped = (text.contains('|') || text.contains("<(")) && !text.contains("<<");
        if is_piped && runs.iter().any(|words| reads_script(words)) {
            return Self::Script;
        }
        let is_run = |words: &Vec<String>| takes_text(words) || runs_value(words);
        if text.contains('|') || runs.iter().any(is_run) || runs_written(text) {
            Self::Text
        } else {
            Self::Nothing
        }
    }
}

/// Claims that `words`, behind a program, name no script.
fn are_options(words: &[String], with_script: &[char]) -> bool {
    words.iter().all(|word| word.starts_with('-') && !word.contains(with_script))
}

/// Claims that a command is a shell that runs what comes to it by a pipe.
fn reads_script(words: &[String]) -> bool {
    programs(words).into_iter().filter_map(<[String]>::split_first).any(|(program, arguments)| {
        SHELLS.contains(&program_name(program)) && are_options(arguments, &['c'])
    })
}

/// Claims that a command may run what comes to it by a pipe, by whatever it starts.
fn takes_text(words: &[String]) -> bool {
    if is_text(behind_prefixes(words)) {
        return false;
    }
    let shell = words.iter().position(|word| SHELLS.contains(&program_name(word)));
    let mut places = programs(words).into_iter().filter_map(<[String]>::split_first);
    let is_open = |at: usize| are_options(words.get(at + 1..).unwrap_or_default(), &['c']);
    shell.is_some_and(is_open)
        || places.any(|(program, arguments)| match program_name(program) {
            "xargs" => shell.is_some(),
            name if LANGUAGES.contains(&name) => are_options(arguments, &['c', 'e', 'm', 'r']),
            name => ELSEWHERE.contains(&name),
        })
}

/// Claims that a command runs the value of a variable.
fn runs_value(words: &[String]) -> bool {
    let mut places = programs(words).into_iter().filter_map(<[String]>::first);
    places.any(|program| program.starts_with('$') || program == "eval")
}

/// Claims that a line runs a file that it writes.
fn runs_written(text: &str) -> bool {
    let mut parts = text.split('>');
    let mut rest = parts.next().unwrap_or_default().to_owned();
    let mut files: HashSet<&str> = HashSet::new();
    for part in parts {
        let part = part.trim_start_matches(['|', ' ', '\t']);
        let is_end = |next: char| next.is_whitespace() || ";&|<)".contains(next);
        let (file, behind) = part.split_at(part.find(is_end).unwrap_or(part.len()));
        files.insert(program_name(file.trim_matches(['"', '\''])));
        rest.push(' ');
        rest.push_str(behind);
    }
    files.remove("");
    let runs = |words: &Vec<String>| {
        let mut places = programs(words).into_iter().filter_map(<[String]>::first);
        places.any(|program| files.contains(program_name(program)))
    };
    !files.is_empty() && suspect_words(&rest).iter().any(runs)
}

/// The functions that a line defines.
#[derive(Debug)]
pub(super) struct Functions {
    /// The line without their bodies.
    pub(super) rest: String,
    /// Their bodies.
    pub(super) bodies: Vec<String>,
}

impl Functions {
    /// Takes the bodies of functions out of a line.
    pub(super) fn of(text: &str) -> Self {
        let mut functions = Self { rest: String::new(), bodies: Vec::new() };
        let mut left = text;
        while let Some((before, behind)) = definition(left) {
            functions.rest.push_str(before);
            if functions.bodies.len() == FUNCTIONS_LIMIT {
                functions.bodies.push(behind.to_owned());
                return functions;
            }
            let (body, behind) = enclosed(behind);
            functions.bodies.push(body.to_owned());
            left = behind;
        }
        functions.rest.push_str(left);
        functions
    }
}

/// Returns what is before and behind the bracket that opens the body of a function.
fn definition(text: &str) -> Option<(&str, &str)> {
    let is_header = |before: &str| {
        let before = before.trim_end();
        let is_name = |next: char| next.is_alphanumeric() || "_-".contains(next);
        let named = before.strip_suffix(')').and_then(|it| it.trim_end().strip_suffix('('));
        if let Some(name) = named {
            return name.trim_end().ends_with(is_name);
        }
        let mut words = before.rsplit(|next: char| !is_name(next));
        words.next().is_some_and(|name| !name.is_empty()) && words.next() == Some("function")
    };
    let mut openers = text.match_indices(['{', '(']);
    let opener = openers.find(|(at, _)| text.get(..*at).is_some_and(is_header));
    opener.and_then(|(at, _)| Some((text.get(..at)?, text.get(at + 1..)?)))
}

/// Returns what stands before the bracket that closes what is open, and what is behind it. Brackets in quotes
/// close nothing; a quote that is not closed takes in everything.
fn enclosed(text: &str) -> (&str, &str) {
    let mut depth = 1_usize;
    let mut quote = None;
    let mut letters = text.char_indices();
    while let Some((at, next)) = letters.next() {
        match (quote, next) {
            (_, '\\') => drop(letters.next()),
            (Some(open), _) if open == next => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(next),
            (None, '{' | '(') => depth += 1,
            (None, '}' | ')') => depth -= 1,
            (None, _) => {}
        }
        if depth == 0 {
            let behind = text.get(at + 1..).unwrap_or_default();
            return (text.get(..at).unwrap_or_default(), behind);
        }
    }
    (text, "")
}

/// Returns `text` with the strings of its lists side by side, if there are lists: `run(["a", "b"])` has
/// the words `a b`.
pub(super) fn unlisted(text: &str) -> Option<String> {
    let quotes = ['"', '\''];
    let text = text.replace('\\', "");
    let mut parts = text.split(',');
    let mut joined = parts.next().unwrap_or_default().to_owned();
    let mut is_list = false;
    for part in parts {
        let inside =
            part.trim_start_matches(|next: char| next.is_whitespace() || "[(".contains(next));
        if joined.trim_end().ends_with(quotes) && inside.starts_with(quotes) {
            is_list = true;
            joined.push(' ');
            joined.push_str(inside);
        } else {
            joined.push(',');
            joined.push_str(part);
        }
    }
    is_list.then(|| joined.replace(['[', ']'], ";"))
}

/// Returns `text` with a `$` for each substitution.
pub(super) fn unexpanded(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut left = text;
    while let Some((before, from)) = left.find(['$', '`']).and_then(|at| left.split_at_checked(at))
    {
        plain.push_str(before);
        plain.push('$');
        let behind = from.get(1..).unwrap_or_default();
        left = match behind.chars().next() {
            _ if from.starts_with('`') => behind.split_once('`').map_or("", |(_, behind)| behind),
            Some('(' | '{') => enclosed(behind.get(1..).unwrap_or_default()).1,
            _ => behind,
        };
    }
    plain.push_str(left);
    plain
}
