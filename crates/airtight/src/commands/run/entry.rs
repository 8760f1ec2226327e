//! How a run gets on record before anything is asked.

use std::sync::Arc;

use airtight_agent::provider::Model;
use airtight_core::batch::{Keys, Prices};
use airtight_core::redact::Redactor;
use airtight_store::{ContractRow, Job, Ledger, NewRun, Repeat, Run, StoreError};

use super::driver::Driver;
use super::limit::Limit;
use super::prepared::Prepared;
use crate::error::{Error, Outcome};
use crate::ledger::{self, Books, Entered, Recorder};

/// A ledger that is open, and what the settings say of it.
pub(super) struct Opened {
    pub(super) books: Books,
    pub(super) ledger: Ledger,
}

/// What the ledger says to a run that wants to begin.
pub(super) enum Entry {
    /// It is on record, and may begin.
    Fresh(Arc<Recorder>),
    /// Its key has an answer.
    Known(Box<Run>),
}

impl Prepared {
    /// Returns what is put on record before anything is asked.
    pub(super) fn entry(&self) -> NewRun {
        let contract = &self.contract;
        let (name, version) = self.known_as.clone().unwrap_or_else(|| {
            let version = contract.version().map(ToString::to_string);
            (contract.name().unwrap_or_default().to_owned(), version.unwrap_or_default())
        });
        NewRun {
            key: self.idempotency_key.clone(),
            // A key stands for an answer: a run that has none gives it up.
            repeat: if self.known_as.is_some() { Repeat::Named } else { Repeat::Failed },
            contract: ContractRow {
                fingerprint: contract.fingerprint().to_string(),
                name,
                version,
                schema: String::from_utf8_lossy(&self.schema).into_owned(),
            },
            job: Job {
                prompt: self.prompt.clone(),
                system: self.system.clone(),
                input: self.source.as_ref().map(|(_, text)| text.clone()),
            },
            // What grounded strings must be quoted from decides about an answer, too.
            terms: self
                .source
                .iter()
                .map(|(_, text)| Keys::new([text.as_slice()]).key([]))
                .collect(),
            driver: airtight_store::Driver {
                mode: self.driver.mode(&self.config).name().to_owned(),
                ..driver_row(&self.driver)
            },
            retention: self.books.as_ref().map(Books::retention).unwrap_or_default(),
            ..NewRun::default()
        }
    }
}

/// Names who is asked, as the ledger does.
pub(in crate::commands) fn driver_row(driver: &Driver) -> airtight_store::Driver {
    let named = |driver: &str, provider: &str, model: &str| airtight_store::Driver {
        driver: driver.to_owned(),
        provider: provider.to_owned(),
        model: model.to_owned(),
        mode: String::new(),
    };
    match driver {
        Driver::Model(Model::Served(name)) => named("api", name.vendor.prefix(), &name.name),
        Driver::Model(model @ Model::Embedded(_)) => {
            let shown = model.to_string();
            let name = shown.strip_prefix("embedded:").unwrap_or(&shown);
            named("embedded", "embedded", name)
        }
        Driver::Program(program, model) => {
            named(program.name(), program.name(), model.as_deref().unwrap_or_default())
        }
    }
}

/// Puts a run on record, or finds out that it is there.
pub(super) async fn enter(
    Opened { books, ledger }: &Opened,
    run: NewRun,
    prices: Prices,
    redactor: Redactor,
    limit: &Limit,
) -> Result<Entry, Error> {
    let key = run.key.clone().unwrap_or_default();
    let entered = tokio::select! {
        biased;
        entered = ledger::enter(ledger, run, prices, redactor) => entered,
        error = limit.reached() => return Err(error),
    };
    let failed = |error: StoreError| {
        if let StoreError::OtherJob { id } = &error {
            misused(&key, id, books)
        } else {
            books.failed(error)
        }
    };
    match entered.map_err(failed)? {
        Entered::Fresh(recorder) => Ok(Entry::Fresh(recorder)),
        Entered::Finished(run) => Ok(Entry::Known(run)),
        Entered::Busy { id, owner } => {
            let message = format!("run `{id}` of the key `{key}` is under way: {owner}");
            let command = books.command(&format!("runs show {id}"));
            Err(Error::new(Outcome::Busy, message)
                .hint(format!("wait for its end, or see it: `{command}`")))
        }
    }
}

/// Says that a key has the answer to another question.
fn misused(key: &str, id: &str, books: &Books) -> Error {
    let message = format!("the key `{key}` belongs to another job, of run `{id}`");
    let command = books.command(&format!("runs show {id}"));
    Error::new(Outcome::Usage, message)
        .hint(format!("choose another key; `{command}` shows the job"))
}
