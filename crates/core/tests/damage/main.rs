//! The damage suite: every kind of damage, to conforming answers of several contracts.
//!
//! The laws: at least 99 % of what can be recovered is, exactly; what must be refused is refused
//! for the right reason; and never is a value accepted that differs from the original.

#![expect(clippy::print_stdout, reason = "the table is the suite's report")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken fixture should stop the suite"
)]

mod instance;
mod kind;
mod render;

use airtight_core::{Allowance, Contract, Document, Rejection, Verdict, judge};
use instance::{Random, conforming};
use kind::{Answer, Expected, Kind};
use render::{COMMENTS, Style, render_marked};
use serde_json::Value;

/// Answers per kind and contract.
const ANSWERS: usize = 36;

/// How often each kind is run, with other answers.
const SEEDS: u64 = 3;

/// How much text with a lost character is judged for each contract: thousands of answers, or hundreds of
/// long ones.
const LOST_CHARACTERS_BYTES: usize = 600_000;

/// At how many places an answer is cut.
const CUTS: usize = 400;

const CONTRACTS: [&str; 10] = [
    include_str!("../../../../schemas/agent-response.json"),
    include_str!("../../../../schemas/code-review.json"),
    include_str!("../../../../schemas/triage.json"),
    include_str!("../../../../schemas/contact.json"),
    include_str!("../../../../contracts/blog-writer.json"),
    include_str!("../../../../contracts/context-file-writer.json"),
    include_str!("../../../../contracts/strategy-writer.json"),
    include_str!("../../../../fixtures/contracts/order.json"),
    include_str!("../../../../fixtures/contracts/outline.json"),
    include_str!("../../../../fixtures/contracts/actions.json"),
];

/// What became of all answers of one kind.
#[derive(Debug, Default)]
struct Row {
    total: usize,
    right: usize,
    /// Accepted, but not what was said.
    wrong: Vec<String>,
    /// The first refusals that should have been something else.
    missed: Vec<String>,
}

fn run(kind: Kind, seed: u64) -> Row {
    let mut row = Row::default();
    for (number, text) in CONTRACTS.iter().enumerate() {
        let schema: Value = serde_json::from_str(text).unwrap();
        let contract = Contract::compile(schema.clone()).unwrap();
        let mut random = Random::new(seed * 1_000_000 + number as u64 * 1_000 + kind as u64 + 1);
        let mut made = 0;
        // A contract without, say, numbers has no answer that can be cut in one.
        for _ in 0..ANSWERS * 20 {
            let value = conforming(&contract, &mut random);
            let other = conforming(&contract, &mut random);
            let answer = Answer { schema: &schema, value, other };
            if let Some(damaged) = kind.damage(&answer, &mut random) {
                row.add(kind, &contract, &answer.value, &damaged);
                made += 1;
            }
            if made == ANSWERS {
                break;
            }
        }
    }
    row
}

impl Row {
    fn add(&mut self, kind: Kind, contract: &Contract, original: &Value, damaged: &str) {
        self.total += 1;
        let verdict = judge(contract, damaged, &Allowance::default());
        let right = match (&verdict, kind.expected()) {
            (Verdict::Accepted(accepted), expected) => {
                let original = Document::from_value(original).unwrap();
                let same = accepted.value.root().same_value(original.root());
                if !same || expected != Expected::Recovered {
                    self.wrong.push(format!("{damaged}\n => {}", accepted.value.text()));
                }
                same && expected == Expected::Recovered && !accepted.edits.is_empty()
            }
            (Verdict::Rejected(rejected), expected) => matches!(
                (&rejected.reason, expected),
                (Rejection::Truncated { .. }, Expected::Truncated)
                    | (Rejection::Ambiguous { .. }, Expected::Ambiguous)
                    | (Rejection::SchemaEcho, Expected::SchemaEcho)
                    | (_, Expected::Refused)
            ),
        };
        self.right += usize::from(right);
        if !right && self.missed.len() < 3 {
            self.missed.push(format!("{damaged}\n => {verdict:?}"));
        }
    }

    fn keeps_the_law(&self) -> bool {
        self.wrong.is_empty() && self.total >= 100 && self.right * 100 >= self.total * 99
    }
}

/// Accepts any answer, so that nothing but care keeps fragments out.
fn open_contract() -> Contract {
    Contract::compile(serde_json::json!({"type": ["object", "array"]})).unwrap()
}

#[test]
fn a_lost_character_never_changes_the_value() {
    let styles = [
        Style::COMPACT,
        Style::PRETTY,
        Style { quotes: ["'", "'"], ..Style::COMPACT },
        Style { quotes: ["“", "”"], ..Style::PRETTY },
        Style { bare_keys: true, ..Style::PRETTY },
        Style { comments: COMMENTS, ..Style::PRETTY },
        Style { raw_phrases: true, ..Style::COMPACT },
        Style { raw_phrases: true, raw_newlines: true, ..Style::PRETTY },
        Style { raw_newlines: true, ..Style::COMPACT },
    ];
    let mut recovered = 0;
    for (number, text) in CONTRACTS.iter().enumerate() {
        let schema: Value = serde_json::from_str(text).unwrap();
        let contracts = [Contract::compile(schema).unwrap(), open_contract()];
        let mut random = Random::new(number as u64 + 77);
        let (mut round, mut judged_bytes) = (0, 0);
        while judged_bytes < LOST_CHARACTERS_BYTES {
            round += 1;
            let value = conforming(&contracts[0], &mut random);
            let style = &styles[round % styles.len()];
            let (mut damaged, marks) = render_marked(&value, style, &mut random);
            damaged.remove(*random.pick(&marks));
            judged_bytes += damaged.len();
            let original = Document::from_value(&value).unwrap();
            for contract in &contracts {
                if let Verdict::Accepted(accepted) =
                    judge(contract, &damaged, &Allowance::default())
                {
                    recovered += 1;
                    let same = accepted.value.root().same_value(original.root());
                    assert!(same, "{damaged}\n => {}", accepted.value.text());
                }
            }
        }
    }
    assert!(recovered > 500, "{recovered}");
}

#[test]
fn a_cut_is_never_completed_but_by_one_closer() {
    for (number, text) in CONTRACTS.iter().enumerate() {
        let schema: Value = serde_json::from_str(text).unwrap();
        let contracts = [Contract::compile(schema).unwrap(), open_contract()];
        let mut random = Random::new(number as u64 + 7);
        for _ in 0..12 {
            let plain = conforming(&contracts[0], &mut random).to_string();
            let stride = 1 + plain.len() / CUTS;
            for (at, _) in plain.char_indices().skip(1).step_by(stride) {
                for contract in &contracts {
                    let verdict = judge(contract, &plain[..at], &Allowance::default());
                    if let Verdict::Accepted(accepted) = verdict {
                        let completed = format!("{}{}", &plain[..at], &plain[plain.len() - 1..]);
                        assert_eq!(accepted.value.text(), completed);
                    }
                }
            }
        }
    }
}

#[test]
fn damage_is_undone_exactly_or_refused() {
    let mut broken = Vec::new();
    println!("{:<18} {:>12} {:>6} {:>6} {:>6}", "kind", "expected", "total", "right", "wrong");
    for kind in Kind::ALL {
        for seed in 0..SEEDS {
            let row = run(kind, seed);
            let expected = format!("{:?}", kind.expected()).to_lowercase();
            let name = format!("{kind:?}");
            let Row { total, right, wrong, missed } = &row;
            println!("{name:<18} {expected:>12} {total:>6} {right:>6} {:>6}", wrong.len());
            if !row.keeps_the_law() {
                broken.push(format!("{kind:?}: wrong {wrong:#?} missed {missed:#?}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}
