//! A ledger to test on, and runs to put into it.

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_core::redact::Redactor;
use airtight_store::{
    Begun, ContractRow, Driver, Finish, Job, Ledger, Location, NewAttempt, NewRun, RunToken,
    Settings, StatsFilter,
};
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _};
use tempfile::TempDir;

use crate::postgres::Server;

/// An empty database.
pub(crate) struct Bed {
    pub(crate) location: Location,
    pub(crate) url: String,
    pub(crate) folder: TempDir,
}

impl Bed {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let url = format!("sqlite:{}", path.display());
        Self { location: Location::Sqlite(path), url, folder }
    }

    pub(crate) fn postgres() -> Self {
        Self::at(Server::shared().database())
    }

    pub(crate) fn at(url: String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { location: url.parse().unwrap(), url, folder }
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.location.path().is_some()
    }

    pub(crate) async fn open(&self) -> Ledger {
        Ledger::open(&self.location).await.unwrap()
    }

    pub(crate) async fn open_masking(&self, secret: &str) -> Ledger {
        let settings = Settings { redactor: Redactor::new([secret]), ..Settings::default() };
        Ledger::open_with(&self.location, settings).await.unwrap()
    }

    /// Does something to the database behind the ledger's back.
    pub(crate) async fn meddle(&self, sql: &str) -> Vec<sqlx::any::AnyRow> {
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect(&self.url).await.unwrap();
        let rows =
            sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).fetch_all(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        rows
    }
}

/// A run with everything in it.
pub(crate) fn new_run() -> NewRun {
    NewRun {
        contract: ContractRow {
            fingerprint: "f00d".repeat(16),
            name: "blog-writer".to_owned(),
            version: "2".to_owned(),
            schema: r#"{"type":"object"}"#.to_owned(),
        },
        job: Job {
            prompt: "Write.".to_owned(),
            system: Some("You write.".to_owned()),
            input: Some(b"a document".to_vec()),
        },
        driver: Driver {
            driver: "api".to_owned(),
            provider: "anthropic".to_owned(),
            model: "claude-x".to_owned(),
            mode: "tool".to_owned(),
        },
        attempt: Some(new_attempt()),
        ..NewRun::default()
    }
}

pub(crate) fn keyed(key: &str) -> NewRun {
    NewRun { key: Some(key.to_owned()), ..new_run() }
}

pub(crate) fn new_attempt() -> NewAttempt {
    NewAttempt {
        provider: "anthropic".to_owned(),
        model: "claude-x".to_owned(),
        purpose: String::new(),
    }
}

pub(crate) fn met() -> Finish {
    Finish {
        outcome: "met".to_owned(),
        rung: Some("tool".to_owned()),
        output: Some(br#"{"n":1}"#.to_vec()),
        parsed: Some(r#"{"n":1}"#.to_owned()),
        edits: Some("[]".to_owned()),
        losses: Some("[]".to_owned()),
        attempts: 1,
        usage: Usage { input_tokens: Some(7), output_tokens: Some(3), ..Usage::default() },
        cost: Cost::from_usd(0.001_25),
        ..Finish::default()
    }
}

pub(crate) fn failed() -> Finish {
    Finish {
        outcome: "attempts_exhausted".to_owned(),
        output: Some(b"no JSON at all".to_vec()),
        errors: Some(r#"[{"path":"","message":"not an object"}]"#.to_owned()),
        attempts: 3,
        ..Finish::default()
    }
}

pub(crate) async fn begin(ledger: &Ledger, run: NewRun) -> RunToken {
    match ledger.begin(run).await.unwrap() {
        Begun::Fresh(token) => token,
        other @ (Begun::Finished(_) | Begun::Busy { .. }) => panic!("not fresh: {other:?}"),
    }
}

pub(crate) async fn store(ledger: &Ledger, run: NewRun, finish: Finish) -> RunToken {
    let token = begin(ledger, run).await;
    ledger.finish(&token, finish).await.unwrap();
    token
}

/// Returns how many runs the statistics know.
pub(crate) async fn counted(ledger: &Ledger) -> u64 {
    let stats = ledger.stats(&StatsFilter::default(), &[]).await.unwrap();
    stats.first().map_or(0, |stat| stat.runs)
}
