//! The end of a run: why it failed, and the report.

use std::time::Duration;

use crate::Advice;
use crate::codec::Usage;
use crate::verdict::Edits;

use super::answer::{CUT, Candidate, UNFINISHED, UNSAID};
use super::bill::tokens_in;
use super::offer::{Offer, Way};
use super::{Attempt, End, Ending, Outcome, Report, Run, RunError, Rung, State, TERMINAL_TOOL};

impl Run {
    /// Returns the error of a run whose model may not be asked again.
    pub(super) fn exhausted(&self) -> RunError {
        let last = self.own_attempts().next_back();
        let counts = self.counts();
        let error = match (last.map(|attempt| &attempt.ending), self.candidate) {
            (Some(Ending::Truncated), _) if last.is_some_and(is_unfinished) => {
                let error = RunError::new(Outcome::Truncated, format!("{UNSAID} ({counts})"));
                error.advise(Advice::AskAgain)
            }
            (Some(Ending::Truncated), _) => {
                let error = RunError::new(Outcome::Truncated, format!("{CUT} ({counts})"));
                error.advise(Advice::RaiseOutputTokens)
            }
            (Some(Ending::Degenerate), _) => {
                rejected(Outcome::Degenerate, format!("the answer says nothing ({counts})"), last)
            }
            (Some(Ending::Vetoed), _) => self.vetoed(&counts),
            (_, Candidate::Judged) => {
                let message = format!("no answer satisfies the contract ({counts})");
                rejected(Outcome::AttemptsExhausted, message, last).advise(Advice::LoosenContract)
            }
            (_, Candidate::Absent) => {
                let message = format!("{} (turns: {})", self.plain_text(), self.turns);
                let said = last.map_or("", |attempt| attempt.raw.as_str());
                RunError::new(Outcome::NoAnswer, message).quoting(said)
            }
        };
        match self.offer.as_ref().map(|offer| &offer.way) {
            Some(Way::Withheld) => error.advise(Advice::AllowTerminalTool),
            Some(Way::Native(_) | Way::Tool { .. } | Way::Prompt { .. }) | None => error,
        }
    }

    fn counts(&self) -> String {
        let own = self.own_attempts().count();
        let counts = format!("turns: {}, attempts: {own}", self.turns);
        match self.attempts.len().saturating_sub(own) {
            0 => counts,
            extractions => format!("{counts}, extractions: {extractions}"),
        }
    }

    /// Returns the error of a run whose last answer a hook refused.
    fn vetoed(&self, counts: &str) -> RunError {
        let hook = self.objector.as_deref().unwrap_or_default();
        let message = format!("the hook `{hook}` objects to the answer ({counts})");
        RunError::new(Outcome::AttemptsExhausted, message)
            .advise(Advice::SeeHook { command: hook.to_owned() })
    }

    fn plain_text(&self) -> String {
        match self.offer.as_ref().map(|offer| &offer.way) {
            Some(Way::Tool { .. } | Way::Withheld) => {
                format!("the model answered in plain text instead of calling {TERMINAL_TOOL}")
            }
            Some(Way::Native(_) | Way::Prompt { .. }) | None => {
                "the model answered in plain text without a value that satisfies the contract"
                    .to_owned()
            }
        }
    }

    /// Returns the error of a run that has no turn left.
    pub(super) fn turn_cap(&self) -> RunError {
        let limit = self.turn_limit();
        let message = format!("the model has no answer after {limit} turns, which is the cap");
        let advice = self.offer.as_ref().map(|_| Advice::AllowTurn);
        RunError { advice, ..RunError::new(Outcome::TurnCap, message) }
    }

    /// Says everything about a run that is over.
    pub(super) fn report(self, elapsed: Duration) -> Report {
        let tokens_saved = tokens_saved(self.own_attempts());
        let spent = self.purse.spent();
        let losses = self.offer.as_ref().map(Offer::losses).unwrap_or_default();
        let mut report = Report {
            outcome: Outcome::Met,
            value: None,
            text: None,
            rung: None,
            attempts: self.attempts,
            edits: Edits::default(),
            unchecked: Vec::new(),
            losses,
            usage: spent.usage,
            cost: spent.cost(),
            turns: self.turns,
            tool_calls: spent.tool_calls,
            retries: spent.retries,
            unknown_events: spent.unknown_events,
            denials: Vec::new(),
            tokens_saved,
            error: None,
            raw: self.last_said,
            elapsed,
        };
        match self.state {
            State::Over(End::Answer { value, edits, rung }) => {
                report.value = Some(value);
                report.edits = edits;
                report.rung = Some(rung);
            }
            State::Over(End::Extracted(extracted)) => {
                report.value = Some(extracted.value);
                report.edits = extracted.edits;
                report.losses = extracted.losses;
                report.unchecked = extracted.unchecked;
                report.rung = Some(Rung::Extract);
            }
            State::Over(End::Text(text)) => report.text = Some(text),
            State::Over(End::Failure(error)) => {
                report.outcome = error.outcome;
                report.error = Some(error);
            }
            State::Ready
            | State::Asking
            | State::Working(..)
            | State::Extracting(_)
            | State::Idle => report.outcome = Outcome::Interrupted,
        }
        report
    }
}

/// Claims that nobody said whether an attempt came to its end.
fn is_unfinished(attempt: &Attempt) -> bool {
    attempt.violations.list.iter().any(|violation| violation.keyword == UNFINISHED)
}

/// Says what is wrong with the last attempt, and quotes plain text that was no answer.
fn rejected(outcome: Outcome, message: String, last: Option<&Attempt>) -> RunError {
    let violation = last.and_then(|attempt| attempt.violations.list.first());
    let message = match violation {
        Some(it) => format!("{message}; the last one fails at {}: {}", it.pointer, it.masked),
        None => message,
    };
    let error = RunError::new(outcome, message);
    match last.filter(|attempt| attempt.rung == Rung::Text) {
        Some(attempt) => error.quoting(&attempt.raw),
        None => error,
    }
}

/// Estimates what cancelled answers would have gone on to cost: as much as the longest answer of
/// the run that came to its end. Nothing, if none did.
fn tokens_saved<'a>(attempts: impl Iterator<Item = &'a Attempt> + Clone) -> u64 {
    let is_cancelled = |attempt: &&Attempt| attempt.ending == Ending::Cancelled;
    let whole = attempts.clone().filter(|it| !is_cancelled(it)).map(output_tokens).max();
    // Of what was cancelled, providers count only what they said before the end.
    let said = |attempt: &Attempt| output_tokens(attempt).max(estimate(attempt));
    let saved = |attempt| whole.unwrap_or(0).saturating_sub(said(attempt));
    attempts.filter(is_cancelled).map(saved).fold(0, u64::saturating_add)
}

fn output_tokens(attempt: &Attempt) -> u64 {
    let Usage { output_tokens, .. } = attempt.usage;
    output_tokens.unwrap_or_else(|| estimate(attempt))
}

fn estimate(attempt: &Attempt) -> u64 {
    tokens_in(attempt.raw.len())
}
