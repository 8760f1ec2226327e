//! How qwen is asked: the schema inline, the question on stdin.

use super::hooks::{self, Clock};
use super::{Invocation, Refused, Setup};

pub(super) fn invoke(invocation: &mut Invocation<'_>) -> Result<(), Refused> {
    let Setup { approval, max_turns, .. } = *invocation.setup;
    invocation.arguments(["--output-format", "stream-json"]);
    invocation.inline_schema();
    // Without it a model of qwen's own decides what is allowed.
    invocation.arguments(["--approval-mode", approval.name()]);
    invocation.option("-m", invocation.setup.model.clone());
    invocation.option("--max-session-turns", max_turns.map(|turns| turns.to_string()));
    invocation.resume_and_instruct();
    if let Some(settings) = hooks::settings(invocation.setup, Clock::Milliseconds) {
        let file = invocation.file("settings.json", settings.to_string().as_bytes())?;
        invocation.insist("QWEN_CODE_SYSTEM_SETTINGS_PATH", file);
    }
    invocation.ask_on_stdin();
    Ok(())
}
