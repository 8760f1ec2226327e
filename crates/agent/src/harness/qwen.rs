//! How qwen is asked: the schema in a file, the question on stdin.

use serde_json::{Value, json};

use super::hooks::{self, Clock};
use super::{Invocation, Project, Refused, Setup};

pub(super) fn invoke(invocation: &mut Invocation<'_>) -> Result<(), Refused> {
    let Setup { approval, max_turns, .. } = *invocation.setup;
    invocation.arguments(["--output-format", "stream-json"]);
    invocation.schema_file("--json-schema=@")?;
    // Without it a model of qwen's own decides what is allowed.
    invocation.arguments(["--approval-mode", approval.name()]);
    invocation.option("--model", invocation.setup.model.clone());
    invocation.option("--max-session-turns", max_turns.map(|turns| turns.to_string()));
    invocation.resume();
    // Again each time: not every version keeps those of the first call.
    let system = invocation.question.system.take();
    invocation.option("--append-system-prompt", system);
    if let Some(settings) = settings(invocation.setup) {
        let file = invocation.file("settings.json", settings.to_string().as_bytes())?;
        invocation.insist("QWEN_CODE_SYSTEM_SETTINGS_PATH", file);
    }
    invocation.ask_on_stdin();
    Ok(())
}

/// Returns settings that are stronger than all others, if there are any.
fn settings(setup: &Setup) -> Option<Value> {
    let guards = hooks::settings(setup, Clock::Milliseconds);
    if !matches!(setup.project, Project::LeftOut(_)) {
        return guards;
    }
    let hooks = guards.as_ref().and_then(|settings| settings.get("hooks"));
    // Then it trusts no folder of which the user did not tell it so.
    let security = json!({ "folderTrust": { "enabled": true } });
    Some(json!({ "hooks": hooks.unwrap_or(&json!({})), "security": security }))
}
