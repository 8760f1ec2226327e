//! Keys that inputs share: the first text has the key, whoever runs, counts or queues.

use serde_json::{Value, json};

use crate::postgres::Server;
use crate::stage::{Said, Stage, bad, block_on, good, signal};

/// A field is the key, and another the text.
const KEY: [&str; 4] = ["--key", "id", "-p", "{{text}}"];

fn line(id: u64, text: &str) -> String {
    format!("{}\n", json!({ "id": id, "text": text }))
}

/// Returns the positions in a file of results.
fn positions(stage: &Stage, name: &str) -> Vec<u64> {
    stage.results(name).iter().map(|line| line["position"].as_u64().unwrap()).collect()
}

/// Returns the numbers in the summary of a command.
fn numbers<const N: usize>(said: &Said, names: [&str; N]) -> [u64; N] {
    let summary = said.lines()[0].clone();
    names.map(|name| summary[name].as_u64().unwrap())
}

#[test]
fn the_first_text_of_a_key_has_it_however_slow_its_answer_is() {
    let numbered = |turn: &str, id: u64| line(id, &format!("{turn} {id}."));
    let texts = |turn: &str| (1..=20).map(|id| numbered(turn, id)).collect::<String>();
    let text = ["first", "second", "third"].map(texts);
    for _ in 0..3 {
        let slow = good().delay_ms(100).when_contains("first 1.").forever();
        let stage = Stage::new([slow, good().forever()]).with("in.jsonl", text.concat());
        let said = stage.batch(&KEY);
        assert_eq!(said.code, 1, "{said:?}");
        assert_eq!(stage.positions(), (1..=20).collect::<Vec<_>>());
        let failures = "out.jsonl.failures.jsonl";
        assert_eq!(positions(&stage, failures), (21..=60).collect::<Vec<_>>());
        let errors = stage.results(failures);
        let refused = |line: &Value| {
            line["error"].as_str().unwrap().starts_with("the key belongs to another job")
        };
        assert!(errors.iter().all(refused), "{errors:?}");
        assert_eq!(stage.fake.requests().len(), 20);
    }
}

#[test]
fn texts_of_one_key_one_after_the_other_keep_their_order_too() {
    let one = ["slow", "quick", "slow"].map(|text| line(1, text)).concat();
    let text = [line(0, "before"), one, line(2, "behind"), line(1, "last")];
    for _ in 0..3 {
        let slow = good().delay_ms(100).when_contains("slow").forever();
        let stage = Stage::new([slow, good().forever()]).with("in.jsonl", text.concat());
        let said = stage.batch(&KEY);
        assert_eq!((said.code, stage.positions()), (1, vec![1, 2, 4, 5]), "{said:?}");
        assert_eq!(positions(&stage, "out.jsonl.failures.jsonl"), [3, 6]);
        let lines = stage.results("out.jsonl");
        assert_eq!(lines[1]["run_id"], lines[2]["run_id"]);
        assert_eq!(stage.fake.requests().len(), 3);
    }
}

#[test]
fn who_waits_for_a_key_is_left_with_the_one_before_it() {
    let text = [line(1, "first"), line(1, "second"), line(1, "first"), line(1, "third")].concat();
    let held = good().gate(0, "held");
    let stage = Stage::new([held, good().forever()]).with("in.jsonl", text);
    let child = stage.start(&[&KEY[..], &["--json"]].concat());
    block_on(stage.fake.gate("held").reached());
    signal(&child, "INT");
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, 130, "{said:?}");
    assert_eq!(numbers(&said, ["inputs", "met", "failed", "left"]), [4, 0, 0, 4]);
    // The one before has the key, although it has no answer yet.
    let said = stage.batch(&KEY);
    assert_eq!((said.code, stage.positions()), (1, vec![1, 3]), "{said:?}");
    assert_eq!(positions(&stage, "out.jsonl.failures.jsonl"), [2, 4]);
}

#[test]
fn more_inputs_of_one_key_than_may_be_under_way_all_have_their_turn() {
    let text = [line(1, "a").repeat(50), line(2, "b")].concat();
    let stage = Stage::new([good().forever()]).with("in.jsonl", text);
    let said = stage.batch(&[&KEY[..], &["--concurrency", "4"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(stage.positions(), (1..=51).collect::<Vec<_>>());
    assert_eq!(stage.fake.requests().len(), 2);
}

#[test]
fn a_key_on_record_belongs_to_its_text_also_if_another_comes_first() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", line(1, "b"));
    assert_eq!(stage.batch(&KEY).code, 0);
    let stage = stage.with("in.jsonl", [line(1, "a"), line(1, "b")].concat());
    let said = stage.batch(&[&KEY[..], &["--dry-run", "--json"]].concat());
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(numbers(&said, ["inputs", "answered", "to_ask", "unusable"]), [1, 1, 0, 1]);
    let told = "input 1 (`in.jsonl:1`): its key `1` belongs to another text in the ledger\n";
    assert!(said.stderr.starts_with(told), "{said:?}");
    let said = stage.batch(&KEY);
    assert_eq!((said.code, stage.positions()), (1, vec![2]), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
}

#[test]
fn a_dry_run_counts_another_text_of_a_failed_key_as_what_would_become_of_it() {
    let stage = Stage::new([bad().forever()]).with("in.jsonl", line(1, "a"));
    let batch = [&KEY[..], &["--reasks", "0"]].concat();
    assert_eq!(stage.batch(&batch).code, 1);
    let stage = stage.with("in.jsonl", line(1, "b"));
    let dry = |more: &[&str]| {
        let said = stage.batch(&[&batch[..], &["--dry-run", "--json"], more].concat());
        numbers(&said, ["inputs", "to_ask", "unusable"])
    };
    assert_eq!(dry(&[]), [0, 0, 1]);
    // Who asks again for what failed may ask otherwise.
    assert_eq!(dry(&["--retry-failed"]), [1, 1, 0]);
}

#[test]
fn another_text_of_a_key_is_not_queued_and_told_as_unusable() {
    let stage = Stage::new([good().forever()]);
    let texts = |texts: &[&str]| texts.iter().map(|text| line(1, text)).collect::<String>();
    for ledger in [stage.path("queue.db").display().to_string(), Server::shared().database()] {
        let place = ["--database", ledger.as_str(), "--json"];
        let say = |more: &[&str]| {
            let batch = ["batch", "review.json", "in.jsonl"];
            stage.say(&[&batch[..], &KEY, &place, more].concat())
        };
        let write = |text: &[&str]| std::fs::write(stage.path("in.jsonl"), texts(text)).unwrap();
        let queued = |expected: [u64; 3], told: &str| {
            let said = say(&["--enqueue"]);
            assert_eq!(numbers(&said, ["queued", "known", "unusable"]), expected, "{said:?}");
            assert_eq!(said.code, i32::from(expected[2] > 0), "{said:?}");
            assert!(said.stderr.contains(told), "{said:?}");
        };
        write(&["AAA", "BBB", "AAA", "CCC"]);
        let before = "warning: input 2 (`in.jsonl:2`) cannot be used: its key `1` belongs to \
            another text before it\n";
        queued([1, 1, 2], before);
        queued([0, 2, 2], before);
        let in_ledger = "warning: input 1 (`in.jsonl:1`) cannot be used: its key `1` belongs to \
            another text in the ledger\n";
        write(&["BBB", "AAA"]);
        queued([0, 1, 1], in_ledger);
        let before = stage.fake.requests().len();
        let worked = stage.say(&["worker", "--until-empty", "--database", &ledger]);
        assert_eq!((worked.code, stage.fake.requests().len() - before), (0, 1), "{worked:?}");
        // Nor once the key is answered, as whoever runs or counts says, too.
        queued([0, 1, 1], in_ledger);
        write(&["BBB"]);
        queued([0, 0, 1], in_ledger);
        let dry = say(&["--dry-run"]);
        assert_eq!((dry.code, numbers(&dry, ["inputs", "unusable"])), (1, [0, 1]), "{dry:?}");
        let ran = say(&["-o", "out.jsonl"]);
        assert_eq!((ran.code, numbers(&ran, ["met", "failed"])), (1, [0, 1]), "{ran:?}");
        write(&["AAA"]);
        queued([0, 1, 0], "");
    }
}
