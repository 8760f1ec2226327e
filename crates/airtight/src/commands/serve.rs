//! `airtight serve`: one address for people and programs.

mod bench;
mod clerk;
mod files;
mod hints;
mod judge;
mod listing;
mod shelf;
mod shown;
mod token;
mod told;
mod valve;

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use airtight_core::redact::Redactor;
use airtight_serve::{GRACE, Limits, ServeError, Server, Settings};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::cli::ServeArgs;
use crate::commands::run::logging;
use crate::commands::signals;
use crate::config::Config;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::printer::{Printer, Span, Tone};
use bench::Workshop;
use clerk::Clerk;
use hints::Reader;
use token::Found;

/// How long runs have to end before the server does.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The flag that names a model here.
const MODEL_FLAG: &str = "--alert-model";

/// Runs what was typed.
pub(super) fn run(
    args: &ServeArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let stop = CancellationToken::new();
    signals::listen(stop.clone())?;
    let log = logging::start(environment);
    files::make_room();
    let config = Config::load(environment, None, args.entries(), args.trust.trust())?;
    let books = books(&config, environment)?;
    let found = token::find(args, environment)?;
    let secrets = books.secrets();
    let known = secrets.iter().map(String::as_str).chain([found.token.expose()]);
    let redactor = Redactor::new(known.chain(environment.secrets()));
    log.mask(redactor.clone());
    let interrupt = CancellationToken::new();
    let workshop = Workshop {
        environment: environment.clone(),
        entries: args.entries(),
        trust: args.trust.trust(),
        secrets: secrets.iter().cloned().chain([found.token.expose().to_owned()]).collect(),
        interrupt: interrupt.clone(),
    };
    let alert_model = args.alert_model.as_deref();
    let alerting = |name| workshop.typed(MODEL_FLAG, name).map(|bench| (name, bench));
    let alerting = alert_model.map(alerting).transpose()?;
    let settings_in_force = shown::settings(&config, &redactor);
    let settings = Settings {
        bind: args.bind,
        token: found.token.clone(),
        hosts: args.allow_host.clone(),
        alert_model: args.alert_model.clone(),
        limits: Limits::default(),
    };
    runtime()?.block_on(async {
        let ledger = books.open(redactor).await?;
        let clerk = Clerk::new(workshop, ledger.clone(), settings_in_force);
        if let Some((name, bench)) = alerting {
            clerk.keep(name, bench);
        }
        let server = Server::bind(settings, ledger.clone(), Arc::new(clerk.clone())).await;
        let server = server.map_err(|error| unable(args, error));
        let server = match server {
            Ok(server) => server,
            Err(error) => {
                ledger.close().await;
                return Err(error);
            }
        };
        if !args.quiet {
            greet(&server, &found, &books.place(), printer);
        }
        let last_call = last_call(stop.clone(), interrupt);
        tokio::select! {
            () = server.run(stop) => {}
            () = last_call => {}
        }
        clerk.close().await;
        ledger.close().await;
        Ok(Outcome::Met)
    })
}

/// Makes the threads that answer, one fewer than there are cores: SQLite's driver has one of its own. On two
/// cores two more would wake each other up in vain and keep a tenth more memory, and answer some more
/// requests only where there are hundreds at once. A single one is that of whoever waits for the server, with
/// the memory that it has already. What takes long is done on others: nothing here waits for another task
/// without giving its thread up.
fn runtime() -> Result<Runtime, Error> {
    let cores = available_parallelism().map_or(1, NonZero::get);
    let mut builder = match cores {
        0..=2 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(cores.saturating_sub(1).max(1)).enable_all().build().map_err(Error::from)
}

/// Ends runs in time for their ends to reach clients and ledger before the server is gone, whose end
/// this does not outlive.
async fn last_call(stop: CancellationToken, interrupt: CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(GRACE.saturating_sub(LAST_WORDS)).await;
    interrupt.cancel();
    std::future::pending::<()>().await;
}

fn books(config: &Config, environment: &Environment) -> Result<Books, Error> {
    let books = Books::configured(config, environment);
    let books = books.map_err(|error| Reader::Operator(MODEL_FLAG).advise(error))?;
    books.map(Books::needed).ok_or_else(|| {
        Error::new(Outcome::Contract, "what is served is the ledger, and none is kept")
            .hint("leave `store.enabled` and `AIRTIGHT_STORE` out, or name a file by `--database`")
    })
}

fn unable(args: &ServeArgs, error: ServeError) -> Error {
    let port = args.bind.port();
    Error::new(Outcome::Machine, "there can be no server").caused_by(error).hint(format!(
        "choose another address: `airtight serve --bind {}:{}`",
        args.bind.ip(),
        port.checked_add(1).unwrap_or(0)
    ))
}

/// Says where the server is, on stderr; the token itself is never shown.
fn greet(server: &Server, found: &Found, ledger: &str, printer: &mut Printer) {
    let line = |word: &str, text: String| [Span::new(Tone::Dim, word), Span::plain(text)];
    let address = format!("http://{}", server.address());
    printer.note(&[Span::new(Tone::Strong, "serving "), Span::plain(address)]);
    printer.note(&line("ledger  ", ledger.to_owned()));
    printer.note(&line("token   ", found.place.clone()));
}
