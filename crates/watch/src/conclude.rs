//! The end of a chain, and what follows from it: when the next begins, what is looked at again, who is
//! told.

use airtight_core::watch::{
    Chain, ChainOutcome, Schedule, Verification, Vigil, digest_since, is_digest_due,
};
use airtight_store::{ChainState, Minutes};

use crate::bell::Ringing;
use crate::book;
use crate::clock::Clock;
use crate::digest;
use crate::error::WatchError;
use crate::notice::Notice;
use crate::staff::Staff;
use crate::watcher::{Office, SCHEDULE};

/// When the last chain ended.
const LAST_RUN: &str = "last_run";

/// When the last digest was queued.
const LAST_DIGEST: &str = "last_digest";

/// How tier 1 has fared of late.
const VIGIL: &str = "vigil";

impl<S: Staff, C: Clock + 'static> Office<'_, S, C> {
    /// Puts the end of a chain on record, with what follows from it.
    pub(crate) async fn conclude(
        &self,
        chain: &Chain,
        outcome: &ChainOutcome,
        schedule: &mut Schedule,
    ) -> Result<(), WatchError> {
        let at_ms = self.now_ms();
        if !matches!(outcome, ChainOutcome::Lost | ChainOutcome::Stale) {
            // Nobody looked to the end where a chain was left: the next is as due as before.
            schedule.chain_ended(chain.trigger(), at_ms);
        }
        self.verify(schedule, chain.acted_on(), at_ms);
        let state = Some(self.chain_state(chain, Some(at_ms))?);
        let mut minutes = Minutes { at_ms, chain: state, ..Minutes::default() };
        minutes.marks.push((LAST_RUN.to_owned(), at_ms.to_string()));
        minutes.marks.push((SCHEDULE.to_owned(), written(schedule)?));
        let mut ringing = self.bell.ringing().await;
        self.keep_vigil(&mut minutes, &mut ringing, chain, outcome).await?;
        ringing.release(&mut minutes);
        self.digest(&mut minutes, &mut ringing).await?;
        let is_new_day = has_digest(&minutes);
        let told = minutes.events.clone();
        self.ledger.minute(self.leadership.lead, minutes).await?;
        ringing.rung();
        self.dispatch.wake();
        for event in told {
            self.teller.tell(Notice::of_stored(&event));
        }
        self.teller.tell(Notice::ChainEnded {
            chain: chain.id().to_owned(),
            outcome: outcome_word(outcome).to_owned(),
        });
        if is_new_day {
            self.drop_old(at_ms).await?;
        }
        Ok(())
    }

    /// Has services looked at again that something was done to, however that ended.
    pub(crate) fn verify(&self, schedule: &mut Schedule, services: &[String], at_ms: i64) {
        let Some(after) = self.estate.verify_after.filter(|_| !services.is_empty()) else { return };
        schedule.repaired(Verification {
            services: services.to_vec(),
            repaired_at_ms: at_ms,
            after_ms: i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        });
    }

    /// Tells when tier 1 keeps failing: nobody else would.
    async fn keep_vigil(
        &self,
        minutes: &mut Minutes,
        ringing: &mut Ringing<'_>,
        chain: &Chain,
        outcome: &ChainOutcome,
    ) -> Result<(), WatchError> {
        let stored = self.ledger.mark(VIGIL).await?;
        let stored = stored.and_then(|stored| serde_json::from_str::<Vigil>(&stored).ok());
        let before = stored.unwrap_or_default();
        let mut vigil = before.clone();
        let alarm = vigil.chain_ended(chain, outcome, minutes.at_ms);
        if vigil != before {
            minutes.marks.push((VIGIL.to_owned(), written(&vigil)?));
        }
        let Some(alarm) = alarm else { return Ok(()) };
        let origin = alarm.event.origin.name();
        minutes.events.push(book::event(&alarm.event, None, chain.id(), origin));
        ringing.ring(minutes, alarm.notification, Some(chain.id()));
        Ok(())
    }

    /// Queues what is due between two chains: what was held back until now, and a digest. With that, what is
    /// kept no longer is dropped.
    pub(crate) async fn tick(&self, at_ms: i64) -> Result<(), WatchError> {
        let mut minutes = Minutes { at_ms, ..Minutes::default() };
        let mut ringing = self.bell.ringing().await;
        ringing.release(&mut minutes);
        self.digest(&mut minutes, &mut ringing).await?;
        if minutes.marks.is_empty() {
            return Ok(());
        }
        let is_new_day = has_digest(&minutes);
        self.ledger.minute(self.leadership.lead, minutes).await?;
        ringing.rung();
        self.dispatch.wake();
        if is_new_day {
            self.drop_old(at_ms).await?;
        }
        Ok(())
    }

    /// Queues a digest if one is due.
    async fn digest(
        &self,
        minutes: &mut Minutes,
        ringing: &mut Ringing<'_>,
    ) -> Result<(), WatchError> {
        let at_ms = minutes.at_ms;
        let last = self.ledger.mark(LAST_DIGEST).await?.and_then(|mark| mark.parse().ok());
        if !is_digest_due(last, at_ms) {
            return Ok(());
        }
        let since_ms = digest_since(last, at_ms);
        let digest = digest::of(&self.ledger, since_ms, at_ms).await?.notification(at_ms);
        ringing.ring(minutes, [digest], None);
        minutes.marks.push((LAST_DIGEST.to_owned(), at_ms.to_string()));
        Ok(())
    }

    /// Returns where a chain stands, as the ledger keeps it; when it began is kept from the first time.
    pub(crate) fn chain_state(
        &self,
        chain: &Chain,
        ended_at: Option<i64>,
    ) -> Result<ChainState, WatchError> {
        Ok(ChainState {
            id: chain.id().to_owned(),
            cause: chain.trigger().name().to_owned(),
            machine: written(chain)?,
            started_at: self.now_ms(),
            ended_at,
        })
    }
}

/// Claims that a digest is among what is written, which is so once a day.
fn has_digest(minutes: &Minutes) -> bool {
    minutes.marks.iter().any(|(name, _)| name == LAST_DIGEST)
}

/// Writes down what the watch remembers of itself.
pub(crate) fn written(value: &impl serde::Serialize) -> Result<String, WatchError> {
    serde_json::to_string(value).map_err(WatchError::Unwritable)
}

fn outcome_word(outcome: &ChainOutcome) -> &'static str {
    match outcome {
        ChainOutcome::Settled { .. } => "settled",
        ChainOutcome::Blocked(_) => "blocked",
        ChainOutcome::Aborted => "aborted",
        ChainOutcome::Lost => "lost",
        ChainOutcome::Stale => "stale",
        ChainOutcome::Stopped => "stopped",
        ChainOutcome::Failed => "failed",
    }
}
