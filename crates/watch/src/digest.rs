//! What the time since the last digest came to, counted from the ledger.

use airtight_core::watch::{Digest, Level, SessionStatus, Tier};
use airtight_store::{Ledger, StoreError};

use crate::book;

/// Counts what happened from `since_ms` to `now_ms`.
pub(crate) async fn of(ledger: &Ledger, since_ms: i64, now_ms: i64) -> Result<Digest, StoreError> {
    let counts = ledger.watch_counts(since_ms).await?;
    let number = |count: i64| u64::try_from(count).unwrap_or(0);
    let of_tier = |tier: Tier| {
        let of_it = counts.sessions.iter().filter(|((it, _), _)| *it == i64::from(tier.number()));
        of_it.map(|(_, count)| number(*count)).sum()
    };
    let is_unfinished = |status: &str| {
        !matches!(
            SessionStatus::named(status),
            Some(SessionStatus::Running | SessionStatus::Completed | SessionStatus::Escalated)
        )
    };
    let unfinished = counts.sessions.iter().filter(|((_, status), _)| is_unfinished(status));
    Ok(Digest {
        span_ms: now_ms.saturating_sub(since_ms),
        sessions: Tier::ALL.map(of_tier),
        unfinished: unfinished.map(|(_, count)| number(*count)).sum(),
        events: Level::ALL
            .map(|level| number(counts.events.get(level.name()).copied().unwrap_or(0))),
        actions: number(counts.actions),
        pending_memories: number(counts.pending_memories),
        cost: counts.cost,
        services: book::services(ledger).await?,
    })
}
