//! Anthropic Messages. `docs/wire/anthropic.md` has the format.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Frame, Tokens, Told};
use crate::desk::Reply;
use crate::gateway::asked::{Asked, Counts, Delivery, Form, demand, held_format};
use crate::gateway::conversation::{Conversation, Speaker, pieces, text_of};
use crate::gateway::fields::Fields;
use crate::gateway::tools::{self, Choice, Tool};
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    content: Box<RawValue>,
}

#[derive(Debug, Deserialize)]
struct ToolEntry {
    name: String,
    #[serde(default)]
    description: Option<IgnoredAny>,
    #[serde(default)]
    input_schema: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct ChoiceEntry {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
}

/// Reads a request.
pub(super) fn read(bytes: &[u8]) -> Result<Asked, Problem> {
    let mut fields = Fields::read(bytes)?;
    let model = fields.need("model")?;
    let mut conversation = Conversation::default();
    if let Some(system) = fields.take::<Box<RawValue>>("system")? {
        conversation.say(Speaker::System, text_of(&system).map_err(|it| it.at("system"))?);
    }
    for Message { role, content } in fields.need::<Vec<Message>>("messages")? {
        let said = Speaker::of(&role).and_then(|who| Ok((who, pieces(who, &content)?)));
        let (who, pieces) = said.map_err(|problem| problem.at("messages"))?;
        conversation.say_all(who, &pieces);
    }
    let (system, prompt) = conversation.question()?;
    let format = match held_format(&mut fields, "output_config")? {
        // Where the format was before it was final.
        None => fields.inner("output_format")?,
        format => format,
    };
    let format = demand(&mut fields, format, "output_config")?;
    let tools: Vec<ToolEntry> = fields.take("tools")?.unwrap_or_default();
    if tools.iter().any(|it| it.description.is_some()) {
        fields.ignore("tools.description");
    }
    let tool = |it: ToolEntry| Tool { name: it.name, parameters: it.input_schema };
    let choice: Option<ChoiceEntry> = fields.take("tool_choice")?;
    let choice = choice.map_or(Ok(Choice::Auto), |it| Choice::of(&it.kind, it.name))?;
    let tools = tools.into_iter().map(tool).collect();
    let (demand, form) = tools::settle(format, tools, &choice)?;
    Ok(Asked {
        model,
        system,
        prompt,
        demand,
        form,
        delivery: Delivery::of(fields.take("stream")?),
        counts: Counts::Told,
        max_output_tokens: fields.take("max_tokens")?,
        temperature: fields.take("temperature")?,
        ignored: fields.left(),
    })
}

/// A whole answer. The input of a call is the exact value that was judged, digits included.
#[derive(Serialize)]
struct Document<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'a str,
    content: [Block<'a>; 1],
    stop_reason: &'static str,
    stop_sequence: Option<String>,
    usage: Value,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text { text: &'a str },
    ToolUse { id: String, name: &'a str, input: Box<RawValue> },
}

/// Writes a whole answer.
pub(super) fn document(told: &Told, reply: &Reply) -> String {
    let raw = RawValue::from_string(reply.value.clone());
    let block = match (&told.form, raw) {
        (Form::Call { name }, Ok(input)) => Block::ToolUse { id: told.id("toolu_"), name, input },
        (Form::Text | Form::Call { .. }, _) => Block::Text { text: &reply.value },
    };
    let document = Document {
        id: told.id("msg_"),
        kind: "message",
        role: "assistant",
        model: &told.model,
        content: [block],
        stop_reason: reason(&told.form),
        stop_sequence: None,
        usage: usage(&Tokens::of(&reply.usage)),
    };
    serde_json::to_string(&document).unwrap_or_default()
}

/// Writes what a stream begins with.
pub(super) fn opening(told: &Told) -> Vec<Frame> {
    let block = match &told.form {
        Form::Text => json!({ "type": "text", "text": "" }),
        Form::Call { name } => {
            json!({ "type": "tool_use", "id": told.id("toolu_"), "name": name, "input": {} })
        }
    };
    let nothing = Tokens { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 };
    let message = json!({
        "id": told.id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": told.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(&nothing),
    });
    let started = json!({ "type": "content_block_start", "index": 0, "content_block": block });
    vec![
        Frame::named("message_start", json!({ "type": "message_start", "message": message })),
        Frame::named("content_block_start", started),
    ]
}

/// Writes more of the answer.
pub(super) fn piece(told: &Told, text: &str) -> Vec<Frame> {
    let delta = match told.form {
        Form::Text => json!({ "type": "text_delta", "text": text }),
        Form::Call { .. } => json!({ "type": "input_json_delta", "partial_json": text }),
    };
    let data = json!({ "type": "content_block_delta", "index": 0, "delta": delta });
    vec![Frame::named("content_block_delta", data)]
}

/// Writes the end of an answer that was accepted.
pub(super) fn closing(told: &Told, reply: &Reply) -> Vec<Frame> {
    let delta = json!({
        "type": "message_delta",
        "delta": { "stop_reason": reason(&told.form), "stop_sequence": null },
        "usage": usage(&Tokens::of(&reply.usage)),
    });
    vec![
        Frame::named("content_block_stop", json!({ "type": "content_block_stop", "index": 0 })),
        Frame::named("message_delta", delta),
        Frame::named("message_stop", json!({ "type": "message_stop" })),
    ]
}

fn reason(form: &Form) -> &'static str {
    match form {
        Form::Text => "end_turn",
        Form::Call { .. } => "tool_use",
    }
}

fn usage(tokens: &Tokens) -> Value {
    // This format counts what the cache had apart from the input.
    let fresh = tokens.input.saturating_sub(tokens.cache_read + tokens.cache_write);
    json!({
        "input_tokens": fresh,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
    })
}
