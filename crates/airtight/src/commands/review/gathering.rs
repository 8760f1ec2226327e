//! From what became of each part to findings, and to what was not reviewed.
//!
//! An answer that is on record is judged again: the ledger keeps what was said, and decides nothing.

use airtight_core::review::{Finding, Part, PartRecord, Split, Unreviewed};
use airtight_core::verdict::check;
use airtight_core::{Check as _, Contract, Document};

use super::crew::{Halt, Worked};
use crate::batch::{Age, End, Settled};
use crate::error::Outcome;

/// What all parts came to.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) findings: Vec<Finding>,
    /// What has no answer.
    pub(super) losses: Vec<Unreviewed>,
    pub(super) records: Vec<PartRecord>,
    /// How many parts were on record.
    pub(super) known: usize,
}

/// Gathers what the parts came to.
pub(super) fn gather(contract: &Contract, split: &Split<'_>, worked: &Worked) -> Gathered {
    let mut gathered = Gathered::default();
    let halt = worked.halt.as_ref().map_or_else(|| "it was not begun".to_owned(), Halt::told);
    for (part, settled) in split.parts.iter().zip(&worked.settled) {
        let came = match settled {
            None => Err((
                Outcome::Run(airtight_core::run::Outcome::Interrupted).name().to_owned(),
                halt.clone(),
            )),
            Some(settled) => findings(contract, part, settled),
        };
        gathered.known +=
            usize::from(settled.as_ref().is_some_and(|it| it.age == Age::Known && came.is_ok()));
        let outcome = match came {
            Ok(findings) => {
                gathered.findings.extend(findings);
                Outcome::Met.name().to_owned()
            }
            Err((outcome, why)) => {
                gathered.losses.extend(losses(part, &why));
                outcome
            }
        };
        gathered.records.push(PartRecord {
            run_id: settled.as_ref().and_then(|it| it.run_id.as_ref()).map(ToString::to_string),
            files: part.files(),
            outcome,
            rung: settled.as_ref().and_then(|it| it.rung.clone()),
            edits: settled.as_ref().and_then(|it| serde_json::from_str(it.edits.as_deref()?).ok()),
            tokens: settled.as_ref().map_or(0, |settled| settled.usage.total()),
        });
    }
    gathered
}

/// Returns the findings, or the outcome and why there are none.
fn findings(
    contract: &Contract,
    part: &Part<'_>,
    settled: &Settled,
) -> Result<Vec<Finding>, (String, String)> {
    match &settled.end {
        End::Met(json) => {
            let answer = Document::parse(json.as_str()).ok();
            let answer = answer.filter(|it| check(contract, it).is_empty());
            let answer = answer.filter(|it| part.scope().objections(it).is_empty());
            answer.and_then(|it| Finding::read(&it)).ok_or_else(|| {
                let why = "its answer on record does not fit the diff; `--fresh` asks again";
                (Outcome::Rejected.name().to_owned(), why.to_owned())
            })
        }
        End::Failed { outcome, error, violations } => {
            let first = violations.first().and_then(|it| it.get("message")?.as_str());
            let first = first.filter(|first| !error.contains(*first));
            let detail = first.map(|first| format!(" ({first})")).unwrap_or_default();
            Err((outcome.clone(), format!("{error}{detail}")))
        }
    }
}

/// Returns what a part that failed leaves unreviewed: each of its files.
fn losses<'p>(part: &'p Part<'_>, why: &'p str) -> impl Iterator<Item = Unreviewed> + 'p {
    part.pieces.iter().map(move |piece| {
        let file = piece.file();
        let mut lines = file.hunks().iter().filter_map(airtight_core::review::Hunk::new_lines);
        let (first, last) = (lines.clone().next(), lines.next_back());
        let why = match first.zip(last) {
            Some((first, last)) => format!("lines {} to {}: {why}", first.start(), last.end()),
            None => why.to_owned(),
        };
        Unreviewed { file: Some(file.name.shown()), line: None, why, is_loss: true }
    })
}
