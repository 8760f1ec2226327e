//! Statistics, from tallies.

use std::time::Duration;

use airtight_core::price::Cost;
use airtight_store::{Finish, GroupBy, NewRun, StatsFilter};

use crate::bed::{Bed, failed, met, new_run, store};

crate::laws! {
    statistics_are_those_of_the_runs,
    a_model_that_fails_more_than_it_did_is_told,
}

fn by(model: &str) -> NewRun {
    let mut run = new_run();
    model.clone_into(&mut run.driver.model);
    run
}

async fn statistics_are_those_of_the_runs(bed: Bed) {
    let ledger = bed.open().await;
    for n in 1..=20u64 {
        let elapsed = Some(Duration::from_millis(100 * n));
        store(&ledger, by("a"), Finish { elapsed, ..met() }).await;
    }
    let cancelled = Finish { early_cancels: 2, tokens_saved: 500, ..failed() };
    store(&ledger, by("b"), cancelled).await;
    store(&ledger, by("b"), met()).await;

    let stats = ledger.stats(&StatsFilter::default(), &[GroupBy::Model]).await.unwrap();
    assert_eq!(stats.len(), 2);
    let [a, b] = &stats[..] else { panic!() };
    assert_eq!((a.group.as_slice(), a.runs, a.failed), (&["a".to_owned()][..], 20, 0));
    assert_eq!((a.attempts, a.input_tokens, a.output_tokens), (20, 140, 60));
    assert_eq!((a.cost_usd, a.unpriced), (Cost::from_usd(0.025).unwrap(), 0));
    assert!((950.0..1050.0).contains(&a.p50_ms), "{}", a.p50_ms);
    assert!((1800.0..2000.0).contains(&a.p95_ms), "{}", a.p95_ms);
    assert_eq!((b.runs, b.failed, b.unpriced), (2, 1, 1));
    assert_eq!((b.early_cancels, b.tokens_saved), (2, 500));
    assert_eq!(b.outcomes["attempts_exhausted"], 1);
    assert_eq!((b.rungs["tool"], b.rungs.len()), (1, 1));
    assert!(b.failure.low > 0.0 && b.failure.high < 1.0);

    let all = ledger.stats(&StatsFilter::default(), &[]).await.unwrap();
    assert_eq!((all.len(), all[0].runs), (1, 22));
    let filter = StatsFilter { model: Some("b".to_owned()), ..StatsFilter::default() };
    assert_eq!(ledger.stats(&filter, &[]).await.unwrap()[0].runs, 2);
    let filter = StatsFilter { until: Some(ledger.now_ms() - 3_600_000), ..StatsFilter::default() };
    assert_eq!(ledger.stats(&filter, &[]).await.unwrap(), []);
    let groups = [GroupBy::Day, GroupBy::Hour, GroupBy::Provider, GroupBy::Contract];
    let grouped = ledger.stats(&StatsFilter::default(), &groups).await.unwrap();
    let day: i64 = grouped[0].group[0].parse().unwrap();
    assert_eq!((day % 86_400_000, grouped[0].group[3].as_str()), (0, "blog-writer"));
    let groups = [GroupBy::Outcome, GroupBy::Rung, GroupBy::Version];
    assert_eq!(ledger.stats(&StatsFilter::default(), &groups).await.unwrap().len(), 2);
}

async fn a_model_that_fails_more_than_it_did_is_told(bed: Bed) {
    let ledger = bed.open().await;
    for model in ["steady", "worse"] {
        for _ in 0..40 {
            store(&ledger, by(model), met()).await;
        }
    }
    bed.meddle("UPDATE tallies SET hour = hour - 48").await;
    for _ in 0..25 {
        store(&ledger, by("worse"), failed()).await;
        store(&ledger, by("steady"), met()).await;
    }
    let drifts = ledger.drifts(ledger.now_ms() - 86_400_000).await.unwrap();
    assert_eq!(drifts.len(), 1);
    assert_eq!((drifts[0].0.as_str(), drifts[0].1.as_str()), ("anthropic", "worse"));
    assert!(drifts[0].2.recent.rate > 0.99 && drifts[0].2.history.rate < 0.01);
}
