//! A desk that nobody sits at, for tests of what stands before it.

use std::sync::Arc;

use airtight_store::{ContractRow, Run};

use super::{
    Answering, Desk, Fault, FaultKind, Growth, Judging, Naming, Proposal, Question, Setting, Unfit,
};

/// A desk that nobody sits at.
pub(crate) struct Nobody;

impl Desk for Nobody {
    fn models(&self) -> Naming {
        Box::pin(async { Vec::new() })
    }

    fn answer(&self, _: Question, _: Option<Arc<Growth>>) -> Answering {
        Box::pin(async { Err(Fault::new(FaultKind::Mistake, "nobody is here")) })
    }

    fn settings(&self) -> Vec<Setting> {
        Vec::new()
    }

    fn judge(&self, _: Run, _: ContractRow, _: Proposal) -> Judging {
        Box::pin(async { Err(Unfit::Mistake) })
    }
}
