//! Lists, single runs and exports.

use airtight_store::{Filter, NewRun, Order, Page, Review, RunId, RunState, StoreError, Validity};
use futures_util::TryStreamExt as _;

use crate::bed::{Bed, begin, failed, met, new_run, store};

crate::laws! {
    pages_hold_every_run_once,
    filters_mean_what_they_say,
    a_run_is_found_by_the_beginning_of_its_name,
    an_export_tells_every_run_in_order,
    a_contract_is_stored_once,
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
    assert_eq!(ledger.contract("blog-writer").await.unwrap(), contract);
    assert_eq!(ledger.contract("f00df00d").await.unwrap(), contract);
    assert!(matches!(ledger.contract("nobody").await, Err(StoreError::NotFound { .. })));
    assert_eq!(bed.meddle("SELECT name FROM contracts").await.len(), 1);
}
