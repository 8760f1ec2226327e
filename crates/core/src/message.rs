//! A conversation with a model, in words that every provider's format can be made of.

use std::sync::Arc;

use serde_json::Value;

use crate::codec::text_bytes;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The one who asks; tool results count as said by it.
    User,
    /// The model.
    Assistant,
}

/// What one side said in one go.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said, in order.
    pub blocks: Vec<Block>,
}

impl Message {
    /// Makes a message of the user that is only text.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, blocks: vec![Block::Text(text.into())] }
    }
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Plain text.
    Text(String),
    /// What the model thought before it spoke.
    Thinking(Thinking),
    /// Something that only its provider can read and that must go back to it unchanged.
    Opaque(Value),
    /// What a driver left that keeps the conversation itself, an agent CLI; only that driver reads it.
    Session(Value),
    /// The model asks for a tool.
    Call(ToolCall),
    /// What a tool answered.
    Result(ToolResult),
}

impl Block {
    /// Returns how many bytes of text it holds.
    pub(crate) fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Thinking(thinking) => thinking.text.len(),
            Self::Opaque(value) | Self::Session(value) => text_bytes(value),
            Self::Call(call) => call.name.len() + call.arguments.len(),
            Self::Result(result) => result.content.len(),
        }
    }
}

/// What the model thought before it spoke.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thinking {
    /// The thought, as far as the provider shows it.
    pub text: String,
    /// The provider's seal, which must go back with the thought.
    pub signature: Option<String>,
}

/// The model asks for a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The provider's id; models repeat them sometimes.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments exactly as the model wrote them; meant to be a JSON object, `""` if none.
    pub arguments: String,
    /// The provider's seal (Gemini's thought signature), which must go back with the call.
    pub signature: Option<String>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call it answers.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// What the model is told.
    pub content: String,
    /// Whether the tool did what was asked.
    pub status: ToolStatus,
}

/// Whether a tool did what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolStatus {
    /// It did.
    Done,
    /// It failed or was denied; the content says why.
    Failed,
    /// Nothing was done; the content says why. Providers are told of it as of a failure.
    Skipped,
}

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// What the model calls it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// A JSON Schema of its arguments.
    pub parameters: Arc<Value>,
    /// Whether the provider is asked to hold the model to the schema.
    pub enforcement: Enforcement,
}

/// Whether a provider is asked to hold the model to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforcement {
    /// Asked (`strict: true`).
    Strict,
    /// The schema is a hint.
    Hint,
}

/// Which tool the model must use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// This one.
    Tool(String),
}
