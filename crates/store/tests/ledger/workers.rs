//! Processes that are killed, stopped and cut off. Nothing acknowledged is lost, and every key has
//! one final result.

use std::time::Duration;

use airtight_store::{
    AttemptState, Begun, JobFilter, Ledger, NewJob, QueueCounts, RunState, StoreError, Worker,
};
use rustix::process::Signal;
use sqlx::Row as _;

use crate::bed::{Bed, begin, counted, keyed, met, new_run, store};
use crate::child::Child;
use crate::postgres::Server;
use crate::proxy::Proxy;

crate::laws! {
    what_was_acknowledged_survives_a_kill_at_any_point,
    the_jobs_of_a_killed_worker_are_claimed_again,
    a_worker_that_was_stopped_past_its_lease_is_refused,
    of_two_supervisors_one_leads_until_it_is_killed,
    old_workers_go_on_while_the_schema_grows,
}

async fn what_was_acknowledged_survives_a_kill_at_any_point(bed: Bed) {
    let ledger = bed.open().await;
    let steps = ["begin", "attempt", "append", "finish"];
    for killed_after in 1..=steps.len() {
        let key = format!("killed after {killed_after}");
        let mut child = Child::start(&bed.url);
        let begun = child.tell(&format!("begin {key}"));
        let id = begun.strip_prefix("fresh ").unwrap().to_owned();
        for step in &steps[1..killed_after] {
            assert_eq!(child.tell(step), "done");
        }
        child.kill();
        let run = ledger.run(&id).await.unwrap();
        let attempts = ledger.attempts(&run.summary.id).await.unwrap();
        assert_eq!(attempts.len(), killed_after.min(2));
        assert!(attempts.iter().all(|attempt| attempt.state == AttemptState::Unknown));
        let events = ledger.events(&run.summary.id, 0, 10).await.unwrap();
        assert_eq!(events.len(), usize::from(killed_after >= 3));
        let begun = ledger.begin(keyed(&key)).await.unwrap();
        if killed_after == steps.len() {
            assert_eq!(run.summary.state, RunState::Done);
            assert!(matches!(begun, Begun::Finished(_)));
            continue;
        }
        assert_eq!(run.summary.state, RunState::Unknown);
        let Begun::Fresh(token) = begun else { panic!("{begun:?}") };
        assert!(token.is_taken_over());
        ledger.finish(&token, met()).await.unwrap();
    }
    assert_eq!(counted(&ledger).await, 4);
}

async fn the_jobs_of_a_killed_worker_are_claimed_again(bed: Bed) {
    let ledger = bed.open().await;
    ledger.enqueue(vec![NewJob { key: Some("k".to_owned()), ..NewJob::default() }]).await.unwrap();
    let mut child = Child::start(&bed.url);
    assert_eq!(child.tell("claim 300"), "claimed 1");
    assert!(child.tell("begin k").starts_with("fresh"));
    child.kill();
    let job = claim_when_ready(&ledger).await;
    assert_eq!(job.claims, 2);
    let token = begin(&ledger, keyed("k")).await;
    assert!(token.is_taken_over());
    let finish = airtight_store::Finish { claim: Some(job.claim), ..met() };
    ledger.finish(&token, finish).await.unwrap();
    assert_eq!(ledger.queue_counts(&JobFilter::default()).await.unwrap(), QueueCounts::default());
}

async fn claim_when_ready(ledger: &Ledger) -> airtight_store::ClaimedJob {
    for _ in 0..600 {
        if let Some(job) = ledger.claim(&Worker::default()).await.unwrap().pop() {
            return job;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the lease is never over");
}

async fn a_worker_that_was_stopped_past_its_lease_is_refused(bed: Bed) {
    let ledger = bed.open().await;
    ledger.enqueue(vec![NewJob { key: Some("k".to_owned()), ..NewJob::default() }]).await.unwrap();
    let mut child = Child::start(&bed.url);
    assert_eq!(child.tell("claim 300"), "claimed 1");
    let begun = child.tell("begin k");
    let id = begun.strip_prefix("fresh ").unwrap().to_owned();
    child.signal(Signal::STOP);
    let job = claim_when_ready(&ledger).await;
    // The stopped process lives, so its run is its own, but for whoever has its job.
    assert!(matches!(ledger.begin(keyed("k")).await.unwrap(), Begun::Busy { .. }));
    let claim = Some(job.claim.clone());
    let token = begin(&ledger, airtight_store::NewRun { claim, ..keyed("k") }).await;
    assert!(token.is_taken_over());
    child.signal(Signal::CONT);
    let refused = child.tell("finish");
    assert!(refused.starts_with("error: another process has taken this over"), "{refused}");
    child.kill();
    let finish = airtight_store::Finish { claim: Some(job.claim), ..met() };
    ledger.finish(&token, finish).await.unwrap();
    let run = ledger.run(&id).await.unwrap();
    assert_eq!(run.summary.outcome.as_deref(), Some("met"));
    let attempts = ledger.attempts(&run.summary.id).await.unwrap();
    assert_eq!(attempts.iter().filter(|a| a.state == AttemptState::Stray).count(), 1);
    assert_eq!(counted(&ledger).await, 1);
}

async fn of_two_supervisors_one_leads_until_it_is_killed(bed: Bed) {
    drop(bed.open().await);
    let (mut first, mut second) = (Child::start(&bed.url), Child::start(&bed.url));
    assert_eq!(first.tell("lease 600000"), "leads 1");
    assert_eq!(second.tell("lease 600000"), "no");
    first.kill();
    assert_eq!(second.tell("lease 600000"), "leads 2", "who is gone has nothing");
    second.kill();
}

async fn old_workers_go_on_while_the_schema_grows(bed: Bed) {
    let old = bed.open().await;
    let token = begin(&old, keyed("k")).await;
    bed.meddle("ALTER TABLE runs ADD COLUMN of_the_future TEXT").await;
    bed.meddle("INSERT INTO schema_steps VALUES (9, 'future', '', '9.9', 0)").await;
    old.finish(&token, met()).await.unwrap();
    store(&old, new_run(), met()).await;
    let refused = Ledger::open(&bed.location).await;
    assert!(matches!(refused, Err(StoreError::Newer { found: 9, known: 8 })));
    let message = refused.err().unwrap().to_string();
    assert!(message.contains("newer airtight (schema 9, this one knows 8)"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_cut_during_the_commit_leaves_one_result() {
    let url = Server::shared().database();
    let proxy = Proxy::before(Server::shared().port()).await;
    let through =
        url.replace(&format!(":{}/", Server::shared().port()), &format!(":{}/", proxy.port));
    let direct = Bed::at(url);
    let ledger = Bed::at(through).open().await;
    for n in 0..5 {
        let key = format!("key {n}");
        proxy.cut_after_commits(1);
        let token = begin(&ledger, keyed(&key)).await;
        assert_eq!(proxy.cuts_left(), 0, "the commit was cut off");
        proxy.cut_after_commits(1);
        let event = airtight_store::NewEvent { kind: "e".to_owned(), body: "1".to_owned() };
        ledger.append(&token, vec![event]).await.unwrap();
        proxy.cut_after_commits(1);
        ledger.finish(&token, met()).await.unwrap();
        assert_eq!(proxy.cuts_left(), 0);
        let run = ledger.run(token.id().as_str()).await.unwrap();
        assert_eq!(run.summary.outcome.as_deref(), Some("met"));
        assert_eq!(ledger.events(token.id(), 0, 10).await.unwrap().len(), 1);
    }
    let jobs = vec![NewJob { key: Some("j".to_owned()), ..NewJob::default() }; 1];
    proxy.cut_after_commits(1);
    ledger.enqueue(jobs).await.unwrap();
    proxy.cut_after_commits(1);
    assert_eq!(ledger.claim(&Worker::default()).await.unwrap().len(), 1);
    assert_eq!(counted(&direct.open().await).await, 5, "once each");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_restarts_loses_nothing_acknowledged() {
    let server = Server::own();
    let bed = Bed::at(server.database());
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let (server, runs) = tokio::join!(
        tokio::task::spawn_blocking(move || {
            server.restart();
            server
        }),
        async {
            let mut runs = Vec::new();
            for n in 0..20 {
                runs.push(store(&ledger, keyed(&format!("during {n}")), met()).await);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            runs
        }
    );
    ledger.finish(&token, met()).await.unwrap();
    for run in runs.iter().chain([&token]) {
        let run = ledger.run(run.id().as_str()).await.unwrap();
        assert_eq!(run.summary.outcome.as_deref(), Some("met"));
    }
    assert_eq!(counted(&ledger).await, 21);
    drop(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_transaction_is_open_while_models_answer() {
    let bed = Bed::postgres();
    let ledger = bed.open().await;
    let begun = (0..50).map(|_| begin(&ledger, new_run()));
    let tokens = futures_util::future::join_all(begun).await;
    let busy = "SELECT COUNT(*), COUNT(CASE WHEN state LIKE 'idle in transaction%' THEN 1 END) \
                FROM pg_stat_activity WHERE datname = current_database() \
                AND application_name = 'airtight'";
    let rows = bed.meddle(busy).await;
    let (open, in_transaction): (i64, i64) = (rows[0].get(0), rows[0].get(1));
    assert_eq!(in_transaction, 0);
    assert!(open <= 8, "50 runs hold {open} connections");
    for token in tokens {
        ledger.finish(&token, met()).await.unwrap();
    }
}
