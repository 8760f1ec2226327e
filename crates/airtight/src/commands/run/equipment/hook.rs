//! `[hooks]`: lists of commands by event.

use airtight_agent::{Hook, HookEvent};
use airtight_core::nearest;
use serde_json::{Map, Value};

use crate::config::duration;
use crate::error::{Error, Outcome};

/// What a hook may say.
const MEMBERS: [&str; 3] = ["matcher", "command", "timeout"];

/// Reads the hooks of a table such as
/// `{"PreToolUse": [{"matcher": "edit", "command": "…", "timeout": "5s"}]}`.
pub(super) fn read(table: &Value) -> Result<Vec<Hook>, Error> {
    let mut hooks = Vec::new();
    for (name, listed) in table.as_object().into_iter().flatten() {
        let event = HookEvent::ALL.into_iter().find(|event| event.name() == name);
        let event = event
            .ok_or_else(|| unknown("hook event", name, &HookEvent::ALL.map(HookEvent::name)))?;
        let listed =
            listed.as_array().ok_or_else(|| refused(name, "it must be a list: `[[hooks.…]]`"))?;
        for entry in listed {
            let entry = entry.as_object().ok_or_else(|| refused(name, "it must be a table"))?;
            hooks.push(hook(event, entry)?);
        }
    }
    Ok(hooks)
}

fn hook(event: HookEvent, entry: &Map<String, Value>) -> Result<Hook, Error> {
    let name = event.name();
    if let Some(member) = entry.keys().find(|member| !MEMBERS.contains(&member.as_str())) {
        return Err(unknown("member of a hook", member, &MEMBERS));
    }
    let text = |member: &str| match entry.get(member) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(refused(name, &format!("`{member}` must be a string"))),
    };
    let command = text("command")?.filter(|command| !command.trim().is_empty());
    let command = command.ok_or_else(|| refused(name, "it needs a `command`"))?;
    let mut hook = Hook::new(event, text("matcher")?, command)
        .map_err(|_| refused(name, "`matcher` must be a regular expression"))?;
    let time = match entry.get("timeout") {
        None => return Ok(hook),
        Some(Value::Number(seconds)) => seconds.to_string(),
        Some(Value::String(time)) => time.clone(),
        Some(_) => return Err(refused(name, "`timeout` must be a duration")),
    };
    hook.timeout =
        duration::parse(&time).map_err(|error| refused(name, &format!("`timeout`: {error}")))?;
    Ok(hook)
}

fn refused(name: &str, why: &str) -> Error {
    Error::new(Outcome::Contract, format!("hook `{name}`: {why}"))
}

fn unknown(what: &str, name: &str, known: &[&'static str]) -> Error {
    let error = Error::new(Outcome::Contract, format!("no such {what}: `{name}`"));
    match nearest(name, known.iter().copied()) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error.hint(format!("there are {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn hooks_are_read_by_event() {
        let table = json!({
            "PreToolUse": [{ "matcher": "edit|write_file", "command": "guard", "timeout": "5s" }],
            "Stop": [{ "command": "done", "timeout": 7 }],
        });
        let hooks = read(&table).unwrap();
        let read: Vec<_> =
            hooks.iter().map(|hook| (hook.event, hook.command.as_str(), hook.timeout)).collect();
        let expected = [
            (HookEvent::PreToolUse, "guard", Duration::from_secs(5)),
            (HookEvent::Stop, "done", Duration::from_secs(7)),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_no_hook_is_refused_without_its_content() {
        let refused = [
            json!({ "PreTolUse": [] }),
            json!({ "Stop": { "command": "s3cret" } }),
            json!({ "Stop": ["s3cret"] }),
            json!({ "Stop": [{}] }),
            json!({ "Stop": [{ "command": " " }] }),
            json!({ "Stop": [{ "comand": "s3cret" }] }),
            json!({ "Stop": [{ "command": "x", "timeout": "s3cret" }] }),
            json!({ "Stop": [{ "command": "x", "matcher": "(s3cret" }] }),
        ];
        for table in refused {
            let error = read(&table).unwrap_err();
            assert_eq!(error.kind, Outcome::Contract);
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
