//! The helper of the sandbox: this program again, on its way to become somebody's command.

use std::ffi::OsString;

use airtight_agent::enter_and_exec;
use airtight_core::run;

use crate::cli::SandboxArgs;
use crate::error::{Error, Outcome};

/// Becomes the command; returns only if that fails.
pub(super) fn enter(args: SandboxArgs) -> Error {
    let folders = ["--workspace".into(), args.workspace, "--scratch".into(), args.scratch];
    let arguments = folders.into_iter().chain([OsString::from("--")]).chain(args.command);
    let error = enter_and_exec(arguments);
    Error::new(Outcome::Run(run::Outcome::Sandbox), "the command cannot be held").caused_by(error)
}
