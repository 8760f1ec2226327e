//! The line with which claude and qwen say that they are done.
//!
//! There may be several: one for each prompt, and one more when background work is over. The last one
//! counts, but it does not undo an earlier error.

use crate::codec::Usage;
use crate::json::{Kind, Node};

use super::super::category::Evidence;
use super::super::event::{Event, Finish, Place};
use super::super::meter::Meter;
use super::super::object::{Fields, Object};
use super::super::record::Payload;
use super::super::tally::{Failure, Tally};
use super::usage;

/// Reads the line.
pub(super) fn read(at: Place, object: &Object, tally: &mut Tally) -> Event {
    let root = object.root();
    // Anything but a literal `true` is no error: older versions leave it out.
    let is_error = root.flag("is_error") == Some(true);
    if root.given("is_error").is_some_and(|flag| flag.kind() != Kind::Boolean) {
        tally.warn("odd-error-flag: `is_error` is neither true nor false, and counts as no error");
    }
    let payload = root.given("structured_output").or_else(|| root.given("structured_result"));
    let payload = payload.map(|payload| object.verbatim(payload));
    let error = is_error.then(|| failure(root, tally));
    let session = root.object("modelUsage").map(of_models).unwrap_or_default();
    let used = root.object("usage").map(usage).unwrap_or_default();
    let record = &mut tally.record;
    record.session_usage.replace(&session);
    record.session_id = record.session_id.take().or_else(|| root.owned("session_id"));
    record.subtype = root.owned("subtype");
    record.stop_reason = root.owned("stop_reason").or_else(|| record.stop_reason.take());
    record.terminal_reason = root.owned("terminal_reason");
    record.num_turns = root.count("num_turns").or(record.num_turns);
    // Each result counts what was used since the last one; the cost is that of the whole session.
    record.usage.add(&used);
    tally.meter = Meter::default();
    record.total_cost_usd = root.number("total_cost_usd").or(record.total_cost_usd.take());
    let denials = root.member("permission_denials").map(|denials| object.verbatim(denials));
    record.permission_denials = denials.or(record.permission_denials.take());
    let models = root.object("modelUsage").map(|models| object.verbatim(models));
    record.model_usage = models.or(record.model_usage.take());
    let finish = Finish {
        at,
        subtype: record.subtype.clone(),
        is_error,
        error: error.as_ref().map(|error| error.message.clone()),
        result: root.owned("result"),
        structured_output: payload.clone(),
        stop_reason: root.owned("stop_reason"),
        usage: used,
    };
    tally.took(root.number("duration_ms").as_ref());
    if finish.result.is_none() && root.given("result").is_some() {
        // What was said before it is not what it says.
        tally.output.miss();
    }
    tally.result.clone_from(&finish.result);
    tally.delivery.conclude(payload.map(|value| Payload::of_result(at, value)));
    if let Some(error) = error {
        tally.fail(error);
    }
    tally.end(at);
    Event::Result(Box::new(finish))
}

/// Adds up what each model used in the whole session; cached tokens come on top of the input here too.
fn of_models(models: Node<'_>) -> Usage {
    let mut all = Usage::default();
    for (_, model) in models.members() {
        let cached = model.count("cacheReadInputTokens");
        let written = model.count("cacheCreationInputTokens");
        let cache = cached.unwrap_or(0).saturating_add(written.unwrap_or(0));
        all.add(&Usage {
            input_tokens: model.count("inputTokens").map(|input| input.saturating_add(cache)),
            output_tokens: model.count("outputTokens"),
            cache_read_input_tokens: cached,
            cache_creation_input_tokens: written,
            reasoning_tokens: model.count("thinkingTokens"),
        });
    }
    all
}

/// Says why it failed: in `result`, in `errors` where that is absent, in `error` as qwen does.
fn failure(root: Node<'_>, tally: &Tally) -> Failure {
    let errors = root.list("errors").unwrap_or_default();
    let errors: Vec<&str> = errors.into_iter().filter_map(Node::as_str).collect();
    let errors = (!errors.is_empty()).then(|| errors.join("; "));
    let error = root.object("error").and_then(|error| error.owned("message"));
    let message = root.owned("result").or(errors).or(error);
    let evidence =
        Evidence { status: root.count("api_error_status"), word: tally.error_word.as_deref() };
    Failure::new(message.as_deref(), evidence)
}
