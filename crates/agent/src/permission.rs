//! Who may call what.
//!
//! The mode says what is allowed without a word; rules add to it (`allow`) and take from it
//! (`exclude`), and an exclusion always wins. `core_tools` says which tools there are at all. In
//! mode `plan` no rule allows what changes something.

mod rule;
mod wildcard;

use std::str::FromStr;

use airtight_core::run::{TERMINAL_TOOL, Terminal};

use crate::toolbox::Effect;

pub use rule::{Rule, RuleError, Subject};

/// What is allowed without a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ApprovalMode {
    /// Reading; rules can add fetching, and nothing else.
    Plan,
    /// Reading: there is nobody to ask for more.
    #[default]
    Default,
    /// Reading, and editing files in the workspace.
    AutoEdit,
    /// Everything.
    Yolo,
}

impl ApprovalMode {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Default => "default",
            Self::AutoEdit => "auto-edit",
            Self::Yolo => "yolo",
        }
    }

    fn allows(self, effect: Effect) -> bool {
        match effect {
            Effect::Reads => true,
            Effect::Edits => matches!(self, Self::AutoEdit | Self::Yolo),
            Effect::Executes | Effect::Fetches => self == Self::Yolo,
        }
    }

    /// Claims that a rule may allow `effect` in this mode.
    fn heeds_rules(self, effect: Effect) -> bool {
        match effect {
            Effect::Reads | Effect::Fetches => true,
            Effect::Edits | Effect::Executes => self != Self::Plan,
        }
    }
}

/// A name that is no approval mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no approval mode is called {0:?}; there are plan, default, auto-edit and yolo")]
pub struct UnknownMode(pub String);

impl FromStr for ApprovalMode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        [Self::Plan, Self::Default, Self::AutoEdit, Self::Yolo]
            .into_iter()
            .find(|mode| mode.name() == name)
            .ok_or_else(|| UnknownMode(name.to_owned()))
    }
}

/// Why a call is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// A rule excludes it.
    #[error("permission denied: the rule {0} excludes this call")]
    Excluded(String),
    /// It is not on the list of tools there are.
    #[error("permission denied: {0} is not among the core tools, or this call is not")]
    NotCore(String),
    /// The mode does not allow it, and no rule does.
    #[error("permission denied: approval mode {mode} does not allow this call, and no rule does")]
    NotAllowed {
        /// The mode.
        mode: &'static str,
    },
}

/// Whether the model is told of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// It is: some call of it may be allowed.
    Shown,
    /// It is not: no call of it ever would be.
    Hidden,
}

/// Everything that decides who may call what.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    mode: ApprovalMode,
    allow: Vec<Rule>,
    exclude: Vec<Rule>,
    core: Option<Vec<Rule>>,
}

impl Permissions {
    /// Starts with a mode and no rules.
    pub fn new(mode: ApprovalMode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Adds rules that allow.
    #[must_use]
    pub fn allow(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.allow.extend(rules);
        self
    }

    /// Adds rules that exclude.
    #[must_use]
    pub fn exclude(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.exclude.extend(rules);
        self
    }

    /// Leaves no tools but these, those of MCP servers included.
    #[must_use]
    pub fn core_tools(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.core.get_or_insert_default().extend(rules);
        self
    }

    /// Returns the mode.
    pub fn mode(&self) -> ApprovalMode {
        self.mode
    }

    /// Says whether the terminal tool may be offered: unless a rule excludes it by name.
    ///
    /// `*` means every ordinary tool; it does not take away the way to answer.
    pub fn terminal(&self) -> Terminal {
        let excludes =
            |rule: &&Rule| !rule.is_catch_all() && rule.covers(TERMINAL_TOOL) && rule.is_bare();
        self.exclude.iter().find(excludes).map_or(Terminal::Offered, |_| Terminal::Denied)
    }

    /// Says whether any call of a tool may be allowed.
    pub fn visibility(&self, tool: &str, effect: Effect) -> Visibility {
        let excluded = self.exclude.iter().any(|rule| rule.covers(tool) && rule.is_bare());
        let core = self.core.as_ref().is_none_or(|core| core.iter().any(|rule| rule.covers(tool)));
        let allowed = self.mode.allows(effect)
            || self.mode.heeds_rules(effect) && self.allow.iter().any(|rule| rule.covers(tool));
        if core && allowed && !excluded { Visibility::Shown } else { Visibility::Hidden }
    }

    /// Decides one call.
    pub fn decide(
        &self,
        tool: &str,
        effect: Effect,
        subject: Option<&Subject>,
    ) -> Result<(), Denied> {
        if let Some(rule) = self.exclude.iter().find(|rule| rule.forbids(tool, subject)) {
            return Err(Denied::Excluded(rule.to_string()));
        }
        if self.core.as_ref().is_some_and(|core| !rule::permit(core, tool, subject)) {
            return Err(Denied::NotCore(tool.to_owned()));
        }
        let by_rule = || self.mode.heeds_rules(effect) && rule::permit(&self.allow, tool, subject);
        if self.mode.allows(effect) || by_rule() {
            return Ok(());
        }
        Err(Denied::NotAllowed { mode: self.mode.name() })
    }

    /// Claims that a file must not be read by any tool, whatever the tool was asked to look at.
    pub(crate) fn hides(&self, tool: &str, path: &str) -> bool {
        let subject = Subject::Path(path.to_owned());
        let forbids = |tool: &str| self.exclude.iter().any(|it| it.forbids(tool, Some(&subject)));
        forbids(tool) || forbids(READ_FILE)
    }

    /// Returns the rules that name none of `tools`: most likely misspelt.
    pub fn unmatched<'a>(&'a self, tools: &'a [String]) -> impl Iterator<Item = &'a Rule> {
        let names = move |rule: &Rule| {
            rule.covers(TERMINAL_TOOL) || tools.iter().any(|tool| rule.covers(tool))
        };
        let core = self.core.iter().flatten();
        self.allow.iter().chain(&self.exclude).chain(core).filter(move |rule| !names(rule))
    }
}

/// The tool whose exclusions hold for every tool that reads files on the way.
const READ_FILE: &str = "read_file";

#[cfg(test)]
mod tests;
