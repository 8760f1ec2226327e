//! Agent CLIs that do the work: programs in their place that say what they are told to, or break down.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::stage::{Said, Stage, lines};

/// Writes down that it was started, and says its lines unless it is to break down.
const PROGRAM: &str = "#!/bin/sh\n\
    echo once >> started.txt\n\
    cat > /dev/null\n\
    test -e broken && { echo out of luck >&2; exit 7; }\n\
    cat lines.jsonl\n";

/// What the real programs say of a job well done.
fn claude() -> String {
    let init = json!({
        "type": "system", "subtype": "init", "session_id": "s", "model": "opus",
        "tools": ["Bash", "StructuredOutput"],
    });
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "Done.",
        "structured_output": { "summary": "fine", "score": 9 }, "num_turns": 1,
        "total_cost_usd": 0.01, "duration_ms": 1, "session_id": "s",
    });
    format!("{init}\n{result}\n")
}

fn codex() -> String {
    let answer = json!({ "summary": "fine", "score": 9 }).to_string();
    let said = json!({
        "type": "item.completed", "item": { "id": "item_0", "type": "agent_message", "text": answer },
    });
    let usage = json!({ "input_tokens": 30, "cached_input_tokens": 8, "output_tokens": 14 });
    let lines = [
        json!({ "type": "thread.started", "thread_id": "t" }),
        json!({ "type": "turn.started" }),
        said,
        json!({ "type": "turn.completed", "usage": usage }),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// A stage with the program `name`, which says `said`.
fn stage(name: &str, program: &str, said: &str) -> Stage {
    let stage = Stage::new([]).with(name, program).with("lines.jsonl", said);
    let runnable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(stage.path(name), runnable).unwrap();
    stage
}

fn command(stage: &Stage, name: &str, arguments: &[&str]) -> Command {
    let batch = ["batch", "review.json", "in.jsonl", "-o", "out.jsonl"];
    stage.command(&[&batch[..], &["--via", name, "--via-path", name], arguments].concat())
}

fn ask(stage: &Stage, name: &str, arguments: &[&str]) -> Said {
    command(stage, name, arguments).output().unwrap().into()
}

/// Returns how often the program was started.
fn starts(stage: &Stage) -> usize {
    let started = std::fs::read_to_string(stage.path("started.txt"));
    started.unwrap_or_default().lines().count()
}

fn nothing() -> Vec<Value> {
    Vec::new()
}

#[test]
fn a_program_answers_every_input_once() {
    let stage = stage("claude", PROGRAM, &claude()).with("in.jsonl", lines(6));
    for _ in 0..2 {
        let said = ask(&stage, "claude", &[]);
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(stage.positions(), [1, 2, 3, 4, 5, 6]);
    }
    assert_eq!(starts(&stage), 6);
}

#[test]
fn what_a_program_broke_down_over_is_no_failure_and_is_asked_again() {
    let stage = stage("claude", PROGRAM, &claude()).with("in.jsonl", lines(3)).with("broken", "");
    let said = ask(&stage, "claude", &["--json"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("3 inputs have no result"), "{said:?}");
    assert!(said.stderr.contains("in.jsonl:2") && said.stderr.contains("out of luck"), "{said:?}");
    let summary = &said.lines()[0];
    assert_eq!((&summary["failed"], &summary["left"]), (&json!(0), &json!(3)), "{summary}");
    assert_eq!(
        (stage.results("out.jsonl"), stage.results("out.jsonl.failures.jsonl")),
        (nothing(), nothing())
    );
    std::fs::remove_file(stage.path("broken")).unwrap();
    let said = ask(&stage, "claude", &[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!((stage.positions(), starts(&stage)), (vec![1, 2, 3], 6));
}

#[test]
fn a_program_that_breaks_down_over_one_input_does_the_others() {
    let program =
        PROGRAM.replace("cat > /dev/null", "grep -q 'ticket 2' && touch broken || rm -f broken");
    let stage = stage("claude", &program, &claude()).with("in.jsonl", lines(5));
    for order in ["input", "finished"] {
        let said = ask(&stage, "claude", &["--concurrency", "1", "--order", order]);
        assert_eq!(said.code, 3, "{said:?}");
        assert_eq!(stage.positions(), [1, 3, 4, 5]);
        assert_eq!(stage.results("out.jsonl.failures.jsonl"), nothing());
    }
    assert_eq!(starts(&stage), 6);
}

/// Who waits for a key that is left has its turn all the same.
#[test]
fn a_key_that_a_program_broke_down_over_is_passed_on() {
    let program = PROGRAM.replace("cat > /dev/null", "grep -q 'ticket 2' && exit 7");
    let line = |id: u64, text: &str| format!("{}\n", json!({ "id": id, "text": text }));
    let text = [line(1, "ticket 2").repeat(2), line(1, "ticket 3"), line(2, "ticket 4")].concat();
    let stage = stage("claude", &program, &claude()).with("in.jsonl", text);
    let said = ask(&stage, "claude", &["--key", "id", "-p", "{{text}}"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("2 inputs have no result"), "{said:?}");
    assert_eq!((stage.positions(), starts(&stage)), (vec![4], 3), "{said:?}");
    let failures = stage.results("out.jsonl.failures.jsonl");
    assert_eq!((failures.len(), &failures[0]["position"]), (1, &json!(3)), "{failures:?}");
}

#[test]
fn a_program_that_does_nothing_but_break_down_is_started_seldom() {
    let stage = stage("claude", PROGRAM, &claude()).with("in.jsonl", lines(200)).with("broken", "");
    let said = ask(&stage, "claude", &["--circuit-pause", "10ms", "--patience", "400ms"]);
    assert_eq!(said.code, 3, "{said:?}");
    // Five until it is known, then one for each pause up to the patience.
    assert!((5..=20).contains(&starts(&stage)), "{}", starts(&stage));
    assert_eq!(stage.results("out.jsonl.failures.jsonl"), nothing());
}

#[test]
fn a_program_that_cannot_be_started_ends_the_batch_at_once() {
    let stage = stage("claude", "#!/nowhere/sh\n", &claude()).with("in.jsonl", lines(200));
    let said = ask(&stage, "claude", &[]);
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(said.stderr.matches("error:").count(), 1, "{said:?}");
    assert!(said.stderr.contains("what `") && said.stderr.contains("0 met"), "{said:?}");
    // The program is well, and there is no room for its files.
    let stage = stage.with("claude", PROGRAM);
    let full = command(&stage, "claude", &[]).env("TMPDIR", stage.path("nowhere")).output();
    let said: Said = full.unwrap().into();
    assert_eq!((said.code, starts(&stage)), (3, 0), "{said:?}");
    assert_eq!(stage.results("out.jsonl.failures.jsonl"), nothing());
    let said = ask(&stage, "claude", &["--limit", "2"]);
    assert_eq!((said.code, stage.positions()), (0, vec![1, 2]), "{said:?}");
}

/// Codex takes 1,048,576 characters.
#[test]
fn an_input_that_is_too_long_for_a_program_fails_alone() {
    let long = json!({ "text": "x".repeat(1_100_000) });
    let inputs = format!("\"one\"\n{long}\n\"three\"\n");
    let stage = stage("codex", PROGRAM, &codex()).with("in.jsonl", inputs);
    for _ in 0..2 {
        let said = ask(&stage, "codex", &[]);
        assert_eq!(said.code, 1, "{said:?}");
        assert_eq!((stage.positions(), starts(&stage)), (vec![1, 3], 2), "{said:?}");
        let failures = stage.results("out.jsonl.failures.jsonl");
        assert_eq!(
            (&failures[0]["position"], &failures[0]["outcome"]),
            (&json!(2), &json!("config"))
        );
    }
}
