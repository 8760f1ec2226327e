//! States, outcomes and levels as coloured words. Colour never says more than the word does.

use airtight_store::{AttemptState, Review, RunState, RunSummary};
use maud::{Markup, html};

use super::text;

/// What a word means to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Good,
    Warn,
    Bad,
    Info,
}

impl Tone {
    /// Returns the class of the stylesheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Info => "info",
        }
    }
}

/// Renders a word with its tone.
pub(super) fn badge(tone: Tone, word: &str) -> Markup {
    html! { span class={ "badge " (tone.class()) } { (text::line(word, 40)) } }
}

/// Renders how a run stands: what it came to, or that it goes on.
pub(super) fn run(run: &RunSummary) -> Markup {
    let (tone, word) = standing(run);
    badge(tone, word)
}

/// Returns how a run stands.
pub(super) fn standing(run: &RunSummary) -> (Tone, &str) {
    match run.state {
        RunState::Open => (Tone::Info, "running"),
        RunState::Postponed => (Tone::Warn, "postponed"),
        RunState::Unknown => (Tone::Warn, "process gone"),
        RunState::Done => match run.outcome.as_deref() {
            Some("met") => (Tone::Good, "met"),
            Some("interrupted") => (Tone::Warn, "interrupted"),
            Some(word) => (if run.output_valid { Tone::Good } else { Tone::Bad }, word),
            None => (Tone::Plain, "over"),
        },
    }
}

/// Renders whether a person looked at a run, if that is anything to say.
pub(super) fn review(review: Review) -> Option<Markup> {
    match review {
        Review::None => None,
        Review::Flagged => Some(badge(Tone::Warn, "needs review")),
        Review::Accepted => Some(badge(Tone::Good, "accepted by hand")),
        Review::Rejected => Some(badge(Tone::Plain, "rejected by hand")),
    }
}

/// Renders how an attempt ended.
pub(super) fn ending(state: AttemptState, ending: Option<&str>) -> Markup {
    match (state, ending) {
        (AttemptState::Open, _) => badge(Tone::Info, "under way"),
        (AttemptState::Unknown, _) => badge(Tone::Warn, "unknown"),
        (AttemptState::Stray, _) => badge(Tone::Plain, "too late"),
        (AttemptState::Closed, Some(word)) => badge(tone_of_ending(word), word),
        (AttemptState::Closed, None) => badge(Tone::Plain, "closed"),
    }
}

/// Returns the tone of the end of an answer.
pub(super) fn tone_of_ending(word: &str) -> Tone {
    match word {
        "accepted" | "answered" => Tone::Good,
        "rejected" | "degenerate" | "vetoed" | "failed" | "refused" => Tone::Bad,
        "cancelled" | "truncated" | "stopped" => Tone::Warn,
        _ => Tone::Plain,
    }
}

/// Returns the tone of the level of an event.
pub(super) fn tone_of_level(level: &str) -> Tone {
    match level {
        "critical" => Tone::Bad,
        "warning" => Tone::Warn,
        _ => Tone::Info,
    }
}

/// Returns the tone of how a service is.
pub(super) fn tone_of_service(status: &str) -> Tone {
    match status {
        "healthy" => Tone::Good,
        "degraded" | "in_cooldown" => Tone::Warn,
        "unknown" => Tone::Plain,
        _ => Tone::Bad,
    }
}

/// Returns the tone of how a session ended.
pub(super) fn tone_of_session(status: &str) -> Tone {
    match status {
        "running" => Tone::Info,
        "completed" => Tone::Good,
        "escalated" | "stopped" => Tone::Warn,
        _ => Tone::Bad,
    }
}
