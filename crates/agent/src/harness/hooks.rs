//! Our guards in the settings of a program that has the same kind: JSON on stdin, exit 2 denies.

use std::time::Duration;

use serde_json::{Value, json};

use super::Setup;
use crate::hooks::HookEvent;

/// How a program counts the time that a hook may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Seconds,
    Milliseconds,
}

/// Returns settings with the hooks that are asked before a tool is called, if there are any.
///
/// They match the program's own names of tools. A hook for everything would deny the answer too, so
/// the tool that takes it is left out.
pub(super) fn settings(setup: &Setup, clock: Clock) -> Option<Value> {
    let guards = setup.hooks.iter().filter(|hook| hook.event == HookEvent::PreToolUse);
    let guards: Vec<Value> = guards
        .map(|hook| {
            let names = hook.matcher.as_ref().map_or("", |matcher| matcher.as_str());
            json!({
                // Anchored, for programs look for a match anywhere in a name.
                "matcher": format!("^(?!StructuredOutput$|structured_output$){names}"),
                "hooks": [{
                    "type": "command",
                    "command": hook.command,
                    "timeout": time(hook.timeout, clock),
                }],
            })
        })
        .collect();
    (!guards.is_empty()).then(|| json!({ "hooks": { "PreToolUse": guards } }))
}

/// Returns a time of at least one unit: none would mean for ever.
fn time(limit: Duration, clock: Clock) -> u64 {
    let units = match clock {
        Clock::Seconds => limit.as_secs(),
        Clock::Milliseconds => u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
    };
    units.max(1)
}
