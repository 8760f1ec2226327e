//! Commands of the user that see tool calls before and after they happen, and may object.
//!
//! A hook gets one JSON object on stdin, with the raw arguments: it sees what the tool sees, the
//! terminal tool included. Exit 2 objects, and what the hook wrote to stderr is told to the model.
//! Any other exit is no objection. A guard that hangs or cannot be started guards nothing, so
//! before a call that counts as an objection; after it, nothing can be undone any more. Whatever it
//! counts as, a hook that failed is told to the user. Hooks get the environment without its secrets:
//! one that needs a key must fetch it itself.
//!
//! A [`Guard`] is the same for whoever performs runs: it is in this process, and is asked last, so that
//! what it takes on record for a call is not in vain.

mod command;
mod fault;
mod guard;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use airtight_core::message::{ToolCall, ToolResult, ToolStatus};
pub use airtight_core::run::Veto;
use regex::Regex;
use serde_json::{Value, json};

use crate::process::Environment;
use command::Place;

pub use command::{Ended as CommandEnd, Place as CommandPlace, run as run_command};
pub use fault::{HookFault, HookFaults};
pub use guard::{Guard, Guarding};

/// How long a hook may take unless the configuration says otherwise.
pub const HOOK_TIMEOUT: Duration = Duration::from_mins(1);

/// What the model is told when a hook objects without a word.
const SILENT_VETO: &str = "a hook denied this call";

/// When a hook is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HookEvent {
    /// Before a tool is called.
    PreToolUse,
    /// After a tool did what was asked.
    PostToolUse,
    /// After a tool failed.
    PostToolUseFailure,
    /// When the run is about to end.
    Stop,
}

impl HookEvent {
    /// Every event.
    pub const ALL: [Self; 4] =
        [Self::PreToolUse, Self::PostToolUse, Self::PostToolUseFailure, Self::Stop];

    /// Returns the name in configuration and on stdin.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::Stop => "Stop",
        }
    }
}

/// One hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// When it is asked.
    pub event: HookEvent,
    /// Which tools it is about, by their whole name; every one if absent.
    pub matcher: Option<Regex>,
    /// A command line for the shell.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
}

impl Hook {
    /// Makes a hook; `matcher` must match the whole name of a tool.
    pub fn new(
        event: HookEvent,
        matcher: Option<&str>,
        command: impl Into<String>,
    ) -> Result<Self, regex::Error> {
        let matcher = matcher.filter(|text| !text.is_empty() && *text != "*");
        let matcher = matcher.map(|text| Regex::new(&format!("^(?:{text})$"))).transpose()?;
        Ok(Self { event, matcher, command: command.into(), timeout: HOOK_TIMEOUT })
    }

    fn is_about(&self, event: HookEvent, tool: Option<&str>) -> bool {
        let matches = |name: &str| self.matcher.as_ref().is_none_or(|regex| regex.is_match(name));
        self.event == event && tool.is_none_or(matches)
    }
}

/// The hooks of a run.
#[derive(Debug, Default)]
pub struct Hooks {
    all: Vec<Hook>,
    session_id: String,
    folder: PathBuf,
    environment: Environment,
    faults: HookFaults,
    guard: Option<Arc<dyn Guard>>,
}

impl Hooks {
    /// Makes the hooks of a run that works in `folder`; their commands see `environment` alone.
    pub fn new(
        hooks: Vec<Hook>,
        session_id: impl Into<String>,
        folder: PathBuf,
        environment: Environment,
    ) -> Self {
        let faults = HookFaults::default();
        let session_id = session_id.into();
        Self { all: hooks, session_id, folder, environment, faults, guard: None }
    }

    /// Has `guard` asked, too.
    #[must_use]
    pub fn guarded(self, guard: Arc<dyn Guard>) -> Self {
        Self { guard: Some(guard), ..self }
    }

    /// Lets what failed in an earlier run be told again.
    pub(crate) fn begin_run(&self) {
        self.faults.begin_run();
    }

    /// Returns those that failed, as they do.
    pub fn faults(&self) -> HookFaults {
        self.faults.clone()
    }

    /// Asks every `PreToolUse` hook in order, and the guard, until one objects.
    pub async fn before(&self, call: &ToolCall) -> Result<(), Veto> {
        self.ask(HookEvent::PreToolUse, Some(&call.name), || call_input(call)).await?;
        match &self.guard {
            Some(guard) => guard.before(call).await,
            None => Ok(()),
        }
    }

    /// Claims that [`Hooks::before`] starts something for this call, and so takes time.
    pub(crate) fn start_before(&self, call: &ToolCall) -> bool {
        self.all.iter().any(|hook| hook.is_about(HookEvent::PreToolUse, Some(&call.name)))
    }

    /// Tells `PostToolUse`, or `PostToolUseFailure`, what came of the call.
    pub async fn after(&self, call: &ToolCall, result: &ToolResult) {
        if let Some(guard) = &self.guard {
            guard.after(call, result).await;
        }
        let event = match result.status {
            ToolStatus::Done => HookEvent::PostToolUse,
            ToolStatus::Failed | ToolStatus::Skipped => HookEvent::PostToolUseFailure,
        };
        let told = self.ask(event, Some(&call.name), || {
            let mut input = call_input(call);
            if let Value::Object(members) = &mut input {
                members.insert("tool_response".to_owned(), result.content.as_str().into());
            }
            input
        });
        if told.await.is_err() {
            tracing::debug!(tool = call.name, "a hook objects to what is done");
        }
    }

    /// Asks every `Stop` hook whether the run may end here.
    pub async fn stop(&self) -> Result<(), Veto> {
        self.ask(HookEvent::Stop, None, || json!({})).await
    }

    async fn ask(
        &self,
        event: HookEvent,
        tool: Option<&str>,
        input: impl Fn() -> Value,
    ) -> Result<(), Veto> {
        let about = self.all.iter().enumerate().filter(|(_, hook)| hook.is_about(event, tool));
        for (index, hook) in about {
            let mut document = json!({
                "hook_event_name": event.name(),
                "session_id": self.session_id,
                "cwd": self.folder,
            });
            if let (Value::Object(all), Value::Object(own)) = (&mut document, input()) {
                all.extend(own);
            }
            let input = document.to_string();
            let place = Place { folder: &self.folder, environment: &self.environment };
            let ended = command::run(&hook.command, &input, hook.timeout, place).await;
            self.faults.keep(index, hook, &ended);
            if let Some(why) = objection(event, ended) {
                return Err(Veto { hook: hook.command.trim().to_owned(), why });
            }
        }
        Ok(())
    }
}

/// Returns what the model is told if a hook that ended so objects.
fn objection(event: HookEvent, ended: CommandEnd) -> Option<String> {
    match ended {
        CommandEnd::Exited { code: Some(2), stderr } if stderr.is_empty() => {
            Some(SILENT_VETO.to_owned())
        }
        CommandEnd::Exited { code: Some(2), stderr } => Some(stderr),
        CommandEnd::Exited { .. } => None,
        CommandEnd::TimedOut | CommandEnd::NotStarted if event != HookEvent::PreToolUse => None,
        CommandEnd::TimedOut => Some("a hook did not answer in time".to_owned()),
        CommandEnd::NotStarted => Some("a hook could not be started".to_owned()),
    }
}

/// Returns the call as hooks see it: arguments as an object where they are one, else as text.
fn call_input(call: &ToolCall) -> Value {
    let arguments = serde_json::from_str(&call.arguments)
        .unwrap_or_else(|_| Value::from(call.arguments.as_str()));
    json!({ "tool_name": call.name, "tool_use_id": call.id, "tool_input": arguments })
}
