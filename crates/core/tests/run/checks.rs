//! Answers that satisfy the contract and do not fit what they are about.

use std::sync::Arc;

use airtight_core::run::{Ending, Mode, Outcome, Rung};
use airtight_core::{Allowance, Check, Document, Objection, Pointer, Verdict, judge};
use serde_json::json;

use crate::support::*;

/// Knows which names exist.
#[derive(Debug)]
struct Known(&'static [&'static str]);

impl Check for Known {
    fn keyword(&self) -> &'static str {
        "known"
    }

    fn objections(&self, value: &Document) -> Vec<Objection> {
        let names = value.root().member("names").unwrap();
        let named = names.items().map(|name| name.as_str().unwrap());
        let is_unknown = |(_, name): &(usize, &str)| !self.0.contains(name);
        let object = |(position, name)| Objection {
            pointer: Pointer::root().key("names").index(position),
            message: format!("`{name}` is unknown"),
            masked: "is unknown".to_owned(),
        };
        named.enumerate().filter(is_unknown).map(object).collect()
    }
}

fn names() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": { "names": { "type": "array", "items": { "type": "string" } } },
        "required": ["names"],
    })
}

fn checked(reasks: u8) -> airtight_core::run::Job {
    let mut job = job(names());
    job.check = Some(Arc::new(Known(&["ada", "grace"])));
    job.policy.reasks = reasks;
    job
}

fn said(answers: &[&str]) -> Vec<airtight_core::codec::Reply> {
    answers.iter().map(|arguments| calls(vec![answer("1", arguments)])).collect()
}

#[test]
fn what_a_check_objects_to_is_told_and_asked_for_again() {
    let replies = said(&[r#"{"names":["ada","bob"]}"#, r#"{"names":["ada"]}"#]);
    let played = play(checked(1), replies);
    let first = &played.report.attempts[0];
    assert_eq!(first.ending, Ending::Rejected);
    let violation = &first.violations.list[0];
    assert_eq!((violation.keyword.as_str(), violation.pointer.as_str()), ("known", "/names/1"));
    assert!(format!("{:?}", played.requests[1].messages).contains("/names/1: `bob` is unknown"));
    assert_eq!((played.report.outcome, played.report.rung), (Outcome::Met, Some(Rung::ReAsk)));
}

#[test]
fn an_answer_that_only_a_check_refuses_may_be_withdrawn() {
    let replies = said(&[r#"{"names":["bob"]}"#, r#"{"names":[]}"#]);
    assert_eq!(play(checked(1), replies).report.outcome, Outcome::Met);
    let replies = said(&[r#"{"names":["bob", 1]}"#, r#"{"names":[]}"#]);
    assert_eq!(play(checked(1), replies).report.outcome, Outcome::Degenerate);
}

#[test]
fn a_check_decides_on_text_and_coerced_values_too() {
    let mut job = checked(0);
    job.mode = Mode::Prompt;
    let replies = vec![text("Here: ```json\n{\"names\": \"[\\\"bob\\\"]\"}\n```")];
    let report = play(job, replies).report;
    assert_eq!(report.outcome, Outcome::AttemptsExhausted, "{:?}", report.attempts);
}

#[test]
fn a_check_never_accepts_what_the_contract_refuses() {
    let allowance = Allowance { check: Some(Arc::new(Known(&[]))), ..Allowance::default() };
    let verdict = judge(&contract(names()), r#"{"names":"none"}"#, &allowance);
    let Verdict::Rejected(rejected) = verdict else { panic!("{verdict:?}") };
    assert_eq!(rejected.violations.list[0].keyword, "type");
}

/// Always fails.
#[derive(Debug)]
struct Broken;

impl Check for Broken {
    fn keyword(&self) -> &'static str {
        "broken"
    }

    fn objections(&self, _value: &Document) -> Vec<Objection> {
        std::panic::resume_unwind(Box::new("broken"))
    }
}

#[test]
fn a_check_that_fails_lets_nothing_pass() {
    let allowance = Allowance { check: Some(Arc::new(Broken)), ..Allowance::default() };
    let verdict = judge(&contract(names()), r#"{"names":[]}"#, &allowance);
    let Verdict::Rejected(rejected) = verdict else { panic!("{verdict:?}") };
    assert_eq!(rejected.violations.list[0].keyword, "broken");
}
