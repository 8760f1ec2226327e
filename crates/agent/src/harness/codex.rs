//! How codex is asked: the schema in a file, the question on stdin.

use serde_json::Value;

use super::{Invocation, Project, Refused};
use crate::permission::ApprovalMode;

/// The longest question that codex takes.
const QUESTION_LIMIT_CHARS: usize = 1_048_576;

pub(super) fn invoke(invocation: &mut Invocation<'_>) -> Result<(), Refused> {
    if invocation.question.text.chars().count() > QUESTION_LIMIT_CHARS {
        return Err(Refused::TooLong { limit: QUESTION_LIMIT_CHARS });
    }
    let session = invocation.question.session.take();
    invocation.arguments(["exec"]);
    invocation.arguments(session.is_some().then_some("resume"));
    invocation.arguments(["--json", "--skip-git-repo-check"]);
    // Both reach for the network at the start.
    invocation.arguments(["--disable", "plugins", "--disable", "apps"]);
    invocation.schema_file("--output-schema=")?;
    let sandbox = match invocation.setup.approval {
        ApprovalMode::Plan | ApprovalMode::Default => "read-only",
        ApprovalMode::AutoEdit => "workspace-write",
        ApprovalMode::Yolo => "danger-full-access",
    };
    // A session that goes on takes the setting, and not the flag.
    invocation.setting("sandbox_mode", sandbox);
    if invocation.setup.project != Project::Trusted {
        // In a folder that it may write to, it would trust what is set there from now on.
        let folder = Value::from(invocation.setup.folder.to_string_lossy());
        let projects = format!("projects={{{folder}={{trust_level=\"untrusted\"}}}}");
        invocation.arguments(["-c", &projects]);
    }
    if let Some(system) = invocation.question.system.take() {
        invocation.setting("developer_instructions", &system);
    }
    invocation.option("--model", invocation.setup.model.clone());
    invocation.last(session.map(|session| session.session_id));
    invocation.last(["-"]);
    invocation.ask_on_stdin();
    Ok(())
}

impl Invocation<'_> {
    /// Adds a setting; a JSON string is a TOML string too.
    fn setting(&mut self, name: &str, value: &str) {
        let value = Value::from(value);
        self.arguments(["-c", &format!("{name}={value}")]);
    }
}
