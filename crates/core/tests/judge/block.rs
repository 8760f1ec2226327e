//! What stands in fenced blocks, and beside them.

use airtight_core::Rejection;
use serde_json::{Value, json};
use test_case::test_case;

use super::{lenient, outcome, review, v};

#[test_case("3\n```\n4 apples\n```"; "behind the scalar")]
#[test_case("```\n4 apples\n```\n3"; "before the scalar")]
#[test_case("```\n3\n```\n~~~text\n4 apples\n~~~"; "beside the scalar")]
#[test_case("3\n```\n[4] apples\n```"; "with a bracket")]
#[test_case("3\n```\n4\n```"; "with another scalar")]
#[test_case("```json\n3\n```\nCorrection:\n```text\n4 apples\n```"; "behind a block of JSON")]
fn a_scalar_competes_with_every_block_of_text(text: &str) {
    let reason = outcome(lenient(json!({"type": "integer"}), text)).unwrap_err();
    assert!(matches!(reason, Rejection::Ambiguous { .. }), "{reason:?}");
}

#[test_case("3\n```\n3\n```"; "the same in a block")]
#[test_case("```python\nprint(1 + 2)\n```\n3"; "program code")]
#[test_case("```\n4 apples\n```\nSo:\n```json\n3\n```"; "block of JSON")]
fn a_scalar_stands_beside_what_is_no_answer(text: &str) {
    assert_eq!(outcome(lenient(json!({"type": "integer"}), text)), Ok(json!(3)));
}

#[test_case("The shape is {\"summary\": ..., \"level\": [{\"x\": ...}]}.\nJ"; "sketch before")]
#[test_case("J\nIt is not {\"summary\": ..., \"score\": 1}."; "sketch behind")]
#[test_case("It starts with {\"summary\":\nJ"; "unclosed before")]
#[test_case("J\nDone :}"; "closer behind")]
#[test_case("```\n{\"summary\": ...}\n```\nJ"; "sketch in another block")]
fn broken_pieces_do_not_touch_a_block_of_json(text: &str) {
    let text = text.replace('J', &format!("```json\n{}\n```", v("info", 9)));
    let expected: Value = serde_json::from_str(&v("info", 9)).unwrap();
    assert_eq!(outcome(lenient(review(), &text)), Ok(expected));
}

#[test_case("J\nIt starts with {\"summary\": \"x"; "unclosed behind")]
#[test_case("J\nIt starts with {\"verdict\": \"x"; "unclosed behind, with another name")]
#[test_case("J\nNo: {\"summary\":\"b\",\"level\":\"info\",\"score\":9,"; "an answer that was cut off behind")]
#[test_case("J\nNo: {\"summary\":\"b\",\"level\":\"info\",\"score\":9/10}"; "a damaged answer behind")]
#[test_case("J\nNo:\n```\n[{\"Summary\":\"b\" \"level\"\n```"; "a damaged list in a block behind")]
#[test_case("J\nNo: {level: high}"; "an answer in words behind")]
#[test_case("{\"a\": ...} or rather O\nJ"; "a value behind the broken piece")]
#[test_case("J\n{\"a\": ...} or rather O"; "a value at the end")]
#[test_case("{\"a\": ...}\nJ\n```json\n{\"summary\": \n```"; "a broken block of JSON")]
#[test_case("{\"summary\":\"say \"x\" oops\nJ"; "a string may be open")]
#[test_case("{\"summary\":\"say \"x\" oops\n```\nx\n```\nJ"; "a string may be open before another block")]
#[test_case("\"summary\":\"see\nJ\n\"}"; "a string that lost its object")]
#[test_case("{'summary':'say 'x' oops', 'level': 'see\nJ"; "single quotes")]
#[test_case("{\"a\": ...}\n```json\nJ"; "unclosed block")]
#[test_case("{\"a\": ...} x</think> y\nJ"; "a thought may end")]
#[test_case("{\"a\": ...}\n```\nV\n```"; "a block without a language")]
fn broken_pieces_count_where_they_may_hold_the_answer(text: &str) {
    let block = format!("```json\n{}\n```", v("info", 9));
    let text = text.replace("```json\nJ", &format!("```json\n{}", v("info", 9)));
    let text =
        text.replace('J', &block).replace('O', &v("critical", 1)).replace('V', &v("info", 9));
    assert!(outcome(lenient(review(), &text)).is_err(), "{text}");
}

#[test_case("python")]
#[test_case("js")]
#[test_case("ts")]
#[test_case("yaml")]
fn a_block_of_any_language_that_is_one_value_is_a_candidate(tag: &str) {
    let value = v("info", 9);
    let block = format!("Sure:\n```{tag}\n{value}\n```\n");
    assert!(outcome(lenient(review(), &block)).is_ok());
    let other = format!("{block}{}", v("info", 8));
    let reason = outcome(lenient(review(), &other)).unwrap_err();
    assert!(matches!(reason, Rejection::Ambiguous { .. }), "{reason:?}");
    let code = format!("```{tag}\nreview = {value}\n```\n{}", v("info", 8));
    assert!(outcome(lenient(review(), &code)).is_ok());
}

#[test_case("The line is:\n\n```\ndef report(rows, out=[]):\n```\nIt is shared."; "a default")]
#[test_case("```\nout = []\nreturn out\n```"; "an assignment")]
#[test_case("```\nrows: list[]\n```"; "a type")]
#[test_case("```\nreturn out[0], out[1]\n```"; "an index")]
#[test_case("~~~\nf([], 1)\n~~~"; "an argument")]
fn code_in_a_block_without_a_language_is_no_answer(text: &str) {
    assert_eq!(outcome(lenient(json!({"type": "array"}), text)), Err(Rejection::NoJson));
    assert_eq!(
        outcome(lenient(json!({"type": ["array", "object"]}), text)),
        Err(Rejection::NoJson)
    );
}

#[test_case("Nothing is wrong:\n```\n[]\n```\nDone."; "alone in a block")]
#[test_case("```json\n[]\n```"; "a block of JSON")]
#[test_case("Nothing:\n\n[]\n"; "alone on its line")]
fn an_empty_list_that_stands_by_itself_is_an_answer(text: &str) {
    assert_eq!(outcome(lenient(json!({"type": "array"}), text)), Ok(json!([])));
}
