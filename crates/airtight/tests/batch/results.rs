//! What goes out.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};

use airtight_fake::Turn;
use serde_json::{Value, json};

use crate::stage::{Said, Stage, bad, block_on, good, lines, signal};

#[test]
fn every_input_has_one_line_in_the_order_of_inputs() {
    let slow = good().delay_ms(150).when_contains("ticket 1\"").forever();
    let slow = slow.when_lacks("ticket 11");
    let stage = Stage::new([slow, good().forever()]).with("in.jsonl", lines(60));
    let said = stage.batch(&["--concurrency", "8"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.stdout, "");
    assert_eq!(stage.positions(), (1..=60).collect::<Vec<_>>());
    let first = &stage.results("out.jsonl")[0];
    assert_eq!(first["structured_output"], json!({ "summary": "fine", "score": 9 }));
    assert_eq!(stage.results("out.jsonl.failures.jsonl"), Vec::<serde_json::Value>::new());
    assert_eq!(stage.fake.requests().len(), 60);
}

#[test]
fn answers_may_go_out_as_they_come_in() {
    // Nobody else is asked before the first has answered, whichever that is.
    let script = [good(), good().gate(0, "held"), good().forever()];
    let stage = Stage::new(script).with("in.jsonl", lines(9));
    let child = stage.start(&["--order", "finished"]);
    // All others are answered while this one waits.
    crate::stage::block_on(async {
        for _ in 0..9 {
            stage.fake.next_request().await;
        }
    });
    let partial = stage.path("out.jsonl.partial");
    while std::fs::read_to_string(&partial).unwrap_or_default().lines().count() < 8 {
        std::thread::yield_now();
    }
    let asked = stage.fake.requests()[1].body.to_string();
    stage.fake.gate("held").open();
    assert!(child.wait_with_output().unwrap().status.success());
    let positions = stage.positions();
    assert_eq!(positions.len(), 9, "{positions:?}");
    assert!(asked.contains(&format!("ticket {}", positions[8])), "{positions:?} {asked}");
}

#[test]
fn milestones_are_on_record_and_what_was_said_is_with_the_attempts() {
    let stage = Stage::new([bad(), good()]).with("in.jsonl", lines(1));
    assert_eq!(stage.batch(&[]).code, 0);
    let line = &stage.results("out.jsonl")[0];
    let id = line["run_id"].as_str().unwrap();
    let told = stage.say(&["runs", "show", id, "--events"]).lines();
    let kinds: Vec<_> = told.iter().map(|line| line["subtype"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["init", "attempt", "attempt"]);
    assert_eq!(
        (&told[0]["run_id"], &told[0]["model"]),
        (&line["run_id"], &json!("anthropic:fake"))
    );
    assert_eq!(told[2]["attempt"]["ending"], "accepted");
    let said = stage.attempts(line)[0].output.clone().unwrap();
    assert!(String::from_utf8(said).unwrap().contains("too much"));
}

#[test]
fn inputs_that_have_their_result_are_not_asked_again() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(20));
    assert_eq!(stage.batch(&[]).code, 0);
    let before = std::fs::read(stage.path("out.jsonl")).unwrap();
    std::fs::remove_file(stage.path("out.jsonl")).unwrap();
    let said = stage.batch(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(std::fs::read(stage.path("out.jsonl")).unwrap(), before);
    assert_eq!(stage.fake.requests().len(), 20);
}

#[test]
fn another_prompt_model_or_contract_is_other_work() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(2));
    for arguments in
        [&[][..], &["-p", "{{text}}!"], &["--reasks", "1"], &["--model", "anthropic:other"]]
    {
        assert_eq!(stage.batch(arguments).code, 0);
    }
    assert_eq!(stage.fake.requests().len(), 8);
}

#[test]
fn the_same_input_twice_is_two_inputs_unless_a_field_says_that_it_is_one() {
    let twice = "{\"id\": 1, \"text\": \"a\"}\n{\"id\": 1, \"text\": \"a\"}\n";
    let stage = Stage::new([good().forever()]).with("in.jsonl", twice);
    assert_eq!(stage.batch(&[]).code, 0);
    let lines = stage.results("out.jsonl");
    assert_ne!(lines[0]["run_id"], lines[1]["run_id"]);
    assert_eq!(stage.batch(&["--key", "id"]).code, 0);
    let lines = stage.results("out.jsonl");
    assert_eq!(lines[0]["run_id"], lines[1]["run_id"]);
    assert_eq!(lines[1]["key"], "1");
    assert_eq!(stage.fake.requests().len(), 3);
}

#[test]
fn a_key_never_gives_the_answer_to_another_text() {
    let inputs = |text: &str| format!("{{\"id\": 1, \"text\": \"{text}\"}}\n");
    let stage = Stage::new([good().forever()]).with("in.jsonl", inputs("a"));
    assert_eq!(stage.batch(&["--key", "id"]).code, 0);
    let stage = stage.with("in.jsonl", inputs("b"));
    let said = stage.batch(&["--key", "id"]);
    assert_eq!(said.code, 1, "{said:?}");
    let failures = stage.results("out.jsonl.failures.jsonl");
    let error = failures[0]["error"].as_str().unwrap();
    assert!(error.contains("belongs to another job"), "{failures:?}");
    assert_eq!(stage.fake.requests().len(), 1);
}

#[test]
fn failures_have_their_reasons_and_are_asked_again_only_if_that_is_wanted() {
    let stage = Stage::new([bad(), bad()]).with("in.jsonl", lines(1));
    let said = stage.batch(&["--reasks", "1"]);
    assert_eq!(said.code, 1, "{said:?}");
    let failures = stage.results("out.jsonl.failures.jsonl");
    assert_eq!(failures[0]["outcome"], "attempts_exhausted");
    assert_eq!(failures[0]["violations"][0]["keyword"], "maximum", "{failures:?}");
    stage.fake.push(good());
    assert_eq!(stage.batch(&["--reasks", "1"]).code, 1);
    assert_eq!(stage.results("out.jsonl.failures.jsonl"), failures);
    assert_eq!(stage.fake.requests().len(), 2);
    assert_eq!(stage.batch(&["--reasks", "1", "--retry-failed"]).code, 0);
    assert_eq!(stage.positions(), [1]);
    assert_eq!(stage.results("out.jsonl.failures.jsonl"), Vec::<serde_json::Value>::new());
}

#[test]
fn files_of_answers_with_different_names_have_failures_of_their_own() {
    let stage = Stage::new([bad().forever()]).with("in.jsonl", lines(1));
    for output in ["a", "a.out", "a.jsonl"] {
        let batch = ["batch", "review.json", "in.jsonl", "--reasks", "0", "-o", output];
        let said = stage.say(&batch);
        assert_eq!(said.code, 1, "{said:?}");
        let failures = format!("{output}.failures.jsonl");
        assert_eq!(stage.results(&failures).len(), 1);
        std::fs::remove_file(stage.path(&failures)).unwrap();
    }
    assert_eq!(stage.fake.requests().len(), 1);
}

#[test]
fn failures_are_counted_and_where_they_are_is_said_also_quietly() {
    let stage = Stage::new([bad().when_contains("ticket 2").forever(), good().forever()])
        .with("in.jsonl", lines(3));
    let said = stage.batch(&["--reasks", "0", "--quiet"]);
    let told = "error: 1 of 3 inputs failed, see: `out.jsonl.failures.jsonl`\n";
    assert_eq!((said.code, said.stderr.as_str()), (1, told));
    let said = stage.batch(&["--reasks", "0"]);
    assert_eq!((said.code, said.stderr.matches(told).count()), (1, 1), "{said:?}");
    let said = stage.say(&["batch", "review.json", "in.jsonl", "--reasks", "0", "--quiet"]);
    let told = "error: 1 of 3 inputs failed\n\
        hint: `--failures FILE` has the reasons, without asking again\n";
    assert_eq!((said.code, said.stderr.as_str()), (1, told));
}

#[test]
fn a_full_output_ends_the_batch_and_loses_nothing() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(5));
    let said = stage.say(&["batch", "review.json", "in.jsonl", "-o", "/dev/full"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("type the same command again"), "{said:?}");
    assert_eq!(stage.batch(&[]).code, 0);
    assert_eq!(stage.positions(), [1, 2, 3, 4, 5]);
    assert_eq!(stage.fake.requests().len(), 5);
}

#[test]
fn the_summary_is_for_people_or_for_programs() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(2));
    let said = stage.batch(&["--json", "--name", "nightly"]);
    let summary = &said.lines()[0];
    assert_eq!((&summary["batch"], &summary["met"]), (&json!("nightly"), &json!(2)));
    assert_eq!(summary["tokens"], 240);
    assert_eq!((&summary["left"], &summary["complete"]), (&json!(0), &json!(true)));
    assert!(said.stderr.contains("batch nightly: 2 met · 0 failed"), "{said:?}");
    assert!(!said.stderr.contains("stopped early"), "{said:?}");
}

/// Interrupts a batch once the model is held, and returns its summary.
fn interrupted(stage: &Stage, child: Child) -> (Value, String) {
    block_on(stage.fake.gate("held").reached());
    signal(&child, "INT");
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, 130, "{said:?}");
    (said.lines()[0].clone(), said.stderr)
}

#[test]
fn an_interrupted_batch_does_not_look_complete() {
    let held = || good().gate(0, "held").when_contains("ticket 3");
    let stage = Stage::new([held(), good().forever()]).with("in.jsonl", lines(6));
    let child = stage.start(&["--concurrency", "1", "--json"]);
    let (summary, told) = interrupted(&stage, child);
    let counted = ["inputs", "met", "failed", "left"].map(|name| summary[name].as_u64());
    assert_eq!(counted, [Some(6), Some(2), Some(0), Some(4)], "{summary}");
    assert_eq!(summary["complete"], false);
    assert!(told.contains(" · stopped early · 4 left"), "{told}");
    // Of a pipe, more may come.
    let stage = Stage::new([held(), good().forever()]);
    let batch = ["batch", "review.json", "-", "-o", "out.jsonl", "--concurrency", "1", "--json"];
    let mut child = stage.command(&batch).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(lines(3).as_bytes()).unwrap();
    let (summary, told) = interrupted(&stage, child);
    drop(pipe);
    assert_eq!((&summary["met"], &summary["left"]), (&json!(2), &json!(null)), "{summary}");
    assert_eq!(summary["complete"], false);
    assert!(told.contains(" · stopped early · not all inputs were read"), "{told}");
}

#[test]
fn there_are_no_failures_beside_a_device() {
    let stage = Stage::new([bad().forever()]).with("in.jsonl", lines(1));
    let batch = ["batch", "review.json", "in.jsonl", "--reasks", "0", "--quiet", "-o", "/dev/null"];
    let said = stage.say(&batch);
    let told = "error: 1 of 1 inputs failed\n\
        hint: `--failures FILE` has the reasons, without asking again\n";
    assert_eq!((said.code, said.stderr.as_str()), (1, told));
    assert!(!Path::new("/dev/null.failures.jsonl").exists());
    let said = stage.say(&[&batch[..], &["--failures", "/dev/null"]].concat());
    assert_eq!(said.code, 1, "{said:?}");
}

#[test]
fn a_file_behind_stdout_keeps_what_it_has() {
    let stage =
        Stage::new([good().forever()]).with("in.jsonl", lines(2)).with("all.jsonl", "\"before\"\n");
    let all = std::fs::OpenOptions::new().append(true).open(stage.path("all.jsonl")).unwrap();
    let mut command = stage.command(&["batch", "review.json", "in.jsonl", "-o", "/dev/stdout"]);
    assert!(command.stdout(all).status().unwrap().success());
    let lines = stage.results("all.jsonl");
    assert_eq!((lines.len(), &lines[0]), (3, &json!("before")));
}

#[test]
fn a_critical_contract_that_is_not_met_is_told_as_loudly_as_can_be() {
    let role = |critical: bool| {
        format!("schema = \"review.json\"\n[policy]\nreasks = 0\ncritical = {critical}\n")
    };
    for (critical, cries) in [(true, 1), (false, 0)] {
        let stage = Stage::new([bad().when_contains("ticket 2").forever(), good().forever()])
            .with("in.jsonl", lines(3))
            .with("reviewer.toml", role(critical));
        let said = stage.say(&["batch", "reviewer.toml", "in.jsonl", "-o", "out.jsonl", "--quiet"]);
        assert_eq!(said.code, 1, "{said:?}");
        let cry = "error: CRITICAL: the contract `reviewer` is not met: 1 input has no answer\n";
        assert_eq!(said.stderr.matches(cry).count(), cries, "{said:?}");
    }
}

#[test]
fn one_input_that_its_provider_refuses_is_a_failure_of_its_own() {
    let refused = Turn::status(400).when_contains("ticket 2").forever();
    let stage = Stage::new([refused, good().forever()]).with("in.jsonl", lines(3));
    assert_eq!(stage.batch(&[]).code, 1);
    assert_eq!(stage.positions(), [1, 3]);
    assert_eq!(stage.results("out.jsonl.failures.jsonl")[0]["outcome"], "provider");
}
