//! Group commit: writes queue up, and a writer takes what is there, commits it in one transaction,
//! and answers all. The disk is waited for once, however many wait for it.
//!
//! A write is acknowledged after the commit that holds it, never before. The disk is not waited for if
//! nobody in the group must: then it is by the next group that does, or [`LAG`] later. One that fails takes
//! nobody with it: its group is rolled back and done again one by one. Each write names its rows
//! before it is sent, so doing it twice, after a connection broke in the middle of a commit, stores
//! it once. After a failure of the disk nothing is acknowledged any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use sqlx::{AnyConnection, Connection as _};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::dialect::Commit;
use crate::error::StoreError;
use crate::ledger::{self, Place, Seen};
use crate::retention::{Level, Sieve};
use crate::stats::Tallies;
use crate::write::Sheaf;

/// How many writes may wait before callers do: each may hold a long text.
const QUEUE_LIMIT: usize = 512;

/// How many writes are committed together: more would make the first wait for the last.
const GROUP_LIMIT: usize = 256;

/// How long a whole group may take on a server that has stopped answering in the middle.
const GROUP_TIMEOUT: Duration = Duration::from_mins(2);

/// How long what nobody waited for may be on its way to the disk, if no other commit takes it along.
const LAG: Duration = Duration::from_millis(50);

/// The first pause before a server is tried again; it doubles up to the second.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));

/// Something that is written in one transaction, or not at all.
pub(crate) trait Write: Send + Sync + 'static {
    /// What the caller learns.
    type Output: Send + 'static;

    /// Where it must be before the caller learns that.
    fn commit(&self) -> Commit {
        Commit::OnDisk
    }

    /// Writes it. Must be harmless if it was written already.
    fn apply(
        &self,
        to: &mut Transaction<'_>,
    ) -> impl Future<Output = Result<Self::Output, StoreError>> + Send;
}

/// An open transaction, and what writes in it share.
pub(crate) struct Transaction<'t> {
    pub(crate) connection: &'t mut AnyConnection,
    pub(crate) place: &'t Place,
    pub(crate) now_ms: i64,
    /// Whether it holds one write.
    pub(crate) is_alone: bool,
    /// Folded, and written at the end in one order, so that no two transactions wait for each other.
    pub(crate) tallies: Tallies,
    /// Rows that are only added: written together at the end.
    pub(crate) sheaf: Sheaf,
    /// Contracts that are stored when this commits.
    pub(crate) contracts: Vec<Seen>,
}

impl Transaction<'_> {
    pub(crate) fn fail(&self) -> impl Fn(sqlx::Error) -> StoreError + use<> {
        let dialect = self.place.dialect;
        move |error| StoreError::of(dialect, error)
    }

    pub(crate) fn sieve(&self, level: Level) -> Sieve<'_> {
        Sieve { level, redactor: &self.place.settings.redactor }
    }
}

/// A write that waits, whatever it is.
pub(crate) trait Waiting: Send {
    fn commit(&self) -> Commit;
    fn apply<'w>(
        &'w mut self,
        to: &'w mut Transaction<'_>,
    ) -> BoxFuture<'w, Result<(), StoreError>>;
    fn stored(self: Box<Self>);
    fn failed(self: Box<Self>, error: StoreError);
}

struct Pending<W: Write> {
    write: W,
    output: Option<W::Output>,
    reply: oneshot::Sender<Result<W::Output, StoreError>>,
}

impl<W: Write> Waiting for Pending<W> {
    fn commit(&self) -> Commit {
        self.write.commit()
    }

    fn apply<'w>(
        &'w mut self,
        to: &'w mut Transaction<'_>,
    ) -> BoxFuture<'w, Result<(), StoreError>> {
        Box::pin(async move {
            self.output = Some(self.write.apply(to).await?);
            Ok(())
        })
    }

    fn stored(self: Box<Self>) {
        if let Some(output) = self.output {
            // Whoever asked may have gone; it is stored all the same.
            drop(self.reply.send(Ok(output)));
        }
    }

    fn failed(self: Box<Self>, error: StoreError) {
        drop(self.reply.send(Err(error)));
    }
}

/// Has what was committed before on the disk: SQLite syncs nothing if nothing is written.
struct Flush;

impl Waiting for Flush {
    fn commit(&self) -> Commit {
        Commit::OnDisk
    }

    fn apply<'w>(
        &'w mut self,
        to: &'w mut Transaction<'_>,
    ) -> BoxFuture<'w, Result<(), StoreError>> {
        Box::pin(ledger::beat(to))
    }

    fn stored(self: Box<Self>) {}

    fn failed(self: Box<Self>, error: StoreError) {
        tracing::warn!(%error, "what was committed last may not be on the disk");
    }
}

enum Next {
    Message(Message),
    Flush,
    Nothing,
}

enum Message {
    Write(Box<dyn Waiting>),
    Close(oneshot::Sender<()>),
}

/// The end at which writes come in.
#[derive(Clone)]
pub(crate) struct Inbox(mpsc::Sender<Message>);

impl Inbox {
    /// Starts a writer; it connects when the first write comes, unless it has `connection`.
    pub(crate) fn start(place: Arc<Place>, connection: Option<AnyConnection>) -> Self {
        let (sender, queue) = mpsc::channel(QUEUE_LIMIT);
        let writer = Writer { place, connection, queue, due: None, stopped: None };
        // It ends when every handle of the ledger is gone, or with the message to close.
        drop(tokio::spawn(writer.work()));
        Self(sender)
    }

    /// Returns once `write` is committed, and on disk if it must be.
    pub(crate) async fn write<W: Write>(&self, write: W) -> Result<W::Output, StoreError> {
        let (reply, answer) = oneshot::channel();
        let pending = Pending { write, output: None, reply };
        let message = Message::Write(Box::new(pending));
        self.0.send(message).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Returns once everything before is written and the connection is closed.
    pub(crate) async fn close(&self) {
        let (reply, answer) = oneshot::channel();
        if self.0.send(Message::Close(reply)).await.is_ok() {
            drop(answer.await);
        }
    }
}

struct Writer {
    place: Arc<Place>,
    connection: Option<AnyConnection>,
    queue: mpsc::Receiver<Message>,
    /// When what was committed must be on the disk, if it may not be there.
    due: Option<Instant>,
    /// The failure after which nothing is acknowledged.
    stopped: Option<Arc<StoreError>>,
}

impl Writer {
    async fn work(mut self) {
        loop {
            let mut group: Vec<Box<dyn Waiting>> = Vec::new();
            let mut closing = None;
            let mut next = match self.next().await {
                Next::Message(message) => Some(message),
                Next::Flush => {
                    group.push(Box::new(Flush));
                    None
                }
                Next::Nothing => break,
            };
            while let Some(message) = next {
                match message {
                    Message::Write(write) => group.push(write),
                    Message::Close(reply) => closing = Some(reply),
                }
                let more = closing.is_none() && group.len() < GROUP_LIMIT;
                next = more.then(|| self.queue.try_recv().ok()).flatten();
            }
            self.commit(group).await;
            if let Some(reply) = closing {
                self.queue.close();
                self.hang_up().await;
                // Whoever asked may have gone.
                let _gone = reply.send(());
                return;
            }
        }
        self.hang_up().await;
    }

    /// Waits for a message, until what was committed must be on the disk.
    async fn next(&mut self) -> Next {
        let message = match self.due {
            None => self.queue.recv().await,
            Some(due) => match tokio::time::timeout_at(due.into(), self.queue.recv()).await {
                Ok(message) => message,
                Err(_) => return Next::Flush,
            },
        };
        message.map_or(Next::Nothing, Next::Message)
    }

    async fn hang_up(&mut self) {
        if self.due.is_some() {
            self.commit(vec![Box::new(Flush)]).await;
        }
        if let Some(connection) = self.connection.take() {
            drop(connection.close().await);
        }
    }

    /// Commits `group`, together if that works, else one by one, and answers everybody.
    async fn commit(&mut self, mut group: Vec<Box<dyn Waiting>>) {
        if group.is_empty() {
            return;
        }
        let failure = match self.persist(&mut group).await {
            Ok(()) => return group.into_iter().for_each(Waiting::stored),
            Err(failure) => failure,
        };
        // What is wrong takes its time, and is told by then; behind a failure of the disk nothing is left to do.
        let later = self.due.map(|_| Instant::now() + PAUSE.1);
        self.due = later.filter(|_| self.stopped.is_none());
        if failure.is_everybodys() || group.len() == 1 {
            return group.into_iter().for_each(|write| write.failed(failure.clone()));
        }
        for write in group {
            let mut alone = vec![write];
            match self.persist(&mut alone).await {
                Ok(()) => alone.into_iter().for_each(Waiting::stored),
                Err(failure) => alone.into_iter().for_each(|write| write.failed(failure.clone())),
            }
        }
    }

    /// Commits `group` in one transaction, and tries again as long as the failure may pass.
    async fn persist(&mut self, group: &mut [Box<dyn Waiting>]) -> Result<(), StoreError> {
        let begun = Instant::now();
        let mut pause = PAUSE.0;
        loop {
            if let Some(first) = &self.stopped {
                return Err(StoreError::Stopped { first: Arc::clone(first) });
            }
            let Err(failure) = self.attempt(group).await else { return Ok(()) };
            if failure.is_final() {
                tracing::error!(error = %failure, "ledger stopped");
                self.stopped = Some(Arc::new(failure.clone()));
            }
            let time_left = begun.elapsed() + pause < self.place.settings.reconnect;
            if !failure.is_passing() || !time_left {
                return Err(failure);
            }
            tokio::time::sleep(pause.mul_f64(0.5 + fastrand::f64())).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    async fn attempt(&mut self, group: &mut [Box<dyn Waiting>]) -> Result<(), StoreError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.place.connect().await?,
        };
        let now = Instant::now();
        let is_due = self.due.is_some_and(|due| due <= now);
        let must = is_due || group.iter().any(|write| write.commit() == Commit::OnDisk);
        let commit = if must { Commit::OnDisk } else { Commit::Soon };
        let work = transact(&self.place, &mut connection, commit, group);
        let Ok(done) = tokio::time::timeout(GROUP_TIMEOUT, work).await else {
            let source = Arc::new(sqlx::Error::PoolTimedOut);
            return Err(StoreError::Unreachable { source });
        };
        match done {
            Ok(()) => {
                self.connection = Some(connection);
                self.due = match commit {
                    Commit::OnDisk => None,
                    Commit::Soon => self.due.or(Some(now + LAG)),
                };
            }
            // A connection whose state is not known is not used again.
            Err(ref failure) if failure.is_passing() || failure.is_final() => {}
            Err(_) => {
                if sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.is_ok() {
                    self.connection = Some(connection);
                }
            }
        }
        done
    }
}

async fn transact(
    place: &Place,
    connection: &mut AnyConnection,
    commit: Commit,
    group: &mut [Box<dyn Waiting>],
) -> Result<(), StoreError> {
    let fail = |error| StoreError::of(place.dialect, error);
    sqlx::raw_sql(place.dialect.begin(commit)).execute(&mut *connection).await.map_err(fail)?;
    let mut to = Transaction {
        connection,
        place,
        is_alone: group.len() == 1,
        now_ms: place.clock.now_ms(),
        tallies: Tallies::default(),
        sheaf: Sheaf::default(),
        contracts: Vec::new(),
    };
    for write in group {
        write.apply(&mut to).await?;
    }
    to.conclude().await?;
    let contracts = std::mem::take(&mut to.contracts);
    sqlx::raw_sql("COMMIT").execute(&mut *to.connection).await.map_err(fail)?;
    place.commits.count();
    place.remember(contracts);
    Ok(())
}

/// Counts commits: each is one wait for the disk, but for those that nobody waits for.
#[derive(Debug, Default)]
pub(crate) struct Commits {
    count: AtomicU64,
    /// Wakes whoever waits for the next one.
    next: Notify,
}

impl Commits {
    fn count(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.next.notify_waiters();
    }

    pub(crate) fn so_far(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Waits for the next one from now on.
    pub(crate) fn next(&self) -> Notified<'_> {
        self.next.notified()
    }
}
