//! The laws of lowering over the official JSON Schema test suite, where it is at hand.

use super::{Dialect, lower};
use crate::suite::{DRAFTS, Group, Suite};
use crate::verdict::check;
use crate::{Contract, Document};

/// How often each thing happened.
#[derive(Debug, Default)]
struct Tally {
    said: usize,
    narrowed: usize,
    caught_by_the_verdict: usize,
    prevented: usize,
    refused: usize,
}

fn count(contract: &Contract, group: &Group, tally: &mut Tally) {
    let values = || group.tests.iter().map(|test| &test.value);
    let conforms = |value: &Document| check(contract, value).is_empty();
    for dialect in Dialect::ALL {
        let lowering = match lower(contract, dialect) {
            Ok(lowering) => lowering,
            Err(refusal) => {
                tally.refused += 1;
                assert!(!values().any(conforms), "{}: {dialect:?}: {refusal}", group.name);
                continue;
            }
        };
        assert_eq!(dialect.problems(&lowering.schema), [], "{}", group.name);
        for value in values() {
            let context = || {
                let Group { name, schema, .. } = group;
                format!("{name}: {dialect:?}: {}\n{schema}\n{}", value.text(), lowering.schema)
            };
            match (conforms(value), lowering.pre_image(&value.to_value()).is_some()) {
                (true, true) => tally.said += 1,
                (true, false) => {
                    tally.narrowed += 1;
                    assert!(!lowering.narrowings.is_empty(), "cannot be said: {}", context());
                }
                (false, true) => {
                    tally.caught_by_the_verdict += 1;
                    assert!(!lowering.losses.is_empty(), "dropped silently: {}", context());
                }
                (false, false) => tally.prevented += 1,
            }
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "how much each draft loses is worth knowing")]
fn the_suite_can_be_said_and_nothing_is_dropped_silently() {
    let Some(suite) = Suite::open() else {
        return;
    };
    for (name, draft) in DRAFTS {
        let options = suite.options(name, draft);
        let mut tally = Tally::default();
        for group in suite.required(name).iter().flat_map(|file| Group::read(file).unwrap()) {
            // Meta-schemas of their own and remote documents are none of lowering's business.
            let text = group.schema.to_string();
            if text.contains("localhost:1234") {
                continue;
            }
            count(&group.contract(&options).unwrap(), &group, &mut tally);
        }
        eprintln!("{name}: {tally:?}");
        assert!(tally.said > tally.narrowed, "{name}: {tally:?}");
    }
}
