//! `airtight check`: is this contract sound, and which providers can honour it?

mod report;
mod route;

use airtight_core::contract::{Options, Patterns, Wrap};
use airtight_core::lower::Dialect;

use crate::cli::{CheckArgs, Format};
use crate::commands::{adapt, check_command, explain_hint, load, saved_hint};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::explain;
use crate::parallel::{self, Event};
use crate::printer::{Printer, Span, Tone};
use crate::progress::Progress;
use crate::source::ContractSource;
use report::{Detail, Report};

/// Checks what was typed.
pub(super) fn run(
    args: &CheckArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    if args.contracts.iter().filter(|argument| argument.trim() == "-").count() > 1 {
        return Err(Error::new(Outcome::Usage, "only one contract can come from stdin"));
    }
    if let Some(dialect) = args.dialect {
        return print_lowered(args, dialect, environment, printer);
    }
    let reports = examine(args, environment)?;
    let refused = reports.iter().filter(|report| report.is_refused()).count();
    match args.format {
        Format::Json => printer.json(&report::document(&reports))?,
        Format::Text => {
            let detail = if args.explain { Detail::Explained } else { Detail::Brief };
            for report in &reports {
                report.print(detail, printer)?;
            }
            printer.flush()?;
            if refused > 0 {
                return Err(refusal(args, refused));
            }
        }
    }
    Ok(if refused == 0 { Outcome::Met } else { Outcome::Contract })
}

fn options(args: &CheckArgs) -> Options {
    Options {
        wrap: if args.no_wrap { Wrap::Refused } else { Wrap::Allowed },
        patterns: if args.patterns.look_around { Patterns::LookAround } else { Patterns::Linear },
        ..Options::default()
    }
}

/// Examines all contracts on all cores; the reports are in the order of the arguments.
fn examine(args: &CheckArgs, environment: &Environment) -> Result<Vec<Report>, Error> {
    let folder = args.folder.folder.as_deref();
    let options = options(args);
    let progress = Progress::new(args.contracts.len());
    let mut reports = Vec::with_capacity(args.contracts.len());
    let examine_one = |argument: &String| match ContractSource::find(argument, folder, environment)
    {
        Ok(source) => Report::examine(argument, &source, &options),
        Err(error) => Report::unreadable(argument, argument, &error),
    };
    parallel::in_order(args.contracts.iter(), examine_one, |event| {
        match event {
            Event::Waiting => progress.tick(),
            Event::Done(report) => {
                reports.push(report);
                progress.advance();
            }
        }
        Ok::<(), Error>(())
    })?;
    Ok(reports)
}

fn refusal(args: &CheckArgs, refused: usize) -> Error {
    let total = args.contracts.len();
    let error = Error::new(Outcome::Contract, format!("{refused} of {total} contracts refused"));
    match args.contracts.as_slice() {
        [only] if !args.explain && only.trim() == "-" => {
            error.hint(saved_hint(&typed(args, "FILE")))
        }
        [only] if !args.explain => error.hint(explain_hint(&typed(args, only))),
        _ => error,
    }
}

/// Returns the command as it can be typed again.
fn typed(args: &CheckArgs, contract: &str) -> String {
    check_command(contract, &args.folder, &args.patterns, options(args).wrap)
}

/// Prints the schema that a provider would get, and on stderr what it will not enforce.
fn print_lowered(
    args: &CheckArgs,
    dialect: Dialect,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let [argument] = args.contracts.as_slice() else {
        return Err(Error::new(Outcome::Usage, "`--dialect` takes one contract"));
    };
    let source = ContractSource::find(argument, args.folder.folder.as_deref(), environment)?;
    let contract = load(&source, &options(args), &typed(args, argument))?;
    let lowering = adapt(&contract, dialect)?;
    printer.json(&format!("{:#}", lowering.schema))?;
    printer.flush()?;
    for loss in &lowering.losses {
        printer.note(&[
            Span::new(Tone::Warning, "loss:"),
            Span::plain(format!(" {}", explain::loss(loss))),
        ]);
    }
    for narrowing in &lowering.narrowings {
        let text = format!(" {}", explain::narrowing(narrowing));
        printer.note(&[Span::new(Tone::Warning, "narrowing:"), Span::plain(text)]);
    }
    Ok(Outcome::Met)
}
