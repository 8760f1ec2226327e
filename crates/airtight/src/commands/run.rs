//! `airtight run`: have a model do a job and answer by a contract.

pub(super) mod access;
pub(super) mod answerer;
pub(super) mod driver;
#[cfg(feature = "embedded")]
mod embedded;
pub(super) mod entry;
pub(super) mod equipment;
pub(super) mod examples;
pub(super) mod job;
pub(super) mod limit;
mod live;
pub(super) mod logging;
pub(super) mod model;
mod performance;
pub(super) mod prepared;
mod prompt;
pub(super) mod stdin;
#[cfg(feature = "otlp")]
mod telemetry;

use std::time::Instant;

use airtight_agent::{HookFaults, hide_process};
use airtight_core::run::Report;
use tokio::runtime;
use tokio_util::sync::CancellationToken;

use crate::cli::{OutputFormat, RunArgs};
use crate::commands::signals;
use crate::config::{Config, Key};
use crate::env::Environment;
use crate::error::{self, Error, Outcome};
use crate::explain;
use crate::output::{Manner, Output, Pieces, Raw, uuid};
use crate::printer::{Printer, Span, Tone};
use crate::source::{ContractSource, Role};
use limit::Limit;
use live::Live;
use performance::{Notes, Performed, Watchers};
use prepared::Prepared;

/// How many edits are listed for people.
const EDITS_SHOWN: usize = 20;

/// Runs what was typed.
pub(super) fn run(
    args: &RunArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let started = Instant::now();
    // Before anything else: a signal that nobody catches ends the process without a result.
    let interrupt = CancellationToken::new();
    let caught = signals::listen(interrupt.clone()).map_err(Error::from);
    let log = logging::start(environment);
    let session_id = uuid();
    let found = ContractSource::find(&args.contract, args.folder.folder.as_deref(), environment);
    let role = found.as_ref().ok().and_then(ContractSource::role);
    let config = caught.and_then(|()| settings(args, environment, role));
    let manner = manner(args, config.as_ref().ok(), environment);
    let is_shown =
        !args.output.quiet && (manner.format == OutputFormat::Text || !printer.is_terminal());
    let mut output = Output::new(printer, &session_id, started, manner, interrupt.clone());
    // Whatever happens from here on, also what should not, has one result.
    let performed = error::catch(|| {
        let config = config?;
        let limit = Limit::new(started, config.duration(Key::MaxWallTime), interrupt);
        let mut prepared = Prepared::new(args, environment, (config, found?), &limit)?;
        prepared.notes.extend(log.fault.clone());
        if let Err(error) = hide_process() {
            let note = format!("commands can read the environment of this process: {error}");
            prepared.notes.push(note);
        }
        log.mask(prepared.redactor.clone());
        output.mask(prepared.redactor.clone());
        output.care(prepared.care.clone());
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let mut watchers = Watchers {
            live: is_shown.then(|| Live::start(prepared.price)),
            recording: prepared.record(&session_id),
            recorder: None,
            notes: if args.output.quiet { Notes::LeftOut } else { Notes::Told },
            faults: HookFaults::default(),
            output: &mut output,
        };
        runtime.block_on(prepared.perform(&session_id, &mut watchers, &limit))
    });
    for mistake in error::mistakes().iter().filter(|_| !args.output.quiet) {
        let text = Span::plain(format!(" {mistake}"));
        output.note(&[Span::new(Tone::Warning, "warning:"), text]);
    }
    match performed {
        Ok(Performed::Known(run)) => {
            if !args.output.quiet {
                let id = &run.summary.id;
                let text = format!(" the answer of run `{id}` is on record; nothing was asked");
                output.note(&[Span::new(Tone::Dim, "repeated:"), Span::plain(text)]);
            }
            output.repeat(&run)
        }
        Ok(Performed::Over(report)) => {
            if !args.output.quiet && manner.format == OutputFormat::Text {
                note_edits(&report, &mut output);
            }
            output.finish(&report)
        }
        Err(error) => output.refuse(error),
    }
}

/// Reads what is in force here, if there is a here.
fn settings(
    args: &RunArgs,
    environment: &Environment,
    role: Option<&Role>,
) -> Result<Config, Error> {
    if environment.launch_directory().as_os_str().is_empty() {
        let message = "the current directory does not exist any more, or cannot be read";
        return Err(Error::new(Outcome::Contract, message).hint("`cd` to one that does"));
    }
    Config::load(environment, role, args.entries(), args.trust.trust())
}

/// Decides how the run is told, also if the settings cannot be read.
fn manner(args: &RunArgs, config: Option<&Config>, environment: &Environment) -> Manner {
    let configured = match config {
        Some(config) => config.text(Key::OutputFormat),
        None => environment.variable("AIRTIGHT_OUTPUT_FORMAT"),
    };
    let format = args.output.output_format.or_else(|| OutputFormat::named(configured?));
    let is_on = |key| config.and_then(|config| config.is_on(key));
    Manner {
        format: format.unwrap_or_default(),
        pieces: if is_on(Key::OutputPartial) == Some(true) {
            Pieces::Told
        } else {
            Pieces::LeftOut
        },
        raw: if is_on(Key::OutputRaw) == Some(false) { Raw::LeftOut } else { Raw::Kept },
    }
}

fn note_edits(report: &Report, output: &mut Output<'_>) {
    for edit in report.edits.listed().iter().take(EDITS_SHOWN) {
        let place = edit.pointer.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        let text = format!(" {place}{}", explain::edit(edit.kind));
        output.note(&[Span::new(Tone::Warning, "edit:"), Span::plain(text)]);
    }
}
