//! Every tool of a run, and the one way to call one: arguments judged, permission asked, hooks
//! heard, time and size bounded.

mod arguments;
mod builder;
mod denial;
mod name;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use airtight_core::message::{ToolCall, ToolResult, ToolSpec, ToolStatus};
use airtight_core::run::{Denial, DeniedBy};
use airtight_core::{Contract, excerpt};
use futures_util::FutureExt as _;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::hooks::{Hooks, Veto};
use crate::permission::{Permissions, Subject, Visibility};
use crate::tools::preview;

pub use builder::{Note, ToolboxBuilder};

use denial::Denials;

/// How long any call may take: the longest shell command, and time to end it.
const CALL_LIMIT: Duration = Duration::from_secs(630);

/// How long a cancelled tool has to end by itself.
const CANCEL_GRACE: Duration = Duration::from_secs(4);

/// What a tool may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// Files in the workspace.
    Edits,
    /// Anything: it runs commands, or is somebody else's.
    Executes,
    /// Nothing here, but it talks to the network.
    Fetches,
}

/// What a tool knows of the call it serves.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The provider's id of the call.
    pub call_id: String,
    /// Cancelled when the run ends.
    pub cancel: CancellationToken,
}

/// Why a tool failed, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

/// The future of a call.
pub type Called<'a> = Pin<Box<dyn Future<Output = Result<String, ToolError>> + Send + 'a>>;

/// Something that the model can call.
pub trait Tool: Send + Sync + fmt::Debug {
    /// Returns what the model is told of it.
    fn spec(&self) -> &ToolSpec;

    /// Returns what it may change.
    fn effect(&self) -> Effect;

    /// Returns what a permission pattern such as `run_shell_command(git diff *)` is matched with.
    fn subject(&self, arguments: &Map<String, Value>) -> Option<Subject> {
        let _ = arguments;
        None
    }

    /// Does what is asked; the arguments conform to the schema.
    fn call<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        context: &'a CallContext,
    ) -> Called<'a>;
}

/// The tools of a run. Clones share their tools and what was denied.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    entries: Vec<Arc<Entry>>,
    permissions: Arc<Permissions>,
    denials: Arc<Denials>,
    notes: Vec<Note>,
}

/// One tool, under the name that the model knows.
#[derive(Debug)]
struct Entry {
    spec: ToolSpec,
    tool: Arc<dyn Tool>,
    /// Judges arguments, compiled when the first come; absent if somebody else's schema is unusable.
    contract: OnceLock<Option<Contract>>,
    visibility: Visibility,
}

impl Toolbox {
    /// Starts an empty toolbox.
    pub fn builder() -> ToolboxBuilder {
        ToolboxBuilder::default()
    }

    /// Returns what the model is told, in a fixed order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.shown().map(|entry| entry.spec.clone()).collect()
    }

    /// Returns the same toolbox with those tools alone whose names `keep` claims.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let mut toolbox = self.clone();
        toolbox.entries.retain(|entry| keep(&entry.spec.name));
        toolbox
    }

    /// Returns the same tools for one run, of which nothing was denied yet.
    pub(crate) fn for_a_run(&self) -> Self {
        Self { denials: Arc::default(), ..self.clone() }
    }

    /// Notes that a hook objects to a call that is not of this toolbox.
    pub(crate) fn deny_by_hook(&self, call: &ToolCall) {
        self.denials.add(call, DeniedBy::Hook);
    }

    /// Returns what was worth saying when it was built.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns what was denied so far, in order.
    pub fn denials(&self) -> Vec<Denial> {
        self.denials.list()
    }

    /// Returns what the tool called `name` may change; nothing is known of what is not there.
    pub fn effect(&self, name: &str) -> Option<Effect> {
        let entry = self.entries.iter().find(|entry| entry.spec.name == name);
        entry.map(|entry| entry.tool.effect())
    }

    /// Calls one tool; whatever goes wrong becomes a result that the model can read.
    pub async fn call(
        &self,
        call: &ToolCall,
        hooks: &Hooks,
        cancel: &CancellationToken,
    ) -> ToolResult {
        let (entry, arguments) = match self.admit(call) {
            Ok(admitted) => admitted,
            Err(error) => return result(call, Err(error)),
        };
        let vetoed = tokio::select! {
            biased;
            () = cancel.cancelled() => return result(call, Err(cancelled())),
            vetoed = hooks.before(call) => vetoed,
        };
        if let Err(Veto(why)) = vetoed {
            self.denials.add(call, DeniedBy::Hook);
            return result(call, Err(ToolError(why)));
        }
        let result = result(call, run(entry, &arguments, call, cancel).await);
        hooks.after(call, &result).await;
        result
    }

    fn shown(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter().filter(|entry| entry.visibility == Visibility::Shown)
    }

    /// Finds the tool, judges the arguments and asks for permission.
    fn admit(&self, call: &ToolCall) -> Result<(&Entry, Map<String, Value>), ToolError> {
        let entry = self.entries.iter().find(|entry| entry.spec.name == call.name);
        let entry = entry.ok_or_else(|| self.unknown(&call.name))?;
        if entry.visibility == Visibility::Hidden {
            let denied = self.permissions.decide(&call.name, entry.tool.effect(), None);
            return Err(self.deny(call, denied.err().map(|denied| denied.to_string())));
        }
        let arguments = arguments::judge(&call.arguments, entry.contract())?;
        let subject = entry.tool.subject(&arguments);
        self.permissions
            .decide(&call.name, entry.tool.effect(), subject.as_ref())
            .map_err(|denied| self.deny(call, Some(denied.to_string())))?;
        Ok((entry, arguments))
    }

    fn deny(&self, call: &ToolCall, why: Option<String>) -> ToolError {
        self.denials.add(call, DeniedBy::Permission);
        ToolError(why.unwrap_or_else(|| "permission denied".to_owned()))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names: Vec<&str> = self.shown().map(|entry| entry.spec.name.as_str()).collect();
        let shown = excerpt(name, name::LIMIT_CHARS, "…");
        ToolError(format!("there is no tool {shown:?}; there are: {}", names.join(", ")))
    }
}

/// Runs a tool that was admitted, to its end or ours.
async fn run(
    entry: &Entry,
    arguments: &Map<String, Value>,
    call: &ToolCall,
    cancel: &CancellationToken,
) -> Result<String, ToolError> {
    let context = CallContext { call_id: call.id.clone(), cancel: cancel.child_token() };
    // However this ends, work on other threads is told.
    let _told = context.cancel.clone().drop_guard();
    let called = async { entry.tool.call(arguments, &context).await };
    let mut called = pin!(AssertUnwindSafe(called).catch_unwind());
    let overdue = async {
        cancel.cancelled().await;
        tokio::time::sleep(CANCEL_GRACE).await;
    };
    tokio::select! {
        biased;
        done = &mut called => {
            done.unwrap_or_else(|_| Err(ToolError("the tool failed unexpectedly".to_owned())))
        }
        () = overdue => Err(cancelled()),
        () = tokio::time::sleep(CALL_LIMIT) => {
            Err(ToolError(format!("the tool did not answer within {} s", CALL_LIMIT.as_secs())))
        }
    }
}

fn cancelled() -> ToolError {
    ToolError("cancelled: the run has ended".to_owned())
}

fn result(call: &ToolCall, done: Result<String, ToolError>) -> ToolResult {
    let (content, status) = match done {
        Ok(content) => (content, ToolStatus::Done),
        Err(ToolError(content)) => (content, ToolStatus::Failed),
    };
    let content = preview(content);
    ToolResult { call_id: call.id.clone(), name: call.name.clone(), content, status }
}

#[cfg(test)]
mod tests;
