//! What `gemini --output-format json` prints: the answer, or the error, and the statistics, at once.

use crate::codec::Usage;
use crate::json::Node;

use super::super::category::Evidence;
use super::super::event::{Block, Event, Finish, Place};
use super::super::object::{Fields, Object};
use super::super::output::Joint;
use super::super::tally::{Failure, Tally};
use super::said;

/// Reads the document; nothing comes of an object that is none.
pub(super) fn read(at: Place, object: &Object, tally: &mut Tally) -> Vec<Event> {
    let root = object.root();
    let (response, error) = (root.owned("response"), root.object("error"));
    if response.is_none() && error.is_none() {
        return Vec::new();
    }
    let models = root.object("stats").and_then(|stats| stats.object("models"));
    let used = models.map(usage).unwrap_or_default();
    let record = &mut tally.record;
    record.session_id = record.session_id.take().or_else(|| root.owned("session_id"));
    record.model = record.model.take().or_else(|| only_name(models?));
    record.model_usage = models.map(|models| object.verbatim(models));
    record.usage.replace(&used);
    let tools = root.object("stats").and_then(|stats| stats.object("tools"));
    record.num_tool_calls += tools.and_then(|tools| tools.count("totalCalls")).unwrap_or(0);
    let mut events = Vec::new();
    if let Some(text) = response.clone() {
        tally.output.say(&text, Joint::Apart);
        events.push(said(at, Block::Text { text }));
    }
    let failure = error.map(|error| Failure::new(error.text("message"), Evidence::default()));
    let finish = Finish {
        at,
        subtype: None,
        is_error: failure.is_some(),
        error: failure.as_ref().map(|failure| failure.message.clone()),
        result: response.filter(|_| failure.is_none()),
        structured_output: None,
        stop_reason: None,
        usage: used,
    };
    tally.result.clone_from(&finish.result);
    if let Some(failure) = failure {
        tally.fail(failure);
    }
    tally.end(at);
    events.push(Event::Result(Box::new(finish)));
    events
}

/// Returns the name of the model, if there is one alone.
fn only_name(models: Node<'_>) -> Option<String> {
    let mut names = models.members().map(|(name, _)| name.to_owned());
    names.next().filter(|_| names.next().is_none())
}

/// Adds up what all models used.
fn usage(models: Node<'_>) -> Usage {
    let mut sum = Usage::default();
    for tokens in models.members().filter_map(|(_, model)| model.object("tokens")) {
        let thoughts = tokens.count("thoughts");
        let said = tokens.count("candidates");
        sum.add(&Usage {
            input_tokens: tokens.count("prompt"),
            output_tokens: said.map(|said| said.saturating_add(thoughts.unwrap_or(0))),
            cache_read_input_tokens: tokens.count("cached"),
            cache_creation_input_tokens: None,
            reasoning_tokens: thoughts,
        });
    }
    sum
}
