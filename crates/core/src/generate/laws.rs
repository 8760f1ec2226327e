//! The laws of generation, over generated contracts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::model::Model;
use super::{Order, Target, generate};
use crate::contract::{Contract, Options, Preflight, Scrutiny};
use crate::json::Pointer;
use crate::lower::Loss;
use crate::lower::laws::{disturb, disturbance, rich_case};
use crate::{Document, verdict::check};

fn order(target: Target) -> Order<'static> {
    Order { target, contract: "contract", root: None, dialect: None }
}

fn accepts(contract: &Contract, value: &Value) -> bool {
    check(contract, &Document::from_value(value).unwrap()).is_empty()
}

/// Returns the contract without what is lost, and without patterns, which the model's judge does not
/// look at.
fn weakened(schema: &Value, losses: &[Loss]) -> Contract {
    let mut schema = schema.clone();
    // What stands inside of something that is lost goes first.
    for Loss { pointer, keyword, .. } in losses.iter().rev() {
        lose(&mut schema, pointer, keyword);
    }
    let options = Options { scrutiny: Scrutiny::Permissive, ..Options::default() };
    Preflight::of(without_patterns(schema), &options).contract.unwrap()
}

fn lose(schema: &mut Value, pointer: &Pointer, keyword: &str) {
    let Some(place) = schema.pointer_mut(pointer.as_str()) else { return };
    if keyword == "false" {
        *place = json!(true);
        return;
    }
    let keywords = place.as_object_mut().unwrap();
    let value = keywords.remove(keyword);
    if keyword == "oneOf" {
        let all = keywords.entry("allOf").or_insert_with(|| json!([]));
        all.as_array_mut().unwrap().push(json!({"anyOf": value}));
    }
}

fn without_patterns(schema: Value) -> Value {
    match schema {
        Value::Object(members) => members
            .into_iter()
            .filter(|(key, value)| key != "pattern" || !value.is_string())
            .map(|(key, value)| (key, without_patterns(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_patterns).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema,
    }
}

/// Claims that every bracket outside of strings and comments is closed in its turn.
fn is_balanced(text: &str, comment: &str) -> bool {
    let mut open = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with(comment)) {
        let mut characters = line.trim_start().chars().peekable();
        if line.trim_start().starts_with(['*', '/']) {
            continue;
        }
        while let Some(character) = characters.next() {
            match character {
                '"' => {
                    while let Some(inner) = characters.next().filter(|inner| *inner != '"') {
                        if inner == '\\' {
                            characters.next();
                        }
                    }
                }
                // A character of Go, or a lifetime of Rust.
                '\'' if line.contains("data[0]") => drop(characters.nth(1)),
                '(' | '[' | '{' => open.push(character),
                ')' | ']' | '}' => {
                    let expected = match character {
                        ')' => '(',
                        ']' => '[',
                        _ => '{',
                    };
                    if open.pop() != Some(expected) {
                        return false;
                    }
                }
                _ => {}
            }
        }
    }
    open.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn types_accept_what_the_contract_accepts(
        case in rich_case(),
        changes in prop::collection::vec(disturbance(), 0..12),
    ) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        let model = Model::of(&contract, "Root").unwrap();
        let disturbed = changes.iter().map(|(path, replacement)| {
            let mut answer = case.answer.clone();
            disturb(&mut answer, path, replacement);
            answer
        });
        for answer in std::iter::once(case.answer.clone()).chain(disturbed) {
            if accepts(&contract, &answer) && !model.accepts(&answer) {
                prop_assert!(!model.narrowings.is_empty(), "{} {answer}\n{model:#?}", case.schema);
            }
        }
    }

    #[test]
    fn types_reject_what_breaks_anything_but_what_is_listed(
        case in rich_case(),
        changes in prop::collection::vec(disturbance(), 1..12),
    ) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        let model = Model::of(&contract, "Root").unwrap();
        let weakened = weakened(&case.schema, &model.losses);
        for (path, replacement) in &changes {
            let mut answer = case.answer.clone();
            disturb(&mut answer, path, replacement);
            if !accepts(&weakened, &answer) {
                prop_assert!(
                    !model.accepts(&answer),
                    "{}\nanswer {answer}\nweakened {}\n{model:#?}", case.schema, weakened.schema()
                );
            }
        }
    }

    #[test]
    fn the_same_contract_gives_the_same_balanced_text(case in rich_case()) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        for target in Target::ALL {
            let text = generate(&contract, &order(target)).unwrap().text;
            let again = Contract::compile(case.schema.clone()).unwrap();
            prop_assert_eq!(&text, &generate(&again, &order(target)).unwrap().text);
            prop_assert!(text.ends_with('\n') && !text.contains('\0'));
            let comment = if target == Target::Python { "#" } else { "//" };
            let is_code = matches!(target, Target::Rust | Target::Typescript | Target::Python | Target::Go);
            prop_assert!(!is_code || is_balanced(&text, comment), "{}", text);
        }
    }
}
