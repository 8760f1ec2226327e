//! A conforming answer is never impossible, and how it is cut does not matter.
#![no_main]

use std::sync::{Arc, LazyLock};

use airtight_core::verdict::check;
use airtight_core::{Contract, Document, Follower, Plan, Progress};
use libfuzzer_sys::fuzz_target;

static CONTRACTS: LazyLock<Vec<(Contract, Arc<Plan>)>> = LazyLock::new(|| {
    [
        "{}",
        include_str!("../../schemas/agent-response.json"),
        include_str!("../../schemas/code-review.json"),
        include_str!("../../fixtures/contracts/actions.json"),
    ]
    .iter()
    .map(|text| {
        let contract = Contract::compile(serde_json::from_str(text).unwrap()).unwrap();
        let plan = Arc::new(Plan::compile(&contract));
        (contract, plan)
    })
    .collect()
});

fn follow(plan: &Arc<Plan>, bytes: &[u8], size: usize) -> (Progress, Option<serde_json::Value>) {
    let mut follower = Follower::new(Arc::clone(plan));
    for chunk in bytes.chunks(size) {
        follower.push(chunk);
    }
    (follower.finish().clone(), follower.growing().to_value())
}

fuzz_target!(|bytes: &[u8]| {
    for (contract, plan) in CONTRACTS.iter() {
        let whole = follow(plan, bytes, bytes.len().max(1));
        assert_eq!(whole, follow(plan, bytes, 1));
        assert_eq!(whole, follow(plan, bytes, 3));
        let document = std::str::from_utf8(bytes).ok().and_then(|text| Document::parse(text).ok());
        if let Some(document) = document
            && check(contract, &document).is_empty()
        {
            assert_eq!(whole.0, Progress::Complete);
            assert_eq!(whole.1, Some(document.to_value()));
        }
    }
});
