//! `airtight completions`: a script that teaches a shell what can be typed.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::error::{Error, Outcome};
use crate::printer::Printer;

/// Prints the script.
pub(super) fn run(args: &CompletionsArgs, printer: &mut Printer) -> Result<Outcome, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "airtight", &mut script);
    printer.verbatim(&script)?;
    Ok(Outcome::Met)
}
