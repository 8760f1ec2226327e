//! What the words around a value say of it.

use airtight_core::Rejection;
use serde_json::{Value, json};
use test_case::test_case;

use super::{lenient, outcome, review, v};

#[test_case("Here is the review of \"login.py\":\n\nV\n"; "a quoted name")]
#[test_case("Sure, here's the review of \"login.py\":\nV\n"; "behind other words")]
#[test_case("## Review of \"a.py\":\n\nV\n"; "a heading")]
#[test_case("Result for 'x':\n\nV\n"; "single quotes")]
#[test_case("Here is the review of “login.py”:\n\nV\n"; "typographic quotes")]
#[test_case("Here is the review of \"login.py\":\n\n```json\nV\n```\n"; "before a block")]
fn a_title_above_a_value_is_no_key(text: &str) {
    let answer = v("info", 9);
    let expected: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(outcome(lenient(review(), &text.replace('V', &answer))), Ok(expected));
}

#[test_case("\"score\": 3, \"of\":\nV"; "behind another member")]
#[test_case("of \"x\", \"y\":\nV"; "behind half a string")]
#[test_case("\"review\":\nV"; "alone")]
#[test_case("the review\":\nV"; "half a key")]
fn a_key_above_a_value_is_one(text: &str) {
    let text = text.replace('V', &v("info", 9));
    assert_eq!(outcome(lenient(review(), &text)), Err(Rejection::Invalid));
}

#[test_case("As [\"ui\"](https://example.com) says, the tags are:\n\n- auth\n- db\n"; "a link")]
#[test_case("I ran subprocess.run([\"git\", \"diff\"]) first."; "an argument")]
fn a_list_that_belongs_to_a_word_is_no_answer(text: &str) {
    let strings = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(outcome(lenient(strings, text)), Err(Rejection::NoJson));
}

#[test]
fn a_list_in_parentheses_is_an_answer() {
    let strings = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(outcome(lenient(strings, "The tags ([\"ui\"]) follow.")), Ok(json!(["ui"])));
}
