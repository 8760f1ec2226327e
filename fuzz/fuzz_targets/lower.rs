//! Every contract can be put into every dialect that takes it, or is refused; examples survive.
#![no_main]

use airtight_core::contract::Options;
use airtight_core::{Dialect, Document, Origin, Preflight, lower};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let report = Preflight::run(bytes, Origin::Inline, &Options::default());
    let Some(contract) = report.contract else {
        return;
    };
    let example = contract.example().ok();
    for dialect in Dialect::ALL {
        let Ok(lowering) = lower(&contract, dialect) else {
            continue;
        };
        assert!(dialect.problems(&lowering.schema).is_empty());
        if let Some(example) = &example
            && let Some(said) = lowering.pre_image(&example.to_value())
        {
            let said = Document::from_value(&said).unwrap();
            let read = lowering.inverse.apply(&said).unwrap();
            assert!(read.root().same_value(Document::from_value(&example.to_value()).unwrap().root()));
        }
    }
});
