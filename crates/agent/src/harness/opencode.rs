//! How opencode is asked: it has no place for a schema, so everything is in the question on stdin.

use super::{Invocation, Project};
use crate::permission::ApprovalMode;

/// What the session is called; without a name another model is asked for one.
const TITLE: &str = "airtight";

pub(super) fn invoke(invocation: &mut Invocation<'_>) {
    invocation.arguments(["run", "--format", "json", "--title", TITLE]);
    invocation.option("--model", invocation.setup.model.clone());
    let session = invocation.question.session.take();
    invocation.option("--session", session.map(|session| session.session_id));
    // By itself it runs and edits whatever its model likes.
    let denied = match invocation.setup.approval {
        ApprovalMode::Plan | ApprovalMode::Default => {
            Some(r#"{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}"#)
        }
        ApprovalMode::AutoEdit => Some(
            r#"{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow","edit":"allow"}"#,
        ),
        ApprovalMode::Yolo => None,
    };
    if let Some(denied) = denied {
        invocation.insist("OPENCODE_PERMISSION", denied);
    }
    if matches!(invocation.setup.project, Project::LeftOut(_)) {
        invocation.insist("OPENCODE_DISABLE_PROJECT_CONFIG", "1");
    }
    invocation.ask_on_stdin();
}
