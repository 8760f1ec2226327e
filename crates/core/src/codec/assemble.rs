//! The fold from deltas to one reply.

use std::collections::HashMap;

use serde_json::Value;

use super::{Delta, FailureKind, ProviderFailure, Stop, Usage};
use crate::message::{Block, Thinking, ToolCall};
use crate::price::Cost;
use crate::run::Claim;

/// The largest reply that is kept: many times what any model may say in one answer, and still
/// small enough for a hundred replies in flight.
pub const REPLY_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// What a model said in one answer, as far as it came.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// The model that really answered.
    pub model: Option<String>,
    /// What was said, in order.
    pub blocks: Vec<Block>,
    /// Why the model stopped; absent if it was cut off.
    pub stop: Option<Stop>,
    /// The model's words if it declined.
    pub refusal: Option<String>,
    /// What it used, as far as the provider said.
    pub usage: Usage,
    /// What it cost, where the driver says so itself.
    pub cost: Option<Cost>,
    /// What the driver says of the answer.
    pub claim: Claim,
    /// How many events were unknown to the codec.
    pub unknown: u64,
}

impl Reply {
    /// Returns all text, thoughts left out.
    pub fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(
                |block| if let Block::Text(text) = block { Some(text.as_str()) } else { None },
            )
            .collect()
    }

    /// Returns how many bytes of text the model said, thoughts and arguments included.
    pub fn text_bytes(&self) -> usize {
        self.blocks.iter().map(Block::text_bytes).sum()
    }

    /// Returns the tool calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks
            .iter()
            .filter_map(|block| if let Block::Call(call) = block { Some(call) } else { None })
    }
}

/// Folds deltas into a [`Reply`].
#[derive(Debug, Default)]
pub struct Assembler {
    reply: Reply,
    /// Where in the blocks each call is, by the index its provider gave it.
    calls: HashMap<usize, usize>,
    held_bytes: usize,
}

impl Assembler {
    /// Adds `delta`; an error is what [`Delta::Failed`] carried, or a reply past
    /// [`REPLY_LIMIT_BYTES`].
    pub fn push(&mut self, delta: Delta) -> Result<(), ProviderFailure> {
        self.held_bytes = self.held_bytes.saturating_add(delta.held_bytes());
        if self.held_bytes > REPLY_LIMIT_BYTES {
            return Err(ProviderFailure {
                kind: FailureKind::Malformed,
                status: None,
                code: None,
                message: format!("the answer is over the {REPLY_LIMIT_BYTES}-byte limit"),
                retry_after: None,
            });
        }
        match delta {
            Delta::Started { id, model } => {
                self.reply.id = id.or(self.reply.id.take());
                self.reply.model = model.or(self.reply.model.take());
            }
            Delta::Text(text) => self.add_text(text),
            Delta::Thinking(text) => self.add_thought(text),
            Delta::ThinkingSigned(seal) => self.seal_thought(seal),
            Delta::Opaque(value) => self.reply.blocks.push(Block::Opaque(value)),
            Delta::CallStarted { index, id, name, signature } => {
                self.calls.insert(index, self.reply.blocks.len());
                let call = ToolCall { id, name, arguments: String::new(), signature };
                self.reply.blocks.push(Block::Call(call));
            }
            Delta::CallArguments { index, text } => self.add_arguments(index, &text),
            Delta::Refusal(text) => {
                self.reply.refusal.get_or_insert_default().push_str(&text);
            }
            Delta::Usage(usage) => self.reply.usage.replace(&usage),
            Delta::Stopped(stop) => self.reply.stop = Some(stop),
            Delta::Failed(failure) => return Err(failure),
            Delta::Unknown { .. } => self.count_unknown(),
        }
        Ok(())
    }

    /// Returns the reply so far.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// Returns the reply, whole or not.
    pub fn finish(self) -> Reply {
        self.reply
    }

    fn add_text(&mut self, text: String) {
        if let Some(Block::Text(said)) = self.reply.blocks.last_mut() {
            said.push_str(&text);
        } else if !text.is_empty() {
            self.reply.blocks.push(Block::Text(text));
        }
    }

    fn add_thought(&mut self, text: String) {
        if let Some(Block::Thinking(thought)) = self.reply.blocks.last_mut()
            && thought.signature.is_none()
        {
            thought.text.push_str(&text);
        } else if !text.is_empty() {
            self.reply.blocks.push(Block::Thinking(Thinking { text, signature: None }));
        }
    }

    fn seal_thought(&mut self, seal: String) {
        if let Some(Block::Thinking(thought)) = self.reply.blocks.last_mut()
            && thought.signature.is_none()
        {
            thought.signature = Some(seal);
        } else {
            // A provider that hides its thoughts sends the seal alone.
            let thought = Thinking { text: String::new(), signature: Some(seal) };
            self.reply.blocks.push(Block::Thinking(thought));
        }
    }

    fn add_arguments(&mut self, index: usize, text: &str) {
        let place = self.calls.get(&index).copied();
        if let Some(Block::Call(call)) = place.and_then(|at| self.reply.blocks.get_mut(at)) {
            call.arguments.push_str(text);
        } else {
            self.count_unknown();
        }
    }

    fn count_unknown(&mut self) {
        self.reply.unknown = self.reply.unknown.saturating_add(1);
    }
}

impl Delta {
    /// Returns about how much memory this adds to a reply.
    fn held_bytes(&self) -> usize {
        /// What a block takes beside its text.
        const BLOCK: usize = 128;
        match self {
            Self::Text(text) | Self::Thinking(text) | Self::Refusal(text) => text.len(),
            Self::CallArguments { text, .. } => text.len(),
            Self::ThinkingSigned(seal) => BLOCK + seal.len(),
            Self::Opaque(value) => BLOCK + text_bytes(value),
            Self::CallStarted { id, name, signature, .. } => {
                BLOCK + id.len() + name.len() + signature.as_ref().map_or(0, String::len)
            }
            Self::Started { .. }
            | Self::Usage(_)
            | Self::Stopped(_)
            | Self::Failed(_)
            | Self::Unknown { .. } => 0,
        }
    }
}

/// Counts the text in `value`; its depth is bounded by the parser that made it.
pub(crate) fn text_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| key.len() + text_bytes(value)).sum()
        }
    }
}
