//! Parts: reviewed side by side, on record, and each with an end of its own.

use airtight_fake::Turn;
use serde_json::{Value, json};
use test_case::test_case;

use crate::stage::{Stage, document, finding, found, gaps, places};

/// A change of three files, each a part of its own.
fn three(script: impl Into<airtight_fake::Script>) -> Stage {
    let text = |word: &str| format!("{word} ").repeat(60);
    let stage = Stage::new(script)
        .with("a.rs", text("alpha"))
        .with("b.rs", text("beta"))
        .with("c.rs", text("gamma"));
    stage.git(["add", "-N", "."]);
    stage
}

const SMALL: [&str; 2] = ["--part-tokens", "200"];

fn for_file(file: &str) -> Turn {
    found(&json!([finding("info", file, 1, 1)])).when_contains(format!("File `{file}`")).forever()
}

#[test]
fn parts_are_reviewed_side_by_side() {
    let files = ["a.rs", "b.rs", "c.rs"];
    let stage = three(files.map(|file| for_file(file).gate(0, file)));
    let child = stage.command(&[&["review"], SMALL.as_slice()].concat()).spawn().unwrap();
    let gates = files.map(|file| stage.fake.gate(file));
    let reached = |gate: usize| {
        let gate = gates[gate].clone();
        async move { gate.reached().await }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // One of them goes first, to see whether anybody answers.
        let first = tokio::select! {
            () = reached(0) => 0,
            () = reached(1) => 1,
            () = reached(2) => 2,
        };
        gates[first].open();
        // The others are under way before either is answered.
        for other in (0..files.len()).filter(|other| *other != first) {
            reached(other).await;
        }
    });
    gates.iter().for_each(airtight_fake::Gate::open);
    let said: crate::said::Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let found: Vec<String> = places(&said).into_iter().map(|(_, file, _)| file).collect();
    assert_eq!(found, files);
}

#[test]
fn one_part_that_fails_leaves_the_others() {
    let refused = Turn::status(400).when_contains("File `b.rs`").forever();
    let stage = three([for_file("a.rs"), refused, for_file("c.rs")]);
    let said = stage.review(&SMALL);
    assert_eq!(said.code, 1, "{said:?}");
    let files: Vec<String> = places(&said).into_iter().map(|(_, file, _)| file).collect();
    assert_eq!(files, ["a.rs", "c.rs"]);
    let gaps = gaps(&said);
    assert_eq!((gaps.len(), gaps[0].0.as_str()), (1, "b.rs"));
    assert!(said.stderr.contains("only what is missing is asked for"), "{said:?}");

    // The same command again asks for that part alone.
    let before = stage.fake.requests().len();
    let said = stage.review(&SMALL);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(stage.fake.requests().len(), before + 1);
    assert!(said.stderr.contains("2 of 3 parts were reviewed before"), "{said:?}");
}

const EVERYTHING: &str = "type the same command again: everything is asked for again";

#[test_case(&["--no-store"], EVERYTHING; "without a ledger")]
#[test_case(&["--store-level", "masked"], EVERYTHING; "without secrets")]
#[test_case(&["--store-level", "metadata"], EVERYTHING; "without texts")]
#[test_case(&["--fresh"], "type the command again without `--fresh`: only what is missing"; "afresh")]
fn a_hint_does_not_promise_less_than_the_same_command_asks_for(flags: &[&str], words: &str) {
    let refused = Turn::status(400).when_contains("File `b.rs`").forever();
    let stage = three([for_file("a.rs"), refused, for_file("c.rs")]);
    let typed = [&SMALL[..], flags].concat();
    let said = stage.review(&typed);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains(words), "{said:?}");
    let before = stage.fake.requests().len();
    assert_eq!(stage.review(&typed).code, 1);
    assert_eq!(stage.fake.requests().len(), before + 3);
}

#[test]
fn what_was_asked_for_afresh_is_not_asked_for_again_without_that_flag() {
    let refused = Turn::status(400).when_contains("File `b.rs`").forever();
    let stage = three([for_file("a.rs"), refused, for_file("c.rs")]);
    assert_eq!(stage.review(&[&SMALL[..], &["--fresh"]].concat()).code, 1);
    let before = stage.fake.requests().len();
    assert_eq!(stage.review(&SMALL).code, 1);
    assert_eq!(stage.fake.requests().len(), before + 1);
}

#[test]
fn a_refused_key_ends_the_review_after_one_request() {
    let stage = three([Turn::status(401).forever()]);
    let said = stage.review(&SMALL);
    assert_eq!(said.code, 41, "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
    assert_eq!(gaps(&said).len(), 3);
    assert_eq!(document(&said)["complete"], false);
}

#[test]
fn every_part_is_a_run_on_record() {
    let stage = three([for_file("a.rs"), for_file("b.rs"), for_file("c.rs")]);
    let said = stage.review(&SMALL);
    let mut ids: Vec<Value> = document(&said)["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["run_id"].clone())
        .collect();
    let runs = stage.say(&["runs", "list"]).lines();
    let mut listed: Vec<Value> = runs.iter().map(|run| run["id"].clone()).collect();
    ids.sort_by_key(ToString::to_string);
    listed.sort_by_key(ToString::to_string);
    assert_eq!(ids, listed);
    let batches: Vec<&Value> = runs.iter().map(|run| &run["batch"]).collect();
    assert!(batches.iter().all(|batch| batch == &batches[0]), "{batches:?}");
    assert!(batches[0].as_str().unwrap().starts_with("review "));
    assert!(runs.iter().all(|run| run["contract"] == "code-review"), "{runs:?}");
}

#[test]
fn parts_that_were_reviewed_are_not_asked_again_unless_that_is_wanted() {
    let stage = three([for_file("a.rs"), for_file("b.rs"), for_file("c.rs")]);
    let first = stage.review(&SMALL);
    let again = stage.review(&SMALL);
    assert_eq!(places(&first), places(&again));
    assert_eq!(stage.fake.requests().len(), 3);
    // A part that changed is another question; the others are not.
    let stage = stage.with("b.rs", "delta ".repeat(60));
    assert_eq!(stage.review(&SMALL).code, 0);
    assert_eq!(stage.fake.requests().len(), 4);
    assert_eq!(stage.review(&[&SMALL[..], &["--fresh"]].concat()).code, 0);
    assert_eq!(stage.fake.requests().len(), 7);
    assert_eq!(stage.review(&[&SMALL[..], &["--model", "anthropic:other"]].concat()).code, 0);
    assert_eq!(stage.fake.requests().len(), 10);
}

#[test]
fn without_a_ledger_nothing_is_kept() {
    let stage = three([for_file("a.rs"), for_file("b.rs"), for_file("c.rs")]);
    for _ in 0..2 {
        let said = stage.review(&[&SMALL[..], &["--no-store"]].concat());
        assert_eq!((said.code, places(&said).len()), (0, 3), "{said:?}");
        assert_eq!(document(&said)["runs"][0]["run_id"], json!(null));
    }
    assert_eq!(stage.fake.requests().len(), 6);
    assert_eq!(stage.say(&["runs", "list"]).stdout, "");
}

#[test]
fn a_ledger_without_texts_serves_too() {
    let stage = three([for_file("a.rs"), for_file("b.rs"), for_file("c.rs")]);
    for _ in 0..2 {
        let said = stage.review(&[&SMALL[..], &["--store-level", "metadata"]].concat());
        assert_eq!((said.code, places(&said).len()), (0, 3), "{said:?}");
    }
    assert_eq!(stage.fake.requests().len(), 6);
}

#[test]
fn a_dry_run_shows_the_parts_and_asks_nothing() {
    let stage = three([]);
    let said = stage.review(&[&SMALL[..], &["--dry-run", "--format", "text"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.starts_with("part 1: about "), "{said:?}");
    assert!(said.stdout.contains("3 parts; about "), "{said:?}");
    let document = document(&stage.review(&[&SMALL[..], &["--dry-run"]].concat()));
    assert_eq!(document["parts"][2]["files"], json!(["c.rs"]));
    assert_eq!(stage.fake.requests().len(), 0);
}
