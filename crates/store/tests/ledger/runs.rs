//! Runs: stored when acknowledged, ended once, read back as they were.

use std::time::Duration;

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_store::{
    AttemptEnd, AttemptState, Begun, NewEvent, NewRun, Postponed, Review, RunId, RunState,
    Spending, StoreError,
};
use serde_json::json;

use crate::bed::{Bed, begin, counted, failed, keyed, met, new_attempt, new_run, store};

crate::laws! {
    a_run_is_there_for_others_when_begin_returns,
    a_finished_run_reads_back_whole,
    the_json_form_keeps_raw_and_parsed_output_apart,
    a_run_whose_process_is_gone_is_taken_over,
    a_late_postponement_is_fenced_and_keeps_what_was_said,
    what_a_batch_spent_counts_whatever_became_of_its_runs,
    a_late_end_is_fenced_and_kept_as_a_stray,
    an_end_is_kept_with_no_run_that_was_given_its_number_again,
    a_name_is_taken_once,
    events_are_numbered_and_read_from_anywhere,
    attempts_left_open_are_unknown,
}

async fn a_run_is_there_for_others_when_begin_returns(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, new_run()).await;
    let other = bed.open().await;
    let run = other.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.state, RunState::Open);
    assert_eq!(run.prompt.as_deref(), Some("Write."));
    let attempts = other.attempts(token.id()).await.unwrap();
    assert_eq!(attempts.len(), 1);
    assert_eq!((attempts[0].number, attempts[0].state), (1, AttemptState::Open));
}

async fn a_finished_run_reads_back_whole(bed: Bed) {
    let ledger = bed.open().await;
    let parent = RunId::from("parent".to_owned());
    let run = NewRun {
        parent: Some(parent.clone()),
        key: Some("k".to_owned()),
        batch: Some("b".to_owned()),
        position: Some(4),
        ..new_run()
    };
    let token = begin(&ledger, run).await;
    let second = ledger.open_attempt(&token, new_attempt()).await.unwrap();
    let end = |number, ending: &str| AttemptEnd {
        number,
        ending: ending.to_owned(),
        rung: Some("tool".to_owned()),
        output: Some(b"{}".to_vec()),
        violations: Some(r#"["n is missing"]"#.to_owned()),
        error: None,
        usage: Usage { input_tokens: Some(5), ..Usage::default() },
        cost: Cost::from_usd(0.5),
    };
    ledger.close_attempt(&token, end(1, "rejected")).await.unwrap();
    let mut finish = met();
    finish.ended = vec![end(second, "accepted")];
    finish.elapsed = Some(Duration::from_millis(1234));
    finish.unchecked = Some(r#"["/n"]"#.to_owned());
    ledger.finish(&token, finish).await.unwrap();

    let run = ledger.run("k").await;
    assert!(matches!(run, Err(StoreError::NotFound { .. })), "a key is no name");
    let run = ledger.run(token.id().as_str()).await.unwrap();
    let summary = &run.summary;
    assert_eq!(summary.parent, Some(parent));
    assert_eq!((summary.key.as_deref(), summary.batch.as_deref()), (Some("k"), Some("b")));
    assert_eq!((summary.position, summary.elapsed_ms), (Some(4), Some(1234)));
    let contract = (summary.contract.as_str(), summary.contract_version.as_str());
    assert_eq!(contract, ("blog-writer", "2"));
    assert_eq!((summary.provider.as_str(), summary.model.as_str()), ("anthropic", "claude-x"));
    assert_eq!((summary.driver.as_str(), summary.mode.as_str()), ("api", "tool"));
    assert_eq!((summary.state, summary.review), (RunState::Done, Review::None));
    assert_eq!((summary.outcome.as_deref(), summary.rung.as_deref()), (Some("met"), Some("tool")));
    assert!(summary.output_valid);
    assert_eq!(summary.usage, met().usage);
    assert_eq!(summary.cost_usd, met().cost);
    assert_eq!(run.system.as_deref(), Some("You write."));
    assert_eq!(run.input.as_deref(), Some(&b"a document"[..]));
    assert_eq!(run.output.as_deref(), Some(&br#"{"n":1}"#[..]));
    assert_eq!(run.parsed_output.as_deref(), Some(r#"{"n":1}"#));
    assert_eq!((run.edits.as_deref(), run.losses.as_deref()), (Some("[]"), Some("[]")));
    assert_eq!(run.unchecked.as_deref(), Some(r#"["/n"]"#));
    assert_eq!(serde_json::to_value(&run).unwrap()["unchecked"], json!(["/n"]));

    let attempts = ledger.attempts(token.id()).await.unwrap();
    let endings: Vec<_> =
        attempts.iter().map(|a| (a.number, a.state, a.ending.as_deref().unwrap())).collect();
    let closed = AttemptState::Closed;
    assert_eq!(endings, [(1, closed, "rejected"), (2, closed, "accepted")]);
    assert_eq!(attempts[0].output.as_deref(), Some(&b"{}"[..]));
    assert_eq!(attempts[0].cost_usd, Cost::from_usd(0.5));
}

async fn the_json_form_keeps_raw_and_parsed_output_apart(bed: Bed) {
    let ledger = bed.open().await;
    let good = store(&ledger, new_run(), met()).await;
    let bad = store(&ledger, new_run(), failed()).await;
    let json = |run| serde_json::to_value(run).unwrap();
    let good = json(ledger.run(good.id().as_str()).await.unwrap());
    assert_eq!(good["output"], r#"{"n":1}"#);
    assert_eq!(good["parsedOutput"], json!({ "n": 1 }));
    assert_eq!((&good["outputValid"], &good["outputErrors"]), (&json!(true), &json!(null)));
    let bad = json(ledger.run(bad.id().as_str()).await.unwrap());
    assert_eq!(bad["output"], "no JSON at all");
    assert_eq!((&bad["parsedOutput"], &bad["outputValid"]), (&json!(null), &json!(false)));
    assert_eq!(bad["outputErrors"][0]["message"], "not an object");
}

async fn a_run_whose_process_is_gone_is_taken_over(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let event = || vec![NewEvent { kind: "e".to_owned(), body: "1".to_owned() }];
    ledger.append(&token, event()).await.unwrap();
    // Another host that is silent for a minute, and then one that speaks.
    let quiet = "UPDATE runs SET owner = 'elsewhere:1:2/1/1/1', started_at = started_at - 60000";
    bed.meddle(quiet).await;
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.state, RunState::Unknown);
    assert_eq!(ledger.attempts(token.id()).await.unwrap()[0].state, AttemptState::Unknown);
    let now = ledger.now_ms();
    bed.meddle(&format!("INSERT INTO owners VALUES ('elsewhere:1:2/1/1/1', {now})")).await;
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.state, RunState::Open);
    assert!(matches!(ledger.begin(keyed("k")).await.unwrap(), Begun::Busy { .. }));
    bed.meddle("DELETE FROM owners").await;

    let taken = begin(&ledger, keyed("k")).await;
    assert_eq!(taken.id(), token.id());
    assert!(taken.is_taken_over() && !token.is_taken_over());
    assert_eq!(taken.attempt(), 2, "numbers go on");
    ledger.append(&taken, event()).await.unwrap();
    assert_eq!(ledger.events(taken.id(), 0, 10).await.unwrap().len(), 2);
    for late in [ledger.append(&token, event()).await, ledger.finish(&token, met()).await] {
        assert!(matches!(late, Err(StoreError::Fenced)), "{late:?}");
    }
    ledger.finish(&taken, met()).await.unwrap();
}

async fn a_late_postponement_is_fenced_and_keeps_what_was_said(bed: Bed) {
    let ledger = bed.open().await;
    let late = begin(&ledger, keyed("k")).await;
    bed.meddle("UPDATE runs SET owner = ''").await;
    let taken = begin(&ledger, keyed("k")).await;
    let output = Some(b"half an answer".to_vec());
    let end =
        AttemptEnd { number: 1, ending: "stopped".to_owned(), output, ..AttemptEnd::default() };
    let postponed = Postponed { ended: vec![end], ..Postponed::default() };
    let refused = ledger.postpone(&late, postponed).await;
    assert!(matches!(refused, Err(StoreError::Fenced)));
    let attempts = ledger.attempts(taken.id()).await.unwrap();
    let stray = attempts.iter().find(|attempt| attempt.number == 1).unwrap();
    assert_eq!(stray.state, AttemptState::Stray);
    assert_eq!(stray.output.as_deref(), Some(&b"half an answer"[..]));
}

async fn what_a_batch_spent_counts_whatever_became_of_its_runs(bed: Bed) {
    let ledger = bed.open().await;
    let of_batch = |key: &str| NewRun { batch: Some("b".to_owned()), ..keyed(key) };
    let usage = Usage { input_tokens: Some(100), output_tokens: Some(20), ..Usage::default() };
    let cost = Cost::from_usd(0.5);
    let end = || AttemptEnd {
        number: 1,
        ending: "conforming".to_owned(),
        usage,
        cost,
        ..AttemptEnd::default()
    };
    let done = begin(&ledger, of_batch("done")).await;
    ledger.finish(&done, airtight_store::Finish { ended: vec![end()], ..met() }).await.unwrap();
    let postponed = begin(&ledger, of_batch("postponed")).await;
    let later =
        Postponed { ended: vec![AttemptEnd { cost: None, ..end() }], ..Postponed::default() };
    ledger.postpone(&postponed, later).await.unwrap();
    begin(&ledger, of_batch("under way")).await;
    begin(&ledger, keyed("of no batch")).await;
    let spent = Usage { input_tokens: Some(200), output_tokens: Some(40), ..Usage::default() };
    let spending =
        Spending { requests: 2, unknown: 1, unpriced: 1, usage: spent, cost: cost.unwrap() };
    assert_eq!(ledger.spending("b").await.unwrap(), spending);
    let nothing = ledger.spending("none").await.unwrap();
    assert_eq!((nothing.requests, nothing.usage), (0, Usage::default()));
}

async fn a_late_end_is_fenced_and_kept_as_a_stray(bed: Bed) {
    let ledger = bed.open().await;
    let late = begin(&ledger, keyed("k")).await;
    bed.meddle("UPDATE runs SET owner = ''").await;
    let taken = begin(&ledger, keyed("k")).await;
    let mut finish = met();
    finish.output = Some(b"too late".to_vec());
    for _ in 0..2 {
        let refused = ledger.finish(&late, finish.clone()).await;
        assert!(matches!(refused, Err(StoreError::Fenced)));
    }
    let next = ledger.open_attempt(&taken, new_attempt()).await.unwrap();
    assert_eq!(next, 3);
    ledger.finish(&taken, failed()).await.unwrap();
    let run = ledger.run(taken.id().as_str()).await.unwrap();
    assert_eq!(run.summary.outcome.as_deref(), Some("attempts_exhausted"));
    let attempts = ledger.attempts(taken.id()).await.unwrap();
    let strays: Vec<_> = attempts.iter().filter(|a| a.state == AttemptState::Stray).collect();
    assert_eq!(strays.len(), 1);
    assert_eq!(strays[0].output.as_deref(), Some(&b"too late"[..]));
    assert_eq!(counted(&ledger).await, 1);
}

async fn an_end_is_kept_with_no_run_that_was_given_its_number_again(bed: Bed) {
    let ledger = bed.open().await;
    let lost = begin(&ledger, new_run()).await;
    let other = "an-other";
    bed.meddle(&format!("UPDATE runs SET id = '{other}', token = 't'")).await;
    let refused = ledger.finish(&lost, met()).await;
    assert!(matches!(refused, Err(StoreError::Fenced)));
    let attempts = ledger.attempts(&RunId::from(other.to_owned())).await.unwrap();
    let states: Vec<_> = attempts.iter().map(|attempt| attempt.state).collect();
    assert_eq!(states, [AttemptState::Open], "that was its own");
}

async fn a_name_is_taken_once(bed: Bed) {
    let ledger = bed.open().await;
    let id = Some(RunId::from("mine".to_owned()));
    begin(&ledger, NewRun { id: id.clone(), ..new_run() }).await;
    let second = ledger.begin(NewRun { id, ..new_run() }).await;
    assert!(matches!(second, Err(StoreError::Taken { .. })), "{second:?}");
}

async fn events_are_numbered_and_read_from_anywhere(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, new_run()).await;
    let events = |from: usize, to: usize| {
        let event = |n| NewEvent { kind: format!("k{n}"), body: format!("{{\"n\":{n}}}") };
        (from..=to).map(event).collect::<Vec<_>>()
    };
    ledger.append(&token, events(1, 120)).await.unwrap();
    ledger.append(&token, Vec::new()).await.unwrap();
    let mut finish = met();
    finish.events = events(121, 125);
    ledger.finish(&token, finish).await.unwrap();
    let all = ledger.events(token.id(), 0, 1000).await.unwrap();
    assert!(
        all.iter().zip(1i64..).all(|(event, n)| event.number == n && event.kind == format!("k{n}"))
    );
    assert_eq!(all.len(), 125);
    let some = ledger.events(token.id(), 118, 4).await.unwrap();
    assert_eq!(some.iter().map(|event| event.number).collect::<Vec<_>>(), [119, 120, 121, 122]);
}

async fn attempts_left_open_are_unknown(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, new_run()).await;
    ledger.open_attempt(&token, new_attempt()).await.unwrap();
    ledger.finish(&token, met()).await.unwrap();
    let attempts = ledger.attempts(token.id()).await.unwrap();
    assert!(attempts.iter().all(|attempt| attempt.state == AttemptState::Unknown));
}
