//! The laws of lowering, over generated contracts.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::arbitrary::{Case, case};
use crate::{Document, verdict::check};

/// Generated contracts, also with keywords that few dialects know.
pub(crate) fn rich_case() -> impl Strategy<Value = Case> {
    let keywords = prop_oneof![
        Just(json!({"not": {"const": "__never__"}})),
        Just(json!({"if": {"type": "string"}, "then": {"maxLength": 99}, "else": true})),
        Just(json!({"x-rules": [{"rule": "self == self", "message": "holds"}]})),
        Just(json!({"oneOf": [true, false]})),
        Just(json!({"oneOf": [{"maxLength": 100}, {"type": "string", "minLength": 101}]})),
        Just(json!({"uniqueItems": false, "maxItems": 50, "minItems": 0})),
        Just(json!({"dependentRequired": {"__a__": ["__b__"]}})),
        Just(json!({"patternProperties": {"^__": {"type": "null"}}})),
        Just(json!({"propertyNames": {"maxLength": 40}})),
        Just(json!({"allOf": [{"maxLength": 200}, {"maxLength": 300}]})),
        Just(json!({"unevaluatedProperties": true, "maxProperties": 30})),
        Just(json!({"multipleOf": 0.125})),
        Just(json!({"minItems": 0, "maxItems": 60})),
        Just(json!({"format": "banana"})),
        Just(json!({"additionalProperties": {"maxLength": 300}, "required": []})),
    ];
    let beside =
        (case(), keywords).prop_filter_map("definitions of its own", |(case, keywords)| {
            let schema = json!({"allOf": [bare(&case)?, keywords]});
            Some(Case { schema, answer: case.answer })
        });
    let beside = beside.boxed();
    let member = beside.clone().prop_map(|case| Case {
        schema: json!({"type": "object", "properties": {"one": case.schema, "two": {}}}),
        answer: json!({"one": case.answer}),
    });
    let map = case().prop_filter_map("definitions of its own", |case| {
        let schema = json!({"type": "object", "additionalProperties": bare(&case)?});
        Some(Case { schema, answer: json!({"any key": case.answer}) })
    });
    prop_oneof![4 => case(), 1 => beside, 1 => member, 1 => map]
}

/// Returns a schema that may stand inside another.
fn bare(case: &Case) -> Option<Value> {
    case.schema.get("$defs").is_none().then(|| case.schema.clone())
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(Dialect::ALL.to_vec())
}

/// Changes one value somewhere in `answer`.
pub(crate) fn disturb(answer: &mut Value, path: &[prop::sample::Index], replacement: &Value) {
    let Some((step, rest)) = path.split_first() else {
        *answer = replacement.clone();
        return;
    };
    match answer {
        Value::Object(members) if !members.is_empty() => {
            let chosen = members.keys().nth(step.index(members.len())).unwrap().clone();
            if rest.is_empty() && replacement.is_array() {
                members.remove(&chosen);
            } else {
                disturb(&mut members[&chosen], rest, replacement);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let chosen = step.index(items.len());
            disturb(&mut items[chosen], rest, replacement);
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => *answer = replacement.clone(),
    }
}

pub(crate) fn disturbance() -> impl Strategy<Value = (Vec<prop::sample::Index>, Value)> {
    let values = prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!(true)),
        Just(json!({"json": "[1,2]"})),
        Just(json!({"json": "null"})),
        Just(json!(1.5)),
        any::<i32>().prop_map(Value::from),
        "[a-zA-Z ]{0,20}".prop_map(Value::from),
    ];
    (prop::collection::vec(any::<prop::sample::Index>(), 0..5), values)
}

/// Returns the violations of the original that no loss accounts for.
fn unexplained(contract: &Contract, losses: &[Loss], value: &Value) -> Vec<String> {
    let validator =
        jsonschema::options().should_validate_formats(true).build(contract.schema()).unwrap();
    let lost = |loss: &Loss| match loss.keyword.as_str() {
        "false" => loss.pointer.as_str().to_owned(),
        keyword => loss.pointer.key(keyword).as_str().to_owned(),
    };
    let losses: Vec<String> = losses.iter().map(lost).collect();
    let explains = |lost: &str, violated: &str| {
        // A union is also violated because of what its branches refer to.
        let refers = contract
            .schema()
            .pointer(violated)
            .is_some_and(|union| union.is_array() && union.to_string().contains("\"$ref\""));
        violated.starts_with(lost)
            || lost.starts_with(violated)
            || (refers && lost.starts_with("/$defs"))
    };
    // A loss covers what its keyword leads to, so the way to a definition counts as well.
    let is_unexplained = |error: &jsonschema::ValidationError<'_>| {
        let ways = [error.schema_path().as_str(), error.evaluation_path().as_str()];
        let [_, way] = ways;
        let places = places_on(contract.schema(), way);
        !losses.iter().any(|lost| {
            ways.iter().any(|way| explains(lost, way))
                || places.iter().any(|place| place.starts_with(lost))
        })
    };
    let errors = validator.iter_errors(value).filter(is_unexplained);
    errors.map(|error| error.schema_path().as_str().to_owned()).collect()
}

/// Returns where in `schema` one is on the way to a violation: after each keyword, and behind each
/// reference where that leads.
fn places_on(schema: &Value, way: &str) -> Vec<String> {
    let (mut places, mut at) = (Vec::new(), String::new());
    for step in way.split('/').skip(1) {
        at.extend(["/", step]);
        places.push(at.clone());
        let target = schema.pointer(&at).and_then(Value::as_str).filter(|_| step == "$ref");
        if let Some(target) = target.and_then(|target| target.strip_prefix('#')) {
            target.clone_into(&mut at);
        }
    }
    places
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_the_contract_accepts_can_be_said(case in rich_case(), dialect in dialect()) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        let lowering = lower(&contract, dialect).unwrap();
        if lowering.pre_image(&case.answer).is_none() {
            prop_assert!(!lowering.narrowings.is_empty(), "{}", lowering.schema);
        }
    }

    #[test]
    fn closed_contracts_are_never_narrowed_where_absence_can_be_omitted(
        case in rich_case(),
        dialect in prop::sample::select(vec![
            Dialect::Gemini, Dialect::LlamaCpp, Dialect::Vllm, Dialect::Llguidance,
        ]),
    ) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        let lowering = lower(&contract, dialect).unwrap();
        prop_assert_eq!(&lowering.narrowings, &vec![]);
        prop_assert_eq!(lowering.pre_image(&case.answer), Some(case.answer));
    }

    #[test]
    fn only_lost_keywords_can_be_violated(
        case in rich_case(),
        dialect in dialect(),
        changes in prop::collection::vec(disturbance(), 1..12),
    ) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        let lowering = lower(&contract, dialect).unwrap();
        let Some(said) = lowering.pre_image(&case.answer) else { return Ok(()) };
        let adapted = lowering.as_read_by_the_provider().unwrap();
        for (path, replacement) in &changes {
            let mut answer = said.clone();
            disturb(&mut answer, path, replacement);
            let answer_text = Document::from_value(&answer).unwrap();
            let Ok(meant) = lowering.inverse.apply(&answer_text) else { continue };
            if adapted.is_valid(&answer) {
                let unexplained = unexplained(&contract, &lowering.losses, &meant.to_value());
                prop_assert!(
                    unexplained.is_empty(),
                    "{unexplained:?}\nanswer {answer}\nmeant {}\nadapted {}\nlosses {:?}",
                    meant.text(), lowering.schema, lowering.losses
                );
                // Where nothing is lost, the verdict has nothing to add.
                let violations = check(&contract, &meant);
                prop_assert!(!lowering.losses.is_empty() || violations.is_empty(), "{violations:?}");
            }
        }
    }

    #[test]
    fn dialects_accept_what_is_lowered_for_them(case in rich_case(), dialect in dialect()) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        let lowering = lower(&contract, dialect).unwrap();
        prop_assert_eq!(dialect.problems(&lowering.schema), vec![]);
        prop_assert!(lowering.as_read_by_the_provider().is_some());
        let again = lower(&contract, dialect).unwrap();
        prop_assert_eq!(lowering.schema.to_string(), again.schema.to_string());
        prop_assert_eq!(lowering.losses, again.losses);
    }

    #[test]
    fn lowering_again_changes_nothing_but_words(case in rich_case(), dialect in dialect()) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        let once = lower(&contract, dialect).unwrap();
        prop_assume!(dialect != Dialect::ClaudeCode);
        let twice = lower(&Contract::compile(Value::clone(&once.schema)).unwrap(), dialect).unwrap();
        // What is sent but not enforced is sent again, perhaps in several branches.
        let is_format = |loss: &Loss| loss.keyword == "format";
        prop_assert!(twice.losses.iter().all(is_format), "{:?}", twice.losses);
        prop_assert!(twice.losses.is_empty() || once.losses.iter().any(is_format));
        prop_assert!(!twice.inverse.is_wrapped);
        prop_assert!(twice.narrowings.is_empty());
    }
}
