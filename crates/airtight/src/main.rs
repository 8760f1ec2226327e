//! The `airtight` command.
//!
//! Parses what was typed, runs one command, and turns its outcome into an exit code.

mod advice;
mod batch;
mod cli;
mod commands;
mod config;
mod env;
mod error;
mod explain;
mod file;
mod file_limit;
mod input;
mod ledger;
mod output;
mod parallel;
mod printer;
mod progress;
mod shell_word;
mod source;
#[cfg(feature = "embedded")]
mod weights;
mod when;

use std::process::ExitCode;

use airtight_agent::{GUARD_ARGUMENT, guard_family};
use clap::Parser;

use crate::cli::Cli;
use crate::env::Environment;
use crate::printer::Printer;

fn main() -> ExitCode {
    // Before anything else: the guard of an agent CLI starts while that does.
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|first| first == GUARD_ARGUMENT).is_some() {
        return guard_family(arguments).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    error::mute_panics();
    file_limit::outlive();
    let mut printer = Printer::new();
    let outcome = match Cli::try_parse() {
        Ok(cli) => {
            let environment = Environment::read();
            let result = error::catch(|| commands::run(cli, &environment, &mut printer));
            printer.conclude(result)
        }
        Err(answer) => printer.usage(&answer),
    };
    ExitCode::from(outcome.exit_code())
}
