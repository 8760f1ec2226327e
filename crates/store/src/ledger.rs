//! The handle of a ledger.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions as _, Row as _};

use crate::clock::Clock;
use crate::dialect::Dialect;
use crate::error::StoreError;
use crate::file;
use crate::location::Location;
use crate::owner::{HEARTBEAT_SECONDS, Owner};
use crate::run::RunId;
use crate::schema::{self, Age};
use crate::settings::{Access, Settings};
use crate::writer::{Commits, Inbox, Transaction, Write};

/// The most readers of one process at once.
const READERS: u32 = 4;

/// How many contracts a process remembers to have stored: more are stored again, which does nothing.
const CONTRACTS_REMEMBERED: usize = 1024;

/// The ledger. Handles are cheap to clone and share everything.
#[derive(Clone)]
pub struct Ledger {
    pub(crate) place: Arc<Place>,
    writers: Arc<[Inbox]>,
    /// Dropped with the last handle, which ends the heartbeat.
    _alive: Arc<tokio::sync::oneshot::Sender<()>>,
}

/// The fingerprint, name and version of a contract.
pub(crate) type Seen = (String, String, String);

/// A ledger that is open: where it is, and what its writers and readers share.
pub(crate) struct Place {
    pub(crate) dialect: Dialect,
    pub(crate) settings: Settings,
    pub(crate) owner: Owner,
    pub(crate) clock: Clock,
    pub(crate) commits: Commits,
    shown: String,
    options: AnyConnectOptions,
    readers: AnyPool,
    contracts: Mutex<HashSet<Seen>>,
}

impl Ledger {
    /// Opens the ledger at `location`, and makes it if it is missing.
    pub async fn open(location: &Location) -> Result<Self, StoreError> {
        Self::open_with(location, Settings::default()).await
    }

    /// Opens the ledger at `location`.
    pub async fn open_with(location: &Location, settings: Settings) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let dialect = match location {
            Location::Sqlite(_) => Dialect::Sqlite,
            Location::Postgres(_) => Dialect::Postgres,
        };
        if let Some(path) = location.path() {
            file::check_log(path).await?;
            file::make(path, settings.access)?;
        }
        let options = options(location, settings.access)?;
        let shown = location.to_string();
        let mut connection = connect(&options, dialect, &settings, &shown).await?;
        let clock = Clock::showing(read_clock(&mut connection, dialect).await?);
        if let Age::Behind(_) = schema::age(&mut connection, dialect).await? {
            if settings.access == Access::Read {
                let what = "ledger, or none that is up to date, at";
                return Err(StoreError::NotFound { what, name: shown });
            }
            schema::update(&mut connection, dialect, &clock).await?;
        }
        let readers = readers(&options, dialect, &settings);
        let place = Arc::new(Place {
            dialect,
            settings,
            owner: Owner::this(),
            clock,
            commits: Commits::default(),
            shown,
            options,
            readers,
            contracts: Mutex::default(),
        });
        Ok(Self::start(place, connection))
    }

    fn start(place: Arc<Place>, connection: AnyConnection) -> Self {
        let count = match place.settings.access {
            Access::Write => place.dialect.writers(),
            Access::Read => 0,
        };
        let mut first = Some(connection);
        let writers: Arc<[Inbox]> =
            (0..count).map(|_| Inbox::start(Arc::clone(&place), first.take())).collect();
        let (alive, mut gone) = tokio::sync::oneshot::channel::<()>();
        if let Some(inbox) = writers.first().cloned() {
            drop(tokio::spawn(async move {
                let every = Duration::from_secs(HEARTBEAT_SECONDS);
                while tokio::time::timeout(every, &mut gone).await.is_err() {
                    match inbox.write(Heartbeat).await {
                        Ok(()) => {}
                        Err(StoreError::Closed) => return,
                        Err(error) => tracing::warn!(%error, "heartbeat not stored"),
                    }
                }
            }));
        }
        Self { place, writers, _alive: Arc::new(alive) }
    }

    /// Waits until everything that was asked is stored, and closes the ledger for all its handles.
    pub async fn close(self) {
        for writer in self.writers.iter() {
            writer.close().await;
        }
        self.place.readers.close().await;
    }

    /// Returns the time of the database, in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.place.clock.now_ms()
    }

    /// Makes a name for a run that begins now.
    pub fn new_id(&self) -> RunId {
        RunId::at(self.now_ms())
    }

    /// Returns how many transactions were committed through this ledger: each waits once for the
    /// disk at the most, however many writes it holds.
    pub fn commits(&self) -> u64 {
        self.place.commits.so_far()
    }

    /// Waits until something is committed through this ledger after this call; what other processes commit
    /// wakes nobody.
    pub fn committed(&self) -> impl Future<Output = ()> + Send + '_ {
        self.place.commits.next()
    }

    /// Writes through the writer of `lane`: the writes of one run follow each other.
    pub(crate) async fn write<W: Write>(
        &self,
        lane: i64,
        write: W,
    ) -> Result<W::Output, StoreError> {
        let count = self.writers.len().max(1);
        let lane = usize::try_from(lane.unsigned_abs()).unwrap_or(0) % count;
        self.writers.get(lane).ok_or(StoreError::ReadOnly)?.write(write).await
    }

    /// Writes what belongs to no run.
    pub(crate) async fn write_any<W: Write>(&self, write: W) -> Result<W::Output, StoreError> {
        self.write(fastrand::i64(0..1_000_000), write).await
    }

    pub(crate) async fn reader(&self) -> Result<PoolConnection<Any>, StoreError> {
        let fail = |error| StoreError::of(self.place.dialect, error);
        self.place.readers.acquire().await.map_err(fail)
    }
}

impl Place {
    /// Opens one more connection that writes.
    pub(crate) async fn connect(&self) -> Result<AnyConnection, StoreError> {
        connect(&self.options, self.dialect, &self.settings, &self.shown).await
    }

    /// Claims that this process has stored the contract already.
    pub(crate) fn knows(&self, contract: &Seen) -> bool {
        self.contracts.lock().unwrap_or_else(PoisonError::into_inner).contains(contract)
    }

    pub(crate) fn remember(&self, contracts: Vec<Seen>) {
        let mut known = self.contracts.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < CONTRACTS_REMEMBERED {
            known.extend(contracts);
        }
    }
}

/// Says that this process lives.
struct Heartbeat;

const HEARTBEAT: &str = "INSERT INTO owners (id, seen_at) VALUES ($1, $2) \
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at";

const FORGET: &str = "DELETE FROM owners WHERE seen_at < $1";

/// Processes that were not heard of for a day are no longer asked after.
const OWNERS_KEPT_MS: i64 = 86_400_000;

impl Write for Heartbeat {
    type Output = ();

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        beat(to).await?;
        sqlx::query(FORGET)
            .bind(to.now_ms - OWNERS_KEPT_MS)
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())
            .map(drop)
    }
}

pub(crate) async fn beat(to: &mut Transaction<'_>) -> Result<(), StoreError> {
    sqlx::query(HEARTBEAT)
        .bind(to.place.owner.to_string())
        .bind(to.now_ms)
        .execute(&mut *to.connection)
        .await
        .map_err(to.fail())
        .map(drop)
}

fn options(location: &Location, access: Access) -> Result<AnyConnectOptions, StoreError> {
    let options: AnyConnectOptions = location.url(access)?.parse().map_err(|error| {
        let source: Arc<sqlx::Error> = Arc::new(error);
        StoreError::CannotOpen { place: location.to_string(), source }
    })?;
    Ok(options.disable_statement_logging())
}

async fn connect(
    options: &AnyConnectOptions,
    dialect: Dialect,
    settings: &Settings,
    shown: &str,
) -> Result<AnyConnection, StoreError> {
    let fail = |error| StoreError::of(dialect, error).at(shown);
    let unanswered = |_| StoreError::Unreachable { source: Arc::new(sqlx::Error::PoolTimedOut) };
    let work = async {
        let mut connection = options.connect().await.map_err(fail)?;
        // Before the greeting, which changes the file.
        if let Some(question) = dialect.is_foreign() {
            let row = sqlx::query(question).fetch_one(&mut connection).await.map_err(fail)?;
            if row.try_get::<i64, _>(0).map_err(fail)? > 0 {
                return Err(StoreError::Foreign { place: shown.to_owned() });
            }
        }
        let greeting = AssertSqlSafe(dialect.greeting(settings.patience));
        sqlx::raw_sql(greeting).execute(&mut connection).await.map_err(fail)?;
        Ok(connection)
    };
    // SQLite has its own patience, within; a server has as long to answer.
    tokio::time::timeout(settings.patience * 2, work).await.map_err(unanswered)?
}

async fn read_clock(connection: &mut AnyConnection, dialect: Dialect) -> Result<i64, StoreError> {
    let fail = |error| StoreError::of(dialect, error);
    let row = sqlx::query(dialect.clock()).fetch_one(connection).await.map_err(fail)?;
    row.try_get(0).map_err(fail)
}

/// Makes the pool of readers; none is opened before somebody reads.
fn readers(options: &AnyConnectOptions, dialect: Dialect, settings: &Settings) -> AnyPool {
    let greeting = format!("{}; {}", dialect.greeting(settings.patience), dialect.reading());
    AnyPoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(settings.patience * 2)
        .idle_timeout(Duration::from_mins(1))
        .after_connect(move |connection, _| {
            let greeting = AssertSqlSafe(greeting.clone());
            Box::pin(async move { sqlx::raw_sql(greeting).execute(connection).await.map(drop) })
        })
        .connect_lazy_with(options.clone())
}
