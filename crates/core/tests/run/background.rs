//! Background work: the run waits for it before it gives up.

use std::time::Duration;

use airtight_core::message::Block;
use airtight_core::run::{Outcome, Run, Step};

use crate::support::*;

/// Starts a run whose model has called a tool that went to the background.
fn with_task(job: airtight_core::run::Job) -> Run {
    let mut run = Run::new(job).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(calls(vec![call("1", "agent", "{}")]));
    let Step::CallTools(calls) = run.step() else { panic!("tools") };
    run.background_began("task");
    run.tools_returned(calls.iter().map(done).collect());
    assert!(matches!(run.step(), Step::CallModel(_)));
    run
}

#[test]
fn a_turn_that_ends_while_work_is_open_is_no_attempt() {
    let mut run = with_task(job(review()));
    run.answered(text("I wait."));
    assert!(matches!(run.step(), Step::Wait));
    run.notified(notification("task", "ready"));
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(calls(vec![answer("2", GOOD)]));
    let report = run.finish(Duration::ZERO);
    assert_eq!((report.outcome, report.attempts.len()), (Outcome::Met, 1));
}

#[test]
fn a_conforming_text_ends_the_run_while_work_is_open() {
    let mut run = with_task(job(review()));
    run.answered(text(GOOD));
    assert!(matches!(run.step(), Step::Done));
    assert_eq!(run.finish(Duration::ZERO).outcome, Outcome::Met);
}

#[test]
fn a_notification_during_a_turn_follows_its_results() {
    let mut run = with_task(job(review()));
    run.notified(notification("task", "ready"));
    run.answered(calls(vec![call("2", "write_file", "{}")]));
    let Step::CallTools(calls) = run.step() else { panic!("tools") };
    run.tools_returned(calls.iter().map(done).collect());
    let Step::CallModel(request) = run.step() else { panic!("a model call") };
    let last = request.messages.last().unwrap();
    assert!(matches!(&last.blocks[..], [Block::Result(_), Block::Text(_)]), "{last:?}");
}

#[test]
fn a_notification_during_a_turn_is_heard_before_the_run_gives_up() {
    let mut job = job(review());
    job.policy.reasks = 0;
    let mut run = with_task(job);
    run.notified(notification("task", "ready"));
    run.answered(text("I wait."));
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(text("Nothing to say."));
    assert!(matches!(run.step(), Step::Done));
    assert_eq!(run.finish(Duration::ZERO).outcome, Outcome::NoAnswer);
}

#[test]
fn a_run_without_a_contract_waits_too() {
    let mut job = job(review());
    job.contract = None;
    let mut run = with_task(job);
    run.answered(text("I wait."));
    assert!(matches!(run.step(), Step::Wait));
    run.notified(notification("task", "ready"));
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(text("All done."));
    assert_eq!(run.finish(Duration::ZERO).text.as_deref(), Some("All done."));
}

#[test]
fn an_interrupt_ends_the_wait() {
    let mut run = with_task(job(review()));
    run.answered(text("I wait."));
    run.interrupt();
    assert!(matches!(run.step(), Step::Done));
}
