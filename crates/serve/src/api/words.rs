//! The words that lists are filtered by: as the ledger has them, and no others. A word that nothing can be
//! filed under is refused with those that there are, since an empty list would be taken for the truth.

use airtight_core::run::{self, Rung};
use airtight_core::watch::{self, SessionStatus};
use serde::Deserialize;
use utoipa::ToSchema;

/// How much an event matters.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    Info,
    Warning,
    Critical,
}

impl Level {
    pub(super) fn name(self) -> String {
        let level = match self {
            Self::Info => watch::Level::Info,
            Self::Warning => watch::Level::Warning,
            Self::Critical => watch::Level::Critical,
        };
        level.name().to_owned()
    }
}

/// Where a session stands.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Running,
    Completed,
    Failed,
    Stopped,
    TimedOut,
    Escalated,
}

impl Status {
    pub(super) fn name(self) -> String {
        let status = match self {
            Self::Running => SessionStatus::Running,
            Self::Completed => SessionStatus::Completed,
            Self::Failed => SessionStatus::Failed,
            Self::Stopped => SessionStatus::Stopped,
            Self::TimedOut => SessionStatus::TimedOut,
            Self::Escalated => SessionStatus::Escalated,
        };
        status.name().to_owned()
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Met,
    NoAnswer,
    AttemptsExhausted,
    Refused,
    Truncated,
    Degenerate,
    Loop,
    Provider,
    Harness,
    Auth,
    Sandbox,
    Config,
    TurnCap,
    Budget,
    Interrupted,
}

impl Outcome {
    pub(super) fn name(self) -> String {
        let outcome = match self {
            Self::Met => run::Outcome::Met,
            Self::NoAnswer => run::Outcome::NoAnswer,
            Self::AttemptsExhausted => run::Outcome::AttemptsExhausted,
            Self::Refused => run::Outcome::Refused,
            Self::Truncated => run::Outcome::Truncated,
            Self::Degenerate => run::Outcome::Degenerate,
            Self::Loop => run::Outcome::Loop,
            Self::Provider => run::Outcome::Provider,
            Self::Harness => run::Outcome::Harness,
            Self::Auth => run::Outcome::Auth,
            Self::Sandbox => run::Outcome::Sandbox,
            Self::Config => run::Outcome::Config,
            Self::TurnCap => run::Outcome::TurnCap,
            Self::Budget => run::Outcome::Budget,
            Self::Interrupted => run::Outcome::Interrupted,
        };
        outcome.name().to_owned()
    }
}

/// The rung of values that a person accepted, which no model stands on.
const HUMAN: &str = "human";

/// How a value was obtained.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Obtained {
    Native,
    Tool,
    Grammar,
    Text,
    Repair,
    ReAsk,
    Extract,
    /// A person accepted it.
    Human,
}

impl Obtained {
    pub(super) fn name(self) -> String {
        let rung = match self {
            Self::Native => Rung::Native,
            Self::Tool => Rung::Tool,
            Self::Grammar => Rung::Grammar,
            Self::Text => Rung::Text,
            Self::Repair => Rung::Repair,
            Self::ReAsk => Rung::ReAsk,
            Self::Extract => Rung::Extract,
            Self::Human => return HUMAN.to_owned(),
        };
        rung.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer as _;
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    /// Reads a word, and returns it as the ledger is asked for it.
    fn asked<'w, T: Deserialize<'w>>(word: &'w str, name: fn(T) -> String) -> Option<String> {
        let reader: StrDeserializer<'_, Error> = word.into_deserializer();
        T::deserialize(reader).ok().map(name)
    }

    #[test]
    fn every_word_of_the_ledger_can_be_asked_for() {
        for word in watch::Level::ALL.map(watch::Level::name) {
            assert_eq!(asked(word, Level::name).as_deref(), Some(word));
        }
        for word in SessionStatus::ALL.map(SessionStatus::name) {
            assert_eq!(asked(word, Status::name).as_deref(), Some(word));
        }
        for word in run::Outcome::ALL.map(run::Outcome::name) {
            assert_eq!(asked(word, Outcome::name).as_deref(), Some(word));
        }
        for word in Rung::ALL.map(Rung::name).into_iter().chain([HUMAN]) {
            assert_eq!(asked(word, Obtained::name).as_deref(), Some(word));
        }
        assert_eq!(asked("Info", Level::name), None);
    }
}
