//! The agent CLIs whose streams are read.

use serde::Serialize;

use crate::json::Node;

use super::object::Fields;

/// An agent CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// Claude Code: `--output-format stream-json --verbose`.
    Claude,
    /// Codex: `exec --json`.
    Codex,
    /// Qwen Code: `--output-format stream-json`.
    Qwen,
    /// Gemini CLI: `--output-format stream-json`.
    Gemini,
    /// Opencode: `run --format json`, or the answer of its server.
    Opencode,
}

impl Program {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Claude, Self::Codex, Self::Qwen, Self::Gemini, Self::Opencode];

    /// Returns the name that people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Qwen => "qwen",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the program with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }

    /// Tells by one line whose stream it is, if the line is peculiar to one program.
    pub(super) fn of_line(line: Node<'_>) -> Option<Self> {
        let has = |key: &str| line.member(key).is_some();
        if has("sessionID") || (has("info") && has("parts")) {
            return Some(Self::Opencode);
        }
        let is_document = has("session_id") && (has("response") || line.object("error").is_some());
        if !has("type") && (is_document || (has("response") && has("stats"))) {
            return Some(Self::Gemini);
        }
        let kind = line.text("type")?;
        match kind {
            "system" | "assistant" | "user" | "stream_event" => Some(Self::of_message(line)),
            "result" if has("status") => Some(Self::Gemini),
            "result" => Some(Self::of_message(line)),
            "init" | "message" | "tool_use" | "tool_result" => Some(Self::Gemini),
            "error" if has("severity") => Some(Self::Gemini),
            "error" if has("message") => Some(Self::Codex),
            _ if ["thread.", "turn.", "item."].iter().any(|start| kind.starts_with(start)) => {
                Some(Self::Codex)
            }
            _ => None,
        }
    }

    /// Tells qwen from claude, whose lines look alike: only qwen's messages have their own id again
    /// as `uuid`, and its result an `error` or a `structured_result`.
    fn of_message(line: Node<'_>) -> Self {
        let has = |key: &str| line.member(key).is_some();
        let id = line.object("message").and_then(|message| message.text("id"));
        let repeats_id = id.is_some() && id == line.text("uuid");
        let is_qwen = has("qwen_code_version")
            || has("structured_result")
            || repeats_id
            || (line.text("type") == Some("result") && line.object("error").is_some());
        if is_qwen { Self::Qwen } else { Self::Claude }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;
    use crate::json::Document;

    #[test_case(r#"{"subtype":"init","claude_code_version":"2.1.325","type":"system"}"# => Some(Program::Claude))]
    #[test_case(r#"{"type":"system","subtype":"init","qwen_code_version":"0.24.4"}"# => Some(Program::Qwen))]
    #[test_case(r#"{"is_error":false,"subtype":"success","type":"result"}"# => Some(Program::Claude))]
    #[test_case(r#"{"type":"result","subtype":"success","structured_result":{}}"# => Some(Program::Qwen))]
    #[test_case(r#"{"type":"assistant","uuid":"u","message":{"id":"u"}}"# => Some(Program::Qwen))]
    #[test_case(r#"{"type":"thread.started","thread_id":"t"}"# => Some(Program::Codex))]
    #[test_case(r#"{"type":"error","message":"Reconnecting... 1/5"}"# => Some(Program::Codex))]
    #[test_case(r#"{"type":"init","session_id":"s","model":"m"}"# => Some(Program::Gemini))]
    #[test_case(r#"{"type":"result","status":"success"}"# => Some(Program::Gemini))]
    #[test_case(r#"{"type":"error","severity":"warning","message":"m"}"# => Some(Program::Gemini))]
    #[test_case(r#"{"session_id":"s","response":"r","stats":{}}"# => Some(Program::Gemini); "a document of gemini")]
    #[test_case(r#"{"session_id":"s","error":{"message":"m"}}"# => Some(Program::Gemini); "a failure of gemini")]
    #[test_case(r#"{"response":"r","stats":{}}"# => Some(Program::Gemini); "an older document of gemini")]
    #[test_case(r#"{"response":"r"}"# => None)]
    #[test_case(r#"{"type":"step_start","sessionID":"s","part":{}}"# => Some(Program::Opencode))]
    #[test_case(r#"{"info":{},"parts":[]}"# => Some(Program::Opencode))]
    #[test_case(r#"{"type":"weather"}"# => None)]
    #[test_case(r#"{"answer":42}"# => None)]
    fn a_line_gives_its_program_away(line: &str) -> Option<Program> {
        Program::of_line(Document::parse(line).unwrap().root())
    }

    #[test]
    fn names_are_understood() {
        assert_eq!(
            Program::ALL.map(|program| Program::parse(program.name())),
            Program::ALL.map(Some)
        );
        assert_eq!(Program::parse("cursor"), None);
    }
}
