//! Streamed answers.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{ARGUMENTS, REDACTED};
use crate::codec::fields::Fields;
use crate::codec::made_up::id_or_made_up;
use crate::codec::tree::Tree;
use crate::codec::{Delta, ProviderFailure, Stop, Usage};
use crate::wire::sse;

/// What the pieces of an answer are called, and where they say it.
const PIECES: [(&str, &str); 2] = [("text_delta", "text"), ("input_json_delta", "partial_json")];

#[derive(Debug, Default)]
pub(crate) struct Decoder {
    usage: Tally,
    blocks: HashMap<usize, BlockKind>,
    end: End,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    Stopped,
}

/// What a block is, until its end.
#[derive(Debug)]
enum BlockKind {
    Text,
    Thinking,
    Call {
        /// Arguments that came with the start; they count only if none are streamed.
        whole: Option<String>,
    },
    /// Told once as unknown; what it says is not read.
    Unknown,
}

/// The provider's own counts: what was read from and written to the cache is beside the input.
#[derive(Debug, Default)]
struct Tally {
    uncached: Option<u64>,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Decoder {
    pub(crate) fn is_complete(&self) -> bool {
        self.end == End::Stopped
    }

    pub(crate) fn read(&mut self, event: &sse::Event, data: &Tree<'_>) -> Vec<Delta> {
        match data.text("type").unwrap_or(&event.name) {
            "message_start" => self.start(data.member("message")),
            "content_block_start" => self.start_block(data),
            "content_block_delta" => self.read_delta(data),
            "content_block_stop" => self.end_block(data),
            "message_delta" => self.read_end(data),
            "message_stop" => {
                self.end = End::Stopped;
                Vec::new()
            }
            "ping" => Vec::new(),
            "error" => {
                vec![Delta::Failed(ProviderFailure::from_event(&data.member("error").to_value()))]
            }
            other => vec![Delta::unknown(other)],
        }
    }

    fn start(&mut self, message: &Tree<'_>) -> Vec<Delta> {
        let id = message.words("id").map(str::to_owned);
        let model = message.words("model").map(str::to_owned);
        let mut deltas = vec![Delta::Started { id, model }];
        deltas.extend(self.usage.add(message.member("usage")));
        deltas
    }

    fn start_block(&mut self, data: &Tree<'_>) -> Vec<Delta> {
        let block = data.member("content_block");
        let index = data.place("index").unwrap_or(self.blocks.len());
        let kind = block.text("type").unwrap_or_default();
        let (kind, delta) = match kind {
            "text" if block.is_strange("text") => {
                (BlockKind::Text, Some(Delta::not_text("a block of text")))
            }
            "text" => (BlockKind::Text, block.words("text").map(|text| Delta::Text(text.into()))),
            "thinking" => {
                let said = block.words("thinking").map(|text| Delta::Thinking(text.into()));
                (BlockKind::Thinking, said)
            }
            REDACTED => (BlockKind::Thinking, Some(Delta::Opaque(block.to_value()))),
            "tool_use" => {
                let whole = block.words(ARGUMENTS).filter(|input| !is_empty_object(input));
                let whole = whole.map(str::to_owned);
                (BlockKind::Call { whole }, Some(start_call(index, block)))
            }
            other => (BlockKind::Unknown, Some(Delta::unknown(other))),
        };
        self.blocks.insert(index, kind);
        delta.into_iter().collect()
    }

    fn read_delta(&mut self, data: &Tree<'_>) -> Vec<Delta> {
        let index = data.place("index").unwrap_or_default();
        let delta = data.member("delta");
        let said = |key: &str| delta.text(key).unwrap_or_default().to_owned();
        let kind = delta.text("type").unwrap_or_default();
        if let Some(BlockKind::Unknown) = self.blocks.get(&index) {
            let is_text = kind == "text_delta";
            return is_text.then(|| Delta::not_text("an unknown block")).into_iter().collect();
        }
        if PIECES.iter().any(|(of, key)| *of == kind && delta.lacks_text(key)) {
            return vec![Delta::not_text("a piece of a block")];
        }
        vec![match kind {
            "text_delta" => Delta::Text(said("text")),
            "thinking_delta" => Delta::Thinking(said("thinking")),
            "signature_delta" => Delta::ThinkingSigned(said("signature")),
            "input_json_delta" => {
                let text = said("partial_json");
                if let Some(BlockKind::Call { whole }) = self.blocks.get_mut(&index)
                    && !text.is_empty()
                {
                    *whole = None;
                }
                Delta::CallArguments { index, text }
            }
            _ if !delta.member("text").is_null() => Delta::not_text("a piece of an unknown kind"),
            other => Delta::unknown(other),
        }]
    }

    fn end_block(&mut self, data: &Tree<'_>) -> Vec<Delta> {
        let index = data.place("index").unwrap_or_default();
        match self.blocks.remove(&index) {
            Some(BlockKind::Call { whole: Some(text) }) => {
                vec![Delta::CallArguments { index, text }]
            }
            _ => Vec::new(),
        }
    }

    fn read_end(&mut self, data: &Tree<'_>) -> Vec<Delta> {
        let mut deltas: Vec<Delta> = self.usage.add(data.member("usage")).into_iter().collect();
        let delta = data.member("delta");
        if let Some(words) = delta.member("stop_details").words("explanation") {
            deltas.push(Delta::Refusal(words.to_owned()));
        }
        deltas.extend(delta.words("stop_reason").map(|reason| Delta::Stopped(stop(reason))));
        deltas
    }
}

impl Tally {
    /// Takes what a report knows, and returns the counts as the rest of the program means them.
    fn add(&mut self, usage: &Tree<'_>) -> Option<Delta> {
        usage.as_object()?;
        let take = |kept: &mut Option<u64>, key: &str| *kept = usage.count(key).or(*kept);
        take(&mut self.uncached, "input_tokens");
        take(&mut self.cache_read, "cache_read_input_tokens");
        take(&mut self.cache_creation, "cache_creation_input_tokens");
        take(&mut self.output, "output_tokens");
        let details = usage.member("output_tokens_details");
        self.thinking = details.count("thinking_tokens").or(self.thinking);
        let cached = self.cache_read.unwrap_or(0).saturating_add(self.cache_creation.unwrap_or(0));
        Some(Delta::Usage(Usage {
            input_tokens: self.uncached.map(|uncached| uncached.saturating_add(cached)),
            output_tokens: self.output,
            cache_read_input_tokens: self.cache_read,
            cache_creation_input_tokens: self.cache_creation,
            reasoning_tokens: self.thinking,
        }))
    }
}

/// Claims that there is nothing in the object: what calls that stream their arguments begin with.
fn is_empty_object(text: &str) -> bool {
    serde_json::from_str(text).is_ok_and(|object: Map<String, Value>| object.is_empty())
}

fn start_call(index: usize, block: &Tree<'_>) -> Delta {
    Delta::CallStarted {
        index,
        id: id_or_made_up(block.words("id"), index),
        name: block.text("name").unwrap_or_default().to_owned(),
        signature: None,
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "end_turn" => Stop::EndTurn,
        "tool_use" => Stop::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => Stop::MaxTokens,
        "refusal" => Stop::Refusal,
        other => Stop::Other(other.to_owned()),
    }
}
