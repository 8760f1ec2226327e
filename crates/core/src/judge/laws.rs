//! What holds for every contract and every text.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Allowance, judge};
use crate::arbitrary::case;
use crate::verdict::{Accepted, EditKind, Verdict, check};
use crate::{Contract, Document};

/// Pieces that texts between JSON and prose are made of.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[\\[\\]{}:,\"'\\\\]",
        1 => prop::sample::select(vec![
            "\"a\":", "a:", "1", "-0.5e3", "true", "None", "\"x\"", "'y'", "“z”", "// c\n", "/* c */", "# c\n",
            "```json\n", "```\n", "<think>", "</think>\n", "\n", " ", "say \"hi\" now", "\\\"", "&quot;", "é",
        ])
        .prop_map(str::to_owned),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Changes to a text that leave no doubt about the value in it.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Fence,
    Thought,
    Prose,
    TrailingComma,
    Comment,
    LostEnd,
    LostStart,
    Cut(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        Just(Damage::Fence),
        Just(Damage::Thought),
        Just(Damage::Prose),
        Just(Damage::TrailingComma),
        Just(Damage::Comment),
        Just(Damage::LostEnd),
        Just(Damage::LostStart),
        any::<prop::sample::Index>().prop_map(|index| Damage::Cut(index.index(1000))),
    ]
}

impl Damage {
    fn apply(self, json: &str) -> String {
        let inside = json.len().saturating_sub(1);
        match self {
            Self::Fence => format!("Sure:\n```json\n{json}\n```\nDone [1]."),
            Self::Thought => format!("<think>\n{{\"a\": [1, {json}\n</think>\n{json}"),
            Self::Prose => format!("The {{result}} is {json}, see (a) [b]."),
            Self::TrailingComma => format!("{},{}", &json[..inside], &json[inside..]),
            Self::Comment => format!("{} // {{\"a\": 1}}\n{}", &json[..inside], &json[inside..]),
            Self::LostEnd => json[..inside].to_owned(),
            Self::LostStart => json[1..].to_owned(),
            Self::Cut(thousandth) => {
                let mut end = json.len() * thousandth / 1000;
                while !json.is_char_boundary(end) {
                    end -= 1;
                }
                json[..end].to_owned()
            }
        }
    }
}

fn accepted(schema: &Value, text: &[u8]) -> Option<(Contract, Accepted)> {
    let contract = Contract::compile(schema.clone()).unwrap();
    match judge(&contract, text, &Allowance::default()) {
        Verdict::Accepted(accepted) => Some((contract, accepted)),
        Verdict::Rejected(_) => None,
    }
}

proptest! {
    #[test]
    fn any_bytes_get_a_verdict(case in case(), bytes in vec(any::<u8>(), 0..64)) {
        accepted(&case.schema, &bytes);
    }

    #[test]
    fn what_is_accepted_conforms_and_is_json(case in case(), text in pieces()) {
        for schema in [&case.schema, &json!({})] {
            if let Some((contract, accepted)) = accepted(schema, text.as_bytes()) {
                prop_assert!(check(&contract, &accepted.value).is_empty());
                let again = Document::parse(accepted.value.text()).unwrap();
                prop_assert!(again.root().same_value(accepted.value.root()));
            }
        }
    }

    #[test]
    fn sound_answers_are_accepted_without_edits(case in case()) {
        let text = case.answer.to_string();
        let (_, accepted) = accepted(&case.schema, text.as_bytes()).unwrap();
        prop_assert!(accepted.edits.is_empty());
        prop_assert_eq!(accepted.value.text(), text);
    }

    #[test]
    fn damage_never_yields_another_value(case in case(), damage in damage()) {
        if !case.answer.is_object() && !case.answer.is_array() {
            return Ok(());
        }
        let json = case.answer.to_string();
        let original = Document::from_value(&case.answer).unwrap();
        let text = damage.apply(&json);
        for schema in [&case.schema, &json!({})] {
            let Some((_, accepted)) = accepted(schema, text.as_bytes()) else {
                continue;
            };
            // A cut between two members looks like a forgotten closer, and is on record as one.
            let closed = accepted.edits.count(EditKind::MissingCloser) > 0;
            let completed = closed && accepted.value.text().starts_with(&text);
            let same = accepted.value.root().same_value(original.root());
            prop_assert!(same || completed, "{text}\n{}\n{:?}", accepted.value.text(), accepted.edits);
        }
    }
}
