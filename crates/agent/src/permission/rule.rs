//! One rule: a tool, and which of its calls.
//!
//! `name` covers every call; `name(pattern)` the calls whose subject matches. In names and in
//! patterns of commands and URLs `*` is any text; patterns of paths are globs (`src/**`).

use std::fmt;
use std::str::FromStr;

use airtight_core::shell;
use globset::{GlobBuilder, GlobMatcher};

use super::wildcard;

/// What a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A shell command.
    Command(String),
    /// A path from the root of the workspace, links resolved.
    Path(String),
    /// A URL, as a parser writes it.
    Url(String),
}

/// A rule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Not `name` or `name(pattern)`.
    #[error(
        "{0:?} is not a rule: write tool or tool(pattern), such as run_shell_command(git diff *)"
    )]
    Malformed(String),
    /// The pattern is no glob.
    #[error("the pattern of {0:?} is not a glob")]
    Glob(String),
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    name: String,
    pattern: Option<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    text: String,
    glob: GlobMatcher,
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let malformed = || RuleError::Malformed(text.to_owned());
        let trimmed = text.trim();
        let (name, pattern) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or_else(malformed)?)),
        };
        let plain = |next: char| next.is_ascii_alphanumeric() || "_-.*".contains(next);
        if name.is_empty() || !name.chars().all(plain) {
            return Err(malformed());
        }
        let pattern = match pattern.map(str::trim) {
            None | Some("*" | "**") => None,
            Some("") => return Err(malformed()),
            Some(pattern) => Some(Pattern::read(pattern, text)?),
        };
        Ok(Self { name: name.to_owned(), pattern })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            None => out.write_str(&self.name),
            Some(pattern) => write!(out, "{}({})", self.name, pattern.text),
        }
    }
}

impl Rule {
    /// Claims that it is about this tool.
    pub fn covers(&self, tool: &str) -> bool {
        wildcard::matches(&self.name, tool)
    }

    /// Claims that it is about every call of its tools.
    pub(super) fn is_bare(&self) -> bool {
        self.pattern.is_none()
    }

    /// Claims that it is about every tool there is.
    pub(super) fn is_catch_all(&self) -> bool {
        self.name.chars().all(|next| next == '*')
    }

    /// Claims that an exclusion is about this call: for a command, if any part of it looks like
    /// the pattern; without a subject, always.
    pub(super) fn forbids(&self, tool: &str, subject: Option<&Subject>) -> bool {
        if !self.covers(tool) {
            return false;
        }
        match (&self.pattern, subject) {
            (None, _) | (Some(_), None) => true,
            (Some(pattern), Some(Subject::Command(text))) => pattern.suspects(text),
            (Some(pattern), Some(Subject::Path(path))) => pattern.matches_path(path),
            (Some(pattern), Some(Subject::Url(url))) => pattern.matches_url(url),
        }
    }

    /// Claims that an allowance is about one simple command, path or URL.
    fn admits(&self, tool: &str, subject: &Part<'_>) -> bool {
        self.covers(tool)
            && self.pattern.as_ref().is_none_or(|pattern| match subject {
                Part::Command(command) => pattern.matches_command(command),
                Part::Path(path) => pattern.matches_path(path),
                Part::Url(url) => pattern.matches_url(url),
                Part::Whole => false,
            })
    }
}

/// What must be allowed by one rule.
enum Part<'s> {
    Command(&'s str),
    Path(&'s str),
    Url(&'s str),
    /// Nothing that a pattern could be matched with.
    Whole,
}

/// Claims that `rules` allow a call: each simple command in it, by one rule or another.
pub(super) fn permit(rules: &[Rule], tool: &str, subject: Option<&Subject>) -> bool {
    let any = |part: Part<'_>| rules.iter().any(|rule| rule.admits(tool, &part));
    match subject {
        None => any(Part::Whole),
        Some(Subject::Path(path)) => any(Part::Path(path)),
        Some(Subject::Url(url)) => any(Part::Url(url)),
        Some(Subject::Command(text)) => match shell::simple_commands(text) {
            Some(commands) => commands.iter().all(|command| any(Part::Command(command))),
            None => any(Part::Whole),
        },
    }
}

impl Pattern {
    fn read(pattern: &str, rule: &str) -> Result<Self, RuleError> {
        let relative = pattern.trim_start_matches("./");
        let glob = GlobBuilder::new(relative)
            .literal_separator(true)
            .build()
            .map_err(|_| RuleError::Glob(rule.to_owned()))?
            .compile_matcher();
        Ok(Self { text: pattern.to_owned(), glob })
    }

    /// Matches a whole simple command; ` *` at the end also stands for no more words.
    fn matches_command(&self, command: &str) -> bool {
        wildcard::matches(&self.text, command)
            || self.text.strip_suffix(" *").is_some_and(|most| wildcard::matches(most, command))
    }

    fn suspects(&self, text: &str) -> bool {
        shell::suspects(text).any(|suspect| self.matches_command(&suspect))
            || wildcard::matches(&self.text, text)
    }

    /// Matches a path; `folder/**` also stands for the folder.
    fn matches_path(&self, path: &str) -> bool {
        self.glob.is_match(path)
            || self.text.trim_start_matches("./").strip_suffix("/**").is_some_and(|it| it == path)
    }

    /// Matches a URL, or its host if the pattern has no scheme.
    fn matches_url(&self, url: &str) -> bool {
        let parsed = reqwest::Url::parse(url).ok();
        // A name with a dot at its end is the same host.
        let host = parsed
            .as_ref()
            .and_then(|url| url.host_str())
            .map(|host| host.trim_end_matches('.').to_owned());
        if !self.text.contains("://") {
            let pattern = self.text.trim_end_matches('.');
            return host.is_some_and(|host| wildcard::matches(pattern, &host));
        }
        let undotted = parsed.zip(host).and_then(|(mut url, host)| {
            url.set_host(Some(&host)).ok()?;
            Some(url)
        });
        wildcard::matches(&self.text, url)
            || undotted.is_some_and(|url| wildcard::matches(&self.text, url.as_str()))
    }
}
