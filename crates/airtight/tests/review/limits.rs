//! Budgets and interrupts: what was found is kept.

use std::process::Command;

use serde_json::json;

use crate::stage::{Stage, finding, found, gaps, places};

/// A change of two files, each a part of its own.
fn two(script: impl Into<airtight_fake::Script>) -> Stage {
    let stage =
        Stage::new(script).with("a.rs", "alpha ".repeat(60)).with("b.rs", "beta ".repeat(60));
    stage.git(["add", "-N", "."]);
    stage
}

const ONE_BY_ONE: [&str; 4] = ["--part-tokens", "200", "--concurrency", "1"];

#[test]
fn a_spent_budget_ends_the_review_and_keeps_what_was_found() {
    let first = found(&json!([finding("info", "a.rs", 1, 1)])).usage(3_000, 20);
    let stage = two([first.forever()]);
    let said = stage.review(&[&ONE_BY_ONE[..], &["--max-tokens-total", "4500"]].concat());
    assert_eq!(said.code, 55, "{said:?}");
    assert_eq!(places(&said), [("info".to_owned(), "a.rs".to_owned(), 1)]);
    assert_eq!(gaps(&said)[0].0, "b.rs");
    assert!(said.stderr.contains("raise `--max-cost` or `--max-tokens-total`"), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
}

#[test]
fn very_many_parts_need_a_budget() {
    let stage = Stage::new([found(&json!([])).forever()]);
    let lines: Vec<String> = (0..20_000).map(|number| format!("let a = {number};")).collect();
    let stage = stage.with("large.rs", lines.join("\n"));
    stage.git(["add", "-N", "."]);
    let said = stage.review(&["--part-tokens", "100"]);
    assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{said:?}");
    assert!(said.stderr.contains("parts, over 500 without a budget"), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn money_needs_a_price() {
    let said = two([]).review(&["--max-cost", "1"]);
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stderr.contains("--max-tokens-total"), "{said:?}");
}

#[test]
fn time_that_is_up_ends_the_review_and_keeps_what_was_found() {
    let first = found(&json!([finding("info", "a.rs", 1, 1)]));
    let stage = two([first, found(&json!([])).gate(0, "never")]);
    let said = stage.review(&[&ONE_BY_ONE[..], &["--max-wall-time", "3s"]].concat());
    assert_eq!(said.code, 55, "{said:?}");
    assert_eq!(places(&said).len(), 1);
    assert!(said.stderr.contains("the time of the review is up"), "{said:?}");
}

#[test]
fn an_interrupt_keeps_what_was_found_and_the_next_command_goes_on() {
    let first = found(&json!([finding("info", "a.rs", 1, 1)]));
    let stage = two([first, found(&json!([])).gate(0, "held"), found(&json!([]))]);
    let child = stage.command(&[&["review"], &ONE_BY_ONE[..]].concat()).spawn().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(stage.fake.gate("held").reached());
    let number = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &number]).status().unwrap().success());
    let said: crate::said::Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, 130, "{said:?}");
    assert_eq!(places(&said).len(), 1);
    assert!(said.stderr.contains("the review was interrupted"), "{said:?}");
    let said = stage.review(&ONE_BY_ONE);
    assert_eq!((said.code, places(&said).len()), (0, 1), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 3);
}
