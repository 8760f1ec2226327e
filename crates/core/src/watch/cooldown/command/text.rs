//! Programs that print, search or edit text, and what of their arguments some of them run.

use crate::shell::program_name;

/// Programs that print, search or edit text, and run none of it, as far as they are not told to.
const TEXT_PROGRAMS: [&str; 29] = [
    "awk",
    "cat",
    "cd",
    "cut",
    "diff",
    "echo",
    "egrep",
    "export",
    "fgrep",
    "gawk",
    "gh",
    "git",
    "grep",
    "head",
    "jq",
    "journalctl",
    "less",
    "ls",
    "man",
    "mawk",
    "nawk",
    "printf",
    "rg",
    "sed",
    "sort",
    "tail",
    "tee",
    "type",
    "which",
];

/// Arguments by which `git` runs what stands behind them.
const GIT_RUNS: [&str; 4] = ["foreach", "run", "-x", "--exec"];

/// Claims that a simple command only prints, searches or edits text.
pub(super) fn is_text(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let runs = |word: &String| GIT_RUNS.contains(&word.as_str()) || word.starts_with("--exec=");
    match program_name(program) {
        "git" => !arguments.iter().any(runs),
        name => TEXT_PROGRAMS.contains(&name),
    }
}

/// Returns what a program for text is told to run.
pub(super) fn scripts(words: &[String]) -> Vec<&str> {
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let arguments = arguments.iter().map(String::as_str);
    match program_name(program) {
        "awk" | "gawk" | "mawk" | "nawk" => {
            arguments.filter(|it| it.contains("system") || it.contains('|')).collect()
        }
        "sed" => arguments.filter(|it| edits_by_running(it)).collect(),
        "git" | "gh" => {
            // Settings name programs, and an alias with a mark runs one.
            let before = std::iter::once("").chain(arguments.clone());
            let is_run = |(before, it): &(&str, &str)| {
                *before == "-c" || it.starts_with('!') || it.contains("=!")
            };
            before.zip(arguments).filter(is_run).map(|(_, it)| value(it)).collect()
        }
        _ => Vec::new(),
    }
}

/// Claims that a script of `sed` has the command `e`, or the flag `e` of `s`.
fn edits_by_running(script: &str) -> bool {
    script.split([';', '\n', '{', '}']).any(|command| {
        let is_address = |next: char| next.is_ascii_digit() || "$,~+! ".contains(next);
        let command = command.trim_start_matches(is_address);
        let mut letters = command.chars();
        match (letters.next(), letters.next()) {
            (Some('e'), Some(' ')) => true,
            (Some('s'), Some(fence)) => {
                let flags = command.rsplit(fence).next().unwrap_or_default().trim_end();
                let is_flag = |next: char| next.is_ascii_digit() || "gpiImMe".contains(next);
                flags.contains('e') && flags.chars().all(is_flag)
            }
            _ => false,
        }
    })
}

/// Claims that an argument may be a script: several words, or a call with a string.
pub(super) fn is_script(argument: &str) -> bool {
    argument.contains(char::is_whitespace)
        || argument.contains(['(', '[']) && argument.contains(['"', '\''])
}

/// Returns what an argument such as `--exec=…` or `alias.x=!…` says.
pub(super) fn value(argument: &str) -> &str {
    let is_name =
        |name: &str| name.chars().all(|next| next.is_ascii_alphanumeric() || "_.-".contains(next));
    let named = argument.split_once('=').filter(|(name, _)| is_name(name));
    named.map_or(argument, |(_, value)| value).trim_start_matches('!')
}
