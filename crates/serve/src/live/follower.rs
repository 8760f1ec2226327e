//! Follows one run in the ledger, whoever performs it.

use std::sync::Arc;
use std::time::Duration;

use airtight_store::{Ledger, RunId, RunState, StoreError};
use tokio::time::sleep;

use super::frame::{BOUNDS, Message};
use super::hub::Feed;
use super::pace::Pace;

/// How long to wait for a ledger that does not answer.
pub(super) const TROUBLE_PAUSE: Duration = Duration::from_secs(1);

/// Follows one run.
pub(super) struct Follower {
    ledger: Ledger,
    id: RunId,
    feed: Arc<Feed>,
    /// The number of the last event that was told.
    last: i64,
    state: Option<RunState>,
}

/// Whether there is more to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    /// Something had happened.
    Lively,
    /// Nothing had.
    Quiet,
    /// Nothing will.
    Over,
}

impl Follower {
    pub(super) fn new(ledger: Ledger, id: RunId, feed: Arc<Feed>, last: i64) -> Self {
        Self { ledger, id, feed, last, state: None }
    }

    /// Tells what happens until the run is over, or until this is dropped.
    pub(super) async fn follow(mut self) {
        let mut pace = Pace::new(&self.ledger);
        loop {
            pace.asks(&self.ledger);
            match self.look().await {
                Ok(Course::Over) => return,
                Ok(Course::Lively) => pace.heard(),
                Ok(Course::Quiet) => {}
                // Pruned meanwhile.
                Err(StoreError::NotFound { .. }) => {
                    let end = Message::gone(&self.id, self.last);
                    return self.tell(self.feed.end.get_or_init(|| end).clone());
                }
                Err(error) => {
                    tracing::warn!(%error, "a run cannot be followed; it is tried again");
                    sleep(TROUBLE_PAUSE).await;
                }
            }
            pace.wait(&self.ledger).await;
        }
    }

    async fn look(&mut self) -> Result<Course, StoreError> {
        // Before its events: if it is over by now, all of them are there (CO-14).
        let run = self.ledger.summary(self.id.as_str()).await?;
        let before = self.last;
        while !self.tell_page().await? {}
        if run.state == RunState::Done {
            let end = Message::end(&run, self.last);
            self.tell(self.feed.end.get_or_init(|| end).clone());
            return Ok(Course::Over);
        }
        let is_changed = self.state.replace(run.state).is_some_and(|state| state != run.state);
        if is_changed {
            self.tell(Message::state(&run));
        }
        Ok(if is_changed || self.last > before { Course::Lively } else { Course::Quiet })
    }

    /// Tells some of what has happened; claims that it was all.
    async fn tell_page(&mut self) -> Result<bool, StoreError> {
        let page = self.ledger.events_within(&self.id, self.last, BOUNDS).await?;
        for event in &page.events {
            self.last = event.event.number;
            self.tell(Message::event(event));
        }
        Ok(page.is_last)
    }

    fn tell(&self, message: Message) {
        // Nobody may be there any more; then this ends, too.
        drop(self.feed.sender.send(message));
    }
}
