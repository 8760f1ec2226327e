//! The conversation as it is sent: what was said, in a form that providers take back.

use crate::message::{Block, Message, Role, ToolResult};

/// Everything said so far.
#[derive(Debug)]
pub(super) struct Conversation(Vec<Message>);

impl Conversation {
    pub(super) fn begin(prompt: &str) -> Self {
        Self(vec![Message::user(prompt)])
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.0
    }

    /// Adds what the model said.
    ///
    /// Providers refuse turns without words or calls, and empty texts, so these are left out; not so what a
    /// driver needs to go on.
    pub(super) fn hear(&mut self, blocks: Vec<Block>) {
        let mut blocks = blocks;
        blocks.retain(|block| !matches!(block, Block::Text(text) if text.trim().is_empty()));
        let says_something = blocks.iter().any(|block| match block {
            Block::Text(_) | Block::Call(_) | Block::Session(_) => true,
            Block::Thinking(_) | Block::Opaque(_) | Block::Result(_) => false,
        });
        if says_something {
            self.0.push(Message { role: Role::Assistant, blocks });
        }
    }

    /// Adds the results of the calls in the model's last turn.
    pub(super) fn answer(&mut self, results: Vec<ToolResult>) {
        self.add(results.into_iter().map(Block::Result).collect());
    }

    /// Says something to the model.
    pub(super) fn tell(&mut self, text: String) {
        self.add(vec![Block::Text(text)]);
    }

    /// Adds to the user's turn, for two in a row are one to providers.
    fn add(&mut self, blocks: Vec<Block>) {
        match self.0.last_mut() {
            Some(Message { role: Role::User, blocks: last }) => last.extend(blocks),
            _ => self.0.push(Message { role: Role::User, blocks }),
        }
    }
}
