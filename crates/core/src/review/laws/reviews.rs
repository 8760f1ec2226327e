//! What holds for every review.

use proptest::prelude::*;
use proptest::sample::select;

use crate::review::{Finding, Lines, Severity, merge};

fn finding() -> impl Strategy<Value = Finding> {
    let severity = select(&Severity::ALL[..]);
    let file = select(&["a.rs", "b.rs"][..]);
    let lines = prop::option::of((1_u32..8, 0_u32..3));
    let words = select(
        &[
            "The file is never closed.",
            "The file is not closed on errors.",
            "The index may be out of bounds.",
            "An index can be out of bounds here.",
            "",
        ][..],
    );
    (severity, file, lines, words, words_again()).prop_map(
        |(severity, file, lines, description, suggestion)| Finding {
            severity,
            file: file.to_owned(),
            lines: lines.map(|(first, more)| Lines { first, last: first + more }),
            description: description.to_owned(),
            suggestion,
        },
    )
}

fn words_again() -> impl Strategy<Value = String> {
    "[a-c]{0,2}"
}

proptest! {
    #[test]
    fn findings_merge_the_same_in_any_order(
        (findings, shuffled) in prop::collection::vec(finding(), 0..20)
            .prop_flat_map(|findings| (Just(findings.clone()), Just(findings).prop_shuffle()))
    ) {
        let merged = merge(findings.clone());
        prop_assert_eq!(&merged, &merge(shuffled));
        let kept: usize = merged.iter().map(|it| 1 + it.duplicates.len()).sum();
        prop_assert_eq!(kept, findings.len());
        for it in &merged {
            prop_assert!(it.duplicates.iter().all(|other| other.severity >= it.finding.severity));
        }
        let order: Vec<Severity> = merged.iter().map(|it| it.finding.severity).collect();
        prop_assert!(order.is_sorted());
    }
}
