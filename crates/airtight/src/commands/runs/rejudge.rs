//! Judging again what is on record.
//!
//! What a model said is in the shape that its provider was asked for, which the way back turns into
//! the contract's own. Both readings are judged; if they conform and differ, neither is accepted.

use std::sync::Arc;

use airtight_agent::Traits;
use airtight_agent::provider::Model;
use airtight_core::contract::Source;
use airtight_core::judge::{Allowance, Strictness, judge};
use airtight_core::lower::{Dialect, lower_parameters};
use airtight_core::redact::MASK;
use airtight_core::review::Scope;
use airtight_core::run::{Outcome as Ended, Rung, unless_cut};
use airtight_core::transcript::Program;
use airtight_core::{
    Check, Contract, Document, Pointer, Rejected, Rejection, Verdict, Violation, Violations, lower,
};
use airtight_store::{ContractRow, Run};

use super::Asked;
use crate::commands::review::plan::BATCH;
use crate::error::{Error, Outcome};

/// Reads the contract that a run had.
pub(super) async fn contract_of(
    run: &Run,
    asked: &Asked,
) -> Result<(Contract, ContractRow), Error> {
    let row = asked.ledger.contract(&run.summary.fingerprint).await.map_err(asked.failed())?;
    let contract = Contract::again(row.schema.as_bytes()).ok_or_else(|| {
        let message = format!("the contract of run `{}` cannot be read any more", run.summary.id);
        Error::new(Outcome::Contract, message)
    })?;
    Ok((contract, row))
}

/// Returns what the contract of a run makes of `text` as it stands: nothing is mended.
pub(in crate::commands) fn judge_value(contract: &Contract, run: &Run, text: &[u8]) -> Verdict {
    judge(contract, text, &allowance(run, Strictness::Strict))
}

/// Returns what is on record as the value of `run`, if its contract still takes it, else what the
/// contract finds in what the model said.
pub(in crate::commands) fn judge_found(contract: &Contract, run: &Run) -> Verdict {
    match &run.parsed_output {
        Some(value) => judge_value(contract, run, value.as_bytes()),
        None => rejudge(contract, contract, run, Strictness::Lenient),
    }
}

/// Claims that what a verdict of `contract` on `run` goes by is on record as it was: a mask in place of
/// words is not what the model said, and would make a regression of a good answer. What the verdict does
/// not read may be masked.
pub(in crate::commands) fn is_on_record(run: &Run, contract: &Contract) -> bool {
    let is_masked = |text: &[u8]| text.windows(MASK.len()).any(|part| part == MASK.as_bytes());
    let reads_source = contract.reads_source() || is_review(run);
    let source = source(run).filter(|_| reads_source);
    answer(run).is_some_and(|answer| !is_masked(answer)) && !source.is_some_and(is_masked)
}

/// Judges what a model said in `run` by `contract`; `before` is the contract that it was asked by.
pub(in crate::commands) fn rejudge(
    contract: &Contract,
    before: &Contract,
    run: &Run,
    strictness: Strictness,
) -> Verdict {
    let Some(output) = answer(run) else {
        return Verdict::Rejected(nothing());
    };
    let allowance = allowance(run, strictness);
    let plain = judge(contract, output, &allowance);
    let turned = readings(before, run, output, &allowance)
        .into_iter()
        .map(|reading| judge(contract, reading.text(), &allowance))
        .find(|verdict| matches!(verdict, Verdict::Accepted(_)));
    let verdict = match (plain, turned) {
        (Verdict::Accepted(one), Some(Verdict::Accepted(other)))
            if one.value.to_compact() != other.value.to_compact() =>
        {
            Verdict::Rejected(ambiguous())
        }
        (Verdict::Rejected(_), Some(turned)) => turned,
        (plain, _) => plain,
    };
    if had_its_say(run) { verdict } else { unless_cut(verdict, output.len()) }
}

/// Claims that a run ended because of what its last answer was: behind every other end this may have been
/// cut. (Of an answer that breaks the contract, and of which nobody said that it is whole, the ledger does
/// not tell it.)
fn had_its_say(run: &Run) -> bool {
    let whole = [Ended::Met, Ended::NoAnswer, Ended::AttemptsExhausted, Ended::Degenerate];
    run.summary.outcome.as_deref().is_some_and(|word| whole.iter().any(|end| end.name() == word))
}

/// Returns what is judged of a run, if it is on record.
fn answer(run: &Run) -> Option<&[u8]> {
    // What a second model found in the prose is what was judged then.
    let is_extracted = run.summary.rung.as_deref() == Some(Rung::Extract.name());
    let extracted = run.parsed_output.as_deref().filter(|_| is_extracted).map(str::as_bytes);
    extracted.or(run.output.as_deref())
}

/// Returns what is allowed of an answer of `run`.
fn allowance(run: &Run, strictness: Strictness) -> Allowance {
    let source = source(run).map(|text| Source::new(&String::from_utf8_lossy(text)));
    Allowance { strictness, source, check: check_of(run), ..Allowance::default() }
}

/// Returns what answers of `run` had to quote from, where the contract asks for that.
fn source(run: &Run) -> Option<&[u8]> {
    // In a batch the prompt is the source.
    let prompt = run.prompt.as_deref().filter(|_| run.summary.batch.is_some());
    run.input.as_deref().or(prompt.map(str::as_bytes))
}

/// Returns what else an answer of `run` had to pass: findings of a review must be about its diff.
pub(super) fn check_of(run: &Run) -> Option<Arc<dyn Check>> {
    let scope = run.input.as_deref().filter(|_| is_review(run)).and_then(Scope::read)?;
    Some(Arc::new(scope))
}

/// Claims that `run` reviewed a part of a diff, which is its source.
fn is_review(run: &Run) -> bool {
    run.summary.batch.as_ref().is_some_and(|batch| batch.starts_with(BATCH))
}

/// Returns what an answer says in the shape of the contract that was asked by.
fn readings(before: &Contract, run: &Run, output: &[u8], allowance: &Allowance) -> Vec<Document> {
    let Some(dialect) = dialect(run) else { return Vec::new() };
    let Ok(said) = Document::parse_bytes(output, &allowance.limits) else { return Vec::new() };
    let lowered = [lower_parameters(before, dialect), lower(before, dialect)];
    let inverses = lowered.into_iter().flatten().map(|lowering| lowering.inverse);
    let turned = inverses.filter(|inverse| !inverse.is_identity());
    turned.filter_map(|inverse| inverse.apply(&said).ok()).collect()
}

/// Returns what whoever answered accepts of JSON Schema.
fn dialect(run: &Run) -> Option<Dialect> {
    let summary = &run.summary;
    match summary.driver.as_str() {
        "embedded" => Some(Dialect::Llguidance),
        "api" => {
            let name = format!("{}:{}", summary.provider, summary.model);
            Model::parse(&name).ok().map(|model| model.dialect())
        }
        program => Program::parse(program).map(|program| Traits::of(program).dialect),
    }
}

fn nothing() -> Rejected {
    let message = "nothing that the model said is on record";
    Rejected { reason: Rejection::Invalid, violations: said("record", message) }
}

fn ambiguous() -> Rejected {
    let message = "says one thing as it stands and another in the shape that was asked for";
    Rejected { reason: Rejection::Invalid, violations: said("ambiguous", message) }
}

fn said(keyword: &str, message: &str) -> Violations {
    Violations::from(Violation {
        pointer: Pointer::root(),
        keyword: keyword.to_owned(),
        message: message.to_owned(),
        masked: message.to_owned(),
    })
}
