//! A ledger that fails for a while.

use std::sync::Arc;
use std::time::Duration;

use airtight_core::watch::{ChainOutcome, Tier, Trigger};
use sqlx::Connection as _;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, HOUR_MS};
use crate::crew::{Act, Crew, well};

/// What a session yields is not thrown away because its ledger fails for a moment.
#[tokio::test]
async fn what_a_session_yields_is_tried_again_while_the_lead_holds() {
    let bench = Bench::new().await;
    let ended = bench.once((Trigger::Scheduled, Tier::Observe), [Act::SaysTo(well(), 3)]).await;
    assert_eq!(ended, ChainOutcome::Settled { acted_on: Vec::new() });
    assert_eq!(bench.messages().await, ["looked"], "once");
    assert_eq!(bench.sessions().await, [(1, "completed".to_owned())]);
}

/// The watch goes on when its ledger is back, with the chain that it had to leave.
#[tokio::test]
async fn a_ledger_that_another_holds_for_a_while_does_not_end_the_watch() {
    let bench = Bench::new().await;
    sqlx::any::install_default_drivers();
    let url = format!("sqlite:{}", bench.folder.path().join("ledger.db").display());
    let crew = Crew::new(bench.ledger.clone(), [Act::SaysThenHolds(well(), url)]);
    let holder = Arc::clone(&crew.holder);
    let stop = CancellationToken::new();
    let watcher = bench.watcher(crew, bench.now() + HOUR_MS / 2, stop.clone());
    let release = async {
        let held = loop {
            if let Some(held) = holder.lock().unwrap().take() {
                break held;
            }
            tokio::task::yield_now().await;
        };
        // Longer than anybody waits for it.
        tokio::time::sleep(Duration::from_millis(200)).await;
        held.close().await.unwrap();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = watcher.run() => ended.unwrap(),
        () = release => {}
    }
    assert_eq!(bench.sessions().await, [(1, "completed".to_owned())]);
    assert_eq!(bench.ledger.open_chain().await.unwrap(), None);
}
