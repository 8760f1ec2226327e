//! What is not meant as the answer: thoughts, placeholders, string literals.

use airtight_core::Rejection;
use serde_json::{Value, json};
use test_case::test_case;

use super::{lenient, outcome, review, v};

#[test_case("[THINK]DRAFT[/THINK]"; "mistral")]
#[test_case("[x] is [THINK]DRAFT[/THINK]"; "mistral amid a line")]
#[test_case("<|START_THINKING|>DRAFT<|END_THINKING|>"; "cohere")]
#[test_case("<|channel|>analysis<|message|>DRAFT<|end|><|start|>assistant<|channel|>commentary<|message|>DRAFT<|end|><|start|>assistant<|channel|>final<|message|>"; "harmony")]
#[test_case("<|channel|>analysis<|message|>{\"summary\": \"x<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>"; "broken draft in harmony")]
fn what_is_said_behind_a_thought_is_the_answer(thought: &str) {
    let thought = thought.replace("DRAFT", &v("critical", 1));
    let refusal = format!("{thought}I cannot answer that.");
    assert_eq!(outcome(lenient(review(), &refusal)), Err(Rejection::NoJson));
    let expected: Value = serde_json::from_str(&v("info", 9)).unwrap();
    for end in ["", "<|return|>", "\n"] {
        let answer = format!("{thought}{expected}{end}");
        assert_eq!(outcome(lenient(review(), &answer)), Ok(expected.clone()));
        let scalar = lenient(json!({"type": "integer"}), &format!("{thought}3{end}"));
        assert_eq!(outcome(scalar), Ok(json!(3)));
    }
}

#[test_case("Sure. <think>maybe V"; "amid a line")]
#[test_case("Sure [<think>maybe\nV"; "in a bracket")]
#[test_case("Hm <thinking> or\n```json\nV\n```"; "before a fence")]
#[test_case("Sure. <think>maybe V</think> I cannot."; "that closes")]
#[test_case("<|channel|>analysis<|message|>maybe V"; "in harmony")]
fn a_thought_that_no_answer_follows_is_none(text: &str) {
    let text = text.replace('V', &v("info", 9));
    assert_eq!(outcome(lenient(review(), &text)), Err(Rejection::NoJson));
}

#[test]
fn a_tag_in_a_code_span_is_only_mentioned() {
    let text = format!("I left out the `<think>` tag: {}", v("info", 9));
    assert!(outcome(lenient(review(), &text)).is_ok());
}
