//! The verdict on one parsed value.

use super::violation::{Violation, Violations};
use crate::contract::{Contract, Source};
use crate::json::Document;
use crate::json::probe::{Meter, Probe};

/// How many violations are reported.
const VIOLATION_LIMIT: usize = 100;

/// How many containers one validation may step into.
const WORK_LIMIT: u64 = 4_000_000;

/// Judges `value` by the original contract alone; empty if it conforms.
pub fn check(contract: &Contract, value: &Document) -> Violations {
    check_against(contract, value, None)
}

/// Judges `value` like [`check`], with the source text that grounded strings are quoted from.
pub fn check_against(contract: &Contract, value: &Document, source: Option<&Source>) -> Violations {
    let meter = Meter::new(WORK_LIMIT).with_source(source);
    if contract.validator().is_valid(Probe::Node(value.root(), &meter)) && !meter.is_empty() {
        return Violations::default();
    }
    let meter = Meter::new(WORK_LIMIT).with_source(source);
    let mut errors = contract.validator().iter_errors(Probe::Node(value.root(), &meter));
    let list = errors
        .by_ref()
        .take(VIOLATION_LIMIT)
        .map(|error| Violation {
            pointer: error.instance_path().as_str().into(),
            keyword: error.kind().keyword().to_owned(),
            message: error.to_string(),
            masked: error.masked().to_string(),
        })
        .collect();
    Violations { list, more: errors.next().is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conforming_values_have_no_violations() {
        let contract = Contract::compile(json!({"type": "object", "required": ["a"]})).unwrap();
        assert!(check(&contract, &Document::parse(r#"{"a":1}"#).unwrap()).is_empty());
        let violations = check(&contract, &Document::parse("{}").unwrap());
        assert_eq!(violations.list[0].keyword, "required");
    }
}
