//! Contracts whose root is no object.

use airtight_fake::Turn;
use serde_json::json;

use crate::stage::{Said, Stage};

const NUMBERS: &str = r#"{"type":"array","items":{"type":"integer"},"minItems":2}"#;

fn run(stage: &Stage, mode: &str) -> Said {
    let arguments = ["run", "--json-schema", NUMBERS, "--mode", mode, "--no-tools", "Count"];
    stage.command(&arguments).output().unwrap().into()
}

#[test]
fn an_array_is_delivered_by_the_tool_in_a_wrapper_that_nobody_sees() {
    let wrong = Turn::call("structured_output", json!({ "value": [1] }));
    let right = Turn::call("structured_output", json!({ "value": [1, 2, 3] }));
    let stage = Stage::new([wrong, right]);
    let said = run(&stage, "tool");
    assert_eq!((said.code, said.stdout.as_str()), (0, "[1,2,3]\n"), "{said:?}");
    let tool = &stage.fake.requests()[0].body["tools"][0]["input_schema"];
    assert_eq!(tool["type"], "object");
    assert_eq!(tool["properties"]["value"]["type"], "array");
}

#[test]
fn an_array_is_delivered_by_native_structured_output_in_a_wrapper_that_nobody_sees() {
    let wrong = Turn::text(r#"{"value":[1]}"#);
    let stage = Stage::new([wrong, Turn::text(r#"{"value":[1,2,3]}"#)]);
    let said = run(&stage, "native");
    assert_eq!((said.code, said.stdout.as_str()), (0, "[1,2,3]\n"), "{said:?}");
    let format = &stage.fake.requests()[0].body["output_config"]["format"]["schema"];
    assert_eq!(format["type"], "object");
    assert_eq!(format["properties"]["value"]["type"], "array");
}
