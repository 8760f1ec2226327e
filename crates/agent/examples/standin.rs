//! A stand-in for agent CLIs, for tests: `airtight_fake::Deed` says what it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    airtight_fake::perform(std::env::args_os())
}
