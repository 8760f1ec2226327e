//! Streamed answers.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{ARGUMENTS, ENCRYPTED_CONTENT, REASONING};
use crate::codec::fields::Fields;
use crate::codec::made_up::id_or_made_up;
use crate::codec::tree::Tree;
use crate::codec::{Delta, ProviderFailure, Stop, Usage};
use crate::wire::sse;

/// Events that repeat what others said, or only say that time passes.
const ECHOES: [&str; 12] = [
    "response.in_progress",
    "response.queued",
    "response.content_part.added",
    "response.content_part.done",
    "response.output_text.done",
    "response.output_text.annotation.added",
    "response.refusal.done",
    "response.reasoning_text.done",
    "response.reasoning_summary_text.done",
    "response.reasoning_summary_part.done",
    "keepalive",
    "ping",
];

/// Events that hold a piece of an answer.
const PIECES: [&str; 3] = [
    "response.output_text.delta",
    "response.refusal.delta",
    "response.function_call_arguments.delta",
];

#[derive(Debug, Default)]
pub(crate) struct Decoder {
    end: End,
    /// Calls by the place of their item, with whether arguments were streamed.
    calls: HashMap<usize, Arguments>,
    /// Items whose text was streamed.
    spoken: HashSet<usize>,
    /// Items with a part of a summary behind them.
    summarized: HashSet<usize>,
    refusal: Refusal,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    Seen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arguments {
    Awaited,
    Streamed,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    #[default]
    None,
    Said,
}

impl Decoder {
    pub(crate) fn is_complete(&self) -> bool {
        self.end == End::Seen
    }

    pub(crate) fn read(&mut self, event: &sse::Event, data: &Tree<'_>) -> Vec<Delta> {
        let index = data.place("output_index").unwrap_or_default();
        let said = || data.text("delta").unwrap_or_default().to_owned();
        let response = data.member("response");
        match data.text("type").unwrap_or(&event.name) {
            "response.created" => vec![started(response)],
            "response.output_item.added" => self.start_item(index, data.member("item")),
            "response.output_item.done" => self.end_item(index, data.member("item")),
            kind if PIECES.contains(&kind) && data.lacks_text("delta") => {
                vec![Delta::not_text("a piece of an item")]
            }
            "response.output_text.delta" => {
                self.spoken.insert(index);
                vec![Delta::Text(said())]
            }
            "response.refusal.delta" => {
                self.refusal = Refusal::Said;
                self.spoken.insert(index);
                vec![Delta::Refusal(said())]
            }
            "response.function_call_arguments.delta" => {
                self.calls.insert(index, Arguments::Streamed);
                vec![Delta::CallArguments { index, text: said() }]
            }
            "response.function_call_arguments.done" => self.end_arguments(index, data),
            "response.reasoning_summary_part.added" => self.part_summary(index),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                vec![Delta::Thinking(said())]
            }
            "response.completed" => self.finish(response, None),
            "response.incomplete" => {
                let reason = response.member("incomplete_details").text("reason");
                self.finish(response, Some(reason.unwrap_or("incomplete")))
            }
            "response.cancelled" => self.finish(response, Some("cancelled")),
            "response.failed" => {
                self.end = End::Seen;
                let failure = ProviderFailure::from_event(&response.member("error").to_value());
                // It says what it used, so the count is final.
                let stop = Delta::Stopped(Stop::Other("failed".to_owned()));
                usage(response).into_iter().chain([stop, Delta::Failed(failure)]).collect()
            }
            "error" => {
                let nested = data.member("error");
                let error = if nested.is_null() { data } else { nested };
                vec![Delta::Failed(ProviderFailure::from_event(&error.to_value()))]
            }
            kind if ECHOES.contains(&kind) => Vec::new(),
            other => vec![Delta::unknown(other)],
        }
    }

    fn start_item(&mut self, index: usize, item: &Tree<'_>) -> Vec<Delta> {
        match item.text("type").unwrap_or_default() {
            "message" | REASONING => Vec::new(),
            "function_call" => {
                self.calls.insert(index, Arguments::Awaited);
                vec![Delta::CallStarted {
                    index,
                    id: id_or_made_up(item.words("call_id"), index),
                    name: item.text("name").unwrap_or_default().to_owned(),
                    signature: None,
                }]
            }
            other => vec![Delta::unknown(other)],
        }
    }

    /// Takes a whole item: its seal, and what a server that does not stream pieces left for the end.
    fn end_item(&mut self, index: usize, item: &Tree<'_>) -> Vec<Delta> {
        match item.text("type").unwrap_or_default() {
            REASONING if item.words(ENCRYPTED_CONTENT).is_some() => {
                vec![Delta::Opaque(without_nulls(item))]
            }
            "function_call" => {
                let mut deltas = Vec::new();
                if !self.calls.contains_key(&index) {
                    deltas.extend(self.start_item(index, item));
                }
                deltas.extend(self.end_arguments(index, item));
                deltas
            }
            "message" if !self.spoken.contains(&index) => self.read_message(item),
            // Others were told as unknown when they began.
            _ => Vec::new(),
        }
    }

    fn read_message(&mut self, item: &Tree<'_>) -> Vec<Delta> {
        let mut deltas = Vec::new();
        let content = item.member("content");
        if !content.is_null() && !content.is_array() {
            deltas.push(Delta::not_text("a message"));
        }
        for part in item.items("content") {
            let is_text = part.text("type") == Some("output_text");
            let is_unread = is_text && part.lacks_text("text") || part.is_strange("text");
            if !part.is_object() || is_unread || part.is_strange("refusal") {
                deltas.push(Delta::not_text("a part of a message"));
            }
            if let Some(text) = part.words("text") {
                deltas.push(Delta::Text(text.to_owned()));
            }
            if let Some(words) = part.words("refusal") {
                self.refusal = Refusal::Said;
                deltas.push(Delta::Refusal(words.to_owned()));
            }
        }
        deltas
    }

    fn end_arguments(&mut self, index: usize, data: &Tree<'_>) -> Vec<Delta> {
        match (self.calls.get(&index), data.words(ARGUMENTS)) {
            (Some(Arguments::Awaited), Some(text)) => {
                self.calls.insert(index, Arguments::Streamed);
                vec![Delta::CallArguments { index, text: text.to_owned() }]
            }
            _ => Vec::new(),
        }
    }

    fn part_summary(&mut self, index: usize) -> Vec<Delta> {
        if self.summarized.insert(index) {
            Vec::new()
        } else {
            vec![Delta::Thinking("\n\n".to_owned())]
        }
    }

    fn finish(&mut self, response: &Tree<'_>, reason: Option<&str>) -> Vec<Delta> {
        self.end = End::Seen;
        let stop = match reason {
            None if self.refusal == Refusal::Said => Stop::Refusal,
            None if self.calls.is_empty() => Stop::EndTurn,
            None => Stop::ToolUse,
            Some("max_output_tokens") => Stop::MaxTokens,
            Some("content_filter") => Stop::Refusal,
            Some(other) => Stop::Other(other.to_owned()),
        };
        usage(response).into_iter().chain([Delta::Stopped(stop)]).collect()
    }
}

fn started(response: &Tree<'_>) -> Delta {
    Delta::Started {
        id: response.words("id").map(str::to_owned),
        model: response.words("model").map(str::to_owned),
    }
}

fn usage(response: &Tree<'_>) -> Option<Delta> {
    let usage = response.member("usage");
    usage.as_object()?;
    let input = usage.member("input_tokens_details");
    Some(Delta::Usage(Usage {
        input_tokens: usage.count("input_tokens"),
        output_tokens: usage.count("output_tokens"),
        cache_read_input_tokens: input.count("cached_tokens"),
        cache_creation_input_tokens: input.count("cache_write_tokens"),
        reasoning_tokens: usage.member("output_tokens_details").count("reasoning_tokens"),
    }))
}

/// Leaves out the members that are `null`: the provider sends some that it does not take.
fn without_nulls(item: &Tree<'_>) -> Value {
    let mut item = item.to_value();
    if let Value::Object(members) = &mut item {
        members.retain(|_, member| !member.is_null());
    }
    item
}
