//! What becomes of the texts that models answer with.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod block;
mod comment;
mod draft;
mod example;
mod prose;

use airtight_core::{Allowance, Contract, EditKind, Rejection, Strictness, Verdict, judge};
use serde_json::{Value, json};
use test_case::test_case;

fn lenient(schema: Value, text: &str) -> Verdict {
    judge(&Contract::compile(schema).unwrap(), text, &Allowance::default())
}

fn person() -> Value {
    json!({
        "title": "Person Record",
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name"],
        "additionalProperties": false
    })
}

/// The accepted value, or why there is none.
fn outcome(verdict: Verdict) -> Result<Value, Rejection> {
    match verdict {
        Verdict::Accepted(accepted) => Ok(accepted.value.to_value()),
        Verdict::Rejected(rejected) => Err(rejected.reason),
    }
}

fn kinds(verdict: &Verdict) -> Vec<EditKind> {
    match verdict {
        Verdict::Accepted(accepted) => {
            accepted.edits.listed().iter().map(|edit| edit.kind).collect()
        }
        Verdict::Rejected(rejected) => panic!("{rejected:?}"),
    }
}

#[test_case(r#"{"name":"Ada","age":36}"#, &[]; "plain")]
#[test_case("Sure [1], see {result}:\n```json\n{\"name\":\"Ada\",\"age\":36}\n```\nDone (a) {b}.", &[EditKind::Surroundings, EditKind::Surroundings]; "fence and prose")]
#[test_case("<think>{\"name\":\"x\"} or {{</think>{\"name\":\"Ada\",\"age\":36}", &[EditKind::Surroundings]; "think block")]
#[test_case("maybe {\"name\": \"x\" ...\n</think>\n{\"name\":\"Ada\",\"age\":36}", &[EditKind::Surroundings]; "thought without its opening tag")]
#[test_case("~~~\n  {\"name\":\"Ada\",\"age\":36}", &[EditKind::Surroundings]; "unclosed fence")]
#[test_case("\u{feff}{\"name\":\"Ada\",\"age\":36}", &[EditKind::Surroundings]; "byte order mark")]
#[test_case(r#""{\"name\":\"Ada\",\"age\":36}""#, &[EditKind::Unquoted]; "in a string")]
#[test_case(r#""\"{\\\"name\\\":\\\"Ada\\\",\\\"age\\\":36}\"""#, &[EditKind::Unquoted, EditKind::Unquoted]; "in a string twice")]
#[test_case(r#"{"output":{"name":"Ada","age":36}}"#, &[EditKind::Unwrapped]; "wrapper")]
#[test_case(r#"{"person_record":{"name":"Ada","age":36}}"#, &[EditKind::Unwrapped]; "title as wrapper")]
#[test_case(r#"{"result":{"data":"{\"name\":\"Ada\",\"age\":36}"}}"#, &[EditKind::Unwrapped, EditKind::Unwrapped, EditKind::Unquoted]; "wrappers")]
#[test_case(r#"{"name":"Ada","age":36,}"#, &[EditKind::TrailingComma]; "trailing comma")]
#[test_case("{\"name\":\"Ada\", // who\n\"age\":36, /* so */ }", &[EditKind::Comment, EditKind::Comment, EditKind::TrailingComma]; "comments")]
#[test_case("{\"name\":\"Ada\" # who\n,\"age\":36}", &[EditKind::Comment]; "hash comment")]
#[test_case("{\"name\":\"Ada\",\"age\":36 // in years\n}", &[EditKind::Comment]; "honest comment")]
#[test_case("{'name':'Ada','age':36}", &[EditKind::Quotes, EditKind::Quotes, EditKind::Quotes]; "single quotes")]
#[test_case("{“name”:“Ada”,“age”:36}", &[EditKind::Quotes, EditKind::Quotes, EditKind::Quotes]; "typographic quotes")]
#[test_case(r#"{name:"Ada",age:36}"#, &[EditKind::UnquotedKey, EditKind::UnquotedKey]; "bare keys")]
#[test_case(r#"{"name":"Ada" "age":36}"#, &[EditKind::MissingComma]; "missing comma")]
#[test_case("{\"name\":\"Ada\",\"age\":36\n", &[EditKind::MissingCloser]; "missing brace")]
#[test_case("{\"name\":\"Ada\",\"age\":36}\n{\"age\":36,\"name\":\"Ada\"}", &[EditKind::Surroundings]; "the same twice")]
fn the_answer_is_recovered_and_each_edit_recorded(text: &str, edits: &[EditKind]) {
    let verdict = lenient(person(), text);
    assert_eq!(kinds(&verdict), edits);
    assert_eq!(outcome(verdict), Ok(json!({"name": "Ada", "age": 36})));
}

#[test_case(r#"{"name":"say "hi" now"}"#, "say \"hi\" now"; "phrase")]
#[test_case(r#"{"name":""Hi", she said"}"#, "\"Hi\", she said"; "phrase at the start")]
#[test_case(r#"{"name":"she said "hi""}"#, "she said \"hi\""; "phrase at the end")]
#[test_case(r#"{"name":"say "hi" } now"}"#, "say \"hi\" } now"; "closer behind a phrase")]
#[test_case(r#"{"name":"say "hi" } }"}"#, "say \"hi\" } }"; "closers behind a phrase at the end")]
#[test_case("{\"name\":\"a\nb\tc\"}", "a\nb\tc"; "control characters")]
#[test_case("{'name':'it's \"so\"'}", "it's \"so\""; "apostrophe")]
#[test_case(r"{'name':'James\' book'}", "James' book"; "escaped apostrophe")]
#[test_case("{‘name’:‘it’s’}", "it’s"; "typographic apostrophe")]
#[test_case("{“name”:“say “hi”, ok”}", "say “hi”, ok"; "typographic phrase")]
fn strings_keep_what_was_said(text: &str, expected: &str) {
    assert_eq!(outcome(lenient(person(), text)), Ok(json!({"name": expected})));
}

#[test_case(r#"{"name":"b" oops, "age":"d"}"#; "quotes that may be structure")]
#[test_case(r#"{"name":"say "hi" }, ok"}"#; "phrase that may end the value")]
#[test_case("{\"name\":\"x,\n \"age\": 1}"; "missing closing quote")]
#[test_case(r#"{"name":"a"]"#; "mismatched closer")]
#[test_case(r#"{"name":"a"}}"#; "closer too many")]
#[test_case(r#"{"name":"("}]"#; "lost opening bracket")]
#[test_case(r#"{"name":"a","age":NaN}"#; "not a number")]
#[test_case(r#"{"name":"a","age":undefined}"#; "undefined")]
#[test_case(r#"{"name":"a"+"b"}"#; "concatenation")]
#[test_case("\"name\":\"```json\n{\"name\":\"b\"}\n```\n{\"}"; "lost opening brace around a fence")]
#[test_case("{\"name\"\"see\n```json\n{\"name\":\"b\"}\n``` {\"}"; "lost colon")]
#[test_case(r#"{"name":True } {.","age":3}"#; "lost opening quote")]
#[test_case(r#"{"name":"a" {"age":1}}"#; "object without key")]
#[test_case(r#""age": 3, "x": {"name":"a"}}"#; "lost opening brace")]
#[test_case(r#"{\"x\": {"name":"a"}}"#; "escaped once too often")]
#[test_case("{&quot;x&quot;: {\"name\":\"a\"}}"; "html")]
#[test_case(r#"{"x": oops, "y": {"name":"a"}}"#; "part of a damaged value")]
#[test_case(r#"{"name":"a"} but {"name": b}"#; "damaged competitor")]
#[test_case(r#"{"x": {"name":"a"}}"#; "part of another object")]
#[test_case(r#"[{"name":"a"}]"#; "item of an array")]
#[test_case(r#"{"name":"\ud800"}"#; "lone surrogate")]
#[test_case(r#"{"name":"a", "age": 1e400}"#; "number out of range")]
fn what_cannot_be_trusted_is_invalid(text: &str) {
    assert_eq!(
        outcome(lenient(json!({"type": "object", "required": ["name"]}), text)),
        Err(Rejection::Invalid)
    );
}

#[test_case("{\"name\":\"Ad"; "in a string")]
#[test_case("{\"name\":\"Ada\",\"ag"; "in a key")]
#[test_case("{\"name\":\"Ada\",\"age\""; "behind a key")]
#[test_case("{\"name\":\"Ada\",\"age\":"; "behind a colon")]
#[test_case("{\"name\":\"Ada\",\"age\":3"; "in a number")]
#[test_case("{\"name\":\"Ada\","; "behind a comma")]
#[test_case("{\"name\":\"Ada\",\"x\":tru"; "in a word")]
#[test_case("{"; "behind the brace")]
#[test_case("{\"name\":\"Ada\"} or rather {\"name\":\"Gr"; "behind a conforming value")]
#[test_case("{\"name\":\"Ada\",\"more\":{\"name\":\"B\""; "in an inner object")]
#[test_case("{\"name\":\"Ada\", \"x\":[{\"name\":\"B\"}, {\"na"; "behind an inner object")]
#[test_case("{\"name\":\"Ada\" // the end }"; "in a comment")]
fn what_was_cut_is_truncated(text: &str) {
    let reason = outcome(lenient(json!({"type": "object"}), text)).unwrap_err();
    assert!(matches!(reason, Rejection::Truncated { .. }), "{reason:?}");
}

#[test_case(r#"[{"name":"a"},{"name":"b"}"#, true; "array at the end of the text")]
#[test_case(r#"{"name":"Ada""#, true; "object without an optional member")]
#[test_case("{\"name\":\"Ada\",\"age\":36\n", false; "object with all members")]
#[test_case("```json\n{\"name\":\"Ada\"\n```", false; "closing fence")]
#[test_case("```json\n[{\"name\":\"Ada\"}\n```\nDone.", false; "array before a closing fence")]
#[test_case("```\n{\"name\":\"Ada\" // note\n```", true; "comment in place of the closer")]
fn a_closer_is_added_only_where_nothing_can_be_missing(text: &str, is_cut: bool) {
    let person = person();
    let contract = json!({"anyOf": [person, {"type": "array", "items": {"type": "object"}}]});
    match outcome(lenient(contract, text)) {
        Ok(value) => assert!(!is_cut, "{value}"),
        Err(reason) => {
            assert!(is_cut && matches!(reason, Rejection::Truncated { .. }), "{reason:?}");
        }
    }
}

fn review() -> Value {
    serde_json::from_str(include_str!("../../../../docs/guide/contracts/review.json")).unwrap()
}

/// A review as a model would write it.
fn v(level: &str, score: u8) -> String {
    json!({"summary": "x", "level": level, "score": score}).to_string()
}

#[test_case(r#"{"level":"info","score":3,"summary":"Add a "}" to match the "{" on line 3"}"#; "a quote behind the closer")]
#[test_case(r#"{"level":"info","score":3,"summary":"Add a "} and then "{x here"}"#; "half a pair of quotes in the line")]
#[test_case("{'level':'info','score':3,'summary':'Add a '}' to match the '{' on line 3'}"; "single quotes")]
#[test_case("{\"level\":\"info\",\"score\":3,\"summary\":\"\"// later\" comment left in\"\n}"; "comment with quotes")]
#[test_case("{'level':'info','score':3,'summary':''// later' comment left in'\n}"; "comment with single quotes")]
#[test_case("{\"level\":\"info\", // \"score\": 3\n\"score\":4,\"summary\":\"\"}"; "member in a comment")]
#[test_case("{\"level\":\"info\",\"score\":4,\"summary\":\"\" // so}\n}"; "closer in a comment")]
#[test_case("{\"level\":\"info\",\"score\":4, // ... more\n\"summary\":\"\"}"; "dots in a comment")]
#[test_case("{\"level\":\"info\",\"score\":4,\"summary\":\"\" /* rest omitted */}"; "an omission in a comment")]
#[test_case("{\"level\":\"info\",\"score\":4,\"summary\":\"\" // and 48 more\n}"; "a count in a comment")]
#[test_case("{\"level\":\"info\",\"summary\":\"\"\", score\": 43, \"score\":4}"; "a doubled quote")]
#[test_case("{\"level\":\"info\" \"summary: x, tags\": \"\", \"score\":4}"; "a displaced quote")]
fn what_may_hold_more_than_is_read_is_refused(text: &str) {
    assert_eq!(outcome(lenient(review(), text)), Err(Rejection::Invalid));
}

#[test]
fn strings_that_python_would_join_are_not_two_items() {
    let text = "{'tags': ['a long '\n 'string', 'b']}";
    assert!(outcome(lenient(json!({"type": "object"}), text)).is_err());
}

#[test_case("Oops :[ Here is the corrected one:"; "emoticon")]
#[test_case("It says if (x) { return there:"; "code")]
#[test_case("Now see [RFC 9110 for details:"; "reference")]
fn an_open_bracket_of_prose_hides_no_later_value(prose: &str) {
    let text = format!("{}\n{prose}\n```json\n{}\n```", v("info", 9), v("critical", 2));
    let reason = outcome(lenient(review(), &text)).unwrap_err();
    assert!(matches!(reason, Rejection::Ambiguous { .. }), "{reason:?}");
}

#[test]
fn a_rival_that_breaks_the_contract_is_reported() {
    let text = format!("For example {}. Mine:\n```json\n{}\n```", v("info", 9), v("info", 11));
    let contract = Contract::compile(review()).unwrap();
    let verdict = judge(&contract, &text, &Allowance::default());
    let Verdict::Rejected(rejected) = verdict else { panic!("{verdict:?}") };
    assert_eq!(rejected.reason, Rejection::Invalid);
    assert_eq!(rejected.violations.list[0].keyword, "maximum");
}

#[test_case("```python\nif x: d = {\"a\": [1\n```\nV"; "code in a fence")]
#[test_case("```rust\nfn f() {\n```json\nV\n```"; "code in a fence that an answer ends")]
#[test_case("The `}` closes the `{\"a\": ` and ``[`x`` is odd.\nV"; "code spans")]
#[test_case("Like this: `V`."; "answer in a span")]
#[test_case("Here is my review of \"login.py\": V"; "quoted title")]
#[test_case("Verdict: \"good\". V"; "quoted word")]
#[test_case("- [ ] a `string[]`\n- [x] environ[\"HOME\"], string[], see [3], \"b\" {} [1, 2] ok\nV"; "trivial values in prose")]
fn what_a_review_quotes_is_no_answer(text: &str) {
    let verdict = lenient(
        review(),
        &text
            .replace('V', &v("info", 9))
            .replace("{\"summary\":\"x\",\"level\":\"info\",\"score\":9}erdict", "Verdict"),
    );
    assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
}

#[test_case("<THINK>D</Think>V"; "any case")]
#[test_case("<thought>D</thought> V"; "thought")]
#[test_case("D</think> V"; "closing tag amid a line")]
#[test_case("<think>a <think>b</think> D </think> V"; "nested")]
fn a_draft_in_a_thought_is_no_answer(text: &str) {
    let text = text.replace('D', &v("critical", 1)).replace('V', &v("info", 9));
    let expected: Value = serde_json::from_str(&v("info", 9)).unwrap();
    assert_eq!(outcome(lenient(review(), &text)), Ok(expected));
    let unanswered = format!("{}</think>", v("info", 9));
    assert_eq!(outcome(lenient(review(), &unanswered)), Err(Rejection::NoJson));
}

#[test]
fn quotes_around_the_value_are_prose() {
    let value = v("info", 3);
    for text in [
        format!("Use '{value}' here"),
        format!("{value} as in \"x\""),
        format!("{value}\nHe said: 5\" it is"),
    ] {
        assert!(outcome(lenient(review(), &text)).is_ok(), "{text}");
    }
}

#[test]
fn different_conforming_values_are_ambiguous() {
    for (text, offsets) in [
        ("{\"name\":\"a\"}\n{\"name\":\"b\"}", vec![0, 13]),
        ("{\"name\":\"a\"} or {'name':'b'}", vec![0, 16]),
    ] {
        assert_eq!(outcome(lenient(person(), text)), Err(Rejection::Ambiguous { offsets }));
    }
}

#[test_case(json!({"type": "array", "items": {"type": "string"}}), "Not [\"a\"]; the final list is []."; "empty list")]
#[test_case(json!({"type": "array", "items": {"type": "string"}}), "Not [\"a\"] but `[ ]`, or `[]`."; "empty list in a span")]
#[test_case(json!({"type": "array", "items": {"type": "string"}}), "```json\n[\"a\"]\n```\nNo, after all: []"; "empty list after a block")]
#[test_case(json!({"type": "array"}), "Draft: [[1,2]]. Final: [3]"; "numbers")]
#[test_case(json!({"type": "object"}), "I first had {\"a\":1} but the final answer is {}."; "empty object")]
fn a_value_that_a_sentence_takes_back_is_not_the_answer(schema: Value, text: &str) {
    let reason = outcome(lenient(schema, text)).unwrap_err();
    assert!(matches!(reason, Rejection::Ambiguous { .. }), "{reason:?}");
}

#[test_case("- [ ] to do\n[\"a\"]"; "tick box")]
#[test_case("A string[] it is: [\"a\"]"; "type")]
#[test_case("[\"a\"] (see [1], and {})"; "references")]
#[test_case("<think>Perhaps it is [].</think>[\"a\"]"; "thought")]
fn what_cannot_be_meant_as_the_answer_takes_nothing_back(text: &str) {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(outcome(lenient(schema, text)), Ok(json!(["a"])));
}

#[test_case(""; "nothing")]
#[test_case(" \n"; "space")]
#[test_case("I cannot do that {result}."; "prose")]
#[test_case("as [1] says"; "reference")]
#[test_case("```json\n```"; "empty fence")]
#[test_case("| name |\n|---|\n| Ada |"; "table")]
#[test_case("eyJuYW1lIjoiQWRhIn0="; "base64")]
#[test_case("<think>{\"name\":\"Ada\"}"; "thought that never ends")]
fn a_text_without_json_says_so(text: &str) {
    assert_eq!(outcome(lenient(person(), text)), Err(Rejection::NoJson));
}

#[test]
fn the_schema_is_no_answer() {
    let open = json!({"type": "object", "properties": {"title": {"type": "string"}}});
    for schema in [open, person()] {
        assert_eq!(
            outcome(lenient(schema.clone(), &schema.to_string())),
            Err(Rejection::SchemaEcho)
        );
        let fenced = format!("The schema:\n```\n{schema}\n```\n{{\"name\":\"Ada\"}}");
        assert_eq!(outcome(lenient(schema, &fenced)), Ok(json!({"name": "Ada"})));
    }
}

#[test]
fn an_answer_that_reads_like_a_schema_is_one_if_the_contract_names_its_members() {
    let contract = json!({
        "type": "object",
        "properties": {"type": {"type": "string"}, "items": {"type": "object"}},
        "required": ["type", "items"]
    });
    let text = r#"{"type":"list","items":{"a":1}}"#;
    assert!(outcome(lenient(contract.clone(), text)).is_ok());
    assert_eq!(
        outcome(lenient(contract.clone(), &contract.to_string())),
        Err(Rejection::SchemaEcho)
    );
}

#[test]
fn a_key_that_the_contract_knows_is_no_wrapper() {
    let node = json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {
            "type": "object",
            "properties": {"value": {"$ref": "#/$defs/node"}, "id": {"type": "integer"}},
            "required": ["id"]
        }}
    });
    assert_eq!(outcome(lenient(node, r#"{"value":{"id":1}}"#)), Err(Rejection::Invalid));
}

#[test]
fn scalars_are_found_where_they_stand_alone() {
    let integer = json!({"type": "integer"});
    for text in ["42", "```\n42\n```", "<think>7?</think>\n42", "Here:\n```json\n42\n```\nBye"] {
        assert_eq!(outcome(lenient(integer.clone(), text)), Ok(json!(42)));
    }
    assert_eq!(outcome(lenient(integer, "about 42")), Err(Rejection::NoJson));
    assert_eq!(outcome(lenient(json!({"type": "boolean"}), "True")), Ok(json!(true)));
}

#[test]
fn strict_takes_the_bare_value_only() {
    let contract = Contract::compile(person()).unwrap();
    let strict = Allowance { strictness: Strictness::Strict, ..Allowance::default() };
    assert!(outcome(judge(&contract, r#" {"name":"a"} "#, &strict)).is_ok());
    for text in ["```\n{\"name\":\"a\"}\n```", r#"{"name":"a",}"#, r#"{"output":{"name":"a"}}"#] {
        assert!(outcome(judge(&contract, text, &strict)).is_err(), "{text}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused_with_their_place() {
    let contract = Contract::compile(json!({})).unwrap();
    let verdict = judge(&contract, b"{\"name\":\"\xff\"}", &Allowance::default());
    let Verdict::Rejected(rejected) = verdict else { panic!("{verdict:?}") };
    assert_eq!(rejected.reason, Rejection::NoJson);
    assert_eq!(rejected.violations.list[0].message, "not JSON: invalid UTF-8 at line 1 column 10");
}

#[test]
fn spans_without_a_value_are_prose() {
    let contract = Contract::compile(json!({"type": "object"})).unwrap();
    for text in ["`\t`", "`\t`f\u{1b}`~", "` `` `"] {
        let verdict = outcome(judge(&contract, text, &Allowance::default()));
        assert!(verdict.is_err(), "{text:?} {verdict:?}");
    }
}

#[test]
fn hostile_texts_end_soon() {
    let contract = Contract::compile(json!({"type": "object", "required": ["name"]})).unwrap();
    let pieces = [
        "[",
        "{\"a\":",
        "```json\n",
        "```\n\"x",
        "{\"a\": \"b, ",
        "{\"a\":\"b \"c\" d\",",
        "\"x\"+",
        "[\"x\"+",
        "7",
        "\\",
        "{\\",
        "<think>",
        "x <think>",
        "[THINK]",
        "{\"a\": \"b, ```json\n",
        "```\n}",
        "\n```json\n{\"a\":",
        "\n```json\n'",
        "<|channel|>",
        "<|channel|>final",
        "</think>\n",
        "{/*</think>\n",
        "{x} ",
        "{} ",
        "[1] ",
        "\n<think>",
        "{x\n<think>\n",
        "{a: b ",
        "[[1,x],",
        "'",
        "{'",
        "“",
        "{“a",
        "{\"a\":1}\n",
        "{\"name\":1 \"name\":",
        "// \n",
        "{// \n",
        "[1,",
        "{{",
        "\"\\\"",
        "[0, 1) ",
        "{\"a\", ",
        "```python\n",
        "`[“x`",
        "` `` ",
        "if {\n",
        "{\"name\":1} ",
        "\\frac{a}{b} ",
        "if (x) { y(); }\n",
        "{{ x }} ",
        "``` ",
        "[1](x) ",
        "<|channel|>final<|message|>true",
        "null<|channel|>final<|message|>/*</think>",
    ];
    let repeated = pieces.iter().map(|piece| piece.repeat(1_000_000 / piece.len()));
    let nested = ["{".repeat(500_000) + &"}".repeat(500_000)];
    let behind = pieces.iter().map(|piece| "{\"a\":1} ".to_owned() + &piece.repeat(40_000));
    for text in repeated.chain(nested).chain(behind) {
        let verdict = outcome(judge(&contract, &text, &Allowance::default()));
        assert!(verdict.is_err(), "{} {verdict:?}", &text[..40]);
    }
}

#[test_case("``` "; "bare")]
#[test_case("```json "; "with a language")]
#[test_case("~~~ \t"; "tildes")]
fn fences_within_one_line_are_read_once(fence: &str) {
    // If each looked for the end of its line, some 10^13 bytes would be read.
    let text = fence.repeat(10_000_000 / fence.len());
    let verdict = outcome(lenient(json!({"type": "object"}), &text));
    assert_eq!(verdict, Err(Rejection::NoJson));
}

#[test_case("04", &json!({"const": "v"}), "\"w\""; "constants")]
#[test_case("06", &json!({"contentEncoding": "base64"}), "\"%%\""; "encodings")]
#[test_case("06", &json!({"contentMediaType": "application/json"}), "\"{\""; "media types")]
fn what_the_draft_does_not_know_rejects_nothing(draft: &str, member: &Value, said: &str) {
    let uri = |draft: &str| format!("http://json-schema.org/draft-{draft}/schema#");
    let text = format!("{{\"k\":{said}}}");
    let of = |draft: &str| {
        let schema = uri(draft);
        let contract = json!({"$schema": schema, "type": "object", "properties": {"k": member}});
        outcome(lenient(contract, &text))
    };
    assert!(of(draft).is_ok());
    assert!(of("07").is_err());
    // Nothing is passed over where a part declares a draft that knows it.
    let part = json!({
        "$id": "https://example.com/part",
        "$schema": uri("07"),
        "properties": {"k": member},
    });
    let mixed = json!({
        "$schema": uri(draft),
        "type": "object",
        "properties": {"k": member},
        "definitions": {"part": part},
        "allOf": [{"$ref": "#/definitions/part"}],
    });
    assert!(outcome(lenient(mixed, &text)).is_err());
}
