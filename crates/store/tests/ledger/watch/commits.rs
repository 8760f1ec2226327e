//! Commits of the watch that are cut off, or overtake each other: PostgreSQL alone.

use airtight_store::{Minutes, Reserved};
use sqlx::{AnyConnection, Connection as _};

use super::{actions, event, lead, messages, restart, yielded};
use crate::bed::Bed;
use crate::postgres::Server;
use crate::proxy::Proxy;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_cut_during_the_commit_leaves_minutes_and_actions_once() {
    let url = Server::shared().database();
    let proxy = Proxy::before(Server::shared().port()).await;
    let through =
        url.replace(&format!(":{}/", Server::shared().port()), &format!(":{}/", proxy.port));
    let ledger = Bed::at(through).open().await;
    let lead = lead(&ledger).await;
    proxy.cut_after_commits(1);
    ledger.minute(lead, yielded()).await.unwrap();
    assert_eq!(proxy.cuts_left(), 0, "the commit was cut off");
    proxy.cut_after_commits(1);
    let reserved = ledger.reserve(lead, vec![restart()], 0, 20).await.unwrap();
    assert_eq!(proxy.cuts_left(), 0, "the commit was cut off");
    assert_eq!(messages(&ledger).await, ["first", "second"]);
    let all = actions(&ledger).await;
    assert_eq!(all.len(), 1);
    assert_eq!(reserved, Reserved::Done(vec![all[0].id.clone()]));
}

/// Whoever follows events goes on after the greatest number it saw: on PostgreSQL, too, no smaller one may
/// appear later. All who write events hold the lead until they have committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_numbered_in_the_order_of_their_commits() {
    const HOLD: &str = "BEGIN; UPDATE leases SET fence = fence WHERE name = 'watch'; \
         INSERT INTO watch_events (id, origin, level, message, told_at) \
         VALUES ('slow', 'watch', 'info', 'slow', 1)";
    const WAITING: &str = "SELECT application_name FROM pg_stat_activity \
         WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let bed = Bed::postgres();
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    let mut slow = AnyConnection::connect(&bed.url).await.unwrap();
    sqlx::raw_sql(HOLD).execute(&mut slow).await.unwrap();
    let minutes = Minutes { events: vec![event("quick")], ..Minutes::default() };
    let quick = tokio::spawn({
        let ledger = ledger.clone();
        async move { ledger.minute(lead, minutes).await }
    });
    while bed.meddle(WAITING).await.is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(messages(&ledger).await.is_empty());
    sqlx::raw_sql("COMMIT").execute(&mut slow).await.unwrap();
    quick.await.unwrap().unwrap();
    assert_eq!(messages(&ledger).await, ["slow", "quick"]);
}
