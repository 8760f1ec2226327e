//! Values to judge: those that a contract brings or makes, and systematic changes of them.

use airtight_core::Contract;
use serde_json::{Map, Value, json};

/// How many places of a value are changed.
const PLACE_LIMIT: usize = 60;

/// How many values are judged for one contract.
const INSTANCE_LIMIT: usize = 1_500;

/// Returns values, some that conform and many that nearly do.
pub(crate) fn instances(contract: &Contract, given: &[Value]) -> Vec<Value> {
    let made = contract.example().ok().map(|example| example.to_value());
    let worked = contract.worked_examples().into_iter().map(|example| example.output);
    let seeds: Vec<Value> = given.iter().cloned().chain(worked).chain(made).collect();
    let mut found = Vec::new();
    for seed in &seeds {
        found.push(seed.clone());
        let mut places = Vec::new();
        list_places(seed, String::new(), &mut places);
        for place in places.iter().take(PLACE_LIMIT) {
            let value = seed.pointer(place).unwrap();
            found.extend(changes(value).into_iter().map(|changed| {
                let mut instance = seed.clone();
                *instance.pointer_mut(place).unwrap() = changed;
                instance
            }));
        }
    }
    let step = found.len().div_ceil(INSTANCE_LIMIT).max(1);
    // The seeds themselves are always judged.
    let sampled = found.into_iter().step_by(step);
    seeds.iter().cloned().chain(sampled).collect()
}

fn list_places(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                list_places(item, format!("{at}/{index}"), places);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                list_places(member, format!("{at}/{key}"), places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    places.push(at);
}

/// Returns what else could stand in the place of a value.
fn changes(value: &Value) -> Vec<Value> {
    let mut found = vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.0),
        json!(1.5),
        json!(1e30),
        json!(""),
        json!("x"),
        json!("\u{1f600}"),
        json!("x".repeat(300)),
        json!([]),
        json!({}),
        json!([value]),
        json!({ "value": value }),
    ];
    match value {
        Value::String(text) => {
            found.push(json!(format!("{text}\u{1f600}")));
            found.push(json!(text.to_uppercase()));
            found.push(json!({ text: null }));
            found.push(json!(text.chars().skip(1).collect::<String>()));
            found.push(json!(format!("{text}\n")));
        }
        Value::Number(number) => {
            let float = number.as_f64().unwrap();
            found.extend([
                json!(float + 1.0),
                json!(float - 1.0),
                json!(float),
                json!(float + 0.25),
            ]);
            found.push(json!(number.to_string()));
        }
        Value::Array(items) => found.extend(list_changes(items)),
        Value::Object(members) => found.extend(object_changes(members)),
        Value::Null | Value::Bool(_) => {}
    }
    found
}

fn list_changes(items: &[Value]) -> Vec<Value> {
    let mut found =
        vec![[items, &[json!(null)]].concat().into(), [items, items, items].concat().into()];
    found.extend((0..items.len()).map(|gone| {
        let kept = items.iter().enumerate().filter(|(index, _)| *index != gone);
        kept.map(|(_, item)| item.clone()).collect::<Value>()
    }));
    found
}

fn object_changes(members: &Map<String, Value>) -> Vec<Value> {
    let with = |key: &str, value: Value| {
        let mut changed = members.clone();
        changed.insert(key.to_owned(), value);
        Value::Object(changed)
    };
    // Serde would read an object from these.
    let mut found = vec![members.values().cloned().collect::<Value>()];
    found.extend([
        with("unexpected", json!(1)),
        with("unexpected", json!("x")),
        with("unexpected", json!(null)),
    ]);
    for gone in members.keys() {
        let kept = members.iter().filter(|(key, _)| *key != gone);
        let kept: Map<String, Value> = kept.map(|(key, it)| (key.clone(), it.clone())).collect();
        let mut renamed = kept.clone();
        found.push(Value::Object(kept));
        // Go would take it for the same.
        renamed.insert(gone.to_uppercase(), members[gone].clone());
        found.push(Value::Object(renamed));
    }
    found
}
