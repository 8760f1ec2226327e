//! The sandbox's helper by itself, for programs that use the library.

use std::io::Write as _;
use std::process::ExitCode;

use airtight_agent::{HELPER_ARGUMENT, enter_and_exec};

/// What `airtight` itself exits with when the sandbox cannot be enforced.
const NOT_ENFORCED: u8 = 44;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    drop(arguments.next_if(|first| first == HELPER_ARGUMENT));
    let error = enter_and_exec(arguments);
    drop(writeln!(std::io::stderr(), "airtight-sandbox: {error}"));
    ExitCode::from(NOT_ENFORCED)
}
