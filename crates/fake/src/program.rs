//! The program: reads a script, starts the server, says where it is, and serves until it is killed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;

use airtight_fake::{Fake, Memory, Options, Script};
use clap::Parser;
use serde_json::json;

/// Serves a scripted model on loopback.
#[derive(Debug, Parser)]
#[command(name = "airtight-fake", version)]
pub(crate) struct Arguments {
    /// The script, a JSON file; README.md describes it
    #[arg(long, value_name = "FILE")]
    script: PathBuf,
    /// The port; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Where the log goes, one JSON document on a line. Headers are as received, keys too.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Remember no exchanges, so that any number can be served
    #[arg(long)]
    forget: bool,
}

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The script is not readable.
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    /// The script is not a script.
    #[error("{path} is no script: {source}")]
    Script { path: PathBuf, source: serde_json::Error },
    /// The log is not writable.
    #[error("cannot write {path}: {source}")]
    Log { path: PathBuf, source: io::Error },
    /// The port is not free, or stdout is closed.
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
}

/// Serves until the process is killed.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.script;
    let text =
        fs::read_to_string(path).map_err(|source| Failure::Read { path: path.clone(), source })?;
    let script: Script = serde_json::from_str(&text)
        .map_err(|source| Failure::Script { path: path.clone(), source })?;
    let log = match &arguments.log {
        None => None,
        Some(path) => {
            let file =
                File::create(path).map_err(|source| Failure::Log { path: path.clone(), source })?;
            let log: Box<dyn Write + Send> = Box::new(file);
            Some(log)
        }
    };
    let memory = if arguments.forget { Memory::None } else { Memory::Kept };
    let fake = Fake::start_with(script, Options { port: arguments.port, log, memory })?;
    let bases = json!({
        "anthropic": fake.anthropic_base(),
        "openai": fake.openai_base(),
        "gemini": fake.gemini_base(),
    });
    writeln!(io::stdout(), "{bases}")?;
    loop {
        thread::park();
    }
}
