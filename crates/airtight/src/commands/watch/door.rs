//! What the hook of an agent CLI starts: asks the watch whether a tool call may happen.

use std::io;
use std::path::PathBuf;

use airtight_watch::knock;
use clap::Args;

use crate::error::Outcome;
use crate::printer::{Printer, Span};

/// What the hook is told, by ourselves.
#[derive(Debug, Args)]
pub(crate) struct DoorArgs {
    pub(crate) door: PathBuf,
}

/// Asks at the door; exit code 2 denies, with the reason on stderr.
pub(crate) fn ask(args: &DoorArgs, printer: &mut Printer) -> Outcome {
    match knock(&args.door, io::stdin().lock()) {
        None => Outcome::Met,
        Some(why) => {
            printer.note(&[Span::plain(why)]);
            Outcome::Usage
        }
    }
}
