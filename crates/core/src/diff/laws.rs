//! What holds for every pair of contracts.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::table::is_sound;
use super::*;
use crate::arbitrary::{Case, case};
use crate::verdict::check;

/// A contract, and another that was made of it by some changes.
fn pair() -> impl Strategy<Value = (Case, Value)> {
    let turns = proptest::collection::vec((any::<u16>(), any::<u8>(), any::<i8>()), 1..6);
    (case(), turns).prop_map(|(case, turns)| {
        let mut schema = case.schema.clone();
        for (place, what, amount) in turns {
            mutate(&mut schema, usize::from(place), what, amount);
        }
        (case, schema)
    })
}

/// Returns the pointers of all objects within `schema`.
fn objects(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![(String::new(), schema)];
    while let Some((at, value)) = pending.pop() {
        let key = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        match value {
            Value::Object(members) => {
                pending.extend(members.iter().map(|(name, it)| (key(name), it)));
                found.push(at);
            }
            Value::Array(items) => {
                pending.extend(items.iter().enumerate().map(|(i, it)| (key(&i.to_string()), it)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

/// Changes one place of a schema somehow.
fn mutate(schema: &mut Value, place: usize, what: u8, amount: i8) {
    let places = objects(schema);
    let Some(Value::Object(members)) = schema.pointer_mut(&places[place % places.len()]) else {
        return;
    };
    let keys: Vec<String> = members.keys().cloned().collect();
    let key = keys.get(usize::from(what) % keys.len().max(1)).cloned().unwrap_or_default();
    match (what % 15, members.get_mut(&key)) {
        (0, Some(_)) => drop(members.remove(&key)),
        (1, Some(Value::Number(number))) => {
            let moved = number.as_i64().unwrap_or(0).saturating_add(i64::from(amount));
            members.insert(key, json!(moved));
        }
        (2, Some(Value::Array(items))) if items.len() > 1 => drop(items.remove(0)),
        (3, Some(Value::Array(items))) => items.extend(items.first().cloned()),
        (4, _) => drop(members.insert("additionalProperties".to_owned(), json!(amount > 0))),
        (5, _) => drop(members.insert("required".to_owned(), json!([key]))),
        (6, _) => drop(members.insert("minLength".to_owned(), json!(amount.unsigned_abs() % 4))),
        (7, _) => drop(members.insert("maximum".to_owned(), json!(amount))),
        (8, _) => drop(members.insert("description".to_owned(), json!("changed"))),
        (9, _) => drop(members.insert("not".to_owned(), json!({"type": "null"}))),
        (10, _) => {
            let inner = Value::Object(std::mem::take(members));
            *members = Map::from_iter([("oneOf".to_owned(), json!([inner, {"type": "null"}]))]);
        }
        (11, _) => drop(members.insert("x-rules".to_owned(), json!([{"rule": "self != null"}]))),
        (12, Some(Value::Object(_))) => drop(members.insert(key, json!(amount > 0))),
        (13, _) => {
            let inner = Value::Object(std::mem::take(members));
            let other = json!({"type": "integer", "minimum": amount});
            *members = Map::from_iter([("anyOf".to_owned(), json!([inner, other]))]);
        }
        (14, _) => {
            let rest = json!({"type": "string", "maxLength": amount.unsigned_abs()});
            members.insert("additionalProperties".to_owned(), rest);
        }
        _ => {}
    }
}

/// Answers that say something about a pair: those that belong to it, and small changes of them.
fn samples(case: &Case, contracts: [&Contract; 2]) -> Vec<Document> {
    let made = contracts.into_iter().filter_map(|it| it.example().ok()).map(|it| it.to_value());
    let mut values: Vec<Value> = std::iter::once(case.answer.clone()).chain(made).collect();
    for value in values.clone() {
        values.extend(probes::probes(&value, &[Map::new(), Map::new()], Some("a")));
    }
    values.iter().filter_map(|value| Document::from_value(value).ok()).collect()
}

fn lawful(case: &Case, old: &Contract, new: &Contract) -> Result<Diff, TestCaseError> {
    let found = diff(old, new);
    for document in samples(case, [old, new]) {
        let verdicts = [old, new].map(|contract| check(contract, &document).is_empty());
        let breaks = [(&found.old_answers, [true, false]), (&found.consumers, [false, true])];
        for (ruling, against) in breaks {
            let is_contradicted = ruling.answer == Answer::Yes && verdicts == against;
            prop_assert!(
                !is_contradicted,
                "{}\n{}\n{}",
                old.schema(),
                new.schema(),
                document.text()
            );
        }
    }
    let of_changes = found.changes.iter().flat_map(|it| [&it.old_answers, &it.consumers]);
    for ruling in of_changes.chain([&found.old_answers, &found.consumers]) {
        prop_assert_eq!(ruling.witness.is_some(), ruling.answer == Answer::No);
        let sound = ruling.witness.iter().all(|witness| is_sound(witness, old, new));
        prop_assert!(sound, "{}\n{}\n{:?}", old.schema(), new.schema(), ruling);
    }
    Ok(found)
}

proptest! {
    #[test]
    fn what_is_proven_is_never_contradicted_and_what_is_shown_is_true((case, changed) in pair()) {
        let old = Contract::compile(case.schema.clone()).unwrap();
        let Ok(new) = Contract::compile(changed) else { return Ok(()) };
        let found = lawful(&case, &old, &new)?;
        if print(&old) != print(&new) {
            prop_assert!(!found.changes.is_empty(), "{}\n{}", old.schema(), new.schema());
        }
    }

    #[test]
    fn swapping_the_contracts_swaps_the_questions((case, changed) in pair()) {
        let old = Contract::compile(case.schema.clone()).unwrap();
        let Ok(new) = Contract::compile(changed) else { return Ok(()) };
        let (there, back) = (diff(&old, &new), diff(&new, &old));
        let both = [(there.old_answers, back.consumers), (there.consumers, back.old_answers)];
        for (one, other) in both {
            let answers = [one.answer, other.answer];
            let is_contradiction = answers.contains(&Answer::Yes) && answers.contains(&Answer::No);
            prop_assert!(!is_contradiction, "{}\n{}", old.schema(), new.schema());
        }
    }

    #[test]
    fn unrelated_contracts_are_compared_too(one in case(), other in case()) {
        let old = Contract::compile(one.schema.clone()).unwrap();
        let new = Contract::compile(other.schema.clone()).unwrap();
        lawful(&one, &old, &new)?;
    }

    #[test]
    fn a_contract_does_not_differ_from_itself(case in case()) {
        let contract = Contract::compile(case.schema).unwrap();
        let found = diff(&contract, &contract);
        prop_assert_eq!((found.changes.len(), found.step()), (0, None));
    }
}
