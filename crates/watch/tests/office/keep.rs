//! What is kept no longer.

use std::time::Duration;

use airtight_core::watch::{Tier, Trigger};
use airtight_store::ActionFilter;

use crate::bench::{ALL, Bench, HOUR_MS};
use crate::crew::{Act, well};

/// Looks once on each of so many days, a little later each time.
async fn look(bench: &Bench, days: u32) {
    for _ in 0..days {
        bench.once((Trigger::Scheduled, Tier::Observe), [Act::Says(well())]).await;
        bench.pass(25 * HOUR_MS);
    }
}

fn logs(bench: &Bench) -> usize {
    std::fs::read_dir(&bench.estate.logs).unwrap().count()
}

/// What is over is dropped once a day, logs included, and that is an event.
#[tokio::test]
async fn what_is_kept_no_longer_is_dropped_once_a_day_and_told() {
    let mut bench = Bench::new().await;
    look(&bench, 5).await;
    assert_eq!((bench.sessions().await.len(), logs(&bench)), (5, 5), "for ever, if nobody says");
    bench.estate.keep = Some(Duration::from_hours(48));
    look(&bench, 3).await;
    assert_eq!((bench.sessions().await.len(), logs(&bench)), (2, 2));
    let messages = bench.messages().await;
    let (looked, told): (Vec<&String>, Vec<&String>) =
        messages.iter().partition(|it| *it == "looked");
    assert_eq!((looked.len(), told.len()), (2, 2), "{messages:?}");
    assert!(told.iter().all(|it| it.starts_with("what was over before ")), "{told:?}");
    assert!(told.iter().all(|it| it.ends_with("logs: 1)")), "{told:?}");
}

/// Whatever the file says: an action stays as long as it counts.
#[tokio::test]
async fn actions_are_kept_as_long_as_they_count() {
    let mut bench = Bench::new().await;
    bench.estate.keep = Some(Duration::from_hours(24));
    bench.estate.limits.restarts.within_ms = 60 * HOUR_MS;
    let repairs = Act::Runs(&["docker restart web", "docker restart db"]);
    bench.once((Trigger::Manual, Tier::Remediate), [repairs]).await;
    bench.pass(30 * HOUR_MS);
    look(&bench, 1).await;
    let actions = bench.ledger.actions(&ActionFilter::default(), ALL).await.unwrap();
    let of: Vec<&str> = actions.iter().map(|it| it.service.as_str()).collect();
    assert_eq!(of, ["web", "db"]);
}
