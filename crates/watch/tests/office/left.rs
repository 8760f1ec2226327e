//! What a leader before left: read from the ledger as it wrote it.

use airtight_core::watch::{ChainOutcome, EscalationPolicy, Tier, Trigger, WatchMode};

use crate::bench::{Bench, HOUR_MS};
use crate::crew::{Act, down, well};

const LOOK: (Trigger, Tier) = (Trigger::Scheduled, Tier::Observe);

/// Returns a bench on which a chain was left between its first and its second session.
async fn left_between_sessions() -> Bench {
    let bench = Bench::new().await;
    bench.die([Act::SaysLast(down())]).await;
    assert_eq!(bench.sessions().await, [(1, "escalated".to_owned())]);
    bench
}

fn settled() -> ChainOutcome {
    ChainOutcome::Settled { acted_on: Vec::new() }
}

async fn tiers(bench: &Bench) -> Vec<i64> {
    bench.sessions().await.into_iter().map(|(tier, _)| tier).collect()
}

/// S2: what a chain knew an hour ago is no reason to repair anything.
#[tokio::test]
async fn no_tier_begins_in_a_chain_that_was_left_for_over_an_hour() {
    let bench = left_between_sessions().await;
    bench.pass(HOUR_MS + 1);
    assert_eq!(bench.once(LOOK, [Act::Says(well())]).await, settled());
    assert_eq!(tiers(&bench).await, [1, 1]);
    let told = bench.messages().await;
    assert!(told.iter().any(|it| it.contains("was left for over an hour")), "{told:?}");
}

#[tokio::test]
async fn a_chain_that_was_left_for_less_goes_on() {
    let bench = left_between_sessions().await;
    bench.pass(HOUR_MS);
    assert_eq!(bench.once(LOOK, [Act::Says(well()), Act::Says(well())]).await, settled());
    assert_eq!(tiers(&bench).await, [1, 2, 1]);
}

/// CO-77: whoever starts a dry run starts nothing above tier 1, whatever was begun before.
#[tokio::test]
async fn a_dry_run_does_not_go_on_with_what_was_left() {
    let mut bench = left_between_sessions().await;
    bench.allow(EscalationPolicy { mode: WatchMode::DryRun, ..EscalationPolicy::default() });
    assert_eq!(bench.once(LOOK, [Act::Says(well())]).await, settled());
    assert_eq!(tiers(&bench).await, [1, 1]);
    let told = bench.messages().await;
    let is_it =
        |it: &String| it.starts_with("escalation to tier 2 blocked (web): this is a dry run");
    assert!(told.iter().any(is_it), "{told:?}");
}

/// CO-78: nor does one whose highest tier was lowered, which people are told.
#[tokio::test]
async fn a_lower_highest_tier_holds_for_what_was_left() {
    let mut bench = left_between_sessions().await;
    bench.allow(EscalationPolicy { max_tier: Tier::Observe, ..EscalationPolicy::default() });
    assert_eq!(bench.once(LOOK, [Act::Says(well())]).await, settled());
    assert_eq!(tiers(&bench).await, [1, 1]);
    let titles = bench.titles().await;
    assert!(titles.contains(&"Needs human attention: web".to_owned()), "{titles:?}");
}

/// CO-2: a chain that was lost has not looked to its end.
#[tokio::test]
async fn co_2_a_chain_that_was_left_does_not_move_the_deadline() {
    let bench = Bench::new().await;
    bench.die([Act::Hangs]).await;
    assert_eq!(bench.once((Trigger::Manual, Tier::Observe), [Act::Says(well())]).await, settled());
    assert_eq!(bench.schedule().await["last_end_ms"], serde_json::Value::Null);
    bench.once(LOOK, [Act::Says(well())]).await;
    assert_eq!(bench.schedule().await["last_end_ms"], bench.now());
}

/// CO-2: who is started looks at once, also where the chain before was left just before its end.
#[tokio::test]
async fn co_2_who_is_started_looks_at_once_whatever_was_left() {
    let bench = Bench::new().await;
    bench.die([Act::SaysLast(well())]).await;
    bench.run(HOUR_MS / 2, [Act::Says(well())]).await.unwrap();
    assert_eq!(tiers(&bench).await, [1, 1]);
}
