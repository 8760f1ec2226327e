//! How claude is asked: the schema inline, instructions in a file, the question on stdin.

use rustix::process::geteuid;

use super::hooks::{self, Clock};
use super::{Invocation, Project, Refused, Setup};
use crate::permission::ApprovalMode;

/// The variables by which claude is told that nothing can be lost.
const HOLDS: [&str; 2] = ["IS_SANDBOX", "CLAUDE_CODE_BUBBLEWRAP"];

pub(super) fn invoke(invocation: &mut Invocation<'_>) -> Result<(), Refused> {
    let Setup { approval, max_turns, reasks, .. } = *invocation.setup;
    let is_held = HOLDS.iter().any(|name| invocation.has_variable(name));
    if approval == ApprovalMode::Yolo && geteuid().is_root() && !is_held {
        return Err(Refused::Root);
    }
    invocation.arguments(["-p", "--output-format", "stream-json", "--verbose"]);
    invocation.inline_schema();
    let mode = match approval {
        ApprovalMode::Plan => "plan",
        ApprovalMode::Default => "default",
        ApprovalMode::AutoEdit => "acceptEdits",
        ApprovalMode::Yolo => "bypassPermissions",
    };
    invocation.arguments(["--permission-mode", mode]);
    if matches!(invocation.setup.project, Project::LeftOut(_)) {
        // Servers, hooks and permissions; servers of the user are kept.
        invocation.arguments(["--setting-sources=user"]);
    }
    invocation.option("--model", invocation.setup.model.clone());
    invocation.option("--max-turns", max_turns.map(|turns| turns.to_string()));
    // It counts each call of it by itself, and so do we.
    let max_cost = invocation.question.max_cost.map(|cost| cost.usd().to_string());
    invocation.option("--max-budget-usd", max_cost);
    let settings = hooks::settings(invocation.setup, Clock::Seconds);
    let settings = settings.map(|settings| settings.to_string());
    invocation.file_option("--settings=", "settings.json", settings)?;
    invocation.resume();
    // Again each time: not every version keeps those of the first call.
    let system = invocation.question.system.take();
    invocation.file_option("--append-system-prompt-file=", "instructions.md", system)?;
    // How often it asks its model again by itself; at least once, for 0 would mean its default.
    invocation.variable("MAX_STRUCTURED_OUTPUT_RETRIES", reasks.max(1).to_string());
    invocation.ask_on_stdin();
    Ok(())
}
