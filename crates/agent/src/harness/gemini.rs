//! How gemini is asked: it has no place for a schema, so everything is in the question on stdin.

use super::Invocation;
use crate::permission::ApprovalMode;

pub(super) fn invoke(invocation: &mut Invocation<'_>) {
    // It works in no folder that it does not trust, and in none that sets anything unless the user does.
    invocation.arguments(["--output-format", "stream-json", "--skip-trust"]);
    // Without these it takes terminal escapes out of what the model said.
    invocation.arguments(["--raw-output", "--accept-raw-output-risk"]);
    let mode = match invocation.setup.approval {
        ApprovalMode::Plan => "plan",
        ApprovalMode::Default => "default",
        ApprovalMode::AutoEdit => "auto_edit",
        ApprovalMode::Yolo => "yolo",
    };
    invocation.arguments(["--approval-mode", mode]);
    invocation.option("--model", invocation.setup.model.clone());
    let session = invocation.question.session.as_ref().map(|it| it.session_id.clone());
    invocation.option("--resume", session);
    invocation.ask_on_stdin();
}
