//! The end of a run: why it failed, and the report.

use std::time::Duration;

use crate::codec::Usage;
use crate::verdict::Edits;

use super::answer::Candidate;
use super::bill::tokens_in;
use super::offer::{Offer, Way};
use super::{
    Attempt, End, Ending, Outcome, Report, Run, RunError, Rung, State, TERMINAL_TOOL, words,
};

impl Run {
    /// Returns the error of a run whose model may not be asked again.
    pub(super) fn exhausted(&self) -> RunError {
        let last = self.attempts.last();
        let ending = last.map(|attempt| &attempt.ending);
        let counts = format!("turns: {}, attempts: {}", self.turns, self.attempts.len());
        let why = last.map(why).unwrap_or_default();
        let (outcome, message, hint) = match self.candidate {
            _ if ending == Some(&Ending::Truncated) => (
                Outcome::Truncated,
                format!("the answer was cut at the token limit ({counts})"),
                Some("raise the limit of output tokens"),
            ),
            _ if ending == Some(&Ending::Degenerate) => {
                (Outcome::Degenerate, format!("the answer says nothing ({counts}){why}"), None)
            }
            Candidate::Judged => (
                Outcome::AttemptsExhausted,
                format!("no answer satisfies the contract ({counts}){why}"),
                Some("loosen the contract, explain it in its descriptions, or allow more re-asks"),
            ),
            Candidate::Absent => {
                let preview = words::preview(last.map_or("", |attempt| attempt.raw.as_str()));
                let message = format!(
                    "{} (turns: {}). Output preview: {preview}",
                    self.plain_text(),
                    self.turns
                );
                (Outcome::NoAnswer, message, None)
            }
        };
        let way = self.offer.as_ref().map(|offer| &offer.way);
        let hint = match way {
            Some(Way::Withheld) => Some("allow the tool `structured_output`, which is denied"),
            Some(Way::Native(_) | Way::Tool { .. } | Way::Prompt { .. }) | None => hint,
        };
        RunError { outcome, message, hint: hint.map(str::to_owned) }
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
        let hint = self.offer.as_ref().map(|_| {
            format!(
                "`{TERMINAL_TOOL}` was never called with valid arguments: it may be denied, or \
                 the schema may be unsatisfiable; it takes a turn of its own, so allow one more"
            )
        });
        RunError {
            outcome: Outcome::TurnCap,
            message: format!("the model has no answer after {limit} turns, which is the cap"),
            hint,
        }
    }

    /// Says everything about a run that is over.
    pub(super) fn report(self, elapsed: Duration) -> Report {
        let tokens_saved = tokens_saved(&self.attempts);
        let spent = self.purse.spent();
        let losses = self.offer.as_ref().map(Offer::losses).unwrap_or_default();
        let mut report = Report {
            outcome: Outcome::Met,
            value: None,
            text: None,
            rung: None,
            attempts: self.attempts,
            edits: Edits::default(),
            losses,
            usage: spent.usage,
            cost: spent.cost(),
            turns: self.turns,
            tool_calls: spent.tool_calls,
            retries: self.retries,
            unknown_events: spent.unknown_events,
            denials: Vec::new(),
            tokens_saved,
            error: None,
            raw: None,
            elapsed,
        };
        match self.state {
            State::Over(End::Answer { value, edits, rung }) => {
                report.value = Some(value);
                report.edits = edits;
                report.rung = Some(rung);
            }
            State::Over(End::Text(text)) => report.text = Some(text),
            State::Over(End::Failure(error)) => {
                report.outcome = error.outcome;
                report.error = Some(error);
                report.raw = self.last_said;
            }
            State::Ready | State::Asking | State::Working(..) | State::Idle => {
                report.outcome = Outcome::Interrupted;
                report.raw = self.last_said;
            }
        }
        report
    }
}

/// Says what is wrong with an attempt, and how plain text began that was no answer.
fn why(attempt: &Attempt) -> String {
    let violation = attempt
        .violations
        .list
        .first()
        .map(|it| format!("; the last one fails at {}: {}", it.pointer, it.masked));
    let preview = (attempt.rung == Rung::Text)
        .then(|| format!(". Output preview: {}", words::preview(&attempt.raw)));
    violation.into_iter().chain(preview).collect()
}

/// Estimates what cancelled answers would have gone on to cost: as much as the longest answer of
/// the run that came to its end. Nothing, if none did.
fn tokens_saved(attempts: &[Attempt]) -> u64 {
    let is_cancelled = |attempt: &&Attempt| attempt.ending == Ending::Cancelled;
    let whole = attempts.iter().filter(|it| !is_cancelled(it)).map(output_tokens).max();
    // Of what was cancelled, providers count only what they said before the end.
    let said = |attempt: &Attempt| output_tokens(attempt).max(estimate(attempt));
    let saved = |attempt| whole.unwrap_or(0).saturating_sub(said(attempt));
    attempts.iter().filter(is_cancelled).map(saved).fold(0, u64::saturating_add)
}

fn output_tokens(attempt: &Attempt) -> u64 {
    let Usage { output_tokens, .. } = attempt.usage;
    output_tokens.unwrap_or_else(|| estimate(attempt))
}

fn estimate(attempt: &Attempt) -> u64 {
    tokens_in(attempt.raw.len())
}
