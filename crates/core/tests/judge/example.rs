//! An example before the answer, or behind it, is not taken for it.

use airtight_core::{Rejection, Verdict};
use serde_json::{Value, json};
use test_case::test_case;

use super::{lenient, outcome};

const LOW: &str = r#"{"summary":"Renames a variable.","level":"low"}"#;
const HIGH: &str = r#"{"summary":"Removes the check.","level":"high"}"#;

/// A contract that is open: an answer may begin with a member that it does not name.
fn grade() -> Value {
    json!({
        "type": "object",
        "properties": {"summary": {"type": "string"}, "level": {"enum": ["low", "high"]}},
        "required": ["summary", "level"]
    })
}

fn tags() -> Value {
    json!({"type": "array", "items": {"enum": ["auth", "ui", "db"]}})
}

fn ages() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}})
}

/// What is judged by [`grade`], closed and open, where `EX` is a block with an example and `LOW` the example.
fn grades(text: &str) -> [Verdict; 2] {
    let example = format!("I answer in this format:\n\n```json\n{LOW}\n```\n\n");
    let text = text.replace("EX", &example).replace("LOW", LOW).replace("HIGH", HIGH);
    let closed = json!({"allOf": [grade()], "unevaluatedProperties": false});
    [lenient(grade(), &text), lenient(closed, &text)]
}

fn is_refused(text: &str) {
    for verdict in grades(text) {
        let outcome = outcome(verdict);
        assert!(outcome.is_err(), "{outcome:?}");
    }
}

fn is_truncated(text: &str) {
    for verdict in grades(text) {
        let outcome = outcome(verdict);
        assert!(matches!(outcome, Err(Rejection::Truncated { .. })), "{outcome:?}");
    }
}

fn is_the_example(text: &str) {
    for verdict in grades(text) {
        assert_eq!(outcome(verdict), Ok(serde_json::from_str(LOW).unwrap()));
    }
}

#[test_case("EX{\"reasoning\": \"It drops the check\", \"summary\": \"Removes the che"; "behind a member of its own")]
#[test_case("EX{\"$schema\": \"https://example.com\", \"summ"; "behind its schema")]
#[test_case("EX{\"id\":1, \"summary\": \"Removes the che"; "behind a number")]
#[test_case("EX{\"id\":1"; "in its number")]
#[test_case("EX{\"name\": \"structured_output\", \"argu"; "in the call of a tool")]
#[test_case("EX<tool_call>\n{\"name\": \"out\", \"arguments\": {"; "in a call with a tag")]
#[test_case("EX[{\"id\": 1, \"summary\": \"Removes"; "in a list")]
#[test_case("EX{ // mine\n  \"summary\": \"Removes"; "behind a comment")]
#[test_case("EXThe answer is {\"reasoning\": \"It dr"; "amid a line")]
#[test_case("EX```\n{\"reasoning\": \"It drops\",\n```\n"; "in a closed block")]
fn an_answer_that_is_cut_off_is_not_replaced_by_an_example(text: &str) {
    is_truncated(text);
}

#[test_case("EX{\"reasoning\": \"It calls \"verify\" and \"x\"y\", \"summary\": \"Removes the check\", \"level\": \"high\"}"; "quotes in a string")]
#[test_case("EX{\"review\": {\"summary\": \"Removes the check.\", level: high}}"; "a word in a wrapper")]
#[test_case("EX{\"review\": oops, level: high}"; "bare names")]
#[test_case("EX{ // mine\n  \"summary\": Removes the check.\n}"; "behind a comment")]
#[test_case("EX{\"id\": 1/2,\n\n\"level\": \"high\"}"; "behind an empty line")]
#[test_case("EX{review: {summary: Removes the check, level: high}}"; "in words")]
fn an_answer_that_is_damaged_is_not_replaced_by_an_example(text: &str) {
    is_refused(text);
}

#[test_case("EX```json\n"; "a block")]
#[test_case("EX```json"; "a block without its line end")]
#[test_case("It is like LOW, but worse:\n\n```json\n"; "behind an example amid a line")]
#[test_case("EX<tool_call>"; "the call of a tool")]
#[test_case("EX<tool_call>\n"; "the call of a tool and its line end")]
#[test_case("EX[TOOL_CALLS]"; "the calls of mistral")]
#[test_case("EX<invoke name=\"out\">\n"; "the call of a tool by an attribute")]
#[test_case("EX<function=out>\n"; "the call of a tool by its name")]
#[test_case("EX<think>hmm"; "a thought")]
#[test_case("EX```think\nhmm"; "a block of thoughts")]
fn what_is_open_at_the_end_is_an_answer_that_never_came(text: &str) {
    is_truncated(text);
}

#[test_case("EX"; "a block")]
#[test_case("EX```\n"; "before a fence without a language")]
#[test_case("```json\nLOW\n```\n```"; "before a fence that is one too many")]
#[test_case("```json\nLOW\n```\n\nDone.\n```"; "before one too many behind words")]
#[test_case("```json\nLOW\n```\n\n```bash\n"; "before a block of another kind")]
#[test_case("LOW\n```"; "behind a fence in the prompt")]
#[test_case("LOW\n```\n"; "behind a fence in the prompt, with its line end")]
#[test_case("```json\nLOW"; "in a block that never closes")]
#[test_case("LOW\n```\n\nWhy:\n- level: low, as nothing changes.\n"; "behind a fence in the prompt, with words behind it")]
#[test_case("```\nHere you are:\n\n```json\nLOW\n```\n```\n"; "in a block in a block")]
#[test_case("<answer>\nLOW\n</answer>"; "in a tag")]
#[test_case("EXThe \"{\" in its first line is odd."; "before a quoted bracket")]
#[test_case("```json\nLOW\n```<|im_end|>"; "before a token")]
fn what_is_open_around_an_answer_is_no_matter(text: &str) {
    is_the_example(text);
}

#[test_case(grade(), "```json\n{\"summary\":\"Removes the check.\"}\n```\n\nThat follows your example `LOW`.\n"; "a member is missing")]
#[test_case(grade(), "```json\n{\"summary\":\"Removes the check.\",\"severity\":\"high\"}\n```\n\nThat follows your example `LOW`.\n"; "a member has another name")]
#[test_case(tags(), "```json\n[\"auth\", \"network\"]\n```\n\nThe format you asked for was `[\"ui\"]`.\n"; "a list of words")]
#[test_case(tags(), "The format you asked for was `[\"ui\"]`.\n```json\n[\"auth\", \"network\"]\n```\n"; "a list of words behind it")]
#[test_case(tags(), "It is not [\"ui\"] but [\"auth\", \"network\"].\n"; "a list of words in a sentence")]
#[test_case(tags(), "[\"auth\", \"network\"]\n\nThe format was `[\"ui\"]`.\n"; "a list without a block")]
#[test_case(ages(), "```json\n{\"bob\": -1}\n```\n\nThat follows your example `{\"alice\": 3}`.\n"; "a map")]
fn an_answer_that_breaks_the_contract_is_not_replaced_by_an_example(contract: Value, text: &str) {
    let reason = outcome(lenient(contract, &text.replace("LOW", LOW))).unwrap_err();
    assert_eq!(reason, Rejection::Invalid);
}

#[test_case(grade(), "```json\n{\"user\":7}\n```\n\nLOW", LOW; "the input")]
#[test_case(grade(), "```json\n{\"user\":7,\"level\":\"x\"}\n```\n\nResult:\n\n```json\nLOW\n```", LOW; "the input with a name of the answer, before a block")]
#[test_case(grade(), "```json\nLOW\n```\n\nThat is for `{\"user\":7}` and [\"a\"].", LOW; "something else behind it")]
#[test_case(grade(), "Input:\n```json\n{\"summary\":\"x\"}\n```\nOutput:\n```json\nLOW\n```\n", LOW; "an input of the same names")]
#[test_case(grade(), "```json\n{\"summary\":\"x\",\"body\":\"y\"}\n```\n\nLOW", LOW; "an input of a same name")]
#[test_case(tags(), "Files: [\"a.py\", \"b.py\"]\nTags: [\"ui\"]", "[\"ui\"]"; "a list behind a label")]
#[test_case(tags(), "```json\n[\"a.py\"]\n```\nTags:\n```json\n[\"ui\"]\n```", "[\"ui\"]"; "a block before a block")]
#[test_case(tags(), "```json\n[\"ui\"]\n```\nI left out `[\"network\"]`.", "[\"ui\"]"; "a list amid words")]
#[test_case(ages(), "```json\n{\"alice\": 3}\n```\nLog: `{\"msg\":\"x\"}`", "{\"alice\": 3}"; "a map amid words")]
#[test_case(tags(), "For {\"user\":7} it is [\"ui\"].", "[\"ui\"]"; "another kind of value")]
#[test_case(tags(), "Of the files [\"a.py\", \"b.py\"] I say:\n```json\n[\"ui\"]\n```", "[\"ui\"]"; "a list before a block")]
#[test_case(tags(), "As [1] says, string[] it is: [\"ui\"]", "[\"ui\"]"; "asides")]
fn what_breaks_the_contract_and_is_something_else_is_no_rival(
    contract: Value,
    text: &str,
    answer: &str,
) {
    let outcome = outcome(lenient(contract, &text.replace("LOW", LOW)));
    assert_eq!(outcome, Ok(serde_json::from_str(answer).unwrap()));
}

#[test_case("It could be LOW.\n\n[TOOL_CALLS][{\"name\":\"out\",\"arguments\":HIGH}]"; "as mistral writes it")]
#[test_case("It could be LOW.\n\n<tool_call>\n{\"name\":\"out\",\"arguments\":\"{\\\"summary\\\":\\\"Removes the check.\\\",\\\"level\\\":\\\"high\\\"}\"}\n</tool_call>"; "in a string")]
#[test_case("It could be LOW.\n\n{\"name\":\"out\",\"parameters\":{\"value\":1}}"; "with other names")]
#[test_case("EX{\"tool_calls\":[{\"function\":{\"name\":\"out\",\"arguments\":\"{}\"}}]}"; "as openai writes it")]
fn the_call_of_a_tool_takes_an_example_back(text: &str) {
    is_refused(text);
}

#[test_case("EX{\"reviews\":[HIGH]}"; "in a list")]
#[test_case("EX{\"data\":{\"review\":HIGH},\"ok\":true}"; "in two objects")]
#[test_case("EX{\"choices\":[{\"message\":{\"content\":\"{\\\"level\\\":\\\"high\\\"}\"}}]}"; "in a response")]
fn so_does_an_answer_in_what_encloses_it(text: &str) {
    is_refused(text);
}

#[test]
fn a_part_of_the_answer_that_is_quoted_takes_nothing_back() {
    let user = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let contract = json!({
        "type": "object",
        "properties": {"user": user, "ok": {"type": "boolean"}},
        "required": ["user", "ok"]
    });
    let answer = r#"{"user":{"name":"Ann"},"ok":true}"#;
    let text =
        format!("```json\n{answer}\n```\n\nThe buyer is `{{\"name\":\"Ann\"}}`, from line 1.");
    let expected: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(outcome(lenient(contract, &text)), Ok(expected));
}

#[test]
fn names_count_at_any_depth() {
    let finding = json!({
        "type": "object",
        "properties": {"file": {"type": "string"}, "line": {"type": "integer"}}
    });
    let contract = json!({
        "type": "object",
        "properties": {"findings": {"type": "array", "items": finding}},
        "required": ["findings"]
    });
    let text = "Format {\"findings\": []}.\n\n[{\"file\":\"a.py\",\"line\":3}]";
    assert_eq!(outcome(lenient(contract, text)), Err(Rejection::Invalid));
}

#[test_case("yaml\nsummary: Removes the check.\nlevel: high"; "yaml")]
#[test_case("\nsummary: Removes the check.\nlevel: high"; "no language")]
#[test_case("json\nsummary: Removes the check.\nlevel: high"; "json that is none")]
#[test_case("toml\nsummary = \"Removes the check.\"\nlevel = \"high\""; "toml")]
#[test_case("yaml\nsummary: ... and so removes the check\nlevel: high"; "dots before words")]
#[test_case("python\nresult = {\"summary\": \"Removes the check.\", \"level\": \"high\"}"; "python")]
#[test_case("js\nconst result = {\"summary\": \"Removes the check.\", \"level\": \"high\"};"; "javascript")]
#[test_case("jsonl\n{\"summary\": \"Removes the check.\" \"lev\n"; "lines")]
fn an_answer_in_another_notation_takes_an_example_back(block: &str) {
    is_refused(&format!("EXFinal:\n\n```{block}\n```"));
    is_refused(&format!("EXFinal:\n\n```{block}\n```\nThat is all.\n\n```sh\nls\n```\n"));
}

#[test_case("yaml\nlevel: debug\non: push"; "one name")]
#[test_case("\nlevel: low is the default"; "a message")]
#[test_case("js\nconst grade = LOW;"; "the same in a program")]
#[test_case("yaml\nsummary: Renames a variable.\nlevel: low"; "the same in yaml")]
#[test_case("python\nprint(\"Summary:\", d[\"summary\"])\nprint(\"Level:\", d[\"level\"])"; "labels")]
#[test_case("sh\nexport LEVEL=3 SUMMARY=x"; "variables")]
#[test_case("python\nif level == 3:\n    level = parse(x)"; "code with one name")]
#[test_case("ts\ninterface Grade { summary: string; level: Level }"; "a type")]
#[test_case("python\ndef f(summary: str, level=level): pass"; "parameters")]
#[test_case("diff\n- a\n+ b"; "a diff")]
#[test_case("\nlog = open(level)\n"; "code without a language")]
#[test_case("yaml\nlogging: debug"; "other names")]
#[test_case("\n{\"summary\": ..., \"level\": ...}"; "a sketch")]
#[test_case("json\n"; "nothing")]
fn a_block_about_something_else_takes_nothing_back(block: &str) {
    is_the_example(&format!("EXI suggest:\n\n```{block}\n```\n"));
    is_the_example(&format!("```{block}\n```\n\nSo:\n\n```json\nLOW\n```\n"));
}

#[test_case("{\"summary\"：“Removes the check.”，\"level\"：\"high\"}"; "wide colons")]
#[test_case("{\"summary\" = \"Removes the check.\", \"level\" = \"high\"}"; "signs of equality")]
#[test_case("{ summary => \"Removes the check.\", level => \"high\" }"; "arrows")]
#[test_case("{ review => { summary => \"Removes the check.\" } }"; "arrows further in")]
fn an_answer_with_other_colons_takes_an_example_back(said: &str) {
    is_refused(&format!("EX{said}"));
}

#[test_case(ages(), "```json\n{\"alice\": 3}\n```\n\n{\"bob\"：4}"; "a map")]
#[test_case(tags(), "```json\n[\"ui\"]\n```\n\n[“auth”，“db”]"; "a list")]
fn so_does_one_of_a_contract_without_names(contract: Value, text: &str) {
    assert!(outcome(lenient(contract, text)).is_err());
}

#[test]
fn what_is_behind_an_example_is_read_once() {
    let pieces = [
        "{x} ",
        "{\"a\": x} ",
        "{x\n",
        "```\n{\"a\": x\n```\n",
        "```yaml\na: 1\n```\n",
        "a: = ",
        "{\"name\": \"x\"}\n",
        "{\"{\" ",
        "```sh\n",
        "x: [1] ",
    ];
    for piece in pieces {
        let text = format!("```json\n{LOW}\n```\n\n{}", piece.repeat(2_000_000 / piece.len()));
        let _any = outcome(lenient(grade(), &text));
    }
    let blanks = " ".repeat(1_000_000);
    let text = format!("{LOW}\n{blanks}x\n{}", "```\n".repeat(250_000));
    let _any = outcome(lenient(grade(), &text));
}

#[test]
fn a_list_of_a_loud_word_is_no_tag() {
    let contract = json!({"type": "array", "items": {"type": "string"}});
    let outcome = outcome(lenient(contract, "The formats are:\n[\"JSON\"]"));
    assert_eq!(outcome, Ok(json!(["JSON"])));
}
