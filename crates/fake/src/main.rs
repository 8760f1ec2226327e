//! The scripted model server as a program, for clients in other languages. See the README.

mod program;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match program::run(&program::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Nobody is left to tell when stderr is closed.
            let _told = writeln!(io::stderr(), "airtight-fake: {failure}").is_ok();
            ExitCode::FAILURE
        }
    }
}
