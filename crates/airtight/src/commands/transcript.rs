//! `airtight transcript`: what does the stream of an agent CLI come to?

mod bulk;
mod follow;
mod summary;

use airtight_core::contract::{Options, Patterns, Wrap};
use airtight_core::judge::{Allowance, Strictness, judge};
use airtight_core::transcript::{Decoder, Ended, Event, Exit, Heuristics, Record};
use airtight_core::{Contract, Rejected, Verdict, run};
use tokio_util::sync::CancellationToken;

use crate::cli::{TranscriptArgs, TranscriptOf};
use crate::commands::{check_command, load, signals};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::explain;
use crate::input::{Input, unreadable};
use crate::printer::Printer;
use crate::source::ContractSource;
use follow::{Chunks, End, Patience};

use super::validate::document::{self, Exposure};

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Everything that happened, then the record.
    Everything,
    /// The record.
    Summary,
}

/// Reads what was typed.
pub(super) fn run(
    args: &TranscriptArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let contract = contract(args, environment)?;
    let input = Input::open(Some(&args.file), environment)?;
    let label = input.label().to_owned();
    let told = if args.summary { Told::Summary } else { Told::Everything };
    let interrupt = CancellationToken::new();
    let record = read(input, args, &interrupt, told, printer)?;
    let verdict = contract.map(|contract| verdict(&contract, &record, args));
    if told == Told::Summary && printer.is_terminal() {
        summary::print(&record, verdict.as_ref(), printer)?;
    } else {
        printer.json(&line(&record, verdict.as_ref()))?;
    }
    printer.flush()?;
    if interrupt.is_cancelled() {
        let message = "interrupted: the record is of what there was until then";
        return Err(Error::new(Outcome::Run(run::Outcome::Interrupted), message));
    }
    if record.lines.total == record.lines.blank {
        let message = format!("there is nothing in `{label}`");
        return Err(Error::new(Outcome::Input, message));
    }
    if record.lines.raw_messages == record.lines.unknown {
        let message = format!("no line of `{label}` is one of a program that is known");
        let hint = "is it what `--output-format stream-json` (codex: `--json`) printed?";
        return Err(Error::new(Outcome::Input, message).hint(hint));
    }
    match verdict {
        Some(Verdict::Rejected(rejected)) => Err(rejection(&record, &rejected)),
        Some(Verdict::Accepted(_)) | None => Ok(Outcome::Met),
    }
}

fn contract(args: &TranscriptArgs, environment: &Environment) -> Result<Option<Contract>, Error> {
    let Some(typed) = &args.json_schema else { return Ok(None) };
    let source = ContractSource::find(typed, args.folder.folder.as_deref(), environment)?;
    if source == ContractSource::Stdin && args.file == "-" {
        let message = "contract and stream cannot both come from stdin";
        return Err(Error::new(Outcome::Usage, message).hint("name a file for one of them"));
    }
    let patterns = if args.patterns.look_around { Patterns::LookAround } else { Patterns::Linear };
    let command = check_command(typed, &args.folder, &args.patterns, Wrap::Allowed);
    load(&source, &Options { patterns, ..Options::default() }, &command).map(Some)
}

/// Reads the stream to its end, and prints what happens as it comes in.
fn read(
    input: Input,
    args: &TranscriptArgs,
    interrupt: &CancellationToken,
    told: Told,
    printer: &mut Printer,
) -> Result<Record, Error> {
    let label = input.label().to_owned();
    let mut decoder = match args.from {
        TranscriptOf::Anyone => Decoder::default(),
        TranscriptOf::Program(program) => Decoder::of(program),
    };
    decoder = decoder.within(args.line_limit);
    if args.no_heuristics {
        decoder = decoder.with_heuristics(Heuristics::Off);
    }
    if told == Told::Summary {
        decoder = decoder.for_record();
    }
    let tell = |events: Vec<Event>, printer: &mut Printer| match told {
        Told::Everything => events.iter().try_for_each(|event| printer.json(&json(event))),
        Told::Summary => Ok(()),
    };
    let end = end(&input, args, interrupt)?;
    let mut chunks = Chunks::new(input, end);
    loop {
        let chunk = chunks.next(&decoder);
        let chunk = chunk.map_err(|error| unreadable(&label, error.into()))?;
        if chunk.is_empty() {
            break;
        }
        tell(decoder.push(chunk), printer)?;
        if decoder.is_underway() && chunks.are_many() {
            bulk::read(&label, chunks, &mut decoder, |events| tell(events, printer))?;
            break;
        }
        // Whoever reads a stream that is still growing should not have to wait for the rest of it.
        printer.flush()?;
    }
    let Ended { events, record } = decoder.finish(Exit::Unknown);
    tell(events, printer)?;
    Ok(record)
}

/// Says what the end of the stream means; only a file can grow, a pipe says itself when it ends.
fn end(input: &Input, args: &TranscriptArgs, interrupt: &CancellationToken) -> Result<End, Error> {
    if !args.follow || matches!(input, Input::Stdin) {
        return Ok(End::Final);
    }
    signals::listen(interrupt.clone())?;
    Ok(End::ForNow(Patience { idle: args.idle_timeout, interrupt: interrupt.clone() }))
}

fn verdict(contract: &Contract, record: &Record, args: &TranscriptArgs) -> Verdict {
    let strictness = if args.strict { Strictness::Strict } else { Strictness::Lenient };
    let allowance = Allowance { strictness, ..Allowance::default() };
    let claim = record.claim().unwrap_or_default();
    let verdict = judge(contract, claim, &allowance);
    if record.may_be_cut() { run::unless_cut(verdict, claim.len()) } else { verdict }
}

/// Returns the record as a line, with the verdict as its last member.
fn line(record: &Record, verdict: Option<&Verdict>) -> String {
    let mut line = json(record);
    if let Some(verdict) = verdict {
        line.pop();
        line.push_str(r#","verdict":"#);
        line.push_str(&document::whole(verdict, Exposure::Open));
        line.push('}');
    }
    line
}

/// Returns plain data as JSON, which cannot fail.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn rejection(record: &Record, rejected: &Rejected) -> Error {
    let findings = explain::violations(rejected);
    let reason = explain::rejection(&rejected.reason);
    let program = record.program.map_or("the program", airtight_core::transcript::Program::name);
    let message = match (&record.error, record.claim()) {
        (Some(_), _) => format!("{program} failed, and {reason}"),
        (None, None) => format!("{program} delivered nothing: {reason}"),
        (None, Some(_)) if record.succeeded => format!("{program} claims success, but {reason}"),
        (None, Some(_)) => reason,
    };
    Error::new(Outcome::Rejected, message).with_findings(findings)
}
