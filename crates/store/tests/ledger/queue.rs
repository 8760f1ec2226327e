//! The queue: jobs are claimed in order, by one worker each, and leave it with their result.

use std::collections::HashSet;
use std::time::Duration;

use airtight_store::{
    Again, Bucket, ClaimedJob, JobFilter, JobState, Ledger, NewJob, Page, Postponed, QueueCounts,
    Repeat, StoreError, Worker,
};

use crate::bed::{Bed, begin, failed, keyed, met, store};

crate::laws! {
    jobs_are_claimed_in_order_and_leave_with_their_result,
    a_job_is_queued_once,
    no_two_workers_claim_the_same_job,
    a_lost_lease_gives_the_job_to_another_and_fences_the_first,
    a_job_that_takes_workers_down_is_quarantined,
    a_postponed_job_comes_back_later,
    a_job_that_is_left_to_another_worker_has_not_failed,
    a_job_that_nobody_can_do_waits_for_a_person,
    people_retry_and_cancel_jobs,
    many_jobs_are_queued_in_pieces,
    there_is_one_leader_at_a_time,
    a_bucket_makes_everybody_wait_in_line,
    who_looks_at_a_bucket_takes_nothing,
    keys_that_have_their_result_are_told_apart,
}

fn job(key: &str) -> NewJob {
    NewJob { key: Some(key.to_owned()), payload: format!("do {key}"), ..NewJob::default() }
}

fn up_to(limit: u32) -> Worker {
    Worker { limit, ..Worker::default() }
}

/// A worker whose leases are over at once.
fn hasty() -> Worker {
    Worker { lease: Duration::ZERO, ..Worker::default() }
}

async fn claim_one(ledger: &Ledger, worker: &Worker) -> ClaimedJob {
    // A lease of no time is over in the next millisecond.
    tokio::time::sleep(Duration::from_millis(5)).await;
    let mut jobs = ledger.claim(worker).await.unwrap();
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

async fn jobs_are_claimed_in_order_and_leave_with_their_result(bed: Bed) {
    let ledger = bed.open().await;
    let jobs = vec![
        NewJob { priority: 5, ..job("low") },
        NewJob { after: Duration::from_hours(1), ..job("later") },
        job("first"),
        NewJob { payload: "with \0".to_owned(), ..job("second") },
        NewJob { queue: "other".to_owned(), ..job("elsewhere") },
    ];
    assert_eq!(ledger.enqueue(jobs).await.unwrap().added, 5);
    let jobs = ledger.claim(&up_to(10)).await.unwrap();
    let keys: Vec<_> = jobs.iter().map(|job| job.key.as_deref().unwrap()).collect();
    assert_eq!(keys, ["first", "second", "low"]);
    assert_eq!(jobs[1].payload, "with \0");
    assert_eq!(ledger.claim(&up_to(10)).await.unwrap(), []);

    let token = begin(&ledger, keyed("first")).await;
    let mut finish = met();
    finish.claim = Some(jobs[0].claim.clone());
    ledger.finish(&token, finish.clone()).await.unwrap();
    ledger.finish(&token, finish).await.unwrap();
    ledger.complete(&jobs[1].claim).await.unwrap();
    let counts = ledger.queue_counts(&JobFilter::default()).await.unwrap();
    assert_eq!(counts, QueueCounts { ready: 2, claimed: 1, quarantined: 0 });
    assert_eq!(bed.meddle("SELECT job FROM payloads").await.len(), 3);
}

async fn a_job_is_queued_once(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("over")).await;
    ledger.finish(&token, met()).await.unwrap();
    let done = ledger.enqueue(vec![job("a"), job("b"), job("over")]).await.unwrap();
    assert_eq!((done.added, done.known), (2, 1));
    let done = ledger.enqueue(vec![job("a"), job("c"), NewJob::default()]).await.unwrap();
    assert_eq!((done.added, done.known), (2, 1));
    let jobs = ledger.claim(&up_to(10)).await.unwrap();
    assert!(jobs.iter().all(|job| job.key.is_some()), "a job without a key gets one");
}

async fn no_two_workers_claim_the_same_job(bed: Bed) {
    let ledger = bed.open().await;
    let jobs = (0..200).map(|n| job(&format!("{n:03}"))).collect();
    ledger.enqueue(jobs).await.unwrap();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let ledger = bed.open().await;
        workers.spawn(async move {
            let mut keys = Vec::new();
            loop {
                let jobs = ledger.claim(&up_to(7)).await.unwrap();
                if jobs.is_empty() {
                    return keys;
                }
                keys.extend(jobs.into_iter().map(|job| job.key.unwrap()));
            }
        });
    }
    let mut keys = workers.join_all().await.concat();
    keys.sort_unstable();
    let all: Vec<String> = (0..200).map(|n| format!("{n:03}")).collect();
    assert_eq!(keys, all);
}

async fn a_lost_lease_gives_the_job_to_another_and_fences_the_first(bed: Bed) {
    let ledger = bed.open().await;
    ledger.enqueue(vec![job("k")]).await.unwrap();
    let first = claim_one(&ledger, &hasty()).await;
    let second = claim_one(&ledger, &up_to(1)).await;
    assert_eq!((first.claims, second.claims), (1, 2));
    let both = [first.claim.clone(), second.claim.clone()];
    let lost = ledger.heartbeat(&both, Duration::from_mins(1)).await.unwrap();
    assert_eq!(lost, std::slice::from_ref(&first.claim));
    let lost = airtight_store::NewRun { claim: Some(first.claim.clone()), ..keyed("k") };
    assert!(matches!(ledger.begin(lost).await, Err(StoreError::Fenced)));
    let token = begin(&ledger, keyed("k")).await;
    let late = airtight_store::Finish { claim: Some(first.claim.clone()), ..met() };
    assert!(matches!(ledger.finish(&token, late).await, Err(StoreError::Fenced)));
    let released = ledger.release(&first.claim, Again::default(), "late").await;
    assert!(matches!(released, Err(StoreError::Fenced)));
    let finish = airtight_store::Finish { claim: Some(second.claim), ..met() };
    ledger.finish(&token, finish).await.unwrap();
    assert_eq!(ledger.queue_counts(&JobFilter::default()).await.unwrap(), QueueCounts::default());
}

async fn a_job_that_takes_workers_down_is_quarantined(bed: Bed) {
    let ledger = bed.open().await;
    ledger.enqueue(vec![job("poison"), NewJob { priority: 1, ..job("good") }]).await.unwrap();
    let worker = Worker { claims: 3, ..hasty() };
    for claims in 1..=3 {
        let claimed = claim_one(&ledger, &worker).await;
        assert_eq!((claimed.key.as_deref(), claimed.claims), (Some("poison"), claims));
    }
    assert_eq!(claim_one(&ledger, &worker).await.key.as_deref(), Some("good"));
    let filter = JobFilter { state: Some(JobState::Quarantined), ..JobFilter::default() };
    let jobs = ledger.jobs(&filter, Page::default()).await.unwrap();
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].error.as_deref(), Some("its worker was lost"));
}

async fn a_postponed_job_comes_back_later(bed: Bed) {
    let ledger = bed.open().await;
    ledger.enqueue(vec![job("k")]).await.unwrap();
    let first = claim_one(&ledger, &up_to(1)).await;
    let token = begin(&ledger, keyed("k")).await;
    let later = Postponed {
        again: Again::After(Duration::from_hours(1)),
        error: "overloaded".to_owned(),
        claim: Some(first.claim),
        ..Postponed::default()
    };
    ledger.postpone(&token, later).await.unwrap();
    assert_eq!(ledger.claim(&up_to(1)).await.unwrap(), []);
    let jobs = ledger.jobs(&JobFilter::default(), Page::default()).await.unwrap();
    assert_eq!((jobs[0].failures, jobs[0].error.as_deref()), (1, Some("overloaded")));
    assert!(jobs[0].run_at > ledger.now_ms() + 3_000_000);
    ledger.retry(&JobFilter::default()).await.unwrap();
    let again = claim_one(&ledger, &up_to(1)).await;
    assert_eq!((again.claims, again.failures), (1, 1), "to be put back is an ending");
    let resumed = begin(&ledger, keyed("k")).await;
    assert_eq!(resumed.id(), token.id());
    let finish = airtight_store::Finish { claim: Some(again.claim), ..met() };
    ledger.finish(&resumed, finish).await.unwrap();
}

async fn a_job_that_nobody_can_do_waits_for_a_person(bed: Bed) {
    let ledger = bed.open().await;
    ledger.enqueue(vec![job("k"), job("l")]).await.unwrap();
    let first = claim_one(&ledger, &up_to(1)).await;
    let token = begin(&ledger, keyed("k")).await;
    let never = Postponed {
        again: Again::WhenAsked,
        error: "no such model".to_owned(),
        claim: Some(first.claim),
        ..Postponed::default()
    };
    ledger.postpone(&token, never).await.unwrap();
    let second = claim_one(&ledger, &up_to(1)).await;
    ledger.release(&second.claim, Again::WhenAsked, "unreadable").await.unwrap();
    assert_eq!(ledger.claim(&up_to(2)).await.unwrap(), []);
    let jobs = ledger.jobs(&JobFilter::default(), Page::default()).await.unwrap();
    let told: Vec<_> = jobs.iter().map(|job| (job.state, job.error.as_deref().unwrap())).collect();
    let set_aside = |why| (JobState::Quarantined, why);
    assert_eq!(told, [set_aside("unreadable"), set_aside("no such model")]);
    assert_eq!(ledger.retry(&JobFilter::default()).await.unwrap(), 2);
    assert_eq!(ledger.claim(&up_to(2)).await.unwrap().len(), 2);
}

async fn people_retry_and_cancel_jobs(bed: Bed) {
    let ledger = bed.open().await;
    let of = |batch: &str, key| NewJob { batch: Some(batch.to_owned()), ..job(key) };
    ledger.enqueue(vec![of("x", "a"), of("x", "b"), of("y", "c")]).await.unwrap();
    let claimed = claim_one(&ledger, &up_to(1)).await;
    let batch = |batch: &str| JobFilter { batch: Some(batch.to_owned()), ..JobFilter::default() };
    assert_eq!(ledger.cancel(&batch("x")).await.unwrap(), 1, "a worker has the other");
    let left = ledger.jobs(&JobFilter::default(), Page::default()).await.unwrap();
    let left: Vec<_> = left.iter().map(|job| job.key.as_deref().unwrap()).collect();
    assert_eq!(left, ["c", "a"]);
    ledger.release(&claimed.claim, Again::After(Duration::from_hours(1)), "later").await.unwrap();
    assert_eq!(ledger.retry(&batch("x")).await.unwrap(), 1);
    assert_eq!(claim_one(&ledger, &up_to(1)).await.key.as_deref(), Some("c"));
    assert_eq!(claim_one(&ledger, &up_to(1)).await.key.as_deref(), Some("a"));
}

async fn a_job_that_is_left_to_another_worker_has_not_failed(bed: Bed) {
    let ledger = bed.open().await;
    ledger.enqueue(vec![job("a")]).await.unwrap();
    for (again, failures) in [(Again::Elsewhere(Duration::ZERO), 0), (Again::default(), 1)] {
        let claimed = claim_one(&ledger, &up_to(1)).await;
        ledger.release(&claimed.claim, again, "no key").await.unwrap();
        let left = ledger.jobs(&JobFilter::default(), Page::default()).await.unwrap();
        assert_eq!(left[0].failures, failures);
    }
}

async fn many_jobs_are_queued_in_pieces(bed: Bed) {
    let ledger = bed.open().await;
    let before = ledger.commits();
    let jobs = (0..3000).map(|n| job(&format!("{n}"))).collect();
    assert_eq!(ledger.enqueue(jobs).await.unwrap().added, 3000);
    assert!((6..20).contains(&(ledger.commits() - before)));
}

async fn there_is_one_leader_at_a_time(bed: Bed) {
    let first = bed.open().await;
    let second = bed.open().await;
    let minute = Duration::from_mins(1);
    let lease = first.lease("supervisor", minute).await.unwrap().unwrap();
    assert_eq!(second.lease("supervisor", minute).await.unwrap(), None);
    assert!(second.lease("another", minute).await.unwrap().is_some());
    assert_eq!(first.lease("supervisor", Duration::ZERO).await.unwrap(), Some(lease));
    tokio::time::sleep(Duration::from_millis(20)).await;
    let taken = second.lease("supervisor", minute).await.unwrap().unwrap();
    assert!(taken.fence > lease.fence);
    assert_eq!(first.lease("supervisor", minute).await.unwrap(), None);
    first.unlease("supervisor").await.unwrap();
    assert_eq!(first.lease("supervisor", minute).await.unwrap(), None, "it was not its own");
    second.unlease("supervisor").await.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(first.lease("supervisor", minute).await.unwrap().is_some());
}

async fn a_bucket_makes_everybody_wait_in_line(bed: Bed) {
    let first = bed.open().await;
    let second = bed.open().await;
    let bucket = Bucket { name: "anthropic/k1".to_owned(), per_minute: 1, burst: 3 };
    for ledger in [&first, &second, &first] {
        assert_eq!(ledger.take(&bucket, 1).await.unwrap(), Duration::ZERO);
    }
    let minute = |wait: Duration| wait.as_secs_f64() / 60.0;
    let fourth = minute(second.take(&bucket, 1).await.unwrap());
    let fifth = minute(first.take(&bucket, 1).await.unwrap());
    assert!((0.5..=1.0).contains(&fourth) && (1.5..=2.0).contains(&fifth), "{fourth} {fifth}");
    let other = Bucket { name: "openai/k1".to_owned(), ..bucket };
    second.hold(&other, Duration::from_mins(10)).await.unwrap();
    let held = minute(first.take(&other, 1).await.unwrap());
    assert!((10.0..=11.1).contains(&held), "{held}");
}

async fn who_looks_at_a_bucket_takes_nothing(bed: Bed) {
    let first = bed.open().await;
    let second = bed.open().await;
    // One that is filled at once holds back exactly as long as was said.
    let bucket = Bucket { name: "anthropic/k1".to_owned(), per_minute: u32::MAX, burst: 1 };
    assert_eq!(second.held(&bucket).await.unwrap(), Duration::ZERO);
    first.hold(&bucket, Duration::from_mins(10)).await.unwrap();
    first.hold(&bucket, Duration::from_mins(1)).await.unwrap();
    for ledger in [&first, &second] {
        let held = ledger.held(&bucket).await.unwrap().as_secs_f64() / 60.0;
        assert!((9.0..=10.1).contains(&held), "{held}");
    }
}

async fn keys_that_have_their_result_are_told_apart(bed: Bed) {
    let ledger = bed.open().await;
    store(&ledger, keyed("met"), met()).await;
    store(&ledger, keyed("failed"), failed()).await;
    begin(&ledger, keyed("under way")).await;
    let keys: Vec<String> = ["met", "failed", "under way", "new"].map(str::to_owned).into();
    let cases: [(Repeat, &[&str]); 3] =
        [(Repeat::Never, &["failed", "met"]), (Repeat::Failed, &["met"]), (Repeat::Always, &[])];
    for (repeat, expected) in cases {
        let known = ledger.settled(&keys, repeat).await.unwrap();
        let expected: HashSet<String> = expected.iter().map(|key| (*key).to_owned()).collect();
        assert_eq!(known, expected, "{repeat:?}");
    }
}
