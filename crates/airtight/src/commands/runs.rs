//! `airtight runs`: ask the ledger.

mod decide;
mod editor;
mod export;
mod list;
mod prune;
mod rejudge;
mod replay;
mod resume;
mod show;

use airtight_store::Ledger;
use tokio::runtime;

use crate::cli::{LedgerArgs, RunsAction, RunsArgs};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::printer::Printer;

pub(super) use rejudge::{is_on_record, judge_found, judge_value, rejudge};

/// Runs what was typed.
pub(super) fn run(
    args: &RunsArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    match &args.action {
        // A run has a runtime of its own.
        RunsAction::Resume(args) => resume::run(args, environment, printer),
        RunsAction::List(args) => block_on(async {
            let asked = Asked::to_read(&args.ledger, environment).await?;
            list::run(args, list::Which::All, &asked, printer).await
        }),
        RunsAction::Review(args) => block_on(async {
            let asked = Asked::to_read(&args.ledger, environment).await?;
            list::run(args, list::Which::Flagged, &asked, printer).await
        }),
        RunsAction::Show(args) => block_on(async {
            let asked = Asked::to_read(&args.ledger, environment).await?;
            show::run(args, &asked, printer).await
        }),
        RunsAction::Export(args) => block_on(async {
            let asked = Asked::to_read(&args.ledger, environment).await?;
            export::run(args, &asked, printer).await
        }),
        RunsAction::Replay(args) => block_on(async {
            let asked = Asked::to_read(&args.ledger, environment).await?;
            replay::run(args, &asked, environment, printer).await
        }),
        RunsAction::Accept(args) => block_on(async {
            let asked = Asked::to_write(&args.ledger, environment).await?;
            decide::accept(args, &asked, environment, printer).await
        }),
        RunsAction::Reject(args) => block_on(async {
            let asked = Asked::to_write(&args.ledger, environment).await?;
            decide::reject(args, &asked, environment, printer).await
        }),
        RunsAction::Prune(args) => block_on(async {
            let asked = Asked::to_write(&args.ledger, environment).await?;
            prune::run(args, &asked, printer).await
        }),
    }
}

pub(super) fn block_on<T>(answering: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(answering)
}

/// The ledger that is asked.
pub(super) struct Asked {
    pub(super) books: Books,
    pub(super) ledger: Ledger,
}

impl Asked {
    /// Opens the ledger to read it.
    pub(super) async fn to_read(
        args: &LedgerArgs,
        environment: &Environment,
    ) -> Result<Self, Error> {
        let books = Books::asked(args.database.as_deref(), environment)?;
        let ledger = books.read().await?;
        Ok(Self { books, ledger })
    }

    /// Opens the ledger, which must exist, to write to it.
    async fn to_write(args: &LedgerArgs, environment: &Environment) -> Result<Self, Error> {
        // Who decides about runs that are nowhere has mistyped the place.
        drop(Self::to_read(args, environment).await?);
        let books = Books::asked(args.database.as_deref(), environment)?;
        let redactor = airtight_core::redact::Redactor::new(environment.secrets());
        let ledger = books.open(redactor).await?;
        Ok(Self { books, ledger })
    }

    /// Says what it means that the ledger did not do what was asked.
    pub(super) fn failed(&self) -> impl Fn(airtight_store::StoreError) -> Error {
        |error| self.books.failed(error)
    }
}
