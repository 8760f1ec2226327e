//! Any bytes are a contract or a refusal with a reason; a contract's example conforms.
#![no_main]

use airtight_core::contract::Options;
use airtight_core::verdict::check;
use airtight_core::{Answer, Origin, Preflight};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let report = Preflight::run(bytes, Origin::Inline, &Options::default());
    let Some(contract) = &report.contract else {
        assert!(!report.diagnostics.is_empty());
        return;
    };
    if let Ok(example) = contract.example() {
        assert_ne!(report.satisfiable.answer, Answer::No);
        let grounded = contract.schema().to_string().contains("x-grounded");
        assert!(grounded || check(contract, &example).is_empty());
    }
});
