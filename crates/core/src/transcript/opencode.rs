//! Opencode. See `docs/wire/opencode.md`.
//!
//! A run has no result line: it is over with a step that does not end in `tool-calls`. The server
//! answers with one object, `{info, parts}`; that it calls a payload `valid` means nothing.

use serde_json::Number;

use crate::codec::Usage;
use crate::json::Node;

use super::category::Evidence;
use super::event::{
    Assistant, AssistantMessage, Block, Event, Finish, Place, Retry, System, Told, User,
    UserMessage, Verbatim, Warning,
};
use super::object::{Fields, Object};
use super::output::Joint;
use super::record::Payload;
use super::tally::{Failure, Tally};

/// What a line is called with which a step ends whose tools are told to the model next.
pub(super) const STEP_ENDED: &str = "step_finish tool-calls";

/// Reads a line; nothing comes of one that is not known.
pub(super) fn read(at: Place, object: &Object, tally: &mut Tally) -> Vec<Event> {
    let root = object.root();
    let session_id = root.owned("sessionID");
    tally.record.session_id = tally.record.session_id.take().or(session_id);
    let part = root.object("part");
    match (root.text("type"), part) {
        (Some("step_start"), _) => {
            tally.output.end_turn();
            let (kind, value) = ("step_start".to_owned(), object.verbatim(root));
            vec![Event::System(System::Other(Verbatim { at, kind, value }))]
        }
        (Some("text" | "reasoning" | "tool_use"), Some(part)) => spoken(at, part, object, tally),
        (Some("step_finish"), Some(part)) => vec![step_ended(at, part, object, tally)],
        (Some("error"), _) => match root.object("error") {
            Some(error) => vec![failed(at, error, tally)],
            None => Vec::new(),
        },
        (None, _) => match (root.object("info"), root.list("parts")) {
            (Some(info), Some(parts)) => served(at, info, &parts, object, tally),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Reads a part of a message.
fn spoken(at: Place, part: Node<'_>, object: &Object, tally: &mut Tally) -> Vec<Event> {
    match (part.text("type"), part.owned("text")) {
        (Some("text"), Some(text)) => {
            tally.output.say(&text, Joint::Apart);
            vec![said(at, part, Block::Text { text })]
        }
        (Some("reasoning"), text) => {
            vec![said(at, part, Block::Thinking { thinking: text.unwrap_or_default() })]
        }
        (Some("tool"), _) => tool(at, part, object, tally),
        (Some("text") | None, _) => {
            // What it says is missing from the answer.
            tally.output.miss();
            Vec::new()
        }
        (Some(_), None | Some(_)) => Vec::new(),
    }
}

/// Reads a call with what came of it: there is one line for both.
fn tool(at: Place, part: Node<'_>, object: &Object, tally: &mut Tally) -> Vec<Event> {
    let id = part.owned("callID").unwrap_or_default();
    let state = part.object("state").unwrap_or(part);
    tally.record.num_tool_calls += 1;
    let call = Block::ToolUse {
        id: id.clone(),
        name: part.owned("tool").unwrap_or_default(),
        input: object.verbatim_member(state, "input"),
    };
    let result = Told::ToolResult {
        tool_use_id: id,
        content: state.owned("output").or_else(|| state.owned("error")).unwrap_or_default(),
        is_error: state.text("status") != Some("completed"),
    };
    let message = UserMessage { content: vec![result] };
    vec![said(at, part, call), Event::User(User { at, parent_tool_use_id: None, message })]
}

fn step_ended(at: Place, part: Node<'_>, object: &Object, tally: &mut Tally) -> Event {
    let used = part.object("tokens").map(usage).unwrap_or_default();
    spend(part, &used, tally);
    let reason = part.text("reason").unwrap_or("unknown");
    match reason {
        "tool-calls" => {
            let (kind, value) = (STEP_ENDED.to_owned(), object.verbatim(object.root()));
            Event::System(System::Other(Verbatim { at, kind, value }))
        }
        "unknown" => {
            // The stream broke off, and the request is sent again: for ever, if need be.
            tally.record.num_retries += 1;
            tally.take_back();
            let message = Some("the step ended for no reason".to_owned());
            let retry = Retry { at, attempt: None, status: None, message, pause_ms: None };
            Event::System(System::Retry(retry))
        }
        _ => finish(at, reason, used, None, tally),
    }
}

fn failed(at: Place, error: Node<'_>, tally: &mut Tally) -> Event {
    let failure = failure(error);
    let message = failure.message.clone();
    tally.fail(failure);
    // Nothing but the end follows; a step that was blocked has said so before.
    if tally.record.num_results == 0 {
        tally.end(at);
    }
    Event::System(System::Warning(Warning { at, message }))
}

/// Reads what the server answers.
fn served(
    at: Place,
    info: Node<'_>,
    parts: &[Node<'_>],
    object: &Object,
    tally: &mut Tally,
) -> Vec<Event> {
    let record = &mut tally.record;
    record.session_id = record.session_id.take().or_else(|| info.owned("sessionID"));
    record.model = info.owned("modelID");
    let mut events: Vec<Event> =
        parts.iter().flat_map(|part| spoken(at, *part, object, tally)).collect();
    let used = info.object("tokens").map(usage).unwrap_or_default();
    spend(info, &used, tally);
    let payload = info.given("structured").map(|payload| object.verbatim(payload));
    if let Some(error) = info.object("error") {
        tally.fail(failure(error));
    }
    let payload = payload.map(|value| Payload::of_result(at, value));
    events.push(finish(at, info.text("finish").unwrap_or("unknown"), used, payload, tally));
    events
}

/// Notes that the program is done.
fn finish(
    at: Place,
    reason: &str,
    usage: Usage,
    payload: Option<Payload>,
    tally: &mut Tally,
) -> Event {
    let stop_reason = match reason {
        "stop" => "end_turn",
        "length" => "max_tokens",
        "tool-calls" => "tool_use",
        "content-filter" => "refusal",
        other => other,
    };
    tally.record.subtype = Some(reason.to_owned());
    tally.record.stop_reason = Some(stop_reason.to_owned());
    tally.result = tally.output.this_turn();
    let event = Event::Result(Box::new(Finish {
        at,
        subtype: tally.record.subtype.clone(),
        is_error: tally.failure.is_some(),
        error: tally.failure.as_ref().map(|failure| failure.message.clone()),
        result: tally.result.clone(),
        structured_output: payload.as_ref().map(|payload| payload.value.clone()),
        stop_reason: tally.record.stop_reason.clone(),
        usage,
    }));
    tally.delivery.conclude(payload);
    tally.end(at);
    event
}

fn failure(error: Node<'_>) -> Failure {
    let details = error.object("data");
    let message = details.and_then(|details| details.text("message")).or(error.text("name"));
    let status = details.and_then(|details| details.count("statusCode"));
    Failure::new(message, Evidence { status, word: None })
}

/// Adds what a step used; each tells its own.
fn spend(step: Node<'_>, used: &Usage, tally: &mut Tally) {
    tally.record.usage.add(used);
    let known = tally.record.total_cost_usd.take();
    let cost = match (known.as_ref().and_then(Number::as_f64), step.number("cost")) {
        (Some(before), Some(cost)) => Number::from_f64(before + cost.as_f64().unwrap_or(0.0)),
        (None, cost) => cost,
        (Some(_), None) => None,
    };
    tally.record.total_cost_usd = cost.or(known);
}

fn said(at: Place, part: Node<'_>, block: Block) -> Event {
    let message = AssistantMessage {
        id: part.owned("messageID"),
        content: vec![block],
        ..Default::default()
    };
    Event::Assistant(Assistant { at, parent_tool_use_id: None, message })
}

/// Reads tokens; what was read from or written to the cache comes on top of the input, and thoughts
/// on top of the output.
fn usage(tokens: Node<'_>) -> Usage {
    let cache = tokens.object("cache");
    let cached = cache.and_then(|cache| cache.count("read"));
    let written = cache.and_then(|cache| cache.count("write"));
    let thought = tokens.count("reasoning");
    let sum = |base: Option<u64>, more: [Option<u64>; 2]| {
        base.map(|base| more.into_iter().flatten().fold(base, u64::saturating_add))
    };
    Usage {
        input_tokens: sum(tokens.count("input"), [cached, written]),
        output_tokens: sum(tokens.count("output"), [thought, None]),
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: written,
        reasoning_tokens: thought,
    }
}
