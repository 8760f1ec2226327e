//! From what the model said to what the run makes of it.
//!
//! An answer in the adapted shape, also one amid other text, goes through the lowering's inverse, and
//! then only the original contract judges. Where text may be in either shape, both readings are
//! judged and a tie between different values is refused.

use crate::codec::Stop;
use crate::json::{Document, Kind, Limits, Pointer};
use crate::judge::{Allowance, Strictness, judge, judge_turned};
use crate::lower::{Inverse, InverseError};
use crate::verdict::{
    Accepted, EditKind, Edits, Rejected, Rejection, Verdict, Violation, Violations,
};

use super::degenerate;
use super::offer::{Offer, Way};
use super::{Ending, Job, Policy, RepairRung, Rung, TextRung};

/// Where an answer was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    /// In the arguments of the terminal tool.
    Arguments,
    /// As text that the provider held to the schema.
    Native,
    /// As text that a grammar held to the schema, token by token.
    Grammar,
    /// As plain text.
    Text,
}

/// Whether an answer was said to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// The token limit cut it off.
    Cut,
    /// Nobody said why it ended, or in no word that is known.
    Unknown,
}

impl Extent {
    pub(super) fn of(stop: Option<&Stop>) -> Self {
        match stop {
            Some(Stop::MaxTokens) => Self::Cut,
            None | Some(Stop::Other(_)) => Self::Unknown,
            Some(Stop::EndTurn | Stop::ToolUse | Stop::Refusal) => Self::Whole,
        }
    }

    /// Says why something may be missing at the end, unless nothing can.
    fn doubt(self) -> Option<Violation> {
        match self {
            Self::Whole => None,
            Self::Cut => Some(said("truncated", CUT)),
            Self::Unknown => Some(said(UNFINISHED, UNSAID)),
        }
    }
}

/// What the run makes of an answer.
#[derive(Debug)]
pub(super) enum Finding {
    /// It is the answer.
    Accepted { value: Document, edits: Edits, rung: Rung },
    /// It is not.
    Rejected { ending: Ending, violations: Violations, candidate: Candidate },
}

/// Whether there was anything to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Candidate {
    Judged,
    Absent,
}

/// What judges the answers of a run.
#[derive(Debug)]
pub(super) struct Examiner {
    allowance: Allowance,
    text: TextRung,
    repair: RepairRung,
}

impl Examiner {
    pub(super) fn of(job: &Job) -> Self {
        let Policy { text, repair, .. } = job.policy;
        let strictness = match (text, repair) {
            (TextRung::Refused, RepairRung::Refused) => Strictness::Strict,
            (TextRung::Allowed, _) | (_, RepairRung::Allowed) => Strictness::Lenient,
        };
        let (source, check) = (job.source.clone(), job.check.clone());
        let allowance = Allowance { strictness, limits: Limits::default(), source, check };
        Self { allowance, text, repair }
    }

    pub(super) fn strictness(&self) -> Strictness {
        self.allowance.strictness
    }

    /// Judges `raw`, as the original contract sees it.
    pub(super) fn examine(
        &self,
        offer: &Offer,
        channel: Channel,
        raw: &str,
        extent: Extent,
    ) -> Finding {
        if channel == Channel::Text && self.text == TextRung::Refused {
            return rejected(Ending::Rejected, said(PLAIN_TEXT, IS_PLAIN_TEXT), Candidate::Absent);
        }
        if let Some(doubt) = extent.doubt()
            && channel == Channel::Arguments
            && raw.trim().is_empty()
        {
            // Arguments that never came are not the same as none.
            return rejected(Ending::Truncated, doubt, Candidate::Absent);
        }
        match self.verdict(offer, channel, raw) {
            Verdict::Accepted(Accepted { value, edits }) => {
                if let Some(doubt) = extent.doubt()
                    && may_be_cut(&value, &edits)
                {
                    return rejected(Ending::Truncated, doubt, Candidate::Judged);
                }
                if let Some(why) = degenerate::emptiness(&offer.contract, &value, offer.example()) {
                    return rejected(
                        Ending::Degenerate,
                        said("degenerate", why),
                        Candidate::Judged,
                    );
                }
                let rung = rung(channel, &edits);
                match self.refusal(rung) {
                    Some(refusal) => rejected(Ending::Rejected, refusal, Candidate::Judged),
                    None => Finding::Accepted { value, edits, rung },
                }
            }
            Verdict::Rejected(rejected) => rejection(channel, rejected, extent),
        }
    }

    /// Says why an answer on this rung does not count, unless it does.
    fn refusal(&self, rung: Rung) -> Option<Violation> {
        match rung {
            Rung::Text if self.text == TextRung::Refused => Some(said(PLAIN_TEXT, IS_PLAIN_TEXT)),
            Rung::Repair if self.repair == RepairRung::Refused => Some(said("repair", IS_REPAIRED)),
            Rung::Native
            | Rung::Tool
            | Rung::Grammar
            | Rung::Text
            | Rung::Repair
            | Rung::ReAsk
            | Rung::Extract => None,
        }
    }

    fn verdict(&self, offer: &Offer, channel: Channel, raw: &str) -> Verdict {
        // A call without arguments is a call with none of the members.
        let raw = if channel == Channel::Arguments && raw.trim().is_empty() { "{}" } else { raw };
        let as_it_stands = || judge(&offer.contract, raw, &self.allowance);
        let Some(inverse) = offer.lowering().map(|it| &it.inverse).filter(|it| !it.is_identity())
        else {
            return as_it_stands();
        };
        let turn = |answer| turned_back(inverse, &answer);
        let turned = judge_turned(&offer.contract, raw, &self.allowance, &turn);
        // Older versions were adapted in their own way, if at all.
        if channel != Channel::Text && offer.contract.older().is_empty() {
            return turned;
        }
        match (turned, as_it_stands()) {
            (Verdict::Accepted(turned), Verdict::Accepted(other))
                if !turned.value.root().same_value(other.value.root()) =>
            {
                let reason = Rejection::Ambiguous { offsets: Vec::new() };
                Verdict::Rejected(Rejected { reason, violations: Violations::default() })
            }
            (Verdict::Accepted(turned), _) => Verdict::Accepted(turned),
            (Verdict::Rejected(_), as_it_stands) => as_it_stands,
        }
    }
}

/// Turns an answer in the adapted shape back into the contract's.
fn turned_back(inverse: &Inverse, answer: &Document) -> Result<Document, Violations> {
    let turned = match (inverse.apply(answer), inverse.wrapper()) {
        // The value itself, in the adapted shape but without its wrapper.
        (Err(InverseError::NotWrapped), Some(wrapper)) => {
            Document::parse(format!("{{\"{wrapper}\":{}}}", answer.text()))
                .map_err(InverseError::Unreadable)
                .and_then(|wrapped| inverse.apply(&wrapped))
        }
        (turned, _) => turned,
    };
    turned.map_err(|error| {
        Violations::from(match error {
            InverseError::NotJson { pointer, .. } => {
                Violation { pointer, ..said("dialect", "is text that is not JSON") }
            }
            InverseError::NotWrapped | InverseError::Unreadable(_) => {
                let message = format!("is no answer to the schema that was given: {error}");
                said("dialect", &message)
            }
        })
    })
}

/// Says how an answer ended that the contract does not accept.
fn rejection(channel: Channel, rejected: Rejected, extent: Extent) -> Finding {
    let Rejected { reason, violations } = rejected;
    let candidate = match (&reason, channel) {
        (Rejection::NoJson, Channel::Text | Channel::Native | Channel::Grammar) => {
            Candidate::Absent
        }
        _ => Candidate::Judged,
    };
    let ending = match (&reason, extent) {
        (_, Extent::Cut) => Ending::Truncated,
        (Rejection::SchemaEcho, Extent::Whole | Extent::Unknown) => Ending::Degenerate,
        (
            Rejection::NoJson
            | Rejection::Truncated { .. }
            | Rejection::Invalid
            | Rejection::Ambiguous { .. }
            | Rejection::OverLimit { .. },
            Extent::Whole | Extent::Unknown,
        ) => Ending::Rejected,
    };
    let violations = if violations.is_empty() { explain(&reason) } else { violations };
    Finding::Rejected { ending, violations, candidate }
}

/// The keyword of an answer in plain text where that does not count.
const PLAIN_TEXT: &str = "plain_text";
const IS_PLAIN_TEXT: &str = "the answer is plain text, which is not accepted";
const IS_REPAIRED: &str = "the answer conforms only once it is repaired, which is not accepted";

/// The keywords of answers that hold several values, or too much.
pub(super) const AMBIGUOUS: &str = "ambiguous";
pub(super) const OVER_LIMIT: &str = "limit";

pub(super) const CUT: &str = "the answer was cut at the token limit";

/// The keyword of an answer that nobody said was complete.
pub(super) const UNFINISHED: &str = "unfinished";
pub(super) const UNSAID: &str = "the stream ended without saying that the answer is complete";

/// Refuses what was found in an answer of `length` bytes that may have been cut, unless it is a whole value:
/// it may be the beginning of something else, or a draft that the rest would have taken back.
pub fn unless_cut(verdict: Verdict, length: usize) -> Verdict {
    match verdict {
        Verdict::Accepted(found) if may_be_cut(&found.value, &found.edits) => {
            let message = "may have been cut off, so what it comes to is not known";
            let reason = Rejection::Truncated { offset: length };
            Verdict::Rejected(Rejected { reason, violations: said("truncated", message).into() })
        }
        verdict @ (Verdict::Accepted(_) | Verdict::Rejected(_)) => verdict,
    }
}

/// Claims that more might have followed: behind a number, a missing closer, or other text.
fn may_be_cut(value: &Document, edits: &Edits) -> bool {
    value.root().kind() == Kind::Number
        || edits.count(EditKind::MissingCloser) + edits.count(EditKind::Surroundings) > 0
}

fn rung(channel: Channel, edits: &Edits) -> Rung {
    let only_found = edits.count(EditKind::Surroundings) == edits.total();
    match channel {
        Channel::Arguments if edits.is_empty() => Rung::Tool,
        Channel::Native if edits.is_empty() => Rung::Native,
        Channel::Grammar if edits.is_empty() => Rung::Grammar,
        Channel::Native | Channel::Grammar | Channel::Text if only_found => Rung::Text,
        Channel::Arguments | Channel::Native | Channel::Grammar | Channel::Text => Rung::Repair,
    }
}

fn rejected(ending: Ending, violation: Violation, candidate: Candidate) -> Finding {
    Finding::Rejected { ending, violations: Violations::from(violation), candidate }
}

/// Returns the channel that text is in.
pub(super) fn channel_of_text(offer: &Offer) -> Channel {
    match &offer.way {
        Way::Native(lowering) if lowering.dialect.is_local() => Channel::Grammar,
        Way::Native(_) => Channel::Native,
        Way::Tool { .. } | Way::Prompt { .. } | Way::Withheld => Channel::Text,
    }
}

/// Puts a rejection without violations into words.
fn explain(reason: &Rejection) -> Violations {
    let (keyword, message) = match reason {
        Rejection::NoJson => ("syntax", "there is no JSON in the answer"),
        Rejection::Truncated { .. } => ("truncated", "the answer ends inside a JSON value"),
        Rejection::Invalid => ("contract", "the answer breaks the contract"),
        Rejection::Ambiguous { .. } => {
            (AMBIGUOUS, "several different values conform; give exactly one")
        }
        Rejection::SchemaEcho => {
            ("degenerate", "this is the JSON Schema itself; give a value that satisfies it")
        }
        Rejection::OverLimit { .. } => {
            (OVER_LIMIT, "the answer is too large or too complex to judge")
        }
    };
    Violations::from(said(keyword, message))
}

pub(super) fn said(keyword: &str, message: &str) -> Violation {
    Violation {
        pointer: Pointer::root(),
        keyword: keyword.to_owned(),
        message: message.to_owned(),
        masked: message.to_owned(),
    }
}
