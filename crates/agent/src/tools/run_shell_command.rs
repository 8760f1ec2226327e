//! `run_shell_command`: `sh -c` in the workspace.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use airtight_core::message::ToolSpec;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::process::Command;

use super::file_tool::refused;
use crate::permission::Subject;
use crate::process::{self, Ended, Environment};
use crate::sandbox::Sandbox;
use crate::toolbox::{CallContext, Called, Effect, Tool, ToolError};
use crate::workspace::Workspace;

/// How long a command may take if nobody says: a small project's tests.
const DEFAULT_SECONDS: u64 = 120;

/// How long a command may take at most.
const LIMIT_SECONDS: u64 = 600;

/// The longest command, in characters: Linux takes no single argument over 128 KiB.
const COMMAND_LIMIT_CHARS: u32 = 32_000;

/// Told to every command: there is nobody to ask, and nobody to turn pages.
const SETTINGS: [(&str, &str); 4] =
    [("GIT_TERMINAL_PROMPT", "0"), ("GIT_PAGER", "cat"), ("PAGER", "cat"), ("TERM", "dumb")];

/// Runs commands.
#[derive(Debug)]
pub(super) struct RunShellCommand {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    environment: Environment,
    sandbox: Option<Sandbox>,
}

#[derive(Deserialize)]
struct Arguments {
    command: String,
    directory: Option<String>,
    timeout_seconds: Option<u64>,
}

impl RunShellCommand {
    pub(super) fn new(
        workspace: Arc<Workspace>,
        environment: Environment,
        sandbox: Option<Sandbox>,
    ) -> Self {
        let properties = json!({
            "command": {
                "type": "string", "minLength": 1, "maxLength": COMMAND_LIMIT_CHARS,
                "description": "What sh -c is given.",
            },
            "directory": {
                "type": "string", "minLength": 1,
                "description": "The folder to run it in. Default: the workspace.",
            },
            "timeout_seconds": {
                "type": "integer", "minimum": 1, "maximum": LIMIT_SECONDS,
                "description": "When to end it. Default: 120.",
            },
        });
        let description = "Runs a command with sh in the workspace and returns its exit code and \
            what it wrote. There is no input, and what it leaves running is ended with it.";
        let spec = super::spec("run_shell_command", description, &properties, &["command"]);
        Self { spec, workspace, environment, sandbox }
    }

    fn command(&self, text: &str, folder: &std::path::Path) -> Command {
        let mut command = match &self.sandbox {
            None => Command::new("sh"),
            Some(sandbox) => sandbox.command(self.workspace.root(), OsStr::new("sh")),
        };
        command.arg("-c").arg(text).current_dir(folder);
        command.env_clear().envs(self.environment.iter()).envs(SETTINGS);
        command
    }
}

impl Tool for RunShellCommand {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Executes
    }

    fn subject(&self, arguments: &Map<String, Value>) -> Option<Subject> {
        Some(Subject::Command(super::text(arguments, "command", "").to_owned()))
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        context: &'a CallContext,
    ) -> Called<'a> {
        Box::pin(async move {
            let arguments: Arguments = super::read(arguments)?;
            let directory = arguments.directory.as_deref().unwrap_or(".");
            let place = self.workspace.folder(directory);
            let place = place.map_err(|error| refused(directory, &error))?;
            let seconds = arguments.timeout_seconds.unwrap_or(DEFAULT_SECONDS).min(LIMIT_SECONDS);
            let folder = self.workspace.root().join(&place.relative);
            let command = self.command(&arguments.command, &folder);
            let (ended, capture) =
                process::run(command, Duration::from_secs(seconds), &context.cancel)
                    .await
                    .map_err(|error| ToolError(format!("the command cannot be run: {error}")))?;
            tell(ended, &capture.into_text(), seconds)
        })
    }
}

/// Says how a command ended and what it wrote; one that did not end well is a failure.
fn tell(ended: Ended, output: &str, seconds: u64) -> Result<String, ToolError> {
    let verdict = match ended {
        Ended::Exited(status) => exit(status),
        Ended::TimedOut => format!("Ended after {seconds} s: it took too long."),
        Ended::Cancelled => "Ended: the run was cancelled.".to_owned(),
    };
    // First and last lines survive when the result is shortened.
    let output = if output.is_empty() { "[no output]" } else { output };
    let text = format!("{verdict}\n{output}");
    match ended {
        Ended::Exited(status) if status.success() => Ok(text),
        Ended::Exited(_) | Ended::TimedOut | Ended::Cancelled => Err(ToolError(text)),
    }
}

fn exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("Exit code: {code}"),
        (None, Some(signal)) => format!("Ended by signal {signal}"),
        (None, None) => "Ended".to_owned(),
    }
}
