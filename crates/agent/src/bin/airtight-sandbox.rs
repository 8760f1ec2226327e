//! The helpers by themselves, for programs that use the library: the sandbox's, and the guard.

use std::io::Write as _;
use std::process::ExitCode;

use airtight_agent::{GUARD_ARGUMENT, HELPER_ARGUMENT, enter_and_exec, guard_family};

/// What `airtight` itself exits with when the sandbox cannot be enforced.
const NOT_ENFORCED: u8 = 44;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|first| first == GUARD_ARGUMENT).is_some() {
        return guard_family(arguments).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    drop(arguments.next_if(|first| first == HELPER_ARGUMENT));
    let error = enter_and_exec(arguments);
    drop(writeln!(std::io::stderr(), "airtight-sandbox: {error}"));
    ExitCode::from(NOT_ENFORCED)
}
