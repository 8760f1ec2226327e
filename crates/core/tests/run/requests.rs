//! What is asked of the model, mode by mode and dialect by dialect.

use airtight_core::generate::{Order, Target, generate};
use airtight_core::lower::{lower, lower_parameters};
use airtight_core::message::{Enforcement, ToolChoice};
use airtight_core::run::{Mode, Outcome, Run, Step, TERMINAL_TOOL, Terminal, TextRung};
use airtight_core::{Advice, Dialect};
use serde_json::json;
use test_case::test_matrix;

use crate::support::*;

fn first(job: airtight_core::run::Job) -> airtight_core::codec::Request {
    let Step::CallModel(request) = Run::new(job).unwrap().step() else { panic!("a model call") };
    *request
}

#[test_matrix([Dialect::Anthropic, Dialect::OpenaiStrict, Dialect::Vllm, Dialect::Gemini])]
fn tool_mode_offers_the_adapted_schema_as_strict_parameters(dialect: Dialect) {
    let mut job = job(review());
    job.dialect = dialect;
    let contract = job.contract.clone().unwrap();
    let request = first(job);
    let terminal = request.tools.last().unwrap();
    assert_eq!(terminal.name, TERMINAL_TOOL);
    assert_eq!(terminal.parameters, lower_parameters(&contract, dialect).unwrap().schema);
    assert_eq!(terminal.enforcement, Enforcement::Strict);
    assert_eq!((request.choice, request.format), (ToolChoice::Auto, None));
    assert!(request.system.unwrap().contains(TERMINAL_TOOL));
}

#[test_matrix([Dialect::Anthropic, Dialect::OpenaiStrict, Dialect::LlamaCpp, Dialect::Gemini])]
fn native_mode_asks_for_the_adapted_schema_as_the_format(dialect: Dialect) {
    let mut job = job(review());
    (job.dialect, job.mode) = (dialect, Mode::Native);
    let contract = job.contract.clone().unwrap();
    let request = first(job);
    assert_eq!(request.format.unwrap().schema, lower(&contract, dialect).unwrap().schema);
    assert!(request.tools.iter().all(|tool| tool.name != TERMINAL_TOOL));
    assert_eq!(request.system, None);
}

#[test]
fn prompt_mode_tells_schema_directive_and_example_behind_the_callers_words() {
    let mut job = job(review());
    job.mode = Mode::Prompt;
    job.system = Some("Be kind.".to_owned());
    let contract = job.contract.clone().unwrap();
    let request = first(job);
    let system = request.system.unwrap();
    for part in ["\"maximum\":10", "only that JSON", "\"summary\":\"Example summary\""] {
        assert!(system.contains(part), "{part} in {system}");
    }
    let order = Order { target: Target::Prompt, contract: "review", root: None, dialect: None };
    let generated = generate(&contract, &order).unwrap().text;
    assert_eq!(format!("{system}\n"), format!("Be kind.\n\n{generated}"));
    assert_eq!((request.format, request.tools.len()), (None, 1));
}

#[test]
fn auto_is_native_for_a_single_shot_whose_constraints_the_model_knows() {
    let mut job = job(review());
    job.mode = Mode::Auto;
    assert_eq!(first(job.clone()).format, None);
    job.tools.clear();
    assert!(first(job.clone()).format.is_some());
    let untellable = json!({ "type": "string", "not": { "const": "a".repeat(300) } });
    let schema = json!({ "type": "object", "properties": { "a": untellable } });
    job.contract = Some(contract(schema));
    job.dialect = Dialect::OpenaiStrict;
    let untold = lower(job.contract.as_ref().unwrap(), job.dialect).unwrap();
    assert!(untold.losses.iter().any(|loss| loss.keyword == "not"));
    assert_eq!(first(job).tools.len(), 1);
}

#[test]
fn a_denied_terminal_tool_is_not_offered() {
    let mut job = job(review());
    job.terminal = Terminal::Denied;
    assert!(first(job.clone()).tools.iter().all(|tool| tool.name != TERMINAL_TOOL));
    let played = play(job.clone(), vec![text("I cannot deliver this.")]);
    assert_eq!(played.report.outcome, Outcome::NoAnswer);
    assert_eq!(played.report.error.unwrap().advice, Some(Advice::AllowTerminalTool));
    job.mode = Mode::Auto;
    assert!(first(job).format.is_some());
}

#[test]
fn what_only_plain_text_could_deliver_is_refused_where_text_is() {
    let mut job = job(review());
    job.policy.text = TextRung::Refused;
    job.mode = Mode::Prompt;
    assert_eq!(Run::new(job.clone()).unwrap_err().outcome, Outcome::Config);
    job.mode = Mode::Tool;
    job.terminal = Terminal::Denied;
    assert_eq!(Run::new(job).unwrap_err().outcome, Outcome::Config);
}

#[test_matrix([Dialect::Anthropic, Dialect::OpenaiStrict, Dialect::Gemini, Dialect::LlamaCpp])]
fn a_root_that_is_no_object_is_wrapped_for_the_tool_and_unwrapped(dialect: Dialect) {
    let mut job = job(json!({ "type": "array", "items": { "type": "integer", "maximum": 9 } }));
    job.dialect = dialect;
    let parameters = first(job.clone()).tools.last().unwrap().parameters.clone();
    assert_eq!(parameters["type"], "object");
    assert!(parameters["properties"]["value"].is_object(), "{parameters}");
    let replies = vec![
        calls(vec![answer("1", r#"{"value":[10]}"#)]),
        calls(vec![answer("2", r#"{"value":[1,2]}"#)]),
    ];
    let played = play(job, replies);
    assert_eq!(played.value().as_deref(), Some("[1,2]"));
    assert!(played.last_results()[0].1.contains("/value/0"), "{:?}", played.last_results());
}

#[test]
fn worked_examples_are_shown_in_the_shape_that_is_asked_for() {
    let mut schema = json!({ "type": "array", "items": { "type": "integer", "maximum": 9 } });
    schema["x-examples"] = json!([
        { "input": "one and two", "output": [1, 2] },
        { "input": "breaks the contract", "output": [10] },
    ]);
    let mut job = job(schema);
    let shown = |job: &airtight_core::run::Job| -> Vec<_> {
        first(job.clone()).examples.into_iter().map(|it| (it.input, it.output)).collect()
    };
    let input = "one and two".to_owned();
    job.dialect = Dialect::OpenaiStrict;
    assert_eq!(shown(&job), [(input.clone(), json!({ "value": [1, 2] }))]);
    (job.mode, job.dialect) = (Mode::Native, Dialect::Llguidance);
    assert_eq!(shown(&job), [(input, json!([1, 2]))]);
}

#[test]
fn a_tool_of_the_caller_cannot_shadow_the_terminal_tool() {
    let mut job = job(review());
    job.tools.push(tool(TERMINAL_TOOL));
    let request = first(job);
    assert_eq!(request.tools.iter().filter(|tool| tool.name == TERMINAL_TOOL).count(), 1);
    assert_ne!(request.tools.last().unwrap().description, "");
}
