//! Escalations that wait for leave.

use airtight_core::watch::{EscalationPolicy, LEAVE_MS, Tier, Trigger};
use airtight_store::EscalationState;

use crate::bench::Bench;
use crate::crew::{Act, down, well};

const LOOK: (Trigger, Tier) = (Trigger::Scheduled, Tier::Observe);

/// Returns a bench on which tier 2 needs leave.
async fn careful() -> Bench {
    let mut bench = Bench::new().await;
    let approval = vec![Tier::Investigate];
    bench.allow(EscalationPolicy { approval, ..EscalationPolicy::default() });
    bench
}

async fn states(bench: &Bench) -> Vec<EscalationState> {
    bench.escalations().await.into_iter().map(|it| it.state).collect()
}

/// Whoever gives leave gives it to what was found last.
#[tokio::test]
async fn a_new_proposal_takes_the_place_of_the_older() {
    let bench = careful().await;
    bench.once(LOOK, [Act::Says(down())]).await;
    bench.once(LOOK, [Act::Says(down())]).await;
    assert_eq!(states(&bench).await, [EscalationState::Declined, EscalationState::Proposed]);
    let told = bench.messages().await;
    let expected = "an earlier escalation to tier 2 (web) is declined: the same is asked for anew";
    assert!(told.iter().any(|it| it == expected), "{told:?}");
}

/// What was found a day ago is not acted on, whoever gave leave since.
#[tokio::test]
async fn leave_for_what_is_over_a_day_old_is_declined() {
    for (age_ms, tiers) in [(LEAVE_MS, vec![1, 2, 1]), (LEAVE_MS + 1, vec![1, 1])] {
        let bench = careful().await;
        bench.once(LOOK, [Act::Says(down())]).await;
        let id = bench.escalations().await.remove(0).id;
        bench.ledger.answer_escalation(&id, EscalationState::Approved).await.unwrap();
        bench.pass(age_ms);
        bench.once(LOOK, [Act::Says(well()), Act::Says(well())]).await;
        let begun: Vec<i64> = bench.sessions().await.into_iter().map(|(tier, _)| tier).collect();
        assert_eq!(begun, tiers);
        let is_acted = begun.contains(&2);
        let expected = if is_acted { EscalationState::Acted } else { EscalationState::Declined };
        assert_eq!(states(&bench).await, [expected]);
        let told = bench.messages().await;
        assert_eq!(
            told.iter().any(|it| it.contains("what it knows is old")),
            !is_acted,
            "{told:?}"
        );
    }
}
