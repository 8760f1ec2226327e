//! Streamed answers.

use serde_json::json;

use super::{ARGUMENTS, SIGNATURE};
use crate::codec::fields::Fields;
use crate::codec::made_up::id_or_made_up;
use crate::codec::tree::Tree;
use crate::codec::{Delta, ProviderFailure, Stop, Usage};

#[derive(Debug, Default)]
pub(crate) struct Decoder {
    phase: Phase,
    /// How many calls came.
    calls: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    #[default]
    New,
    Open,
    Complete,
}

impl Decoder {
    pub(crate) fn is_complete(&self) -> bool {
        self.phase == Phase::Complete
    }

    pub(crate) fn read(&mut self, data: &Tree<'_>) -> Vec<Delta> {
        let error = data.member("error");
        if !error.is_null() {
            return vec![Delta::Failed(ProviderFailure::from_event(&error.to_value()))];
        }
        if !is_chunk(data) {
            return vec![Delta::unknown("chunk")];
        }
        let mut deltas = Vec::new();
        if self.phase == Phase::New {
            self.phase = Phase::Open;
            let id = data.words("responseId").map(str::to_owned);
            let model = data.words("modelVersion").map(str::to_owned);
            deltas.push(Delta::Started { id, model });
        }
        self.read_block(data.member("promptFeedback"), &mut deltas);
        for (at, candidate) in data.items("candidates").iter().enumerate() {
            if at > 0 || candidate.count("index").is_some_and(|index| index > 0) {
                deltas.push(Delta::unknown("candidate"));
                continue;
            }
            let content = candidate.member("content");
            let parts = content.member("parts");
            let are_listed = parts.is_null() || parts.is_array();
            if !are_listed || !(content.is_null() || content.is_object()) {
                deltas.push(Delta::not_text("`content`"));
            }
            for part in content.items("parts") {
                self.read_part(part, &mut deltas);
            }
        }
        deltas.extend(usage(data.member("usageMetadata")));
        if let Some(candidate) = data.items("candidates").first() {
            self.read_end(candidate, &mut deltas);
        }
        deltas
    }

    fn read_part(&mut self, part: &Tree<'_>, deltas: &mut Vec<Delta>) {
        let seal = part.words(SIGNATURE).map(str::to_owned);
        let call = part.member("functionCall");
        if call.is_object() {
            self.read_call(call, seal, deltas);
            return;
        }
        let is_thought = part.member("thought").as_bool() == Some(true);
        match part.text("text") {
            Some(text) if is_thought => deltas.push(Delta::Thinking(text.to_owned())),
            Some("") => {}
            Some(text) => deltas.push(Delta::Text(text.to_owned())),
            None if !part.is_object() || part.is_strange("text") => {
                deltas.push(Delta::not_text("a part"));
            }
            None => deltas.extend(kind(part).map(Delta::unknown)),
        }
        match seal {
            Some(seal) if is_thought => deltas.push(Delta::ThinkingSigned(seal)),
            // Behind the text, where a stream puts it; parts with and without must not be joined.
            Some(seal) => deltas.push(Delta::Opaque(json!({"text": "", SIGNATURE: seal}))),
            None => {}
        }
    }

    fn read_call(&mut self, call: &Tree<'_>, signature: Option<String>, deltas: &mut Vec<Delta>) {
        let index = self.calls;
        self.calls += 1;
        deltas.push(Delta::CallStarted {
            index,
            id: id_or_made_up(call.words("id"), index),
            name: call.text("name").unwrap_or_default().to_owned(),
            signature,
        });
        if let Some(text) = call.text(ARGUMENTS) {
            deltas.push(Delta::CallArguments { index, text: text.to_owned() });
        }
        if !call.member("partialArgs").is_null() {
            deltas.push(Delta::unknown("partialArgs"));
        }
    }

    /// Reads whether the prompt was refused before the model saw it.
    fn read_block(&mut self, feedback: &Tree<'_>, deltas: &mut Vec<Delta>) {
        let Some(reason) = feedback.words("blockReason") else { return };
        let words = feedback.words("blockReasonMessage").unwrap_or(reason);
        self.phase = Phase::Complete;
        // The count of what no model said is left out.
        deltas.push(Delta::Usage(Usage { output_tokens: Some(0), ..Usage::default() }));
        deltas.push(Delta::Refusal(words.to_owned()));
        deltas.push(Delta::Stopped(Stop::Refusal));
    }

    fn read_end(&mut self, candidate: &Tree<'_>, deltas: &mut Vec<Delta>) {
        let Some(reason) = candidate.words("finishReason") else { return };
        let stop = match reason {
            "FINISH_REASON_UNSPECIFIED" => return,
            "STOP" if self.calls == 0 => Stop::EndTurn,
            "STOP" => Stop::ToolUse,
            "MAX_TOKENS" => Stop::MaxTokens,
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => Stop::Refusal,
            other => Stop::Other(other.to_owned()),
        };
        self.phase = Phase::Complete;
        if stop == Stop::Refusal {
            let words = candidate.words("finishMessage").unwrap_or(reason);
            deltas.push(Delta::Refusal(words.to_owned()));
        }
        deltas.push(Delta::Stopped(stop));
    }
}

fn is_chunk(data: &Tree<'_>) -> bool {
    ["candidates", "promptFeedback", "usageMetadata"].iter().any(|key| !data.member(key).is_null())
}

fn usage(usage: &Tree<'_>) -> Option<Delta> {
    usage.as_object()?;
    let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    };
    let thoughts = usage.count("thoughtsTokenCount");
    Some(Delta::Usage(Usage {
        input_tokens: sum(usage.count("promptTokenCount"), usage.count("toolUsePromptTokenCount")),
        output_tokens: sum(usage.count("candidatesTokenCount"), thoughts),
        cache_read_input_tokens: usage.count("cachedContentTokenCount"),
        cache_creation_input_tokens: None,
        reasoning_tokens: thoughts,
    }))
}

/// Returns what a part calls itself; a part that only carries a seal is not strange.
fn kind<'p>(part: &'p Tree<'_>) -> Option<&'p str> {
    const MARKS: [&str; 4] = [SIGNATURE, "thought", "partMetadata", "videoMetadata"];
    part.as_object()?.iter().map(|(name, _)| name.as_ref()).find(|key| !MARKS.contains(key))
}
