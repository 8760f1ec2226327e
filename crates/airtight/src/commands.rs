//! The commands, one file each, and what they share.

mod batch;
mod check;
mod completions;
mod diff;
mod doctor;
mod generate;
mod jobs;
#[cfg(feature = "embedded")]
mod models;
mod review;
mod rolling;
mod run;
mod runs;
mod sandbox;
mod serve;
mod signals;
mod stats;
mod transcript;
mod validate;
mod watch;
mod worker;

use airtight_core::contract::{Options, Wrap};
use airtight_core::{Contract, Diagnostic, Dialect, Lowering, Preflight, Severity, lower};

use crate::cli::{Cli, Command, FolderArgs, PatternArgs};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::Printer;
use crate::shell_word::shell_word;
use crate::source::ContractSource;

pub(crate) use batch::Form;
pub(crate) use watch::DoorArgs;

/// The longest command that anybody would type again.
const COMMAND_LIMIT_BYTES: usize = 120;

/// Runs what was typed.
pub(crate) fn run(
    cli: Cli,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    match cli.command {
        Command::Run(args) => run::run(&args, environment, printer),
        Command::Batch(args) => batch::run(&args, environment, printer),
        Command::Review(args) => review::run(&args, environment, printer),
        Command::Worker(args) => worker::run(&args, environment, printer),
        Command::Jobs(args) => jobs::run(&args, environment, printer),
        Command::Check(args) => check::run(&args, environment, printer),
        Command::Diff(args) => diff::run(&args, environment, printer),
        Command::Validate(args) => validate::run(&args, environment, printer),
        Command::Generate(args) => generate::run(&args, environment, printer),
        Command::Transcript(args) => transcript::run(&args, environment, printer),
        Command::Runs(args) => runs::run(&args, environment, printer),
        Command::Serve(args) => serve::run(&args, environment, printer),
        Command::Stats(args) => stats::run(&args, environment, printer),
        Command::Watch(args) => watch::run(&args, environment, printer),
        Command::Doctor(args) => doctor::run(&args, environment, printer),
        #[cfg(feature = "embedded")]
        Command::Models(args) => models::run(&args, environment, printer),
        #[cfg(not(feature = "embedded"))]
        Command::Models(_) => Err(without_embedded()),
        Command::Completions(args) => completions::run(&args, printer),
        Command::Door(args) => Ok(watch::ask_at_door(&args, printer)),
        Command::Sandbox(args) => Err(sandbox::enter(args)),
    }
}

/// Says what is missing in a program that was built without the embedded model.
#[cfg(not(feature = "embedded"))]
fn without_embedded() -> Error {
    Error::new(Outcome::Contract, "this program was built without the embedded model")
        .hint("build it with the feature `embedded`, which is on by default: `cargo install airtight`")
        .hint("or name another model by `--model PROVIDER:NAME`")
}

/// Reads a contract and finds out everything about it.
fn preflight(source: &ContractSource, options: &Options) -> Result<Preflight, Error> {
    Ok(preflight_text(&source.read()?, source, options))
}

fn preflight_text(text: &[u8], source: &ContractSource, options: &Options) -> Preflight {
    let known_as = Options { identity: source.identity(), ..options.clone() };
    let mut preflight = Preflight::run(text, source.origin(), &known_as);
    if let (Some(role), Some(contract)) = (source.role(), &mut preflight.contract) {
        let flaws = rolling::accept_older(role, contract, options);
        if !flaws.is_empty() {
            preflight.contract = None;
            preflight.diagnostics.splice(0..0, flaws);
        }
    }
    preflight
}

/// Reads and compiles a contract, or refuses it with everything that is wrong and the command that
/// says more about it.
fn load(source: &ContractSource, options: &Options, command: &str) -> Result<Contract, Error> {
    compile(&source.read()?, source, options, command)
}

/// Compiles what was read from `source`.
fn compile(
    text: &[u8],
    source: &ContractSource,
    options: &Options,
    command: &str,
) -> Result<Contract, Error> {
    let preflight = preflight_text(text, source, options);
    preflight.contract.ok_or_else(|| refusal(source, &preflight.diagnostics, command))
}

fn refusal(source: &ContractSource, diagnostics: &[Diagnostic], command: &str) -> Error {
    let errors = diagnostics.iter().filter(|finding| finding.severity == Severity::Error);
    let error = Error::new(Outcome::Contract, format!("contract refused: `{}`", source.label()))
        .with_findings(errors.map(advised).collect());
    match source {
        ContractSource::File { .. } | ContractSource::Named { .. } | ContractSource::Role(_) => {
            error.hint(explain_hint(command))
        }
        ContractSource::Inline(_) | ContractSource::Stdin | ContractSource::Stored { .. } => error,
    }
}

/// Returns the message with its place and what to do about it.
fn advised(diagnostic: &Diagnostic) -> String {
    match &diagnostic.hint {
        Some(hint) => format!("{}; {hint}", located(diagnostic)),
        None => located(diagnostic),
    }
}

/// Adapts a contract to what a provider accepts.
fn adapt(contract: &Contract, dialect: Dialect) -> Result<Lowering, Error> {
    lower(contract, dialect).map_err(|error| {
        let message = format!("contract cannot be expressed in `{}`", dialect.name());
        Error::new(Outcome::Contract, message).caused_by(error)
    })
}

/// Returns the message with its place, which the root needs no mention of.
fn located(diagnostic: &Diagnostic) -> String {
    if diagnostic.pointer.is_root() {
        return diagnostic.message.clone();
    }
    format!("{}: {}", diagnostic.pointer, diagnostic.message)
}

/// Returns the command that checks `contract` with the flags that decide what becomes of it.
fn check_command(
    contract: &str,
    folder: &FolderArgs,
    patterns: &PatternArgs,
    wrap: Wrap,
) -> String {
    let mut command = format!("check {}", shell_word(contract));
    if let Some(folder) = &folder.folder {
        command.push_str(" --contracts ");
        command.push_str(&shell_word(&folder.to_string_lossy()));
    }
    let switches =
        [(patterns.look_around, " --look-around"), (wrap == Wrap::Refused, " --no-wrap")];
    command.extend(switches.iter().filter(|(given, _)| *given).map(|(_, flag)| *flag));
    command
}

/// Says how to learn more after `command`, in full unless an inline contract makes it long.
fn explain_hint(command: &str) -> String {
    if command.len() > COMMAND_LIMIT_BYTES {
        return "run it again with `--explain`".to_owned();
    }
    format!("run `airtight {command} --explain`")
}

/// Says how to learn more after `command`, which has `FILE` where it read from stdin.
fn saved_hint(command: &str) -> String {
    format!("save the input to a file, then {}", explain_hint(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_commands_are_not_repeated() {
        assert_eq!(explain_hint("check a"), "run `airtight check a --explain`");
        let inline = format!("check '{{{}}}'", " ".repeat(COMMAND_LIMIT_BYTES));
        assert_eq!(explain_hint(&inline), "run it again with `--explain`");
    }
}
