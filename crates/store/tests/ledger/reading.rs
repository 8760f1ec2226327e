//! Lists, single runs and exports.

use std::time::Duration;

use airtight_store::{
    Arrivals, EventBounds, Filter, Ledger, NewEvent, NewRun, Order, Page, Review, RunId, RunState,
    StoreError, Validity,
};
use futures_util::TryStreamExt as _;
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _};

use crate::bed::{Bed, begin, failed, met, new_run, store};

crate::laws! {
    pages_hold_every_run_once,
    filters_mean_what_they_say,
    a_run_is_found_by_the_beginning_of_its_name,
    the_beginning_of_a_fingerprint_means_the_same_in_every_language,
    an_export_tells_every_run_in_order,
    a_contract_is_stored_once,
    events_are_read_within_bounds,
    what_is_committed_after_the_call_is_not_missed,
    every_run_arrives_once,
}

async fn pages_hold_every_run_once(bed: Bed) {
    let ledger = bed.open().await;
    for _ in 0..25 {
        begin(&ledger, new_run()).await;
    }
    for order in [Order::NewestFirst, Order::OldestFirst] {
        let mut numbers = Vec::new();
        let mut page = Page { limit: 7, after: None, order };
        loop {
            let runs = ledger.runs(&Filter::default(), page).await.unwrap();
            let Some(last) = runs.last() else { break };
            page.after = Some(last.number);
            numbers.extend(runs.iter().map(|run| run.number));
        }
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!((numbers.len(), sorted.len()), (25, 25));
        if order == Order::NewestFirst {
            numbers.reverse();
        }
        assert_eq!(numbers, sorted);
    }
}

async fn filters_mean_what_they_say(bed: Bed) {
    let ledger = bed.open().await;
    let good = store(&ledger, NewRun { batch: Some("b".to_owned()), ..new_run() }, met()).await;
    let mut finish = failed();
    finish.review = Review::Flagged;
    let flagged = store(&ledger, new_run(), finish).await;
    let mut other = new_run();
    other.driver.model = String::from("gpt");
    other.contract.name = String::from("other");
    other.contract.fingerprint = "beef".repeat(16);
    let open = begin(&ledger, other).await;
    let text = |text: &str| Some(text.to_owned());
    let now = ledger.now_ms();
    let cases = [
        (Filter { outcome: text("met"), ..Filter::default() }, vec![&good]),
        (Filter { rung: text("tool"), ..Filter::default() }, vec![&good]),
        (Filter { valid: Some(Validity::Invalid), ..Filter::default() }, vec![&open, &flagged]),
        (Filter { valid: Some(Validity::Valid), ..Filter::default() }, vec![&good]),
        (Filter { state: Some(RunState::Open), ..Filter::default() }, vec![&open]),
        (Filter { state: Some(RunState::Unknown), ..Filter::default() }, vec![]),
        (Filter { state: Some(RunState::Done), ..Filter::default() }, vec![&flagged, &good]),
        (Filter { review: Some(Review::Flagged), ..Filter::default() }, vec![&flagged]),
        (Filter { batch: text("b"), ..Filter::default() }, vec![&good]),
        (
            Filter { model: text("gpt"), provider: text("anthropic"), ..Filter::default() },
            vec![&open],
        ),
        (Filter { contract: text("other"), ..Filter::default() }, vec![&open]),
        (Filter { contract: text("beefbeefbeef"), ..Filter::default() }, vec![&open]),
        (Filter { contract_version: text("1"), ..Filter::default() }, vec![]),
        (Filter { since: Some(now + 60_000), ..Filter::default() }, vec![]),
        (Filter { until: Some(now + 60_000), ..Filter::default() }, vec![&open, &flagged, &good]),
        (Filter { id: text(good.id().as_str()), ..Filter::default() }, vec![&good]),
        (Filter { model: text("'; DROP TABLE runs; --"), ..Filter::default() }, vec![]),
        (Filter { model: text("\0"), ..Filter::default() }, vec![]),
    ];
    for (filter, expected) in cases {
        let found = ledger.runs(&filter, Page::default()).await.unwrap();
        let found: Vec<&RunId> = found.iter().map(|run| &run.id).collect();
        let expected: Vec<&RunId> = expected.iter().map(|token| token.id()).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

async fn a_run_is_found_by_the_beginning_of_its_name(bed: Bed) {
    let ledger = bed.open().await;
    let named = |name: &str| NewRun { id: Some(RunId::from(name.to_owned())), ..new_run() };
    for name in ["abc", "abcd", "abx", "B", "ä%_"] {
        begin(&ledger, named(name)).await;
    }
    for (prefix, name) in
        [("abc", "abc"), ("abcd", "abcd"), ("abx", "abx"), ("B", "B"), ("ä", "ä%_")]
    {
        assert_eq!(ledger.run(prefix).await.unwrap().summary.id.as_str(), name);
    }
    assert!(matches!(ledger.run("ab").await, Err(StoreError::Ambiguous { .. })));
    for absent in ["b", "%", "", "\0", "abcde", "99"] {
        assert!(matches!(ledger.run(absent).await, Err(StoreError::NotFound { .. })), "{absent}");
    }
    let first = ledger.run("abc").await.unwrap();
    let number = first.summary.number.to_string();
    assert_eq!(ledger.run(&number).await.unwrap(), first);
}

async fn the_beginning_of_a_fingerprint_means_the_same_in_every_language(bed: Bed) {
    let ledger = bed.open().await;
    if !bed.is_sqlite() {
        // As in a database whose language orders words otherwise than bytes.
        bed.meddle("ALTER TABLE runs ALTER COLUMN fingerprint TYPE TEXT COLLATE \"und-x-icu\"")
            .await;
    }
    let under = |fingerprint: &str| {
        let mut run = new_run();
        run.contract.fingerprint = fingerprint.repeat(16);
        run
    };
    let meant = store(&ledger, under("beef"), met()).await;
    store(&ledger, under("bee0"), met()).await;
    for digits in [12, 13, 64] {
        let contract = "beef".repeat(16).get(..digits).map(str::to_owned);
        let filter = Filter { contract, ..Filter::default() };
        let runs = ledger.runs(&filter, Page::default()).await.unwrap();
        let found: Vec<&RunId> = runs.iter().map(|run| &run.id).collect();
        assert_eq!(found, [meant.id()], "{digits} digits");
    }
    let longer = Filter { contract: Some("beef".repeat(17)), ..Filter::default() };
    assert_eq!(ledger.runs(&longer, Page::default()).await.unwrap(), []);
}

async fn an_export_tells_every_run_in_order(bed: Bed) {
    let ledger = bed.open().await;
    for n in 0..50 {
        let mut finish = met();
        finish.output = Some(format!("answer {n}").into_bytes());
        store(&ledger, new_run(), if n % 2 == 0 { finish } else { failed() }).await;
    }
    let filter = Filter { outcome: Some("met".to_owned()), ..Filter::default() };
    let runs: Vec<_> = ledger.export(&filter).try_collect().await.unwrap();
    let outputs: Vec<_> = runs.into_iter().map(|run| run.output.unwrap()).collect();
    let expected: Vec<_> = (0..50).step_by(2).map(|n| format!("answer {n}").into_bytes()).collect();
    assert_eq!(outputs, expected);
}

async fn a_contract_is_stored_once(bed: Bed) {
    let ledger = bed.open().await;
    for _ in 0..3 {
        begin(&ledger, new_run()).await;
    }
    let contract = new_run().contract;
    assert_eq!(ledger.contract(&contract.fingerprint).await.unwrap(), contract);
    assert!(matches!(ledger.contract("nobody").await, Err(StoreError::NotFound { .. })));
    assert_eq!(bed.meddle("SELECT name FROM contracts").await.len(), 1);
}

async fn events_are_read_within_bounds(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, new_run()).await;
    let event = |bytes: usize| NewEvent {
        kind: "e".to_owned(),
        body: format!("\"{}\"", "é".repeat(bytes / 2 - 1)),
    };
    ledger.append(&token, [40, 40, 200, 40, 40].map(event).to_vec()).await.unwrap();
    let wide = EventBounds { rows: 10, body_bytes: 100, all_bytes: 100 };
    let read = async |after: i64, bounds: EventBounds| {
        let page = ledger.events_within(token.id(), after, bounds).await.unwrap();
        let told = |it: &airtight_store::BoundedEvent| {
            (it.event.number, it.event.body.is_some(), it.left_out_bytes)
        };
        (page.events.iter().map(told).collect::<Vec<_>>(), page.is_last)
    };
    let (first, rest) = (
        vec![(1, true, None), (2, true, None), (3, false, Some(200))],
        vec![(4, true, None), (5, true, None)],
    );
    assert_eq!(read(0, wide).await, (first.clone(), false));
    assert_eq!(read(3, wide).await, (rest.clone(), true));
    assert_eq!(read(5, wide).await, (Vec::new(), true));
    let few = EventBounds { rows: 2, ..wide };
    assert_eq!(read(3, few).await, (rest, false), "there may be more");
    // One is read, however long it is.
    let narrow = EventBounds { all_bytes: 10, ..wide };
    assert_eq!(read(0, narrow).await, (first[..1].to_vec(), false));
}

async fn what_is_committed_after_the_call_is_not_missed(bed: Bed) {
    let ledger = bed.open().await;
    let committed = ledger.committed();
    begin(&ledger, new_run()).await;
    tokio::time::timeout(Duration::from_mins(1), committed).await.unwrap();
}

/// Returns the names of the runs that have arrived since the last time.
async fn arrived(ledger: &Ledger, arrivals: &mut Arrivals) -> Vec<String> {
    let runs = ledger.arrived(arrivals, 10).await.unwrap();
    runs.iter().map(|run| run.id.to_string()).collect()
}

async fn every_run_arrives_once(bed: Bed) {
    let ledger = bed.open().await;
    begin(&ledger, new_run()).await;
    let mut arrivals = ledger.arrivals().await.unwrap();
    assert!(arrived(&ledger, &mut arrivals).await.is_empty(), "it was there before");
    let runs = (0..25).map(|_| begin(&ledger, new_run()));
    let runs = futures_util::future::join_all(runs).await;
    let mut expected: Vec<String> = runs.iter().map(|token| token.id().to_string()).collect();
    let mut found = Vec::new();
    loop {
        match arrived(&ledger, &mut arrivals).await {
            none if none.is_empty() => break,
            some => found.extend(some),
        }
    }
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// PostgreSQL gives numbers before it commits: who has a number first may be committed last.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_committed_after_a_later_one_is_not_passed_over() {
    const COLUMNS: &str = "fingerprint, contract, contract_version, driver, provider, model, mode, \
         state, token, owner, valid, review, attempts, early_cancels, tokens_saved, started_at, level";
    let bed = Bed::postgres();
    let ledger = bed.open().await;
    let first = store(&ledger, new_run(), met()).await;
    let mut arrivals = ledger.arrivals().await.unwrap();
    let mut slow = AnyConnection::connect(&bed.url).await.unwrap();
    sqlx::raw_sql("BEGIN").execute(&mut slow).await.unwrap();
    let copy = format!(
        "INSERT INTO runs (id, {COLUMNS}) SELECT 'slow', {COLUMNS} FROM runs WHERE seq = {}",
        first.number()
    );
    sqlx::raw_sql(AssertSqlSafe(copy)).execute(&mut slow).await.unwrap();
    let quick = store(&ledger, new_run(), met()).await;
    assert_eq!(arrived(&ledger, &mut arrivals).await, [quick.id().as_str()]);
    // Whoever begins to look now has not seen the slow one either.
    let mut later = ledger.arrivals().await.unwrap();
    for arrivals in [&mut arrivals, &mut later] {
        assert!(arrived(&ledger, arrivals).await.is_empty());
    }
    sqlx::raw_sql("COMMIT").execute(&mut slow).await.unwrap();
    for arrivals in [&mut arrivals, &mut later] {
        assert_eq!(arrived(&ledger, arrivals).await, ["slow"]);
        assert!(arrived(&ledger, arrivals).await.is_empty(), "each is told once");
    }
    let run = ledger.summary("slow").await.unwrap();
    assert!(run.number < quick.number());
}
