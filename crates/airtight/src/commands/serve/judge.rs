//! Whether a value may stand as the answer of a run: what `airtight runs accept` asks, for the server.

use airtight_core::{Contract, Rejected, Verdict, Violation};
use airtight_serve::{Proposal, Unfit};
use airtight_store::{ContractRow, Run};

use crate::commands::runs::{judge_found, judge_value};
use crate::explain;

/// Judges a value by the contract that the run had.
pub(super) fn judge(
    run: &Run,
    contract: &ContractRow,
    proposal: &Proposal,
) -> Result<String, Unfit> {
    let contract = Contract::again(contract.schema.as_bytes()).ok_or(Unfit::Contract)?;
    let verdict = match proposal {
        Proposal::Value(text) => judge_value(&contract, run, text.as_bytes()),
        Proposal::Found => judge_found(&contract, run),
    };
    match verdict {
        Verdict::Accepted(accepted) => Ok(accepted.value.to_compact()),
        Verdict::Rejected(rejected) => Err(Unfit::Violations(why(&rejected))),
    }
}

/// Says what is wrong; of what is no value at all there are no violations.
fn why(rejected: &Rejected) -> Vec<airtight_serve::Violation> {
    if !rejected.violations.list.is_empty() {
        return rejected.violations.list.iter().map(told).collect();
    }
    let message = explain::rejection(&rejected.reason);
    vec![airtight_serve::Violation { pointer: String::new(), keyword: "json".to_owned(), message }]
}

fn told(violation: &Violation) -> airtight_serve::Violation {
    airtight_serve::Violation {
        pointer: violation.pointer.as_str().to_owned(),
        keyword: violation.keyword.clone(),
        message: violation.message.clone(),
    }
}
