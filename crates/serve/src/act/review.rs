//! What a person decides about a run.

use airtight_store::{Ledger, NewDecision, Run, RunState};

use super::Refusal;
use crate::desk::{Desk, Proposal};

/// The longest name of whoever decides.
const WHO_LIMIT_CHARS: usize = 100;

/// The longest reason.
const NOTE_LIMIT_CHARS: usize = 10_000;

/// What somebody wants of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// What is on record, or what the contract finds in what the model said, is right.
    Accept,
    /// This value is right: JSON text.
    AcceptValue(String),
    /// Nothing in it is right.
    Reject,
}

/// A decision, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decided {
    pub(crate) wanted: Wanted,
    /// Who decides: `dashboard` or `api`, unless somebody is named.
    pub(crate) who: String,
    /// Why.
    pub(crate) note: Option<String>,
}

/// Records a decision about the run `name`, and returns the run as it is now.
///
/// A value is judged by the contract that the run had before anything is written.
pub(crate) async fn decide(
    ledger: &Ledger,
    desk: &dyn Desk,
    name: &str,
    decided: Decided,
) -> Result<Run, Refusal> {
    let Decided { wanted, who, note } = decided;
    let who = within("by", who.replace('\0', "\u{fffd}").trim(), WHO_LIMIT_CHARS)?;
    if who.is_empty() {
        let message = "a decision needs somebody whose it is".to_owned();
        return Err(Refusal::Request { parameter: "by", message });
    }
    let note = note.as_deref().map(str::trim).filter(|note| !note.is_empty());
    let note = note.map(|note| within("note", note, NOTE_LIMIT_CHARS)).transpose()?;
    let run = over(ledger.run(name).await?)?;
    let id = run.summary.id.clone();
    let decision = match wanted {
        Wanted::Reject => NewDecision::Reject,
        Wanted::Accept => accepted(ledger, desk, run, Proposal::Found).await?,
        Wanted::AcceptValue(value) => accepted(ledger, desk, run, Proposal::Value(value)).await?,
    };
    Ok(ledger.decide(id.as_str(), decision, &who, note.as_deref()).await?)
}

/// Judges a value for the run `name`, and changes nothing: what would be accepted, without spaces.
pub(crate) async fn judge(
    ledger: &Ledger,
    desk: &dyn Desk,
    name: &str,
    proposal: Proposal,
) -> Result<String, Refusal> {
    let run = ledger.run(name).await?;
    let contract = ledger.contract(&run.summary.fingerprint).await?;
    Ok(desk.judge(run, contract, proposal).await?)
}

async fn accepted(
    ledger: &Ledger,
    desk: &dyn Desk,
    run: Run,
    proposal: Proposal,
) -> Result<NewDecision, Refusal> {
    let contract = ledger.contract(&run.summary.fingerprint).await?;
    let value = desk.judge(run, contract, proposal).await?;
    Ok(NewDecision::Accept { value })
}

fn over(run: Run) -> Result<Run, Refusal> {
    if run.summary.state == RunState::Done {
        return Ok(run);
    }
    let message = format!("run `{}` is not over", run.summary.id);
    Err(Refusal::Conflict { code: "not_over", message })
}

/// Returns `text` if it has no more than so many characters.
fn within(parameter: &'static str, text: &str, limit: usize) -> Result<String, Refusal> {
    match text.chars().count() {
        count if count > limit => {
            let message =
                format!("`{parameter}` has {count} characters, over the limit of {limit}");
            Err(Refusal::Request { parameter, message })
        }
        _ => Ok(text.to_owned()),
    }
}
