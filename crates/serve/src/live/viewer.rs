//! One viewer: what it has not seen is replayed from the ledger, then it hears what is new.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use airtight_store::{Ledger, StoreError};
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;

use super::board::{self, PAGE};
use super::frame::{self, BOUNDS, Message, Place};
use super::hub::{Rhythm, Seat, Subject};

/// How many runs that are under way are told to a viewer that comes.
const SNAPSHOT: u32 = 256;

/// One viewer.
pub(crate) struct Viewer {
    ledger: Ledger,
    subject: Subject,
    seat: Arc<Seat>,
    news: Receiver<Message>,
    /// The number of the last event that it was told.
    after: i64,
    phase: Phase,
    ready: VecDeque<Bytes>,
    /// Whether messages went by that it was too slow for.
    is_behind: bool,
    rhythm: Rhythm,
}

enum Phase {
    /// Nothing was sent.
    Coming,
    /// What it has not seen is read from the ledger.
    Replaying,
    /// It hears what is new.
    Following,
    /// Everything was sent.
    Over,
}

impl Viewer {
    pub(super) fn new(
        ledger: Ledger,
        subject: Subject,
        (seat, news): (Arc<Seat>, Receiver<Message>),
        after: i64,
        rhythm: Rhythm,
    ) -> Self {
        let (phase, ready) = (Phase::Coming, VecDeque::new());
        Self { ledger, subject, seat, news, after, phase, ready, is_behind: false, rhythm }
    }

    /// Returns what is sent; asked for by whoever can take it, and not made before.
    pub(super) fn frames(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        unfold(self, |mut viewer| async move {
            let ending = viewer.rhythm.ending.clone();
            let next = tokio::select! {
                biased;
                () = ending.cancelled() => None,
                next = viewer.next() => next,
            };
            next.map(|bytes| (Ok(bytes), viewer))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            let done = match self.phase {
                Phase::Over => return None,
                Phase::Coming => self.greet().await,
                Phase::Replaying => self.replay().await,
                Phase::Following => {
                    self.hear().await;
                    Ok(())
                }
            };
            if let Err(error) = done {
                // It connects again by itself, and goes on where it was.
                tracing::warn!(%error, "a stream ends early");
                return None;
            }
        }
    }

    async fn greet(&mut self) -> Result<(), StoreError> {
        self.phase = Phase::Replaying;
        self.ready.push_back(Bytes::from(frame::greeting()));
        match &self.subject {
            Subject::Run(id) => {
                let run = self.ledger.summary(id.as_str()).await?;
                self.ready.push_back(Message::state(&run).bytes);
            }
            Subject::Everything => self.overview().await?,
        }
        Ok(())
    }

    async fn overview(&mut self) -> Result<(), StoreError> {
        let open = board::open_runs(&self.ledger, SNAPSHOT).await?;
        self.ready.push_back(frame::snapshot(&open));
        Ok(())
    }

    async fn replay(&mut self) -> Result<(), StoreError> {
        // Before the ledger is read: an end that is known by then has all its events there.
        let end = self.seat.feed.end.get().cloned();
        let (page, is_last) = self.page().await?;
        for message in page {
            self.take(message);
        }
        match end {
            Some(end) if is_last => self.take(end),
            None if is_last => self.phase = Phase::Following,
            Some(_) | None => {}
        }
        Ok(())
    }

    /// Reads some of what it has not seen, and whether that is all.
    async fn page(&self) -> Result<(Vec<Message>, bool), StoreError> {
        match &self.subject {
            Subject::Run(id) => {
                let page = self.ledger.events_within(id, self.after, BOUNDS).await?;
                Ok((page.events.iter().map(Message::event).collect(), page.is_last))
            }
            Subject::Everything => {
                let events = board::watch_events(&self.ledger, self.after).await?;
                let is_last = u32::try_from(events.len()).is_ok_and(|length| length < PAGE);
                Ok((events.iter().map(Message::watched).collect(), is_last))
            }
        }
    }

    /// Waits for what is new.
    async fn hear(&mut self) {
        let heard = tokio::select! {
            heard = self.news.recv() => heard,
            () = sleep(self.rhythm.heartbeat) => {
                self.ready.push_back(Bytes::from_static(frame::HEARTBEAT));
                return;
            }
        };
        match heard {
            Ok(message) => {
                self.admit_gap(message.place);
                self.take(message);
            }
            Err(RecvError::Lagged(messages)) => self.fall_behind(messages).await,
            Err(RecvError::Closed) => self.phase = Phase::Over,
        }
    }

    /// Does what can be done about messages that went by.
    async fn fall_behind(&mut self, messages: u64) {
        match self.subject {
            // Which ones they were is known by the next.
            Subject::Run(_) => self.is_behind = true,
            // What has no number cannot be read again; how things stand now can, and the rest, too.
            Subject::Everything => {
                self.phase = Phase::Replaying;
                self.ready.push_back(frame::lag(messages));
                if let Err(error) = self.overview().await {
                    tracing::warn!(%error, "a viewer fell behind, and its stream ends");
                    self.phase = Phase::Over;
                }
            }
        }
    }

    /// Says what went by before a message that comes after it.
    fn admit_gap(&mut self, place: Place) {
        let upto = match place {
            Place::Numbered(number) if number > self.after => number - 1,
            Place::End(last) => last,
            Place::Numbered(_) | Place::Aside => return,
        };
        if std::mem::take(&mut self.is_behind) && upto > self.after {
            self.ready.push_back(frame::gap(self.after + 1, upto));
        }
    }

    /// Passes a message on, unless it was told before.
    fn take(&mut self, message: Message) {
        match message.place {
            Place::Numbered(number) if number <= self.after => return,
            Place::Numbered(number) => self.after = number,
            Place::Aside => {}
            Place::End(_) => self.phase = Phase::Over,
        }
        self.ready.push_back(message.bytes);
    }
}
