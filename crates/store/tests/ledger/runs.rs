//! Runs: stored when acknowledged, ended once, read back as they were.

use std::time::Duration;

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_store::{
    AttemptEnd, AttemptState, Begun, Filter, Level, NewEvent, NewRun, Page, Postponed, Repeat,
    Review, RunId, RunState, Spending, StoreError,
};
use serde_json::json;

use crate::bed::{Bed, begin, counted, failed, keyed, met, new_attempt, new_run, store};

crate::laws! {
    a_run_is_there_for_others_when_begin_returns,
    a_finished_run_reads_back_whole,
    the_json_form_keeps_raw_and_parsed_output_apart,
    a_key_has_one_final_result,
    a_key_may_give_up_its_result,
    a_run_whose_process_is_gone_is_taken_over,
    a_postponed_run_goes_on_with_its_key,
    a_run_is_never_taken_over_for_another_job,
    a_key_never_gives_the_result_of_another_job,
    a_key_is_of_one_question_whatever_of_it_is_kept,
    a_key_of_an_older_version_is_compared_by_what_it_kept,
    a_run_that_is_named_may_be_done_by_another,
    a_late_postponement_is_fenced_and_keeps_what_was_said,
    what_a_batch_spent_counts_whatever_became_of_its_runs,
    a_late_end_is_fenced_and_kept_as_a_stray,
    a_name_is_taken_once,
    events_are_numbered_and_read_from_anywhere,
    attempts_left_open_are_unknown,
    writes_that_wait_together_share_a_commit,
    a_write_that_fails_takes_nobody_with_it,
    nothing_is_written_after_the_close,
    short_lives_do_not_disturb_each_other,
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

async fn a_key_has_one_final_result(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let other = bed.open().await;
    let Begun::Busy { id, owner } = other.begin(keyed("k")).await.unwrap() else { panic!() };
    assert_eq!(&id, token.id());
    assert!(owner.contains(&std::process::id().to_string()), "{owner}");
    ledger.finish(&token, met()).await.unwrap();
    let Begun::Finished(run) = other.begin(keyed("k")).await.unwrap() else { panic!() };
    assert_eq!(&run.summary.id, token.id());
    assert_eq!(run.parsed_output.as_deref(), Some(r#"{"n":1}"#));
    assert!(matches!(ledger.finish(&token, failed()).await, Ok(())), "told twice, stored once");
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.outcome.as_deref(), Some("met"));
}

async fn a_key_may_give_up_its_result(bed: Bed) {
    let ledger = bed.open().await;
    let first = store(&ledger, keyed("k"), failed()).await;
    let again = |repeat| NewRun { repeat, ..keyed("k") };
    let kept = ledger.begin(again(Repeat::Never)).await.unwrap();
    assert!(matches!(kept, Begun::Finished(_)));
    let second = store(&ledger, again(Repeat::Failed), met()).await;
    let run = ledger.run(second.id().as_str()).await.unwrap();
    assert_eq!(run.summary.parent.as_ref(), Some(first.id()));
    let kept = ledger.begin(again(Repeat::Failed)).await.unwrap();
    assert!(matches!(kept, Begun::Finished(run) if &run.summary.id == second.id()));
    begin(&ledger, again(Repeat::Always)).await;
    assert_eq!(ledger.run(first.id().as_str()).await.unwrap().summary.key, None);
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

async fn a_postponed_run_goes_on_with_its_key(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let end = AttemptEnd { number: 1, ending: "failed".to_owned(), ..AttemptEnd::default() };
    let later =
        Postponed { error: "overloaded".to_owned(), ended: vec![end], ..Postponed::default() };
    ledger.postpone(&token, later).await.unwrap();
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.state, RunState::Postponed);
    let again = begin(&ledger, keyed("k")).await;
    assert_eq!((again.id(), again.attempt()), (token.id(), 2));
    ledger.finish(&again, met()).await.unwrap();
    assert_eq!(ledger.attempts(token.id()).await.unwrap()[0].state, AttemptState::Closed);
}

async fn a_run_is_never_taken_over_for_another_job(bed: Bed) {
    let ledger = bed.open().await;
    let mut begun = keyed("k");
    begun.retention.level = Level::Masked;
    let token = begin(&ledger, begun.clone()).await;
    ledger.postpone(&token, Postponed::default()).await.unwrap();
    let mut other_prompt = begun.clone();
    "Something else.".clone_into(&mut other_prompt.job.prompt);
    let mut other_contract = begun.clone();
    "other".clone_into(&mut other_contract.contract.fingerprint);
    for other in [other_prompt, other_contract] {
        let refused = ledger.begin(other).await;
        assert!(matches!(refused, Err(StoreError::OtherJob { id }) if id == token.id().as_str()));
    }
    // Whoever takes it over does not keep more of it than was promised.
    let mut looser = begun;
    looser.retention.level = Level::Full;
    let again = begin(&ledger, looser).await;
    assert_eq!(again.id(), token.id());
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.store, Level::Masked);
}

async fn a_key_never_gives_the_result_of_another_job(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    ledger.finish(&token, met()).await.unwrap();
    let mut other = keyed("k");
    "Something else.".clone_into(&mut other.job.prompt);
    let refused = ledger.begin(other.clone()).await;
    assert!(matches!(refused, Err(StoreError::OtherJob { id }) if id == token.id().as_str()));
    assert!(matches!(ledger.begin(keyed("k")).await, Ok(Begun::Finished(_))));
    // Who wants it done again means the new text.
    other.repeat = Repeat::Always;
    assert!(matches!(ledger.begin(other).await, Ok(Begun::Fresh(_))));
}

/// Returns runs like `run` that ask something else, or somebody else.
fn other_questions(run: &NewRun) -> Vec<NewRun> {
    let change = |change: fn(&mut NewRun)| {
        let mut other = run.clone();
        change(&mut other);
        other
    };
    vec![
        change(|it| it.job.system = Some("You never write.".to_owned())),
        change(|it| it.job.system = None),
        change(|it| "claude".clone_into(&mut it.driver.driver)),
        change(|it| "openai".clone_into(&mut it.driver.provider)),
        change(|it| "claude-y".clone_into(&mut it.driver.model)),
    ]
}

async fn a_key_is_of_one_question_whatever_of_it_is_kept(bed: Bed) {
    let ledger = bed.open().await;
    for level in [Level::Full, Level::Masked, Level::Metadata] {
        let mut run = keyed(level.name());
        run.retention.level = level;
        let token = store(&ledger, run.clone(), met()).await;
        let mut others = other_questions(&run);
        others.push(NewRun { terms: vec!["temperature 1".to_owned()], ..run.clone() });
        let mut prompt = run.clone();
        "Something else.".clone_into(&mut prompt.job.prompt);
        others.push(prompt);
        for other in others {
            let refused = ledger.begin(other.clone()).await;
            assert!(
                matches!(refused, Err(StoreError::OtherJob { ref id }) if id == token.id().as_str()),
                "{other:?}"
            );
        }
        assert!(matches!(ledger.begin(run).await, Ok(Begun::Finished(_))));
    }
}

async fn a_key_of_an_older_version_is_compared_by_what_it_kept(bed: Bed) {
    let ledger = bed.open().await;
    store(&ledger, keyed("k"), met()).await;
    bed.meddle("UPDATE questions SET digest = NULL").await;
    for other in other_questions(&keyed("k")) {
        let refused = ledger.begin(other.clone()).await;
        assert!(matches!(refused, Err(StoreError::OtherJob { .. })), "{other:?}");
    }
    assert!(matches!(ledger.begin(keyed("k")).await, Ok(Begun::Finished(_))));
}

async fn a_run_that_is_named_may_be_done_by_another(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    ledger.postpone(&token, Postponed::default()).await.unwrap();
    for other in other_questions(&keyed("k")) {
        let refused = ledger.begin(other.clone()).await;
        assert!(matches!(refused, Err(StoreError::OtherJob { .. })), "{other:?}");
        let again = begin(&ledger, NewRun { repeat: Repeat::Named, ..other }).await;
        assert_eq!(again.id(), token.id());
        ledger.postpone(&again, Postponed::default()).await.unwrap();
    }
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

async fn writes_that_wait_together_share_a_commit(bed: Bed) {
    let ledger = bed.open().await;
    let before = ledger.commits();
    let runs = (0..400).map(|n| store_one(ledger.clone(), n));
    futures_util::future::join_all(runs.map(tokio::spawn)).await;
    let commits = ledger.commits() - before;
    assert_eq!(counted(&ledger).await, 400);
    assert!(commits <= 200, "800 writes took {commits} commits");
}

async fn store_one(ledger: airtight_store::Ledger, n: usize) {
    store(&ledger, keyed(&format!("key {n}")), met()).await;
}

/// What is only added waits for the end of its transaction, but not for whoever needs it there. On one
/// thread and SQLite, writes that are asked for together share a commit.
#[tokio::test]
async fn what_one_write_adds_is_there_for_the_next_of_the_same_commit() {
    let bed = Bed::sqlite();
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let event = || vec![NewEvent { kind: "e".to_owned(), body: "1".to_owned() }];
    let commits = ledger.commits();
    let postponed = Postponed { events: event(), ..Postponed::default() };
    let (left, taken) = tokio::join!(ledger.postpone(&token, postponed), ledger.begin(keyed("k")));
    left.unwrap();
    let Begun::Fresh(taken) = taken.unwrap() else { panic!("it is nobody's") };
    assert_eq!((ledger.commits() - commits, taken.attempt()), (1, 2), "numbers go on");

    let commits = ledger.commits();
    let finish = airtight_store::Finish { events: event(), ..met() };
    let (ended, asked) = tokio::join!(ledger.finish(&taken, finish), ledger.begin(keyed("k")));
    ended.unwrap();
    let Begun::Finished(run) = asked.unwrap() else { panic!("it is over") };
    assert_eq!(ledger.commits() - commits, 1);
    assert_eq!(run.prompt.as_deref(), Some("Write."));
    assert_eq!(run.parsed_output.as_deref(), Some(r#"{"n":1}"#));
    let numbers: Vec<_> =
        ledger.events(taken.id(), 0, 9).await.unwrap().iter().map(|event| event.number).collect();
    assert_eq!(numbers, [1, 2]);
}

#[tokio::test]
async fn what_ends_and_is_pruned_in_one_commit_leaves_nothing() {
    let bed = Bed::sqlite();
    let ledger = bed.open().await;
    let mut run = new_run();
    run.retention.keep = Some(Duration::ZERO);
    let token = begin(&ledger, run).await;
    let event = NewEvent { kind: "e".to_owned(), body: "1".to_owned() };
    let finish = airtight_store::Finish { events: vec![event], ..met() };
    let soon = ledger.now_ms() + 60_000;
    let (ended, pruned) = tokio::join!(ledger.finish(&token, finish), ledger.prune(soon));
    ended.unwrap();
    assert_eq!(pruned.unwrap().runs, 1);
    for table in ["runs", "questions", "answers", "attempts", "events"] {
        assert_eq!(bed.meddle(&format!("SELECT 1 FROM {table}")).await.len(), 0, "{table}");
    }
}

async fn a_write_that_fails_takes_nobody_with_it(bed: Bed) {
    let ledger = bed.open().await;
    let id = Some(RunId::from("taken".to_owned()));
    begin(&ledger, NewRun { id: id.clone(), ..new_run() }).await;
    let writes = (0..200).map(|n| {
        let id = id.clone().filter(|_| n % 10 == 0);
        ledger.begin(NewRun { id, ..new_run() })
    });
    let done = futures_util::future::join_all(writes).await;
    for (n, begun) in done.iter().enumerate() {
        assert_eq!(begun.is_err(), n % 10 == 0, "{n}: {begun:?}");
    }
    let page = Page { limit: 1000, ..Page::default() };
    assert_eq!(ledger.runs(&Filter::default(), page).await.unwrap().len(), 181);
}

async fn nothing_is_written_after_the_close(bed: Bed) {
    let ledger = bed.open().await;
    let other = ledger.clone();
    let pending = tokio::spawn({
        let ledger = ledger.clone();
        async move { begin(&ledger, new_run()).await }
    });
    let token = pending.await.unwrap();
    ledger.close().await;
    assert!(matches!(other.begin(new_run()).await, Err(StoreError::Closed)));
    assert!(matches!(other.run(token.id().as_str()).await, Err(StoreError::Closed)));
}

async fn short_lives_do_not_disturb_each_other(bed: Bed) {
    let lives = (0..8).map(|_| async {
        for _ in 0..10 {
            let ledger = bed.open().await;
            store(&ledger, new_run(), met()).await;
            ledger.close().await;
        }
    });
    futures_util::future::join_all(lives).await;
    assert_eq!(counted(&bed.open().await).await, 80);
}
