//! `airtight validate`: is there a conforming value in this answer?

pub(super) mod document;
mod judge;

use airtight_core::contract::{Options, Patterns, Wrap};
use airtight_core::judge::{Allowance, Strictness};
use airtight_core::verdict::LISTED_PER_KIND;
use airtight_core::wire::lines::{Content, Line};
use airtight_core::{Accepted, Edit, Edits, Rejected, Rejection, Source, Verdict, Violations};

use crate::cli::{Format, ValidateArgs};
use crate::commands::{adapt, check_command, explain_hint, load, saved_hint};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::explain;
use crate::file::FileError;
use crate::input::{Input, unreadable};
use crate::parallel::{self, Event};
use crate::printer::{Printer, Span, Tone};
use crate::shell_word::shell_word;
use crate::source::ContractSource;
use document::Exposure;
use judge::Judge;

/// How many edits are listed for people.
const EDITS_SHOWN: usize = 100;

/// Judges what was typed.
pub(super) fn run(
    args: &ValidateArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let source = ContractSource::find(&args.contract, args.folder.folder.as_deref(), environment);
    let source = source.or_else(|error| refuse(error, args, printer))?;
    let readers = [
        source == ContractSource::Stdin,
        matches!(args.file.as_deref(), None | Some("-")),
        args.source.as_deref() == Some("-"),
    ];
    if readers.into_iter().filter(|reads_stdin| *reads_stdin).count() > 1 {
        let message = "only one of contract, answer and source can come from stdin";
        return Err(Error::new(Outcome::Usage, message).hint("name files for the others"));
    }
    let patterns = if args.patterns.look_around { Patterns::LookAround } else { Patterns::Linear };
    let command = check_command(&args.contract, &args.folder, &args.patterns, Wrap::Allowed);
    let contract = load(&source, &Options { patterns, ..Options::default() }, &command);
    let contract = contract.or_else(|error| refuse(error, args, printer))?;
    let adapted = args.dialect.map(|dialect| adapt(&contract, dialect)).transpose();
    let adapted = adapted.or_else(|error| refuse(error, args, printer))?;
    let quoted = args.source.as_deref().map(|file| quotable(file, environment)).transpose();
    let quoted = quoted.or_else(|error| refuse(error, args, printer))?;
    let input = Input::open(args.file.as_deref(), environment);
    let input = input.or_else(|error| refuse(error, args, printer))?;
    let judge = Judge {
        contract: &contract,
        allowance: Allowance {
            strictness: if args.strict { Strictness::Strict } else { Strictness::Lenient },
            source: quoted,
            ..Allowance::default()
        },
        exposure: if args.masked { Exposure::Masked } else { Exposure::Open },
        inverse: adapted.map(|lowering| lowering.inverse),
    };
    if args.ndjson {
        return judge_lines(&judge, input, printer);
    }
    let answer = read(input).or_else(|error| refuse(error, args, printer))?;
    let verdict = judge.verdict(&answer);
    match args.format {
        Format::Json => {
            printer.json(&document::whole(&verdict, judge.exposure))?;
            Ok(outcome(&verdict))
        }
        Format::Text => match verdict {
            Verdict::Accepted(accepted) => print_value(&judge, &accepted, args, printer),
            Verdict::Rejected(rejected) => Err(rejection(&judge, &rejected, args)),
        },
    }
}

/// Reads the answer; nothing at all is no answer to judge.
fn read(input: Input) -> Result<Vec<u8>, Error> {
    let label = input.label().to_owned();
    let answer = input.read()?;
    if answer.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::new(Outcome::Input, format!("there is nothing in `{label}`")));
    }
    Ok(answer)
}

/// Passes on why nothing can be judged, after telling programs that wait for a document.
fn refuse<T>(error: Error, args: &ValidateArgs, printer: &mut Printer) -> Result<T, Error> {
    if args.format == Format::Json && !args.ndjson {
        printer.json(&document::unjudged(&error))?;
    }
    Err(error)
}

/// Reads the text that grounded strings must be quoted from.
fn quotable(file: &str, environment: &Environment) -> Result<Source, Error> {
    let bytes = Input::open(Some(file), environment)?.read()?;
    // What is no UTF-8 cannot be quoted in JSON anyway.
    Ok(Source::new(&String::from_utf8_lossy(&bytes)))
}

impl Judge<'_> {
    /// Returns the verdict on a line, as printed, and what it means.
    fn line(&self, line: &Line) -> (String, Outcome) {
        let verdict = match &line.content {
            Content::Bytes(bytes) => self.verdict(bytes),
            Content::TooLong => Verdict::Rejected(Rejected {
                reason: Rejection::OverLimit { limit: "line_bytes" },
                violations: Violations::default(),
            }),
        };
        (document::line(line.number, &verdict, self.exposure), outcome(&verdict))
    }
}

fn outcome(verdict: &Verdict) -> Outcome {
    match verdict {
        Verdict::Accepted(_) => Outcome::Met,
        Verdict::Rejected(_) => Outcome::Rejected,
    }
}

fn print_value(
    judge: &Judge<'_>,
    accepted: &Accepted,
    args: &ValidateArgs,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    if judge.exposure == Exposure::Open {
        printer.json(&accepted.value.to_compact())?;
        printer.flush()?;
    }
    for edit in accepted.edits.listed().iter().take(EDITS_SHOWN) {
        let mut text = format!(" {}{}", place(edit), explain::edit_in_full(edit));
        if args.explain {
            text.push_str("; ");
            text.push_str(explain::why_edit(edit.kind));
        }
        printer.note(&[Span::new(Tone::Warning, "edit:"), Span::plain(text)]);
    }
    if accepted.edits.total() > EDITS_SHOWN {
        let text = summary(&accepted.edits);
        printer.note(&[Span::new(Tone::Warning, "edit:"), Span::plain(text)]);
    }
    Ok(Outcome::Met)
}

/// Returns how many edits there are beyond those shown, and of which kinds they all are.
fn summary(edits: &Edits) -> String {
    let total = edits.total();
    let kinds: Vec<String> =
        edits.counts().map(|(kind, count)| format!("{count} × {}", explain::edit(kind))).collect();
    format!(
        " and {} more, {total} in all: {}; `--format json` lists the first {LISTED_PER_KIND} of each kind",
        total - EDITS_SHOWN,
        kinds.join(", ")
    )
}

fn place(edit: &Edit) -> String {
    match (&edit.pointer, edit.offset) {
        (Some(pointer), _) => format!("{pointer}: "),
        (None, Some(offset)) => format!("byte {offset}: "),
        (None, None) => String::new(),
    }
}

fn rejection(judge: &Judge<'_>, rejected: &Rejected, args: &ValidateArgs) -> Error {
    let findings = findings(&rejected.violations, judge.exposure);
    let error =
        Error::new(Outcome::Rejected, explain::rejection(&rejected.reason)).with_findings(findings);
    if args.explain {
        return error.hint(explain::why_rejection(&rejected.reason));
    }
    let is_saved = args.contract.trim() != "-" && !matches!(args.file.as_deref(), None | Some("-"));
    error.hint(if is_saved { explain_hint(&typed(args)) } else { saved_hint(&typed(args)) })
}

/// Returns the command as it can be typed again, with `FILE` for stdin.
fn typed(args: &ValidateArgs) -> String {
    let word =
        |typed: &str| if typed.trim() == "-" { "FILE".to_owned() } else { shell_word(typed) };
    let contract = word(&args.contract);
    let file = word(args.file.as_deref().unwrap_or("-"));
    let mut command = format!("validate {contract} {file}");
    let values = [
        ("--contracts", args.folder.folder.as_ref().map(|folder| folder.to_string_lossy())),
        ("--dialect", args.dialect.map(|dialect| dialect.name().into())),
        ("--source", args.source.as_deref().map(Into::into)),
    ];
    for (flag, value) in values {
        command.extend(value.map(|value| format!(" {flag} {}", shell_word(&value))));
    }
    let switches = [
        (args.patterns.look_around, " --look-around"),
        (args.masked, " --masked"),
        (args.strict, " --strict"),
    ];
    command.extend(switches.iter().filter(|(given, _)| *given).map(|(_, flag)| *flag));
    command
}

fn findings(violations: &Violations, exposure: Exposure) -> Vec<String> {
    let mut lines: Vec<String> = violations
        .list
        .iter()
        .map(|violation| {
            let message = exposure.message(violation);
            format!("{}: {message} (`{}`)", violation.pointer, violation.keyword)
        })
        .collect();
    if violations.more {
        lines.push("… and more".to_owned());
    }
    lines
}

/// Judges every line, prints a verdict for each in order, and ends with a summary.
fn judge_lines(judge: &Judge<'_>, input: Input, printer: &mut Printer) -> Result<Outcome, Error> {
    let label = input.label().to_owned();
    let (mut accepted, mut rejected) = (0_u64, 0_u64);
    let judge_batch = |batch: std::io::Result<Vec<Line>>| {
        batch.map(|lines| lines.iter().map(|line| judge.line(line)).collect::<Vec<_>>())
    };
    parallel::in_order(input.lines(), judge_batch, |event| match event {
        Event::Waiting => printer.flush(),
        Event::Done(batch) => {
            let batch = batch.map_err(|error| unreadable(&label, FileError::from(error)))?;
            for (json, outcome) in batch {
                printer.json(&json)?;
                *(if outcome == Outcome::Met { &mut accepted } else { &mut rejected }) += 1;
            }
            Ok(())
        }
    })?;
    printer.flush()?;
    let lines = accepted + rejected;
    if lines == 0 {
        return Err(Error::new(Outcome::Input, format!("there are no lines in `{label}`")));
    }
    printer.note(&[Span::plain(format!(
        "summary: {lines} lines, {accepted} accepted, {rejected} rejected"
    ))]);
    Ok(if rejected == 0 { Outcome::Met } else { Outcome::Rejected })
}
