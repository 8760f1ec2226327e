//! Lines of claude and qwen about the session itself.

use crate::Answer;

use super::super::Program;
use super::super::event::{Event, Init, Notification, Place, Retry, System, Verbatim};
use super::super::object::{Fields, Object};
use super::super::tally::Tally;

/// How background work ends, in their words.
const OVER: [&str; 6] = ["completed", "failed", "killed", "stopped", "cancelled", "error"];

/// Reads a line.
pub(super) fn read(program: Program, at: Place, object: &Object, tally: &mut Tally) -> Vec<Event> {
    let root = object.root();
    let subtype = root.text("subtype").unwrap_or_default();
    vec![Event::System(match subtype {
        "init" => System::Init(Box::new(init(program, at, object, tally))),
        "api_retry" | "retry" => System::Retry(retry(at, object, tally)),
        "task_started" | "task_updated" | "task_notification" => {
            System::Notification(task(subtype, at, object, tally))
        }
        _ => {
            let kind = subtype.to_owned();
            System::Other(Verbatim { at, kind, value: object.verbatim(root) })
        }
    })]
}

fn init(program: Program, at: Place, object: &Object, tally: &mut Tally) -> Init {
    let root = object.root();
    let tools = root.list("tools").unwrap_or_default();
    let tools: Vec<String> =
        tools.into_iter().filter_map(|tool| tool.as_str().map(str::to_owned)).collect();
    let version = root.owned("claude_code_version").or_else(|| root.owned("qwen_code_version"));
    let mode = root.owned("permissionMode").or_else(|| root.owned("permission_mode"));
    let init = Init {
        at,
        program,
        program_version: version,
        session_id: root.owned("session_id"),
        model: root.owned("model"),
        cwd: root.owned("cwd"),
        tools,
        permission_mode: mode,
        api_key_source: root.owned("apiKeySource"),
    };
    let record = &mut tally.record;
    // The first one counts; a session that goes on has another for each prompt.
    if record.session_id.is_none() && record.model.is_none() {
        record.program_version.clone_from(&init.program_version);
        record.session_id.clone_from(&init.session_id);
        record.model.clone_from(&init.model);
        record.api_key_source.clone_from(&init.api_key_source);
        let is_offered = init.offers_structured_output();
        record.offers_structured_output = if is_offered { Answer::Yes } else { Answer::No };
    }
    init
}

fn retry(at: Place, object: &Object, tally: &mut Tally) -> Retry {
    let root = object.root();
    let details = root.object("data").unwrap_or(root);
    tally.record.num_retries += 1;
    if details.flag("preserveText") != Some(true) {
        tally.take_back();
    }
    Retry {
        at,
        attempt: details.count("attempt"),
        status: details.count("error_status"),
        message: details.owned("error").or_else(|| details.owned("reason")),
        pause_ms: details.number("retry_delay_ms").or_else(|| details.number("delayMs")),
    }
}

fn task(subtype: &str, at: Place, object: &Object, tally: &mut Tally) -> Notification {
    let root = object.root();
    let task_id = root.owned("task_id").unwrap_or_default();
    let patched = root.object("patch").and_then(|patch| patch.owned("status"));
    let status = root.owned("status").or(patched);
    if subtype == "task_started" {
        tally.begin_task(&task_id);
        // Newer versions send tasks to the background that did not ask for it.
        if root.flag("is_backgrounded") == Some(true) {
            tally.launch(root.text("tool_use_id").unwrap_or(&task_id));
        }
    } else if status.as_deref().is_some_and(|status| OVER.contains(&status)) {
        tally.end_task(&task_id);
        // One that is stopped because the program ends was waited for by nobody.
        if status.as_deref() == Some("completed") {
            tally.land(root.text("tool_use_id").unwrap_or(&task_id));
        }
    }
    Notification {
        at,
        task_id,
        status: if subtype == "task_started" { Some("started".to_owned()) } else { status },
        text: root.owned("summary").or_else(|| root.owned("description")),
    }
}
