//! The little that SQLite and PostgreSQL must be told differently.

use std::time::Duration;

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// Where what was written is when its commit returns: others can read it in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commit {
    /// On the disk, with all that was committed before.
    OnDisk,
    /// With the database, which has it on the disk with the next that is to be there.
    Soon,
}

/// In which order numbers that a database gives appear to readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// None appears after a greater one.
    InOrder,
    /// Some do: they are taken before they are committed.
    AsTaken,
}

impl Dialect {
    /// Returns what is said on every new connection.
    pub(crate) fn greeting(self, patience: Duration) -> String {
        let patience = patience.as_millis();
        match self {
            // The cache is small: a single run reads little.
            Self::Sqlite => format!(
                "PRAGMA busy_timeout = {patience}; PRAGMA journal_mode = WAL; \
                 PRAGMA cache_size = -1000; PRAGMA journal_size_limit = 67108864"
            ),
            // Nothing of ours runs long; what does hangs, and must not hold anybody up.
            Self::Postgres => format!(
                "SET application_name = 'airtight'; SET statement_timeout = 60000; \
                 SET idle_in_transaction_session_timeout = 60000; SET lock_timeout = {patience}"
            ),
        }
    }

    /// Returns what is said on every new connection that only reads.
    pub(crate) fn reading(self) -> &'static str {
        match self {
            Self::Sqlite => "PRAGMA query_only = ON",
            Self::Postgres => "SET default_transaction_read_only = on",
        }
    }

    /// Returns the statements that begin a transaction which will write.
    pub(crate) fn begin(self, commit: Commit) -> &'static str {
        match (self, commit) {
            // Taken at once: a lock that is upgraded later may fail in the middle. The log is put into the file
            // after 16 MB: that is done within a commit, and a run writes some 20 pages, so by the usual 4 MB
            // every fiftieth would wait for it. It is not where nothing was synced before: a failure of that
            // sync would be told to nobody.
            (Self::Sqlite, Commit::OnDisk) => {
                "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; BEGIN IMMEDIATE"
            }
            (Self::Sqlite, Commit::Soon) => {
                "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; BEGIN IMMEDIATE"
            }
            (Self::Postgres, Commit::OnDisk) => "BEGIN",
            (Self::Postgres, Commit::Soon) => "BEGIN; SET LOCAL synchronous_commit = off",
        }
    }

    /// Returns the question for the time, in Unix milliseconds.
    pub(crate) fn clock(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "SELECT CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) AS now"
            }
            Self::Postgres => {
                "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now"
            }
        }
    }

    /// Returns the question for how many tables are called `schema_steps`.
    pub(crate) fn has_schema(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT COUNT(*) FROM sqlite_master WHERE name = 'schema_steps'",
            Self::Postgres => {
                "SELECT COUNT(*) FROM pg_tables \
                 WHERE tablename = 'schema_steps' AND schemaname = current_schema()"
            }
        }
    }

    /// Returns the question whether there is something that is no ledger; a server may hold other things.
    pub(crate) fn is_foreign(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => Some(
                "SELECT COUNT(*) FROM sqlite_master WHERE NOT EXISTS \
                 (SELECT 1 FROM sqlite_master WHERE name = 'schema_steps')",
            ),
            Self::Postgres => None,
        }
    }

    /// Returns the statement that keeps other processes from changing the schema meanwhile.
    pub(crate) fn lock_schema(self) -> Option<&'static str> {
        match self {
            // `BEGIN IMMEDIATE` did.
            Self::Sqlite => None,
            // Any number that nobody else uses: "airtight" in ASCII.
            Self::Postgres => {
                Some("SELECT CAST(1 AS BIGINT) FROM pg_advisory_xact_lock(7019274979397560436)")
            }
        }
    }

    /// Returns a step of the schema in the words of this database.
    pub(crate) fn schema(self, text: &str) -> String {
        let (number, bytes) = match self {
            Self::Sqlite => ("INTEGER NOT NULL PRIMARY KEY", ""),
            // Names are compared byte by byte, whatever the database's language is.
            Self::Postgres => {
                ("BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", "COLLATE \"C\"")
            }
        };
        let take = match self {
            // `BEGIN IMMEDIATE` did.
            Self::Sqlite => "",
            Self::Postgres => "LOCK TABLE tallies IN EXCLUSIVE MODE;",
        };
        text.replace("{NUMBER}", number)
            .replace("{BYTES}", bytes)
            .replace("{TAKE TALLIES}", take)
            .replace("{JOINED}", self.joined())
    }

    /// Returns the function that puts the texts of many rows behind each other.
    pub(crate) fn joined(self) -> &'static str {
        match self {
            Self::Sqlite => "GROUP_CONCAT",
            Self::Postgres => "STRING_AGG",
        }
    }

    /// Returns `sql` with its `{SKIP LOCKED}` and `{LOCK}`: rows that another transaction is at are
    /// passed over, or waited for. SQLite has one writer at a time.
    pub(crate) fn locking(self, sql: &str) -> String {
        let (skip, lock) = match self {
            Self::Sqlite => ("", ""),
            Self::Postgres => ("FOR UPDATE SKIP LOCKED", "FOR UPDATE"),
        };
        sql.replace("{SKIP LOCKED}", skip).replace("{LOCK}", lock)
    }

    /// Returns in which order the numbers of rows appear.
    pub(crate) fn numbering(self) -> Numbering {
        match self {
            // One transaction writes at a time.
            Self::Sqlite => Numbering::InOrder,
            Self::Postgres => Numbering::AsTaken,
        }
    }

    /// Returns how many writers are worth having.
    pub(crate) fn writers(self) -> usize {
        match self {
            Self::Sqlite => 1,
            // One waits for the network while others are at work.
            Self::Postgres => 4,
        }
    }
}
