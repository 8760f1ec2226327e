//! How claude is asked: the schema inline, the question on stdin.

use super::hooks::{self, Clock};
use super::{Invocation, Project, Setup};
use crate::permission::ApprovalMode;

pub(super) fn invoke(invocation: &mut Invocation<'_>) {
    let Setup { approval, max_turns, reasks, .. } = *invocation.setup;
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
    invocation.option("--settings", settings.map(|settings| settings.to_string()));
    invocation.resume_and_instruct();
    // How often it asks its model again by itself; at least once, for 0 would mean its default.
    invocation.variable("MAX_STRUCTURED_OUTPUT_RETRIES", reasks.max(1).to_string());
    invocation.ask_on_stdin();
}
