//! `airtight batch`: have a model answer many inputs by one contract.

mod crew;
mod desk;
mod enqueue;
mod estimate;
mod first;
mod inputs;
pub(super) mod plan;
mod results;
mod sheet;
mod tally;
mod targets;
mod texts;
mod turns;

use std::time::Instant;

use airtight_store::{Ledger, Repeat};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::batch::cry;
use crate::cli::BatchArgs;
use crate::commands::run::limit::Limit;
use crate::commands::run::logging;
use crate::commands::signals;
use crate::config::Config;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span, Tone};
use crate::source::ContractSource;
use crew::{BadInputs, Crew};
pub(crate) use inputs::Form;
use inputs::Inputs;
use plan::Plan;
use results::Results;
use sheet::Sheet;
use tally::Tally;
use targets::Targets;

/// Runs what was typed.
pub(super) fn run(
    args: &BatchArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let interrupt = CancellationToken::new();
    signals::listen(interrupt.clone())?;
    let log = logging::start(environment);
    let source = ContractSource::find(&args.contract, args.folder.folder.as_deref(), environment)?;
    let config = Config::load(environment, source.role(), args.entries(), args.trust.trust())?;
    let limit = Limit::new(Instant::now(), None, interrupt.clone());
    refuse_conflicts(args)?;
    let targets = Targets::find(args, environment)?;
    let inputs = Inputs::find(&args.inputs, args.input_format, environment)?;
    targets.refuse_overwriting(args, &source, (&config, environment), &inputs)?;
    let plan = Plan::new(args, &source, environment, config, &limit)?;
    log.mask(plan.answerer.redactor.clone());
    for note in plan.answerer.notes.iter().chain(&log.fault).filter(|_| !args.quiet) {
        let text = Span::plain(format!(" {}", plan.answerer.redactor.mask(note)));
        printer.note(&[Span::new(Tone::Warning, "warning:"), text]);
    }
    let runtime = runtime()?;
    let inputs = runtime.block_on(first::wait(inputs, &args.inputs, &interrupt))?;
    if args.dry_run {
        return runtime.block_on(estimate::print(&plan, inputs, args, printer));
    }
    runtime.block_on(async {
        let books = plan.books.clone();
        let ledger = books.open(plan.answerer.redactor.clone()).await?;
        let performed = if args.enqueue {
            enqueue::run(&plan, inputs, args, &ledger, printer).await
        } else {
            let scene = Scene { args, targets, ledger: &ledger, interrupt };
            perform(plan, inputs, scene, printer).await
        };
        ledger.close().await;
        performed
    })
}

/// Makes the runtime: as many threads as there are processors.
pub(super) fn runtime() -> Result<Runtime, Error> {
    Builder::new_multi_thread().enable_all().build().map_err(Error::from)
}

/// Refuses what cannot be meant together.
fn refuse_conflicts(args: &BatchArgs) -> Result<(), Error> {
    let asks = !args.dry_run && !args.enqueue;
    if args.json && asks && args.output.is_none() {
        let message = "`--json` prints the summary on stdout, where the answers go";
        return Err(Error::new(Outcome::Usage, message).hint("name a file by `--output`"));
    }
    Ok(())
}

/// What a batch is performed with.
struct Scene<'a> {
    args: &'a BatchArgs,
    targets: Targets,
    ledger: &'a Ledger,
    interrupt: CancellationToken,
}

/// Has every input answered.
async fn perform(
    plan: Plan,
    inputs: Inputs,
    scene: Scene<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let Scene { args, targets: Targets { answers, failures }, ledger, interrupt } = scene;
    let failed = failures.as_ref().map_or(Ok(Sheet::Nowhere), |it| Sheet::create(&it.path))?;
    let is_shown = !args.quiet && (answers.is_some() || !printer.is_terminal());
    let tally = Tally::start(inputs.total_bytes.filter(|_| args.limit.is_none()), is_shown);
    let (batch, books) = (plan.batch.clone(), plan.books.clone());
    let critical = plan.critical.clone();
    let most = plan.most(&args.pace);
    let (performer, desk) = plan.performer(ledger.clone(), &args.pace).await?;
    let (worked, mut tally) = {
        let met = match &answers {
            Some(answers) => Sheet::create(&answers.path)?,
            None => Sheet::Printer(printer),
        };
        let results = Results::new(args.order, (met, failed), ledger.clone(), books.place());
        let mut crew = Crew::new(performer, desk, batch.clone(), results, tally);
        crew.most = usize::try_from(most).unwrap_or(usize::MAX);
        crew.interrupt = interrupt;
        if args.retry_failed {
            crew.repeat = Repeat::Failed;
        }
        if args.strict_inputs {
            crew.bad_inputs = BadInputs::Refused;
        }
        let worked = crew.work(inputs, args.limit.unwrap_or(u64::MAX)).await;
        let Crew { results, tally, .. } = crew;
        tally.clear();
        (results.publish().await.and(worked), tally)
    };
    if worked.is_err() {
        tally.stop();
    }
    let critical = critical.filter(|_| tally.lacking() > 0 || worked.is_err());
    if let Some(name) = &critical {
        cry(name, tally.lacking(), &books, printer);
    }
    conclude(&batch, &tally, worked, args, printer)?;
    tally.require_answers(failures.as_ref().map(|it| it.typed.as_str()))?;
    // Of a critical contract, inputs may lack an answer that did not fail.
    Ok(if critical.is_some() { Outcome::Rejected } else { Outcome::Met })
}

/// Says what the batch came to, and refuses to call it done if it came to no end.
fn conclude(
    batch: &str,
    tally: &Tally,
    worked: Result<(), Error>,
    args: &BatchArgs,
    printer: &mut Printer,
) -> Result<(), Error> {
    if args.json {
        printer.json(&serde_json::to_string(&tally.summary(batch)).unwrap_or_default())?;
    }
    if !args.quiet {
        let words = format!(" {}", tally.words());
        printer.note(&[Span::new(Tone::Strong, format!("batch {batch}:")), Span::plain(words)]);
    }
    worked.and_then(|()| tally.require_all()).map_err(|error| {
        // An input that is refused would be refused again.
        let again = if error.kind == Outcome::Input {
            "then type the same command again to go on: what is done is in the ledger"
        } else {
            "what is done is in the ledger: type the same command again to go on"
        };
        error.hint(again)
    })
}

/// Says how a batch ends of whose `all` inputs `bad` cannot be used, where nothing is asked.
fn require_usable(bad: u64, all: u64) -> Result<Outcome, Error> {
    if bad == 0 {
        return Ok(Outcome::Met);
    }
    let message = format!("{bad} of {all} inputs cannot be used");
    Err(Error::new(Outcome::Rejected, message)
        .hint("correct them, and type the same command again"))
}
