//! Attempts: each answer that is judged, and whether the model may try again.

use crate::codec::Usage;
use crate::json::Document;
use crate::verdict::{Violation, Violations};

use super::answer::{Candidate, Channel, Extent, Finding, channel_of_text, said};
use super::{
    Attempt, End, Ending, EventKind, Pressure, REASK_LIMIT, Run, Rung, Veto, degenerate, words,
};

/// What came of judging one answer.
pub(super) enum Considered {
    Accepted(End),
    /// With what the model is told.
    Rejected(String),
}

impl Run {
    /// Accepts a text that needs no re-ask; a rejected one leaves no trace.
    pub(super) fn accept_early(
        &mut self,
        channel: Channel,
        text: &str,
        extent: Extent,
        usage: Usage,
    ) -> Option<End> {
        let offer = self.offer.as_ref()?;
        match self.examiner.examine(offer, channel, text, extent) {
            Finding::Accepted { .. } => match self.consider(channel, text, extent, usage) {
                Considered::Accepted(end) => Some(end),
                Considered::Rejected(_) => None,
            },
            Finding::Rejected { .. } => None,
        }
    }

    /// Judges one answer and records the attempt.
    pub(super) fn consider(
        &mut self,
        channel: Channel,
        raw: &str,
        extent: Extent,
        usage: Usage,
    ) -> Considered {
        let Some(offer) = self.offer.as_ref() else {
            return Considered::Rejected(String::new());
        };
        let wrapper = offer.wrapper();
        let mut finding = self.examiner.examine(offer, channel, raw, extent);
        if let Finding::Accepted { value, .. } = &finding
            && self.richest > 0
            && degenerate::content(value) == 0
        {
            finding = Finding::Rejected {
                ending: Ending::Degenerate,
                violations: said("degenerate", words::COLLAPSED).into(),
                candidate: Candidate::Judged,
            };
        }
        let (raw, claim, model) = (raw.to_owned(), self.claim, self.job.model.clone());
        match finding {
            Finding::Accepted { value, edits, rung } => {
                let rung = if self.reasks > 0 { Rung::ReAsk } else { rung };
                let ending = Ending::Accepted;
                let violations = Violations::default();
                self.attempt(Attempt { model, raw, ending, rung, violations, usage, claim });
                Considered::Accepted(End::Answer { value, edits, rung })
            }
            Finding::Rejected { ending, violations, candidate } => {
                if candidate == Candidate::Judged {
                    self.candidate = Candidate::Judged;
                    self.richest = self.richest.max(self.content(&raw, &violations));
                }
                let feedback = match (&ending, extent) {
                    (Ending::Truncated, Extent::Unknown) => words::DOUBTED.to_owned(),
                    (Ending::Truncated, Extent::Cut | Extent::Whole) => words::TRUNCATED.to_owned(),
                    _ => words::rejection(&violations, wrapper),
                };
                let rung = rung_of(channel);
                self.attempt(Attempt { model, raw, ending, rung, violations, usage, claim });
                Considered::Rejected(feedback)
            }
        }
    }

    /// Returns how much a rejected answer has to lose. One that satisfies the contract, and whose check
    /// objects to what it says, may be withdrawn: then an empty one is a correction.
    fn content(&self, raw: &str, violations: &Violations) -> usize {
        let keyword = self.job.check.as_ref().map(|check| check.keyword());
        let is_checked = |violation: &Violation| Some(violation.keyword.as_str()) == keyword;
        if !violations.is_empty() && violations.list.iter().all(is_checked) {
            return 0;
        }
        Document::parse(raw).map_or(0, |it| degenerate::content(&it))
    }

    /// Rejects an answer that somebody objects to, unjudged.
    pub(super) fn forbid(&mut self, raw: &str, veto: &Veto, usage: Usage) -> Considered {
        self.candidate = Candidate::Judged;
        self.objector = Some(veto.hook.clone());
        // Hooks see the answer, and may repeat it.
        let masked = format!("the hook `{}` objects", veto.hook);
        let violations = Violations::from(Violation { masked, ..said("veto", &veto.why) });
        let (ending, rung) = (Ending::Vetoed, Rung::Tool);
        let (raw, claim, model) = (raw.to_owned(), self.claim, self.job.model.clone());
        self.attempt(Attempt { model, raw, ending, rung, violations, usage, claim });
        Considered::Rejected(veto.why.clone())
    }

    pub(super) fn attempt(&mut self, attempt: Attempt) {
        self.events.push(EventKind::Judged(Box::new(attempt.clone())));
        self.attempts.push(attempt);
    }

    /// Claims that one more re-ask is allowed.
    pub(super) fn may_ask_again(&self) -> bool {
        self.reasks < self.job.policy.reasks.min(REASK_LIMIT) && !self.repeats_itself()
    }

    /// Returns the answers of the model itself, without what an extractor made of them.
    pub(super) fn own_attempts(&self) -> impl DoubleEndedIterator<Item = &Attempt> + Clone {
        self.attempts.iter().filter(|attempt| attempt.rung != Rung::Extract)
    }

    /// Claims that the last two answers were the same and said nothing.
    fn repeats_itself(&self) -> bool {
        let mut last = self.own_attempts().rev().take_while(|it| it.ending == Ending::Degenerate);
        matches!((last.next(), last.next()), (Some(last), Some(before)) if last.raw == before.raw)
    }

    pub(super) fn ask_again(&mut self, pressure: Pressure) {
        self.reasks = self.reasks.saturating_add(1);
        self.pressure = pressure;
        self.drain();
    }

    /// Returns the rung that answers are on as they should be.
    pub(super) fn usual_rung(&self) -> Rung {
        match self.offer.as_ref() {
            Some(offer) if offer.tool().is_some() => Rung::Tool,
            Some(offer) => rung_of(channel_of_text(offer)),
            None => Rung::Text,
        }
    }
}

fn rung_of(channel: Channel) -> Rung {
    match channel {
        Channel::Arguments => Rung::Tool,
        Channel::Native => Rung::Native,
        Channel::Grammar => Rung::Grammar,
        Channel::Text => Rung::Text,
    }
}
