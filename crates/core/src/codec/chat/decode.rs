//! Streamed answers.

use serde_json::{Value, json};

use super::tool_calls::ToolCalls;
use super::{REASONING_CONTENT, REASONING_DETAILS};
use crate::codec::fields::Fields;
use crate::codec::tree::{Member, Tree};
use crate::codec::{Delta, ProviderFailure, Stop, Usage};

/// Fields of a delta that are read, or that say nothing.
const KNOWN_FIELDS: [&str; 7] =
    ["role", "content", "refusal", "tool_calls", "reasoning", REASONING_CONTENT, REASONING_DETAILS];

#[derive(Debug, Default)]
pub(crate) struct Decoder {
    phase: Phase,
    calls: ToolCalls,
    speech: Speech,
    refusal: Refusal,
    /// Sealed thoughts so far, joined piece by piece.
    details: Vec<Value>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    #[default]
    New,
    Open,
    /// The reason to stop or the end mark was seen.
    Complete,
}

/// What the model is doing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Speech {
    #[default]
    Speaking,
    /// In a field that goes back to the server.
    Thinking,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    #[default]
    None,
    Said,
}

impl Decoder {
    pub(crate) fn is_complete(&self) -> bool {
        self.phase == Phase::Complete
    }

    /// Takes the end mark.
    pub(crate) fn end(&mut self) -> Vec<Delta> {
        self.phase = Phase::Complete;
        let mut deltas = Vec::new();
        self.close(&mut deltas);
        deltas
    }

    pub(crate) fn read(&mut self, data: &Tree<'_>) -> Vec<Delta> {
        let error = data.member("error");
        if !error.is_null() {
            return vec![Delta::Failed(ProviderFailure::from_event(&error.to_value()))];
        }
        let mut deltas = Vec::new();
        if !data.member("choices").is_array() && !data.member("usage").is_object() {
            let kind = data.text("object").or(data.text("type")).unwrap_or("chunk");
            return vec![Delta::unknown(kind)];
        }
        if self.phase == Phase::New {
            self.phase = Phase::Open;
            let id = data.words("id").map(str::to_owned);
            let model = data.words("model").map(str::to_owned);
            deltas.push(Delta::Started { id, model });
        }
        for (at, choice) in data.items("choices").iter().enumerate() {
            if at > 0 || choice.count("index").is_some_and(|index| index > 0) {
                deltas.push(Delta::unknown("choice"));
            } else {
                self.read_choice(choice, &mut deltas);
            }
        }
        deltas.extend(usage(data.member("usage")));
        deltas
    }

    fn read_choice(&mut self, choice: &Tree<'_>, deltas: &mut Vec<Delta>) {
        let delta = choice.member("delta");
        if says_something(delta) && !delta.is_object() {
            deltas.push(Delta::not_text("`delta`"));
            return;
        }
        self.read_thoughts(delta, deltas);
        self.read_content(delta.member("content"), deltas);
        if let Some(words) = delta.words("refusal") {
            self.refusal = Refusal::Said;
            deltas.push(Delta::Refusal(words.to_owned()));
        }
        let calls = delta.items("tool_calls");
        if !calls.is_empty() {
            self.end_thought(deltas);
        }
        for call in calls {
            self.calls.read(call, deltas);
        }
        if let Some(delta) = delta.as_object() {
            let strange = |(name, member): &&Member<'_>| {
                !KNOWN_FIELDS.contains(&name.as_ref()) && says_something(member)
            };
            deltas.extend(delta.iter().filter(strange).map(|(name, _)| Delta::unknown(name)));
        }
        if let Some(reason) = choice.words("finish_reason") {
            self.close(deltas);
            self.phase = Phase::Complete;
            deltas.push(Delta::Stopped(self.stop(reason)));
        }
    }

    fn read_thoughts(&mut self, delta: &Tree<'_>, deltas: &mut Vec<Delta>) {
        if let Some(text) = delta.words(REASONING_CONTENT) {
            self.speech = Speech::Thinking;
            deltas.push(Delta::Thinking(text.to_owned()));
        } else if let Some(text) = delta.words("reasoning") {
            deltas.push(Delta::Thinking(text.to_owned()));
        }
        for detail in delta.items(REASONING_DETAILS) {
            self.add_detail(detail.to_value());
        }
    }

    /// Joins the pieces of a sealed thought: text grows, everything else is replaced.
    fn add_detail(&mut self, detail: Value) {
        let same = |kept: &&mut Value| {
            kept.member("type") == detail.member("type")
                && kept.member("index") == detail.member("index")
        };
        let last = self.details.last_mut().filter(same);
        let (Some(Value::Object(kept)), Value::Object(piece)) = (last, &detail) else {
            self.details.push(detail);
            return;
        };
        for (key, value) in piece {
            match (kept.get_mut(key), value) {
                (Some(Value::String(text)), Value::String(more))
                    if ["text", "summary", "data"].contains(&key.as_str()) =>
                {
                    text.push_str(more);
                }
                (Some(_), Value::Null) => {}
                _ => {
                    kept.insert(key.clone(), value.clone());
                }
            }
        }
    }

    fn read_content(&mut self, content: &Tree<'_>, deltas: &mut Vec<Delta>) {
        if let Some(text) = content.as_text() {
            if !text.is_empty() {
                self.end_thought(deltas);
                deltas.push(Delta::Text(text.to_owned()));
            }
            return;
        }
        // Some servers stream parts, as requests have them.
        let parts = content.as_array();
        if !content.is_null() && !parts.is_some_and(|parts| parts.iter().all(is_part)) {
            deltas.push(Delta::not_text("`delta.content`"));
            return;
        }
        for part in parts.into_iter().flatten() {
            match part.text("type").unwrap_or_default() {
                "text" => deltas.push(Delta::Text(part.text("text").unwrap_or_default().into())),
                "refusal" => {
                    if let Some(words) = part.words("refusal") {
                        self.refusal = Refusal::Said;
                        deltas.push(Delta::Refusal(words.to_owned()));
                    }
                }
                "reasoning" => {
                    let text = part.words("text").map(str::to_owned);
                    deltas.extend(text.map(Delta::Thinking));
                }
                "thinking" => deltas.extend(
                    part.items("thinking")
                        .iter()
                        .filter_map(|part| part.words("text"))
                        .map(|text| Delta::Thinking(text.to_owned())),
                ),
                other => deltas.push(Delta::unknown(other)),
            }
        }
    }

    fn end_thought(&mut self, deltas: &mut Vec<Delta>) {
        if self.speech == Speech::Thinking {
            self.speech = Speech::Speaking;
            deltas.push(Delta::ThinkingSigned(REASONING_CONTENT.to_owned()));
        }
    }

    /// Says what waited for more.
    fn close(&mut self, deltas: &mut Vec<Delta>) {
        self.end_thought(deltas);
        self.calls.close(deltas);
        let details = std::mem::take(&mut self.details);
        if !details.is_empty() {
            deltas.push(Delta::Opaque(json!({ REASONING_DETAILS: details })));
        }
    }

    fn stop(&self, reason: &str) -> Stop {
        match reason {
            "stop" | "eos" | "end_turn" if self.refusal == Refusal::Said => Stop::Refusal,
            // A forced call ends with `stop`.
            "stop" | "eos" | "end_turn" if self.calls.is_empty() => Stop::EndTurn,
            "stop" | "eos" | "end_turn" | "tool_calls" | "function_call" => Stop::ToolUse,
            "length" => Stop::MaxTokens,
            "content_filter" => Stop::Refusal,
            other => Stop::Other(other.to_owned()),
        }
    }
}

fn usage(usage: &Tree<'_>) -> Option<Delta> {
    usage.as_object()?;
    let input = usage.member("prompt_tokens_details");
    let output = usage.member("completion_tokens_details");
    Some(Delta::Usage(Usage {
        input_tokens: usage.count("prompt_tokens"),
        output_tokens: usage.count("completion_tokens"),
        cache_read_input_tokens: input
            .count("cached_tokens")
            .or_else(|| usage.count("prompt_cache_hit_tokens")),
        cache_creation_input_tokens: input.count("cache_write_tokens"),
        reasoning_tokens: output.count("reasoning_tokens"),
    }))
}

fn says_something(member: &Tree<'_>) -> bool {
    match member {
        Tree::Null => false,
        Tree::Boolean(_) | Tree::Number(_) => true,
        Tree::Text(text) => !text.is_empty(),
        Tree::Array(items) => !items.is_empty(),
        Tree::Object(members) => !members.is_empty(),
    }
}

/// Claims that no text is lost with `part`: it would be missing from the midst of an answer.
fn is_part(part: &Tree<'_>) -> bool {
    match part.text("type") {
        Some(kind @ ("text" | "refusal")) => !part.lacks_text(kind),
        Some("reasoning") => true,
        Some(_) => part.member("text").is_null(),
        None => false,
    }
}
