//! Says what was not tested.
//!
//! A machine that cannot install the programs passes these tests by saying that they did not run:
//! `.config/nextest.toml` shows what the one test here prints.

use crate::cli::Cli;

/// Says that a test did not run.
#[expect(clippy::print_stderr, reason = "a test that did not run has to say so")]
pub(crate) fn say_missing(cli: Cli) {
    eprintln!("NOT RUN: {} {} is not installed", cli.name(), cli.version());
}

#[test]
#[expect(clippy::print_stderr, reason = "what was not tested has to be said")]
fn what_is_not_tested_is_said() {
    let all = [Cli::Claude, Cli::Codex, Cli::Qwen, Cli::Gemini];
    let missing: Vec<&str> =
        all.into_iter().filter(|cli| cli.folder().is_none()).map(Cli::name).collect();
    if !missing.is_empty() {
        eprintln!("NOT TESTED: the agent CLIs {}", missing.join(", "));
        eprintln!("`scripts/setup clis` installs them, and says why it cannot");
    }
    let networks = std::fs::read_to_string("/proc/net/dev").unwrap();
    if networks.lines().skip(2).any(|line| !line.trim_start().starts_with("lo:")) {
        eprintln!("NOT SHUT OFF: the agent CLIs could reach other networks than loopback");
        eprintln!("`scripts/loopback` shuts them off, where the machine permits it");
    }
}
