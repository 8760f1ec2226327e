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

/// Runs what was typed.
pub(super) fn run(
    args: &RunsArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    if let RunsAction::Resume(args) = &args.action {
        return resume::run(args, environment, printer);
    }
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(answer(&args.action, environment, printer))
}

async fn answer(
    action: &RunsAction,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    match action {
        RunsAction::List(args) => {
            let asked = Asked::to_read(&args.ledger, environment).await?;
            list::run(args, list::Which::All, &asked, printer).await
        }
        RunsAction::Review(args) => {
            let asked = Asked::to_read(&args.ledger, environment).await?;
            list::run(args, list::Which::Flagged, &asked, printer).await
        }
        RunsAction::Show(args) => {
            show::run(args, &Asked::to_read(&args.ledger, environment).await?, printer).await
        }
        RunsAction::Export(args) => {
            export::run(args, &Asked::to_read(&args.ledger, environment).await?, printer).await
        }
        RunsAction::Replay(args) => {
            let asked = Asked::to_read(&args.ledger, environment).await?;
            replay::run(args, &asked, environment, printer).await
        }
        RunsAction::Accept(args) => {
            let asked = Asked::to_write(&args.ledger, environment).await?;
            decide::accept(args, &asked, environment, printer).await
        }
        RunsAction::Reject(args) => {
            let asked = Asked::to_write(&args.ledger, environment).await?;
            decide::reject(args, &asked, environment, printer).await
        }
        RunsAction::Prune(args) => {
            prune::run(args, &Asked::to_write(&args.ledger, environment).await?, printer).await
        }
        // It has a runtime of its own, and never comes here.
        RunsAction::Resume(args) => resume::run(args, environment, printer),
    }
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
