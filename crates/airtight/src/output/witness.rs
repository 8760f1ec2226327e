//! From what an agent CLI does by itself to lines.

use airtight_core::run::TERMINAL_TOOL;
use airtight_core::transcript::{
    Assistant as Said, Block as Piece, Event, Record, System as Session, Told as Heard,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::identity::uuid;
use super::shapes::{
    Assistant, AssistantMessage, Block, Line, Notification, RawLine, Retry, System, Told, Usage,
    User, UserMessage, Warning,
};
use super::transcript::Transcript;

/// What a record says of the program's words, which other lines tell.
const WORDS: [&str; 3] = ["output", "answer", "payload"];

impl Transcript {
    /// Returns the line that `event` makes, if it makes one: pieces are told whole later, and the end
    /// of a program is not the end of a run.
    pub(super) fn witnessed(&self, event: &Event) -> Option<Line> {
        let (uuid, session_id) = (uuid(), self.session_id.clone());
        Some(match event {
            Event::Assistant(said) => Line::Assistant(self.spoken(said)),
            Event::User(user) => {
                let content = user.message.content.iter().map(|told| self.overheard(told));
                let message = UserMessage { role: "user", content: content.collect() };
                let parent_tool_use_id = user.parent_tool_use_id.clone();
                Line::User(User { uuid, session_id, parent_tool_use_id, message })
            }
            Event::System(Session::Retry(retry)) => Line::System(System::Retry(Retry {
                uuid,
                session_id,
                parent_tool_use_id: None,
                status: retry.status.and_then(|status| u16::try_from(status).ok()),
                code: None,
                message: self.masked(retry.message.as_deref().unwrap_or_default()),
                pause_ms: retry.pause_ms.as_ref().and_then(serde_json::Number::as_u64).unwrap_or(0),
            })),
            Event::System(Session::Notification(said)) => {
                Line::System(System::Notification(Notification {
                    uuid,
                    session_id,
                    parent_tool_use_id: None,
                    task_id: said.task_id.clone(),
                    status: said.status.clone().unwrap_or_default(),
                    text: self.masked(said.text.as_deref().unwrap_or_default()),
                }))
            }
            Event::System(Session::Warning(warning)) => {
                let message = self.masked(&warning.message);
                Line::System(System::Warning(Warning { uuid, session_id, message }))
            }
            Event::Raw(raw) => Line::System(System::Raw(RawLine {
                uuid,
                session_id,
                line: raw.at.line,
                offset: raw.at.offset,
                length: raw.at.length,
                reason: raw.reason,
                detail: raw.detail.clone(),
                text: raw.text.as_deref().map(|text| self.masked(text)),
            })),
            Event::System(Session::Init(_) | Session::Other(_))
            | Event::StreamEvent(_)
            | Event::Result(_) => return None,
        })
    }

    /// Returns what is told of a program that has ended.
    pub(super) fn record(&self, record: &Record) -> Value {
        let wordless = Record { payload: None, ..record.clone() };
        // What was kept as it was written may be no JSON that a value can hold.
        let plain = || Record { permission_denials: None, model_usage: None, ..wordless.clone() };
        let value = serde_json::to_value(&wordless).or_else(|_| serde_json::to_value(plain()));
        let mut value = value.unwrap_or_default();
        if let Some(members) = value.as_object_mut() {
            members.retain(|name, _| !WORDS.contains(&name.as_str()));
        }
        self.masked_value(value)
    }

    fn spoken(&self, said: &Said) -> Assistant {
        let message = &said.message;
        Assistant {
            uuid: uuid(),
            session_id: self.session_id.clone(),
            parent_tool_use_id: said.parent_tool_use_id.clone(),
            message: AssistantMessage {
                id: message.id.clone().unwrap_or_else(uuid),
                kind: "message",
                role: "assistant",
                model: message.model.clone().unwrap_or_default(),
                content: message.content.iter().map(|piece| self.piece(piece)).collect(),
                stop_reason: message.stop_reason.clone(),
                usage: message.usage.as_ref().map(Usage::from),
            },
        }
    }

    fn piece(&self, piece: &Piece) -> Block {
        match piece {
            Piece::Text { text } => Block::Text { text: self.masked(text) },
            Piece::Thinking { thinking } => Block::Thinking { thinking: self.masked(thinking) },
            Piece::ToolUse { id, name, input } => Block::ToolUse {
                id: id.clone(),
                name: name.clone(),
                input: self.argument(name, input.get()),
            },
            Piece::Opaque { value } => Block::Opaque { value: self.read(value) },
        }
    }

    fn overheard(&self, told: &Heard) -> Told {
        match told {
            Heard::Text { text } => Told::Text { text: self.masked(text) },
            Heard::ToolResult { tool_use_id, content, is_error } => Told::ToolResult {
                tool_use_id: tool_use_id.clone(),
                content: self.masked(content),
                is_error: *is_error,
            },
            Heard::Opaque { value } => Told::Opaque { value: self.read(value) },
        }
    }

    fn read(&self, value: &RawValue) -> Value {
        let value = serde_json::from_str(value.get());
        self.masked_value(value.unwrap_or_default())
    }

    /// Returns the arguments of a call; those that are the answer are told as they are.
    pub(super) fn argument(&self, name: &str, text: &str) -> Box<RawValue> {
        let is_answer = name == TERMINAL_TOOL || name == "StructuredOutput";
        let is_inert = is_answer || self.masked(text) == text;
        let raw = if is_inert {
            RawValue::from_string(text.to_owned())
        } else {
            let value: Value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
            RawValue::from_string(self.masked_value(value).to_string())
        };
        let quoted = |_| RawValue::from_string(Value::from(text).to_string());
        raw.or_else(quoted).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }
}
