//! Statistics, from tallies.

use std::time::Duration;

use airtight_core::price::Cost;
use airtight_store::{Finish, GroupBy, Ledger, NewRun, StatsFilter};
use sqlx::Row as _;

use crate::bed::{Bed, failed, met, new_run, store};

crate::laws! {
    statistics_are_those_of_the_runs,
    a_model_that_fails_more_than_it_did_is_told,
    a_span_is_counted_by_the_hour_whatever_day_it_cuts,
    latencies_stay_short_however_many_runs_there_are,
    what_was_counted_before_there_were_days_is_carried_over,
    what_an_older_program_counts_is_told_along,
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
    bed.meddle("UPDATE tallies_by_hour SET hour = hour - 48").await;
    bed.meddle("UPDATE tallies_by_day SET day = day - 2").await;
    for _ in 0..25 {
        store(&ledger, by("worse"), failed()).await;
        store(&ledger, by("steady"), met()).await;
    }
    let drifts = ledger.drifts(ledger.now_ms() - 86_400_000).await.unwrap();
    assert_eq!(drifts.len(), 1);
    assert_eq!((drifts[0].0.as_str(), drifts[0].1.as_str()), ("anthropic", "worse"));
    assert!(drifts[0].2.recent.rate > 0.99 && drifts[0].2.history.rate < 0.01);
}

/// What older programs wrote: a row for each latency bucket.
const OLDER: &str = "INSERT INTO tallies (hour, provider, model, contract, contract_version, \
     outcome, rung, bucket, runs, valid, attempts, input_tokens, output_tokens, cost_nano, \
     unpriced, early_cancels, tokens_saved) VALUES";

/// Returns the rows of two runs in each of two hours of a day and in one of the next, in two buckets.
fn of_older_programs() -> String {
    let row = |hour: i64, bucket: i64, runs: i64| {
        format!(
            "({hour}, 'p', 'm', 'c', '1', 'met', 'tool', {bucket}, {runs}, {runs}, 2, 10, 5, 7, 0, 1, 3)"
        )
    };
    // 480,000 hours are 20,000 days.
    let rows =
        [row(480_000, 142, 1), row(480_000, 143, 1), row(480_023, 142, 2), row(480_024, 142, 1)];
    format!("{OLDER} {}", rows.join(", "))
}

async fn runs_between(ledger: &Ledger, since: i64, until: i64) -> u64 {
    const HOUR_MS: i64 = 3_600_000;
    let (since, until) = (Some(since * HOUR_MS), Some(until * HOUR_MS));
    let filter = StatsFilter { since, until, ..StatsFilter::default() };
    ledger.stats(&filter, &[]).await.unwrap().first().map_or(0, |stat| stat.runs)
}

async fn a_span_is_counted_by_the_hour_whatever_day_it_cuts(bed: Bed) {
    let ledger = bed.open().await;
    // A run in each of 72 hours, of which the first is midnight.
    for hour in 0..72 {
        store(&ledger, by("a"), met()).await;
        let first = 480_000 + hour;
        let sql = format!("UPDATE tallies_by_hour SET hour = {first} WHERE hour > 481000");
        bed.meddle(&sql).await;
        if hour % 24 == 23 {
            let day = first / 24;
            bed.meddle(&format!("UPDATE tallies_by_day SET day = {day} WHERE day > 20040")).await;
        }
    }
    for (since, until) in
        [(0, 72), (0, 24), (5, 24), (5, 29), (5, 70), (24, 48), (25, 27), (30, 30)]
    {
        let found = runs_between(&ledger, 480_000 + since, 480_000 + until).await;
        assert_eq!(found, u64::try_from(until - since).unwrap(), "{since} to {until}");
    }
    let hours = ledger.stats(&StatsFilter::default(), &[GroupBy::Hour]).await.unwrap();
    let days = ledger.stats(&StatsFilter::default(), &[GroupBy::Day]).await.unwrap();
    assert_eq!((hours.len(), days.len()), (72, 3));
    assert!(hours.iter().all(|hour| hour.runs == 1) && days.iter().all(|day| day.runs == 24));
}

async fn latencies_stay_short_however_many_runs_there_are(bed: Bed) {
    let ledger = bed.open().await;
    let took = |ms| Finish { elapsed: Some(Duration::from_millis(ms)), ..met() };
    store(&ledger, by("a"), took(500)).await;
    let tables = ["tallies_by_hour", "tallies_by_day"];
    // Buckets 127 and 128 are around half a second: a thousand runs one by one.
    let long = "127 128 ".repeat(500);
    for table in tables {
        bed.meddle(&format!("UPDATE {table} SET runs = 1000, latency = '{}'", long.trim_end()))
            .await;
    }
    store(&ledger, by("a"), took(500)).await;
    for table in tables {
        let rows = bed.meddle(&format!("SELECT latency FROM {table}")).await;
        let texts: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(texts, ["127:500 128:501"]);
    }
    let stats = ledger.stats(&StatsFilter::default(), &[]).await.unwrap();
    assert_eq!(stats[0].runs, 1001);
    assert!((475.0..525.0).contains(&stats[0].p50_ms), "{}", stats[0].p50_ms);
}

async fn what_was_counted_before_there_were_days_is_carried_over(bed: Bed) {
    bed.open().await.close().await;
    bed.meddle("DROP TABLE tallies_by_hour").await;
    bed.meddle("DROP TABLE tallies_by_day").await;
    bed.meddle("DELETE FROM schema_steps WHERE version = 8").await;
    bed.meddle(&of_older_programs()).await;
    let ledger = bed.open().await;
    assert_eq!(bed.meddle("SELECT hour FROM tallies").await.len(), 0);
    assert_eq!(bed.meddle("SELECT hour FROM tallies_by_hour").await.len(), 3);
    assert_eq!(bed.meddle("SELECT day FROM tallies_by_day").await.len(), 2);
    as_of_older_programs(&ledger).await;
}

async fn what_an_older_program_counts_is_told_along(bed: Bed) {
    let ledger = bed.open().await;
    bed.meddle(&of_older_programs()).await;
    as_of_older_programs(&ledger).await;
    store(&ledger, new_run(), met()).await;
    let all = ledger.stats(&StatsFilter::default(), &[]).await.unwrap();
    assert_eq!(all[0].runs, 6);
    assert_eq!(ledger.drifts(ledger.now_ms()).await.unwrap(), []);
}

/// Claims that what older programs counted is what statistics tell, by the day and by the hour.
async fn as_of_older_programs(ledger: &Ledger) {
    let days = ledger.stats(&StatsFilter::default(), &[GroupBy::Day]).await.unwrap();
    let days: Vec<_> = days.iter().map(|day| (day.runs, day.attempts, day.tokens_saved)).collect();
    assert_eq!(days, [(4, 6, 9), (1, 2, 3)]);
    let hours = ledger.stats(&StatsFilter::default(), &[GroupBy::Hour]).await.unwrap();
    assert_eq!(hours.iter().map(|hour| hour.runs).collect::<Vec<_>>(), [2, 2, 1]);
    let all = ledger.stats(&StatsFilter::default(), &[GroupBy::Rung]).await.unwrap();
    assert_eq!((all[0].runs, all[0].failed, all[0].input_tokens), (5, 0, 40));
    // The middle of bucket 142.
    assert!((960.0..1000.0).contains(&all[0].p50_ms), "{}", all[0].p50_ms);
    assert_eq!(runs_between(ledger, 480_000, 480_024).await, 4);
    assert_eq!(runs_between(ledger, 480_001, 480_025).await, 3);
}
