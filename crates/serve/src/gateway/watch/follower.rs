//! Follows what somebody asked of the watch in the ledger: until a chain begins with it, and then to the
//! end of that chain.
//!
//! It has a task of its own, which outlives the client until it is known whether anything begins. The server
//! waits for it when it ends: a wish is taken back, or its chain is known.

mod beginning;

use std::time::Duration;

use airtight_core::watch::{EventOrigin, Tier};
use airtight_store::{
    EventBounds, EventFilter, Ledger, Order, PAGE_LIMIT, Page, RunId, Session, SessionFilter,
    StoreError, Wish,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::spoken::{Said, is_answer, spoken};
use crate::act::Refusal;

/// Said where something else goes on.
pub(super) const BUSY: &str = "The watch is busy: a chain goes on, or is asked for. Nothing was \
    begun. Ask again when it is over, or stop it by `POST /api/v1/watch/stop`.";

/// Said where nobody watches.
pub(super) const UNWATCHED: &str = "Nobody leads a watch on this ledger, so nothing was begun. \
    Start one: `airtight watch --config watch.toml`.";

/// Said where nobody said anything.
const SILENT: &str = "The chain is over, and nothing was said.";

/// How long a chain is followed: as long as a session may take where nobody says otherwise.
const PATIENCE: Duration = Duration::from_mins(30);

/// How often the ledger is asked: as often as runs store what happens in them.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How much of a session is read at once. Longer bodies are left out.
const BOUNDS: EventBounds = EventBounds { rows: 64, body_bytes: 64 * 1024, all_bytes: 128 * 1024 };

/// The longest answer: more than anybody reads in a chat.
const TEXT_LIMIT_BYTES: usize = 1024 * 1024;

/// How many things may wait for a client that reads slowly.
const ROOM: usize = 16;

/// All rows of a chain: it has a handful of sessions, and few events of the watch.
const ALL: Page = Page { limit: PAGE_LIMIT, after: None, order: Order::OldestFirst };

/// Follows what somebody asked of the watch.
pub(super) struct Follower {
    ledger: Ledger,
    ending: CancellationToken,
    tell: mpsc::Sender<Said>,
    patience: Duration,
    /// The tier that was asked for, until it is known which one began.
    asked: Option<Tier>,
    /// How many sessions were told to their end.
    over: usize,
    /// The number of the last event that was told of the session that goes on.
    after: i64,
    /// What was told of that session.
    texts: Vec<String>,
    /// How many bytes were told in all.
    told_bytes: usize,
}

/// Whether a chain goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    GoesOn,
    Over,
}

/// Why nothing can be told.
enum Trouble {
    /// Nobody listens.
    Alone,
    /// The ledger fails.
    Ledger(StoreError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Ledger(error)
    }
}

impl Follower {
    /// Asks among `followers`, follows the wish, and returns where what is said comes out. Whoever waits for
    /// it may go: no wish is put that nobody follows.
    pub(super) async fn start(
        followers: &TaskTracker,
        asking: impl Future<Output = Result<(Ledger, Wish), Refusal>> + Send + 'static,
        ending: CancellationToken,
        asked: Tier,
    ) -> Result<mpsc::Receiver<Said>, Refusal> {
        let (begun, beginning) = oneshot::channel();
        followers.spawn(async move {
            let (ledger, wish) = match asking.await {
                Ok(put) => put,
                Err(refusal) => return drop(begun.send(Err(refusal))),
            };
            let (tell, told) = mpsc::channel(ROOM);
            drop(begun.send(Ok(told)));
            Self::new(ledger, ending, tell, asked).follow(wish).await;
        });
        beginning.await.unwrap_or(Err(Refusal::Mistake))
    }

    fn new(
        ledger: Ledger,
        ending: CancellationToken,
        tell: mpsc::Sender<Said>,
        asked: Tier,
    ) -> Self {
        Self {
            ledger,
            ending,
            tell,
            patience: PATIENCE,
            asked: Some(asked),
            over: 0,
            after: 0,
            texts: Vec::new(),
            told_bytes: 0,
        }
    }

    async fn follow(mut self, wish: Wish) {
        // Nobody may be there any more to be told.
        drop(self.try_follow(&wish.id).await);
    }

    async fn try_follow(&mut self, wish: &str) -> Result<(), Trouble> {
        match self.begun(wish).await? {
            Some(chain) => self.hear_out(&chain).await,
            None => Ok(()),
        }
    }

    /// Tells what a chain says to its end, or for as long as anybody waits.
    async fn hear_out(&mut self, chain: &str) -> Result<(), Trouble> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.look(chain).await {
                Ok(Course::Over) => return Ok(()),
                Ok(Course::GoesOn) => {}
                Err(Trouble::Alone) => return Err(Trouble::Alone),
                Err(Trouble::Ledger(error)) => {
                    tracing::warn!(%error, "a chain cannot be followed; it is tried again");
                }
            }
            if Instant::now() >= deadline || self.ending.is_cancelled() {
                let words = "The chain goes on, and this answer does not wait any longer";
                return self.say(&format!("({words}: `/sessions?chain={chain}` shows it.)")).await;
            }
            tokio::select! {
                () = self.tell.closed() => return Err(Trouble::Alone),
                () = self.ending.cancelled() => {}
                () = sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Tells what has been said since the last look.
    async fn look(&mut self, chain: &str) -> Result<Course, Trouble> {
        // Before its sessions: a chain that is over by now has all of them.
        let found = self.ledger.chain(chain).await?;
        let own = SessionFilter { chain: Some(chain.to_owned()), ..SessionFilter::default() };
        let sessions = self.ledger.sessions(&own, ALL).await?;
        for session in sessions.iter().skip(self.over) {
            self.hear(session).await?;
            if session.ended_at.is_none() {
                return Ok(Course::GoesOn);
            }
            self.conclude(&session.id).await?;
            self.over += 1;
            self.after = 0;
            self.texts.clear();
        }
        if found.ended_at.is_none() {
            return Ok(Course::GoesOn);
        }
        self.tell_events(chain, found.started_at).await?;
        if self.told_bytes == 0 {
            self.say(SILENT).await?;
        }
        Ok(Course::Over)
    }

    /// Tells what a session said since the last look.
    async fn hear(&mut self, session: &Session) -> Result<(), Trouble> {
        if let Some(asked) = self.asked.take()
            && i64::from(asked.number()) > session.tier
        {
            let most = session.tier;
            let words =
                format!("({asked} was asked for: this watch starts none above tier {most}.)");
            self.say(&words).await?;
        }
        let run = RunId::from(session.id.clone());
        loop {
            let page = self.ledger.events_within(&run, self.after, BOUNDS).await?;
            for event in &page.events {
                for said in spoken(event) {
                    self.pass_on(said).await?;
                }
                self.after = event.event.number;
            }
            if page.is_last {
                return Ok(());
            }
        }
    }

    /// Tells what a session came to, as far as it did not say so itself.
    async fn conclude(&mut self, session: &str) -> Result<(), Trouble> {
        let (session, texts) = self.ledger.session(session).await?;
        let is_told = |response: &String| session.summary.is_none() || !is_answer(response);
        let response = texts.response.filter(is_told);
        for text in response.into_iter().chain(session.summary) {
            self.say_once(&text).await?;
        }
        Ok(())
    }

    /// Tells what the watch itself has to say of a chain: what it refused, and what went wrong.
    async fn tell_events(&mut self, chain: &str, since: i64) -> Result<(), Trouble> {
        let since = EventFilter { since: Some(since), ..EventFilter::default() };
        let mut events = self.ledger.watch_events(&since, ALL).await?;
        let origin = EventOrigin::Watch.name();
        events.retain(|it| it.chain.as_deref() == Some(chain) && it.origin == origin);
        let lines = events.iter().map(|event| format!("- {}: {}", event.level, event.message));
        let lines = lines.collect::<Vec<_>>().join("\n");
        self.say_once(&lines).await
    }

    async fn pass_on(&mut self, said: Said) -> Result<(), Trouble> {
        match said {
            // The report of a session is told by its summary.
            Said::Text(text) if is_answer(&text) => Ok(()),
            Said::Text(text) => self.say_once(&text).await,
            call @ Said::Call(_) => self.tell.send(call).await.map_err(|_| Trouble::Alone),
        }
    }

    /// Tells a text, unless the session has said the same: a model that is asked again repeats itself.
    async fn say_once(&mut self, text: &str) -> Result<(), Trouble> {
        if self.told_bytes > TEXT_LIMIT_BYTES {
            return Ok(());
        }
        let text = text.trim();
        if text.is_empty() || self.texts.iter().any(|told| told == text) {
            return Ok(());
        }
        self.say(text).await?;
        self.texts.push(text.to_owned());
        Ok(())
    }

    async fn say(&mut self, text: &str) -> Result<(), Trouble> {
        if self.told_bytes > TEXT_LIMIT_BYTES {
            return Ok(());
        }
        let between = if self.told_bytes == 0 { "" } else { "\n\n" };
        let is_too_much = self.told_bytes + text.len() > TEXT_LIMIT_BYTES;
        let text = if is_too_much { "(More was said than is told here.)" } else { text };
        let said = Said::Text(format!("{between}{text}"));
        self.told_bytes += if is_too_much { TEXT_LIMIT_BYTES + 1 } else { text.len() };
        self.tell.send(said).await.map_err(|_| Trouble::Alone)
    }
}

#[cfg(test)]
mod tests;
