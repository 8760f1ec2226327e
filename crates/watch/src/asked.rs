//! What somebody asks for: leave that was given, and wishes that were put on record.

use airtight_core::watch::{
    ChainStart, Escalate, Proposal, Tier, Trigger, Waiting, WatchMode, alert_request,
};
use airtight_store::{EscalationState, Minutes, NewWatchEvent};

use crate::book;
use crate::clock::Clock;
use crate::error::WatchError;
use crate::notice::Notice;
use crate::staff::Staff;
use crate::watcher::{Office, Settled};

impl<S: Staff, C: Clock + 'static> Office<'_, S, C> {
    /// Returns the chain that somebody asks for, if anybody does.
    pub(crate) async fn asked(&self) -> Result<Option<(ChainStart, Settled)>, WatchError> {
        match self.approved().await? {
            Some(approved) => Ok(Some(approved)),
            None => self.wished().await,
        }
    }

    /// Returns the chain that somebody put on record as a wish. No tier begins that may never be started.
    async fn wished(&self) -> Result<Option<(ChainStart, Settled)>, WatchError> {
        let Some(wish) = self.ledger.next_wish().await? else { return Ok(None) };
        let is_alert = wish.cause == Trigger::Alert.name();
        let trigger = if is_alert { Trigger::Alert } else { Trigger::Api };
        let request = wish.request.map(|it| if is_alert { alert_request(&it) } else { it });
        let tier = Tier::try_from(wish.tier).unwrap_or(Tier::Observe);
        let tier = tier.min(self.estate.policy.escalation.max_tier);
        let start = ChainStart { id: book::fresh(), trigger, tier, request, approved: None };
        Ok(Some((start, Settled::Wish(wish.id))))
    }

    /// Returns the chain of an escalation that somebody gave leave to, if it may be acted on here: one
    /// that may not waits for a watch that may, and one that is old is declined.
    pub(crate) async fn approved(&self) -> Result<Option<(ChainStart, Settled)>, WatchError> {
        let policy = &self.estate.policy.escalation;
        if policy.mode == WatchMode::DryRun || self.stop.is_cancelled() {
            return Ok(None);
        }
        let now_ms = self.now_ms();
        for approved in book::waiting(&self.ledger, EscalationState::Approved).await? {
            let Some(waiting) = book::waiting_of(&approved) else { continue };
            if waiting.is_overdue_at(now_ms) {
                self.decline(&waiting, now_ms).await?;
                continue;
            }
            if waiting.to > policy.max_tier {
                continue;
            }
            let Waiting { id, to, affected, .. } = waiting;
            let context = approved.context.unwrap_or_default();
            let escalate = Escalate { to, affected, context, events: Vec::new() };
            let start = ChainStart {
                id: book::fresh(),
                trigger: Trigger::Manual,
                tier: to,
                request: None,
                approved: Some(Proposal { from_session: approved.session, escalate }),
            };
            return Ok(Some((start, Settled::Leave(id))));
        }
        Ok(None)
    }

    /// Declines what has leave and is too old to be acted on.
    async fn decline(&self, waiting: &Waiting, at_ms: i64) -> Result<(), WatchError> {
        let event = waiting.overdue(at_ms);
        let event =
            NewWatchEvent { chain: None, ..book::event(&event, None, "", event.origin.name()) };
        let declined = vec![waiting.id.clone()];
        let events = vec![event.clone()];
        let minutes = Minutes { at_ms, declined, events, ..Minutes::default() };
        self.ledger.minute(self.leadership.lead, minutes).await?;
        self.teller.tell(Notice::of_stored(&event));
        Ok(())
    }
}
