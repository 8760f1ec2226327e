//! Follows everything: which runs begin and end, whoever performs them, and the events of the estate.

use std::collections::HashSet;
use std::sync::Arc;

use airtight_store::{
    Arrivals, EventFilter, Filter, Ledger, Order, Page, RunState, RunSummary, StoreError,
};
use tokio::time::sleep;

use super::follower::TROUBLE_PAUSE;
use super::frame::Message;
use super::hub::Feed;
use super::pace::Pace;

/// How many rows are read at once: they are held in memory.
pub(super) const PAGE: u32 = 64;

/// How many runs that are under way are kept in sight; there may be more, of which only the beginning is
/// told.
pub(super) const SIGHT: u32 = 1_000;

/// Follows everything.
pub(super) struct Board {
    ledger: Ledger,
    feed: Arc<Feed>,
    standing: Standing,
}

/// How things stand, as far as it was told.
#[derive(Debug)]
pub(super) struct Standing {
    /// The number of the last event of the estate.
    last_event: i64,
    /// The runs that came on record.
    arrivals: Arrivals,
    /// The runs that are under way.
    open: HashSet<i64>,
}

impl Standing {
    /// Reads how things stand.
    pub(super) async fn now(ledger: &Ledger) -> Result<Self, StoreError> {
        let arrivals = ledger.arrivals().await?;
        let open = open_runs(ledger, SIGHT).await?;
        Ok(Self {
            last_event: last_event(ledger).await?,
            arrivals,
            open: open.into_iter().map(|run| run.number).collect(),
        })
    }
}

impl Board {
    pub(super) fn new(ledger: Ledger, feed: Arc<Feed>, standing: Standing) -> Self {
        Self { ledger, feed, standing }
    }

    /// Tells what happens until this is dropped.
    pub(super) async fn follow(mut self) {
        let mut pace = Pace::slow(&self.ledger);
        loop {
            pace.asks(&self.ledger);
            match self.look().await {
                Ok(0) => {}
                Ok(_) => pace.heard(),
                Err(error) => {
                    tracing::warn!(%error, "the ledger cannot be followed; it is tried again");
                    sleep(TROUBLE_PAUSE).await;
                }
            }
            pace.wait(&self.ledger).await;
        }
    }

    /// Tells what has changed, and returns how much that was.
    async fn look(&mut self) -> Result<usize, StoreError> {
        let events = self.tell_events().await?;
        let open = open_runs(&self.ledger, SIGHT).await?;
        // A copy: if something fails below, the same are asked for again.
        let mut arrivals = self.standing.arrivals.clone();
        let fresh = self.ledger.arrived(&mut arrivals, PAGE).await?;
        let Standing { arrivals: earlier, open: before, .. } = &self.standing;
        let came: HashSet<i64> = fresh.iter().map(|run| run.number).collect();
        let is_told = |number: &i64| before.contains(number) || came.contains(number);
        let woken = open.iter().filter(|run| run.number <= earlier.last() && !is_told(&run.number));
        let mut news: Vec<Message> = fresh.iter().chain(woken).map(Message::run).collect();
        let now: HashSet<i64> = open.iter().map(|run| run.number).collect();
        for gone in before.difference(&now) {
            match self.ledger.summary(&gone.to_string()).await {
                Ok(run) => news.push(Message::run(&run)),
                // Pruned meanwhile.
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        // What began since is told by the next look, unless it was by this one.
        let last_run = arrivals.last();
        self.standing.arrivals = arrivals;
        self.standing.open = now.into_iter().filter(|number| *number <= last_run).collect();
        let began = fresh.iter().filter(|run| run.state == RunState::Open);
        self.standing.open.extend(began.map(|run| run.number));
        let count = news.len() + events;
        for message in news {
            self.tell(message);
        }
        Ok(count)
    }

    async fn tell_events(&mut self) -> Result<usize, StoreError> {
        let events = watch_events(&self.ledger, self.standing.last_event).await?;
        for event in &events {
            self.standing.last_event = event.number;
            self.tell(Message::watched(event));
        }
        Ok(events.len())
    }

    fn tell(&self, message: Message) {
        // Nobody may be there any more; then this ends, too.
        drop(self.feed.sender.send(message));
    }
}

/// Returns the runs that are under way, the newest first.
pub(super) async fn open_runs(ledger: &Ledger, limit: u32) -> Result<Vec<RunSummary>, StoreError> {
    let open = Filter { state: Some(RunState::Open), ..Filter::default() };
    ledger.runs(&open, Page { limit, ..Page::default() }).await
}

/// Returns events of the estate after a number, the oldest first.
pub(super) async fn watch_events(
    ledger: &Ledger,
    after: i64,
) -> Result<Vec<airtight_store::WatchEvent>, StoreError> {
    let page = Page { limit: PAGE, after: Some(after), order: Order::OldestFirst };
    ledger.watch_events(&EventFilter::default(), page).await
}

/// Returns the number of the last event of the estate, 0 if there is none.
pub(super) async fn last_event(ledger: &Ledger) -> Result<i64, StoreError> {
    let page = Page { limit: 1, ..Page::default() };
    let last = ledger.watch_events(&EventFilter::default(), page).await?;
    Ok(last.first().map_or(0, |event| event.number))
}
