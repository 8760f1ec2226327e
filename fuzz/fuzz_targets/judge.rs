//! Any bytes get a verdict; what is accepted conforms, and JSON that conforms is accepted as it is.
#![no_main]

use std::sync::LazyLock;

use airtight_core::verdict::check;
use airtight_core::{Allowance, Contract, Document, Verdict, judge};
use libfuzzer_sys::fuzz_target;

static CONTRACTS: LazyLock<Vec<Contract>> = LazyLock::new(|| {
    [
        r#"{"type": "object"}"#,
        include_str!("../../schemas/code-review.json"),
        include_str!("../../schemas/triage.json"),
        include_str!("../../fixtures/contracts/order.json"),
    ]
    .iter()
    .map(|text| Contract::compile(serde_json::from_str(text).unwrap()).unwrap())
    .collect()
});

fuzz_target!(|bytes: &[u8]| {
    for contract in CONTRACTS.iter() {
        let verdict = judge(contract, bytes, &Allowance::default());
        if let Verdict::Accepted(accepted) = &verdict {
            assert!(check(contract, &accepted.value).is_empty());
        }
        let plain = std::str::from_utf8(bytes).ok().and_then(|text| Document::parse(text).ok());
        if let Some(plain) = plain.filter(|plain| check(contract, plain).is_empty()) {
            let Verdict::Accepted(accepted) = verdict else {
                // The contract's own schema is no answer.
                assert!(plain.root().member("$schema").is_some() || looks_like_a_schema(&plain));
                continue;
            };
            assert!(accepted.edits.is_empty());
            assert!(accepted.value.root().same_value(plain.root()));
        }
    }
});

fn looks_like_a_schema(document: &Document) -> bool {
    ["type", "properties", "items", "$ref"].iter().any(|key| document.root().member(key).is_some())
}
