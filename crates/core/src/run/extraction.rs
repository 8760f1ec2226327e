//! The answer in what was no answer: a second model looks for it, and must not invent.
//!
//! Only the original contract decides on what it found, and everything in it that can be looked up
//! must stand in what the first model wrote. A failure of the extractor is no failure of the run: the
//! ladder goes on, and the attempt says why.

use crate::codec::Usage;
use crate::verdict::Violations;

use super::answer::{AMBIGUOUS, Extent, OVER_LIMIT, said};
use super::provenance::{self, Provenance};
use super::{
    Attempt, Budget, Claim, End, Ending, EventKind, Extracted, Extractor, Job, Mode, Policy,
    Pressure, Report, Run, RunError, Rung, State, Terminal, words,
};

/// The longest text that is handed to an extractor: more than small models can read.
const TEXT_LIMIT_BYTES: usize = 1024 * 1024;

/// The keyword of an extraction that never came to an answer.
const EXTRACTOR: &str = "extractor";

/// An extraction under way.
#[derive(Debug)]
pub(super) struct Pending {
    /// The extractor's job.
    pub(super) job: Job,
    after: After,
}

/// What becomes of the run if nothing can be extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// The model has been told what is wrong, and speaks again.
    AskAgain,
    /// Nothing is left to try.
    GiveUp,
}

impl Run {
    /// Hands the text that was rejected last to the extractor, if there is one and it may help.
    pub(super) fn extract_or(&mut self, after: After, extent: Extent) {
        let material = self.attempts.last().filter(|last| is_material(last, extent));
        match (&self.job.extractor, material) {
            (Some(extractor), Some(last)) => {
                let job = self.extraction(extractor, &last.raw);
                self.events.push(EventKind::Extracting { model: job.model.clone() });
                self.state = State::Extracting(Box::new(Pending { job, after }));
            }
            (Some(_), None) | (None, _) => self.go_on(after),
        }
    }

    fn go_on(&mut self, after: After) {
        match after {
            After::AskAgain => self.ask_again(Pressure::Forced),
            After::GiveUp => self.fail(self.exhausted()),
        }
    }

    /// Returns the extractor's job: one answer, by the terminal tool or under a grammar.
    fn extraction(&self, extractor: &Extractor, text: &str) -> Job {
        let Job { contract, policy, source, check, .. } = &self.job;
        Job {
            contract: contract.clone(),
            mode: if extractor.dialect.is_local() { Mode::Native } else { Mode::Tool },
            dialect: extractor.dialect,
            model: extractor.model.clone(),
            system: Some(words::EXTRACTOR.to_owned()),
            prompt: words::extraction(text),
            tools: Vec::new(),
            terminal: Terminal::Offered,
            policy: Policy {
                reasks: 0,
                max_turns: Some(1),
                temperature: None,
                // What it may spend is in the purse that it shares.
                budget: Budget::default(),
                ..policy.clone()
            },
            price: extractor.price,
            account: extractor.account,
            source: source.clone(),
            check: check.clone(),
            extractor: None,
        }
    }

    /// Takes what the job of [`Step::Extract`](super::Step::Extract) came to; an answer counts only if
    /// it can be traced to what the model of this run wrote.
    pub fn extracted(&mut self, came: Result<Report, RunError>) {
        let Pending { job, after } = match std::mem::replace(&mut self.state, State::Ready) {
            State::Extracting(pending) => *pending,
            // Late: the run ended meanwhile.
            state @ (State::Ready
            | State::Asking
            | State::Working(..)
            | State::Idle
            | State::Over(_)) => {
                self.state = state;
                return;
            }
        };
        let (mut attempt, report) = match came {
            Ok(report) => (attempt_of(job.model, &report), Some(report)),
            Err(error) => (failed(job.model, &error), None),
        };
        let found = report.and_then(|report| self.trace(report, &mut attempt));
        self.attempt(attempt);
        match found {
            Some(extracted) => self.state = State::Over(End::Extracted(Box::new(extracted))),
            None => self.go_on(after),
        }
    }

    /// Returns the answer, unless something in it does not stand in the text; `attempt` then says what.
    fn trace(&self, report: Report, attempt: &mut Attempt) -> Option<Extracted> {
        let value = report.value?;
        let contract = self.job.contract.as_ref()?;
        let text = self.attempts.last().map_or("", |attempt| attempt.raw.as_str());
        let Provenance { violations, unchecked } = provenance::trace(contract, &value, text);
        if !violations.is_empty() {
            attempt.ending = Ending::Rejected;
            attempt.violations = violations;
            return None;
        }
        Some(Extracted { value, edits: report.edits, losses: report.losses, unchecked })
    }
}

/// Claims that an answer is whole, and is text rather than too much or several answers: nobody but
/// the model that gave them may choose between those.
fn is_material(answer: &Attempt, extent: Extent) -> bool {
    let mut keywords = answer.violations.list.iter().map(|violation| violation.keyword.as_str());
    extent == Extent::Whole
        && answer.ending == Ending::Rejected
        && keywords.all(|keyword| ![AMBIGUOUS, OVER_LIMIT].contains(&keyword))
        && !answer.raw.trim().is_empty()
        && answer.raw.len() <= TEXT_LIMIT_BYTES
}

/// Returns what the extractor said, and how that ended.
fn attempt_of(model: String, report: &Report) -> Attempt {
    let last = report.attempts.last();
    let mut attempt = Attempt {
        model,
        raw: last.map(|last| last.raw.clone()).unwrap_or_default(),
        ending: last.map_or(Ending::Failed, |last| last.ending.clone()),
        rung: Rung::Extract,
        violations: last.map(|last| last.violations.clone()).unwrap_or_default(),
        usage: report.usage,
        claim: Claim::None,
    };
    if let (true, Some(error)) = (attempt.violations.is_empty(), &report.error) {
        attempt.violations = why(error);
    }
    attempt
}

/// Returns the attempt of an extractor that was never asked.
fn failed(model: String, error: &RunError) -> Attempt {
    Attempt {
        model,
        raw: String::new(),
        ending: Ending::Failed,
        rung: Rung::Extract,
        violations: why(error),
        usage: Usage::default(),
        claim: Claim::None,
    }
}

fn why(error: &RunError) -> Violations {
    Violations::from(said(EXTRACTOR, &error.message))
}
