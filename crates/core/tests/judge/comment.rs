//! Comments that stand for what was left out.

use airtight_core::Rejection;
use serde_json::{Value, json};
use test_case::test_case;

use super::{lenient, outcome};

#[test_case("[\n  1,\n  2,\n  // and so on, up to 50\n]"; "before the end")]
#[test_case("[\n  1,\n  2,\n  # usw. bis 50\n]"; "in another language")]
#[test_case("[\n  1,\n  2\n  // bis 50\n]"; "without a comma")]
#[test_case("[1, /* 2 to 49, */ 50]"; "between items of one line")]
#[test_case("[1 /* 2, 3 */, 50]"; "behind an item")]
#[test_case("[1,\n /* 2\n 3\n */\n]"; "of several lines")]
#[test_case("[1, // one\n // two\n]"; "below another")]
fn a_comment_that_has_the_last_line_of_a_list_may_stand_for_items(text: &str) {
    let integers = json!({"type": "array", "items": {"type": "integer"}});
    assert_eq!(outcome(lenient(integers.clone(), text)), Err(Rejection::Invalid));
    let inside = json!({"type": "object", "properties": {"list": integers}, "required": ["list"]});
    let text = format!("{{\"list\": {text}}}");
    assert_eq!(outcome(lenient(inside, &text)), Err(Rejection::Invalid));
}

#[test]
fn nor_is_a_commented_item_dropped() {
    let strings = json!({"type": "array", "items": {"type": "string"}});
    let text = r#"["a", /* b, */ "c"]"#;
    assert_eq!(outcome(lenient(strings, text)), Err(Rejection::Invalid));
}

#[test_case("[\n  // one\n  1,\n  // 2. two\n  2\n]", &json!([1, 2]); "above items")]
#[test_case("[/* one */ 1, /* two */ 2]", &json!([1, 2]); "before items")]
#[test_case("[\n  1, // the first\n  2  // the last\n]", &json!([1, 2]); "behind items")]
#[test_case("[ // all of them\n  1,\n  2\n]", &json!([1, 2]); "behind the bracket")]
#[test_case("[1 /* one */, 2 /* two */]", &json!([1, 2]); "before commas")]
#[test_case("[\n  1, /* one */\n  2 # two\n]", &json!([1, 2]); "behind commas")]
#[test_case("[\n  {\n    // why\n    \"a\": 1\n  }\n]", &json!([{"a": 1}]); "in an object")]
fn a_comment_beside_its_item_is_dropped(text: &str, expected: &Value) {
    assert_eq!(&outcome(lenient(json!({"type": "array"}), text)).unwrap(), expected);
}
