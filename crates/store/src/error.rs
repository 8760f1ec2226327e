//! What can go wrong with a ledger, and what to do about it. No message holds a secret: databases
//! are named by [`Location`](crate::Location)'s own words, and values are never quoted.

use std::sync::Arc;

use crate::dialect::Dialect;

/// Why the ledger did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The path of the ledger is no text.
    #[error("the path of the ledger is not UTF-8: choose another")]
    PathNotText,
    /// The URL is of no database that is known.
    #[error("no ledger can be kept at `{scheme}:`: give a path, `sqlite:PATH` or `postgres://…`")]
    Scheme {
        /// What the URL begins with.
        scheme: String,
    },
    /// There is no file in the path, or none that stays.
    #[error("a ledger needs a file: give its path")]
    NoFile,
    /// What is there is a folder, a pipe or a device.
    #[error("`{place}` is no file: name another")]
    NotAFile {
        /// Where it is.
        place: String,
    },
    /// Nothing was ever kept in the file.
    #[error("`{place}` is an empty file, and no ledger yet")]
    Empty {
        /// Where it is.
        place: String,
    },
    /// The file cannot be opened or made.
    #[error("cannot open the ledger `{place}`: check that its folder exists and may be written to")]
    CannotOpen {
        /// Where it is.
        place: String,
        /// What the system says.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// The disk is full.
    #[error("the disk that holds the ledger is full: free some space; this was not stored")]
    Full,
    /// The database may only be read.
    #[error(
        "the ledger may only be read: check the permissions of its file and folder, or whether the server is a standby"
    )]
    ReadOnly,
    /// Another process holds the ledger.
    #[error(
        "another process holds the ledger: wait for it, or find it with `fuser` on the file; this was not stored"
    )]
    Locked,
    /// The file is damaged, or no ledger.
    #[error(
        "the ledger is damaged or is no database: restore it from a copy, or move it away; nothing was written"
    )]
    Corrupt {
        /// What the database says.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// A write did not reach the disk, so nothing is acknowledged any more.
    #[error(
        "the disk failed while the ledger was written: check it, then start again; this may not be stored"
    )]
    Disk {
        /// What the database says.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// A write failed earlier, so nothing is acknowledged any more.
    #[error("nothing is stored any more since an earlier failure: start again when that is mended")]
    Stopped {
        /// The first failure.
        #[source]
        first: Arc<Self>,
    },
    /// The ledger was made by a newer version.
    #[error(
        "the ledger was made by a newer airtight (schema {found}, this one knows {known}): update airtight; nothing was written"
    )]
    Newer {
        /// The version of its schema.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// The ledger's schema is not the one that its version should have.
    #[error(
        "step {version} of the ledger's schema is not the one that this airtight knows: it was changed by hand, or by a build that was never released"
    )]
    Altered {
        /// The step that differs.
        version: i64,
    },
    /// The log of the ledger is gone, and the last runs with it.
    #[error(
        "`{wal}` is missing, which held the last runs: put it back; to go on without them, delete `{shm}`"
    )]
    LogMissing {
        /// What is missing.
        wal: String,
        /// What shows that.
        shm: String,
    },
    /// The server does not answer.
    #[error("the database server does not answer: check that it runs and can be reached")]
    Unreachable {
        /// What happened.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// The server does not let us in.
    #[error("the database refuses the login: check user, password and name of the database")]
    Login {
        /// What the server says.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// The user may not do that.
    #[error("the database user may not do that: grant it the right to create and write tables")]
    Denied {
        /// What the server says.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// Two transactions were in each other's way, again and again.
    #[error("other processes write the same rows: try again")]
    Contended {
        /// What the server says.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// Another process has taken the run or the job over.
    #[error(
        "another process has taken this over, so this end does not count; what was said is kept as a stray attempt"
    )]
    Fenced,
    /// Another run has that name.
    #[error("the ledger has a run named `{id}` already: give it another name")]
    Taken {
        /// The name.
        id: String,
    },
    /// It is the database of another program.
    #[error("`{place}` is the database of another program: name another file")]
    Foreign {
        /// Where it is.
        place: String,
    },
    /// The key is that of another job.
    #[error("the key belongs to another job, of run `{id}`: choose another key")]
    OtherJob {
        /// The run.
        id: String,
    },
    /// The value would not be stored as it is.
    #[error("run `{id}` is stored `{level}`, so the value would not be kept as it is")]
    Unkept {
        /// The run.
        id: String,
        /// How it is stored.
        level: &'static str,
    },
    /// Several runs have names that begin like this.
    #[error("{matches} runs or more have a name that begins with `{prefix}`: give more of it")]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// How many there are at least.
        matches: u64,
    },
    /// There is no such thing.
    #[error("the ledger has no {what} `{name}`")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The run is not over, so nobody can decide about it.
    #[error("run `{id}` is not over: wait for its end")]
    NotOver {
        /// The run.
        id: String,
    },
    /// The ledger is closed.
    #[error("the ledger is closed")]
    Closed,
    /// A text is too long to be stored.
    #[error("{what} is {size} bytes, over the {limit}-byte limit of the ledger")]
    TooLarge {
        /// Which text.
        what: &'static str,
        /// Its length.
        size: usize,
        /// The most.
        limit: usize,
    },
    /// A name holds a NUL, which databases do not take.
    #[error("{what} holds a NUL character: leave it out")]
    Nul {
        /// Which name.
        what: &'static str,
    },
    /// What was stored cannot be read back.
    #[error("the ledger holds {what} that cannot be read: restore it from a copy")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// Something else.
    #[error("the database failed")]
    Sql {
        /// What it says.
        #[source]
        source: Arc<sqlx::Error>,
    },
}

impl StoreError {
    /// Says what `error` means on this kind of database.
    pub(crate) fn of(dialect: Dialect, error: sqlx::Error) -> Self {
        if matches!(error, sqlx::Error::PoolClosed) {
            return Self::Closed;
        }
        let source = Arc::new(error);
        match dialect {
            Dialect::Sqlite => Self::of_sqlite(source),
            Dialect::Postgres => Self::of_postgres(source),
        }
    }

    fn of_sqlite(source: Arc<sqlx::Error>) -> Self {
        const BUSY: i64 = 5;
        const LOCKED: i64 = 6;
        const READONLY: i64 = 8;
        const IOERR: i64 = 10;
        const CORRUPT: i64 = 11;
        const FULL: i64 = 13;
        const CANTOPEN: i64 = 14;
        const NOTADB: i64 = 26;
        // The shared index of the log could not grow; no data is at stake.
        const IOERR_SHMSIZE: i64 = 4874;

        let code: Option<i64> = code(&source).and_then(|code| code.parse().ok());
        match code.map(|code| (code, code & 0xff)) {
            Some((IOERR_SHMSIZE, _) | (_, FULL)) => Self::Full,
            Some((_, BUSY | LOCKED)) => Self::Locked,
            Some((_, READONLY)) => Self::ReadOnly,
            Some((_, IOERR)) => Self::Disk { source },
            Some((_, CORRUPT | NOTADB)) => Self::Corrupt { source },
            Some((_, CANTOPEN)) => Self::CannotOpen { place: "database".to_owned(), source },
            _ => Self::Sql { source },
        }
    }

    fn of_postgres(source: Arc<sqlx::Error>) -> Self {
        let cut = matches!(
            *source,
            sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::Protocol(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::WorkerCrashed
        );
        if cut {
            return Self::Unreachable { source };
        }
        let Some(code) = code(&source) else { return Self::Sql { source } };
        match (code.as_str(), code.get(..2).unwrap_or_default()) {
            ("53100", _) => Self::Full,
            ("25006", _) => Self::ReadOnly,
            ("55P03", _) => Self::Locked,
            ("40001" | "40P01", _) => Self::Contended { source },
            ("42501", _) => Self::Denied { source },
            ("XX001" | "XX002", _) => Self::Corrupt { source },
            ("3D000", _) | (_, "28") => Self::Login { source },
            // Connections are cut, refused or too many; a transaction was left idle too long.
            ("57P01" | "57P02" | "57P03" | "57P05" | "25P03", _) | (_, "08" | "53") => {
                Self::Unreachable { source }
            }
            _ => Self::Sql { source },
        }
    }

    /// Says where the database is that cannot be opened.
    pub(crate) fn at(mut self, shown: &str) -> Self {
        if let Self::CannotOpen { place, .. } = &mut self {
            shown.clone_into(place);
        }
        self
    }

    /// Claims that nothing can be acknowledged after this until the ledger is opened again: what is
    /// on disk is no longer known.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Disk { .. } | Self::Corrupt { .. })
    }

    /// Claims that no single write is to blame, so that doing others without it would not help.
    pub(crate) fn is_everybodys(&self) -> bool {
        self.is_final()
            || self.is_passing()
            || matches!(
                self,
                Self::Stopped { .. }
                    | Self::Locked
                    | Self::ReadOnly
                    | Self::CannotOpen { .. }
                    | Self::Login { .. }
                    | Self::Denied { .. }
            )
    }

    /// Claims that the same may work on another connection, or in a moment.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Contended { .. })
    }
}

/// Returns the code that the database gave.
fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(std::borrow::Cow::into_owned)
}
