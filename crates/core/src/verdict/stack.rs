//! Room on the stack for one validation.
//!
//! `jsonschema` recurses along the value, and at each level along the schemas that apply inside of
//! one another. Both are bounded, but their product does not fit the 2 MiB that threads get.

use crate::contract::Contract;
use crate::json::Document;

/// What one schema inside of another takes at one level of the value; 0.5 KB optimised, measured.
const FRAME_BYTES: usize = 2 * 1024;

/// What everything else takes.
const REST_BYTES: usize = 256 * 1024;

/// Below this many bytes the depth of the value is not even counted.
const SMALL_BYTES: usize = 512 * 1024;

/// Runs a validation of `value` with as much stack as it can need.
pub(super) fn with_room<T>(
    contract: &Contract,
    value: &Document,
    validation: impl FnOnce() -> T,
) -> T {
    let nesting = usize::try_from(contract.expansion().nesting).unwrap_or(usize::MAX);
    let level_bytes = nesting.saturating_add(1).saturating_mul(FRAME_BYTES);
    let deepest = level_bytes.saturating_mul(DEEPEST);
    let need = if deepest <= SMALL_BYTES {
        deepest
    } else {
        level_bytes.saturating_mul(value.depth() + 1)
    };
    stacker::maybe_grow(need + REST_BYTES, need + 2 * REST_BYTES, validation)
}

/// How deep a document is at most.
const DEEPEST: usize = 129;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::verdict::{check, coerce};
    use crate::{Contract, Document};

    /// Sixty schemas that apply to each value, at each of 128 levels.
    fn deep_contract() -> Value {
        let chain = (0..28).fold(
            json!({"type": "array", "items": {"$ref": "#"}}),
            |inner, _| json!({"anyOf": [inner, {"type": "null"}]}),
        );
        json!({"anyOf": [chain, {"type": "integer"}]})
    }

    #[test]
    fn small_threads_judge_deep_values() {
        let contract = Contract::compile(deep_contract()).unwrap();
        for (inside, expected) in [("1", true), ("\"x\"", false)] {
            let text = format!("{}{inside}{}", "[".repeat(127), "]".repeat(127));
            let answer = Document::parse(text).unwrap();
            let judge = || (check(&contract, &answer).is_empty(), coerce(&contract, &answer));
            let (conforms, _) = std::thread::scope(|scope| {
                let small = std::thread::Builder::new().stack_size(512 * 1024);
                small.spawn_scoped(scope, judge).unwrap().join().unwrap()
            });
            assert_eq!(conforms, expected, "{inside}");
        }
    }
}
