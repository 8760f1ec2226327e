//! Who follows what: one follower for each subject, as long as somebody looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use airtight_store::{Ledger, RunId, StoreError};
use tokio::sync::broadcast;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::board::{self, Board, Standing};
use super::follower::Follower;
use super::frame::Message;
use super::viewer::Viewer;

/// How many messages a viewer may be behind before it misses some.
pub(super) const RING: usize = 256;

/// What is followed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// One run.
    Run(RunId),
    /// The states of all runs, and the events of the estate.
    Everything,
}

/// Where what happens to a subject is told.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) sender: broadcast::Sender<Message>,
    /// Set before it is told: who joins later finds it here.
    pub(super) end: OnceLock<Message>,
}

/// A place before a feed. Its follower ends with the last of them.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) feed: Arc<Feed>,
    _follower: DropGuard,
}

/// Who follows what. Handles are cheap to clone and share everything.
#[derive(Clone)]
pub(crate) struct Hub(Arc<Shared>);

struct Shared {
    ledger: Ledger,
    seats: Mutex<HashMap<Subject, Weak<Seat>>>,
    followers: TaskTracker,
    rhythm: Rhythm,
}

/// When viewers hear something whatever happens.
#[derive(Debug, Clone)]
pub(super) struct Rhythm {
    /// How often something is said while there is nothing to say (S5).
    pub(super) heartbeat: Duration,
    /// Ends every stream.
    pub(super) ending: CancellationToken,
}

/// How often something is said while there is nothing to say: proxies give up after a minute or half.
const HEARTBEAT: Duration = Duration::from_secs(10);

impl Hub {
    /// Makes a hub whose streams end with `ending`.
    pub(crate) fn new(ledger: Ledger, ending: CancellationToken) -> Self {
        Self::with(ledger, Rhythm { heartbeat: HEARTBEAT, ending })
    }

    pub(super) fn with(ledger: Ledger, rhythm: Rhythm) -> Self {
        let (seats, followers) = (Mutex::default(), TaskTracker::new());
        Self(Arc::new(Shared { ledger, seats, followers, rhythm }))
    }

    /// Returns a viewer of `subject` that goes on after the number `after`; absent, from the beginning of
    /// a run, or from now on.
    pub(super) async fn join(
        &self,
        subject: Subject,
        after: Option<i64>,
    ) -> Result<Viewer, StoreError> {
        let ledger = &self.0.ledger;
        let subject = match subject {
            // By its whole name: a number or a beginning of it are the same subject.
            Subject::Run(id) => Subject::Run(ledger.summary(id.as_str()).await?.id),
            Subject::Everything => Subject::Everything,
        };
        let known = self.seats().get(&subject).and_then(Weak::upgrade);
        let seat = if let Some(seat) = known {
            seat
        } else {
            // Before the viewer reads anything: what comes later is told by the follower.
            let start = Start::of(ledger, &subject).await?;
            self.seat(&subject, start)
        };
        let news = seat.feed.sender.subscribe();
        let after = match (after, &subject) {
            (Some(after), _) => after,
            (None, Subject::Run(_)) => 0,
            (None, Subject::Everything) => board::last_event(ledger).await?,
        };
        Ok(Viewer::new(ledger.clone(), subject, (seat, news), after, self.0.rhythm.clone()))
    }

    /// Returns a place before the feed of `subject`, which begins at `start` if it is new.
    fn seat(&self, subject: &Subject, start: Start) -> Arc<Seat> {
        let mut seats = self.seats();
        if let Some(seat) = seats.get(subject).and_then(Weak::upgrade) {
            return seat;
        }
        seats.retain(|_, seat| seat.strong_count() > 0);
        let (sender, _) = broadcast::channel(RING);
        let feed = Arc::new(Feed { sender, end: OnceLock::new() });
        let alone = self.0.rhythm.ending.child_token();
        let ledger = self.0.ledger.clone();
        let told = Arc::clone(&feed);
        match start {
            Start::Run(id, last) => {
                let following = Follower::new(ledger, id, told, last).follow();
                self.0.followers.spawn(alone.clone().run_until_cancelled_owned(following));
            }
            Start::Everything(standing) => {
                let following = Board::new(ledger, told, standing).follow();
                self.0.followers.spawn(alone.clone().run_until_cancelled_owned(following));
            }
        }
        let seat = Arc::new(Seat { feed, _follower: alone.drop_guard() });
        seats.insert(subject.clone(), Arc::downgrade(&seat));
        seat
    }

    /// Returns how many followers are at work.
    #[cfg(test)]
    pub(super) fn followers(&self) -> usize {
        self.0.followers.len()
    }

    /// Returns how many messages wait for the slowest viewer of `subject`.
    #[cfg(test)]
    pub(super) fn ring(&self, subject: &Subject) -> usize {
        let seat = self.seats().get(subject).and_then(Weak::upgrade);
        seat.map_or(0, |seat| seat.feed.sender.len())
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<Subject, Weak<Seat>>> {
        self.0.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a follower begins.
enum Start {
    /// After this event of the run.
    Run(RunId, i64),
    /// From how things stand.
    Everything(Standing),
}

impl Start {
    async fn of(ledger: &Ledger, subject: &Subject) -> Result<Self, StoreError> {
        match subject {
            Subject::Run(id) => Ok(Self::Run(id.clone(), ledger.last_event(id).await?)),
            Subject::Everything => Ok(Self::Everything(Standing::now(ledger).await?)),
        }
    }
}
