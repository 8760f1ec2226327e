use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use test_case::test_case;

use crate::folder::{Folder, Said};

const ANSWER: &str = r#"{ "type": "object", "properties": { "answer": { "type": "integer" } }, "required": ["answer"] }"#;

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/transcripts");
    folder.join(name).with_extension("ndjson").to_str().unwrap().to_owned()
}

fn read(arguments: &[&str], stream: &str) -> Said {
    let stream = fixture(stream);
    let mut all = vec!["transcript", stream.as_str()];
    all.extend(arguments);
    Folder::new().run(&all)
}

fn summary(arguments: &[&str], stream: &str) -> Value {
    let mut all = vec!["--summary"];
    all.extend(arguments);
    serde_json::from_str(&read(&all, stream).stdout).unwrap()
}

#[test]
fn the_same_stream_gives_the_same_bytes() {
    for stream in ["claude/background", "claude/damaged", "codex/answer", "opencode/served"] {
        let first = read(&[], stream);
        assert_eq!(first.code, 0, "{}", first.stderr);
        assert_eq!(first.stderr, "");
        let piped = std::fs::read(fixture(stream)).unwrap();
        assert_eq!(Folder::new().run_with(&["transcript", "-"], piped), first);
        let last = first.stdout.lines().last().unwrap();
        assert!(last.starts_with(r#"{"type":"record","version":1,"#), "{last}");
    }
}

#[test]
fn the_summary_is_the_last_line_alone() {
    let whole = read(&[], "gemini/answer");
    let summary = read(&["--summary"], "gemini/answer");
    assert_eq!(summary.stdout.lines().last(), whole.stdout.lines().last());
    assert_eq!(summary.stdout.lines().count(), 1);
}

#[test]
fn whose_stream_it_is_can_be_said() {
    assert_eq!(summary(&[], "qwen/retried")["program"], "qwen");
    let mistaken = summary(&["--from", "codex"], "qwen/retried");
    assert_eq!(mistaken["program"], "codex");
    assert_eq!(mistaken["lines"]["unknown"], mistaken["lines"]["total"]);
    assert_eq!(read(&["--from", "cursor"], "qwen/retried").code, 2);
}

#[test]
fn the_contract_decides_on_the_payload() {
    let said = read(&["--summary", "--json-schema", ANSWER], "claude/structured");
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let record: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(record["verdict"]["value"], serde_json::json!({ "answer": 42 }));
}

#[test]
fn a_payload_that_needs_an_edit_is_told_so_and_refused_if_strict() {
    let lenient = summary(&["--json-schema", ANSWER], "qwen/number_as_string");
    assert_eq!(lenient["verdict"]["edit_counts"], serde_json::json!({ "string_to_number": 1 }));
    assert_eq!(lenient["payload"]["value"], serde_json::json!({ "answer": "42" }));
    let strict = read(&["--json-schema", ANSWER, "--strict"], "qwen/number_as_string");
    assert_eq!(strict.code, 1);
    assert!(strict.stderr.starts_with("error: qwen claims success, but "), "{}", strict.stderr);
}

#[test]
fn a_success_that_delivers_nothing_is_rejected() {
    for stream in ["claude/no_payload", "codex/prose", "gemini/truncated", "opencode/served"] {
        let said = read(&["--json-schema", ANSWER], stream);
        assert_eq!(said.code, 1, "{stream}");
        let record: Value = serde_json::from_str(said.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(record["verdict"]["valid"], false, "{stream}");
        assert_eq!(record["error"], Value::Null, "{stream}");
    }
}

#[test_case("12", "length", None; "a number that may go on")]
#[test_case(r#"a draft {\"n\":1} but"#, "length", None; "a draft at the limit")]
#[test_case(r#"a draft {\"n\":1} but"#, "content-filter", None; "a draft that was filtered")]
#[test_case(r#"here {\"n\":1}"#, "stop", Some(1); "a value in words that came to their end")]
#[test_case(r#"{\"n\":1}"#, "length", Some(1); "a whole value")]
fn what_may_be_cut_is_not_accepted(text: &str, reason: &str, n: Option<u64>) {
    let line = |kind: &str, part: &str| {
        format!(r#"{{"type":"{kind}","sessionID":"s","part":{part}}}"#) + "\n"
    };
    let stream = [
        line("step_start", r#"{"type":"step-start"}"#),
        line("text", &format!(r#"{{"type":"text","text":"{text}"}}"#)),
        line("step_finish", &format!(r#"{{"type":"step-finish","reason":"{reason}"}}"#)),
    ];
    let contract = r#"{"anyOf":[{"type":"integer"},{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}]}"#;
    let folder = Folder::new().with("cut.ndjson", stream.concat());
    let said = folder.run(&["transcript", "cut.ndjson", "--summary", "--json-schema", contract]);
    let record: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(said.code, i32::from(n.is_none()), "{said:?}");
    let value = record.pointer("/verdict/value/n").and_then(Value::as_u64);
    assert_eq!(value, n, "{said:?}");
    assert_eq!(said.stdout.contains("may have been cut off"), n.is_none(), "{said:?}");
}

#[test_case(r#"{\"n\":1}"#, true; "a whole value")]
#[test_case(r#"```json\n{\"n\":1}\n```"#, false; "a value with something around it")]
fn gemini_does_not_say_that_its_model_came_to_its_end(text: &str, is_accepted: bool) {
    let stream = [
        r#"{"type":"init","timestamp":"t","session_id":"s","model":"gemini-x"}"#.to_owned(),
        format!(
            r#"{{"type":"message","timestamp":"t","role":"assistant","content":"{text}","delta":true}}"#
        ),
        r#"{"type":"result","timestamp":"t","status":"success"}"#.to_owned(),
    ];
    let contract = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let folder = Folder::new().with("said.ndjson", stream.join("\n") + "\n");
    let said = folder.run(&["transcript", "said.ndjson", "--summary", "--json-schema", contract]);
    assert_eq!(said.code == 0, is_accepted, "{said:?}");
    assert_eq!(said.stdout.contains("may have been cut off"), !is_accepted, "{said:?}");
}

#[test]
fn doubts_can_be_switched_off() {
    assert_eq!(summary(&[], "claude/question")["error_category"], "interactive");
    assert_eq!(summary(&["--no-heuristics"], "claude/question")["error_category"], Value::Null);
}

#[test]
fn a_line_over_the_limit_is_told_by_its_place() {
    let record = summary(&["--line-limit", "160"], "codex/answer");
    assert_eq!(record["lines"]["too_long"], 3);
    assert_eq!(record["raw_lines"][0]["reason"], "too_long");
    assert_eq!(record["num_results"], 1);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["transcript", "no-such-file"]).code, 42);
    assert_eq!(folder.run(&["transcript"]).code, 2);
    assert_eq!(folder.run(&["transcript", "-", "--json-schema", "-"]).code, 2);
    assert_eq!(folder.run(&["transcript", "-", "--json-schema", "{\"type\":\"objekt\"}"]).code, 52);
}

#[test]
fn no_stream_at_all_comes_to_an_empty_record_and_is_no_input() {
    for nothing in ["", " \n\n"] {
        let said = Folder::new().run_with(&["transcript", "-"], nothing);
        let record: Value = serde_json::from_str(said.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((said.code, record["program"].clone()), (42, Value::Null));
        assert_eq!(record["succeeded"], false);
        assert!(said.stderr.contains("there is nothing in `(stdin)`"), "{}", said.stderr);
    }
}

#[test]
fn what_no_program_says_is_kept_and_is_no_input() {
    for (from, text) in [("auto", "hello\n{\"a\":1}\n"), ("claude", "{\"type\":\"none\"}\n")] {
        let said = Folder::new().run_with(&["transcript", "--from", from, "-"], text);
        let record: Value = serde_json::from_str(said.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((said.code, record["lines"]["unknown"].as_u64()), (42, Some(1)));
        assert!(said.stderr.contains("no line of `(stdin)` is one of"), "{}", said.stderr);
    }
}

#[test]
fn one_who_interrupts_what_is_followed_gets_the_record_until_then() {
    let text = std::fs::read_to_string(fixture("claude/structured")).unwrap();
    let (first, _) = text.split_at(text.find('\n').unwrap() + 1);
    for signal in ["INT", "TERM"] {
        let folder = Folder::new().with("growing.ndjson", first);
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("airtight"))
            .args(["transcript", "--follow"])
            .arg(folder.path("growing.ndjson"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // What is told shows that it is followed, and so signals are caught.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().contains("init"));
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let last = lines.map(Result::unwrap).last().unwrap();
        assert!(last.starts_with(r#"{"type":"record","#), "{last}");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("error: interrupted: "), "{stderr}");
    }
}

#[test]
fn a_file_is_followed_until_the_program_is_done() {
    let text = std::fs::read_to_string(fixture("claude/structured")).unwrap();
    let (early, late) = text.split_at(text.len() / 2);
    let folder = Folder::new().with("growing.ndjson", early);
    let path = folder.path("growing.ndjson");
    let child = Command::new(assert_cmd::cargo::cargo_bin!("airtight"))
        .args(["transcript", "--follow"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(late.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let whole = read(&[], "claude/structured").stdout;
    assert_eq!(String::from_utf8(output.stdout).unwrap(), whole);
}

#[test]
fn a_program_that_says_no_more_is_not_waited_for_forever() {
    let text = std::fs::read_to_string(fixture("claude/structured")).unwrap();
    let (early, _) = text.split_at(text.len() / 2);
    let folder = Folder::new().with("killed.ndjson", early);
    let said = folder.run(&["transcript", "killed.ndjson", "--follow", "--idle-timeout", "1s"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(said, folder.run(&["transcript", "killed.ndjson"]));
    assert!(said.stdout.contains("no-result: "), "{}", said.stdout);
}

#[test]
fn a_file_that_gets_shorter_is_followed_no_further() {
    let folder = Folder::new().with("cut.ndjson", "{\"type\":\"turn.started\"}\n");
    let path = folder.path("cut.ndjson");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("airtight"))
        .args(["transcript", "--follow"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("turn.started"));
    std::fs::write(&path, "").unwrap();
    assert!(lines.next().unwrap().unwrap().starts_with(r#"{"type":"record""#));
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_a_failed_program_delivered_is_rejected() {
    let line =
        r#"{"type":"result","is_error":true,"result":"boom","structured_output":{"answer":42}}"#;
    let said = Folder::new().run_with(&["transcript", "-", "--json-schema", ANSWER], line);
    assert_eq!(said.code, 1);
    assert!(said.stderr.starts_with("error: claude failed, and "), "{}", said.stderr);
}

/// Opencode's server calls anything `valid: true`.
#[test]
fn the_lie_of_an_answer_that_is_called_valid_is_caught() {
    let stream = std::fs::read_to_string(fixture("opencode/served")).unwrap();
    assert!(stream.contains(r#""metadata":{"valid":true}"#));
    let said = read(&["--json-schema", ANSWER], "opencode/served");
    assert_eq!(said.code, 1);
    assert!(said.stderr.starts_with("error: opencode claims success, but "), "{}", said.stderr);
}
