//! Commits: writes share them, and neither fail nor end for each other.

use std::time::Duration;

use airtight_store::{
    Acknowledged, Begun, Filter, NewEvent, NewRun, Page, Postponed, RunId, RunState, StoreError,
};

use crate::bed::{Bed, begin, counted, keyed, met, new_run, store};

crate::laws! {
    writes_that_wait_together_share_a_commit,
    a_run_that_is_acknowledged_at_its_end_is_there_for_others_when_begin_returns,
    a_write_that_fails_takes_nobody_with_it,
    nothing_is_written_after_the_close,
    short_lives_do_not_disturb_each_other,
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

async fn a_run_that_is_acknowledged_at_its_end_is_there_for_others_when_begin_returns(bed: Bed) {
    let ledger = bed.open().await;
    let acknowledged = Acknowledged::Ended;
    let commits = ledger.commits();
    let token = begin(&ledger, NewRun { acknowledged, ..new_run() }).await;
    // Long before the heartbeat, it goes to the disk by a commit of its own.
    let synced = async {
        while ledger.commits() < commits + 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), synced).await.unwrap();
    let other = bed.open().await;
    let begun = other.run(token.id().as_str()).await.unwrap();
    assert_eq!((begun.summary.state, begun.prompt.as_deref()), (RunState::Open, Some("Write.")));
    ledger.finish(&token, met()).await.unwrap();
    assert!(other.run(token.id().as_str()).await.unwrap().summary.output_valid);
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
