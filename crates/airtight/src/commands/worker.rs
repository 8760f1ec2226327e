//! `airtight worker`: take jobs from the queue of a ledger and do them.

mod benches;
mod duty;
mod hints;
mod put_off;

use tokio_util::sync::CancellationToken;

use crate::batch::cry;
use crate::cli::WorkerArgs;
use crate::commands::batch::plan::books;
use crate::commands::batch::runtime;
use crate::commands::jobs::require_ledger;
use crate::commands::run::logging;
use crate::commands::signals;
use crate::config::Config;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::printer::{Printer, Span, Tone};
use airtight_core::redact::Redactor;
use benches::Benches;
use duty::{Duty, Shift};
use hints::advise;

/// Runs what was typed.
pub(super) fn run(
    args: &WorkerArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let interrupt = CancellationToken::new();
    signals::listen(interrupt.clone())?;
    let log = logging::start(environment);
    let config = Config::load(environment, None, args.entries(), args.trust.trust())?;
    let books = books(&config, environment)?;
    require_ledger(&books)?;
    let secrets = books.secrets();
    let known = secrets.iter().map(String::as_str).chain(environment.secrets());
    let redactor = Redactor::new(known);
    log.mask(redactor.clone());
    runtime()?.block_on(async {
        let ledger = books.open(redactor.clone()).await?;
        let place = books.place();
        if !args.quiet {
            printer.note(&[Span::plain(format!("taking jobs from `{place}`"))]);
        }
        let benches = Benches::new(config, environment.clone(), ledger.clone(), redactor, args);
        let mut duty = Duty::new(ledger.clone(), benches, Shift::of(args), interrupt);
        let worked = duty.work().await;
        ledger.close().await;
        if !args.quiet {
            let aside = match duty.set_aside {
                0 => String::new(),
                jobs => format!(", {jobs} set aside"),
            };
            let words = format!(" {} done, {} failed{aside}", duty.done, duty.failed);
            printer.note(&[Span::new(Tone::Strong, "worker:"), Span::plain(words)]);
        }
        for (name, lacking) in &duty.critical {
            cry(name, *lacking, &books, printer);
        }
        let aside = (duty.set_aside > 0).then(|| set_aside(duty.set_aside, &books));
        // Who works on and on has done what it could.
        let aside = aside.filter(|_| args.until_empty);
        match (worked, duty.left.or(aside)) {
            (Err(stop), _) => Err(advise(stop.into_error(&place))),
            (Ok(()), Some(left)) => Err(left),
            (Ok(()), None) if duty.critical.is_empty() => Ok(Outcome::Met),
            (Ok(()), None) => Ok(Outcome::Rejected),
        }
    })
}

/// Says that jobs wait for a person in the queue of the ledger.
fn set_aside(jobs: u64, books: &Books) -> Error {
    let are = if jobs == 1 { "1 job is".to_owned() } else { format!("{jobs} jobs are") };
    let list = books.command("jobs list --state quarantined");
    let (retry, cancel) = (books.command("jobs retry"), books.command("jobs cancel"));
    Error::new(Outcome::Contract, format!("{are} set aside that nobody can do as they are"))
        .hint(format!("`{list}` says why"))
        .hint(format!("then `{retry}` offers them again, and `{cancel}` drops them"))
}
