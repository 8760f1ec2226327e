//! The law of early cancel: what is stopped would have been rejected, however kindly it is judged.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::answer::{Channel, Extent, Finding};
use super::{Job, Mode, Policy, Run, TERMINAL_TOOL, Terminal};
use crate::arbitrary::{Case, case};
use crate::codec::Delta;
use crate::{Contract, Dialect};

/// Puts a generated contract where plain properties lead to it.
fn within(case: Case) -> (Value, Value) {
    let Case { mut schema, answer } = case;
    let definitions = schema.as_object_mut().and_then(|schema| schema.remove("$defs"));
    let mut root = json!({
        "type": "object",
        "properties": { "it": schema, "many": { "type": "array", "items": { "type": "integer" } } },
        "required": ["it"],
    });
    if let Some(definitions) = definitions {
        root["$defs"] = definitions;
    }
    (root, json!({ "it": answer, "many": [1] }))
}

fn job(schema: Value) -> Job {
    Job {
        contract: Some(Contract::compile(schema).unwrap().into()),
        dialect: Dialect::Llguidance,
        model: String::new(),
        mode: Mode::Tool,
        system: None,
        prompt: String::new(),
        tools: Vec::new(),
        terminal: Terminal::Offered,
        policy: Policy::default(),
        price: None,
        account: super::Account::default(),
        source: None,
        check: None,
        extractor: None,
    }
}

/// What models say instead of what they should.
fn slip() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(5),
        json!(-1.5),
        json!("5"),
        json!("TRUE"),
        json!("-0.5"),
        json!("[1]"),
        json!("{}"),
        json!(""),
        json!([]),
        json!([1]),
        json!({}),
        json!({ "a": 1 }),
        json!("x".repeat(40)),
        json!(1e12),
    ])
}

/// Replaces, respells or adds something at the place that `picks` lead to.
fn spoil(value: &mut Value, picks: &[u8], slip: &Value) {
    let Some((pick, picks)) = picks.split_first() else {
        *value = match (&*value, slip) {
            (Value::String(said), Value::Null) => json!(said.to_uppercase()),
            (Value::String(said), Value::Bool(_)) => json!(format!(" {said} ")),
            (Value::Number(said), Value::Null) => json!(said.to_string()),
            (Value::Object(_) | Value::Array(_), Value::Null) => json!(value.to_string()),
            _ => slip.clone(),
        };
        return;
    };
    let pick = usize::from(*pick);
    match value {
        Value::Array(items) if !items.is_empty() => {
            let place = pick % items.len();
            spoil(&mut items[place], picks, slip);
        }
        Value::Object(members) if pick % 7 == 6 => {
            members.insert("result".to_owned(), slip.clone());
        }
        Value::Object(members) if !members.is_empty() => {
            let place = pick % members.len();
            if let Some(member) = members.values_mut().nth(place) {
                spoil(member, picks, slip);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => spoil(value, &[], slip),
    }
}

proptest! {
    #[test]
    fn what_is_stopped_would_have_been_rejected(
        case in case(),
        slips in vec((vec(any::<u8>(), 0..5), slip()), 0..3),
        wrapped in any::<bool>(),
        size in 1usize..9,
    ) {
        let (schema, mut answer) = within(case);
        for (picks, slip) in &slips {
            spoil(&mut answer, picks, slip);
        }
        if wrapped {
            answer = Value::Object(Map::from_iter([("result".to_owned(), answer)]));
        }
        let run = Run::new(job(schema.clone())).unwrap();
        let text = answer.to_string();
        let mut watch = run.watch();
        let name = TERMINAL_TOOL.to_owned();
        watch.push(&Delta::CallStarted { index: 0, id: "1".to_owned(), name, signature: None });
        let characters: Vec<char> = text.chars().collect();
        let stopped = characters.chunks(size).find_map(|chunk| {
            watch.push(&Delta::CallArguments { index: 0, text: chunk.iter().collect() })
        });
        if let Some(impossible) = stopped {
            let offer = run.offer.as_ref().unwrap();
            let finding = run.examiner.examine(offer, Channel::Arguments, &text, Extent::Whole);
            let is_rejected = matches!(finding, Finding::Rejected { .. });
            prop_assert!(is_rejected, "{impossible:?} stopped {text} of {schema}");
        }
    }
}

#[test]
fn the_law_is_about_something() {
    let case = Case { schema: json!({ "type": "integer", "maximum": 9 }), answer: json!(5) };
    let run = Run::new(job(within(case).0)).unwrap();
    let mut watch = run.watch();
    let name = TERMINAL_TOOL.to_owned();
    watch.push(&Delta::CallStarted { index: 0, id: "1".to_owned(), name, signature: None });
    let text = r#"{"it":10,"#.to_owned();
    let impossible = watch.push(&Delta::CallArguments { index: 0, text }).unwrap();
    assert_eq!(impossible.violation.keyword, "maximum");
}
