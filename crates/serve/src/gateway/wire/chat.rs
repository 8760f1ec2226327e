//! `OpenAI` Chat Completions. `docs/wire/openai-chat.md` has the format.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Frame, Tokens, Told};
use crate::desk::Reply;
use crate::gateway::asked::{Asked, Counts, Delivery, Form, demand};
use crate::gateway::conversation::{Conversation, Piece, Speaker, called, pieces};
use crate::gateway::fields::{self, Fields};
use crate::gateway::tools::{self, Choice, Tool};
use crate::gateway::watch;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
}

#[derive(Debug, Deserialize)]
struct Call {
    function: CalledFunction,
}

#[derive(Debug, Deserialize)]
struct CalledFunction {
    name: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Debug, Deserialize)]
struct ToolEntry {
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    description: Option<IgnoredAny>,
    #[serde(default)]
    parameters: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct NamedChoice {
    function: ChosenFunction,
}

#[derive(Debug, Deserialize)]
struct ChosenFunction {
    name: String,
}

#[derive(Debug, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

/// Reads a request.
pub(super) fn read(bytes: &[u8]) -> Result<Asked, Problem> {
    let mut fields = Fields::read(bytes)?;
    let model: String = fields.need("model")?;
    let conversation = conversation(fields.need("messages")?)?;
    let (system, prompt) = if watch::tier_of(&model).is_some() {
        // The watch remembers no talks, and has standing instructions of its own.
        if !conversation.is_one() {
            fields.ignore("messages");
        }
        (None, conversation.last_said().map_err(|problem| problem.at("messages"))?)
    } else {
        conversation.question()?
    };
    if fields.take::<u64>("n")?.unwrap_or(1) != 1 {
        return Err(Problem::request("one request has one answer: leave `n` out").at("n"));
    }
    let format = fields.inner("response_format")?;
    let format = demand(&mut fields, format, "response_format")?;
    let tools: Vec<ToolEntry> = fields.take("tools")?.unwrap_or_default();
    if tools.iter().any(|it| it.function.description.is_some()) {
        fields.ignore("tools.description");
    }
    let tool = |it: ToolEntry| Tool { name: it.function.name, parameters: it.function.parameters };
    let choice = choice(fields.take("tool_choice")?)?;
    let tools = tools.into_iter().map(tool).collect();
    let (demand, form) = tools::settle(format, tools, &choice)?;
    let options: Option<StreamOptions> = fields.take("stream_options")?;
    let wants_counts = options.is_some_and(|options| options.include_usage);
    let tokens = [fields.take("max_completion_tokens")?, fields.take("max_tokens")?];
    Ok(Asked {
        model,
        system,
        prompt,
        demand,
        form,
        delivery: Delivery::of(fields.take("stream")?),
        counts: if wants_counts { Counts::Told } else { Counts::LeftOut },
        max_output_tokens: tokens.into_iter().flatten().next(),
        temperature: fields.take("temperature")?,
        ignored: fields.left(),
    })
}

fn conversation(messages: Vec<Message>) -> Result<Conversation, Problem> {
    let mut conversation = Conversation::default();
    for Message { role, content, tool_calls } in messages {
        let who = Speaker::of(&role).map_err(|problem| problem.at("messages"))?;
        let said = content.filter(|raw| raw.get() != "null").map(|raw| pieces(who, &raw));
        let said = said.transpose().map_err(|problem| problem.at("messages"))?;
        let calls = tool_calls.into_iter().flatten();
        let calls = calls.map(|call| (who, called(&call.function.name, &call.function.arguments)));
        let pieces: Vec<Piece> = said.into_iter().flatten().chain(calls).collect();
        conversation.say_all(who, &pieces);
    }
    Ok(conversation)
}

fn choice(raw: Option<Box<RawValue>>) -> Result<Choice, Problem> {
    let unreadable = |_| Problem::request("`tool_choice` cannot be read").at("tool_choice");
    match raw {
        None => Ok(Choice::Auto),
        Some(raw) if raw.get().starts_with('"') => {
            Choice::of(&fields::read::<String>(&raw).map_err(unreadable)?, None)
        }
        Some(raw) => {
            let named: NamedChoice = fields::read(&raw).map_err(unreadable)?;
            Ok(Choice::Named(named.function.name))
        }
    }
}

/// Writes a whole answer.
pub(super) fn document(told: &Told, reply: &Reply) -> Value {
    let message = match &told.form {
        Form::Text => json!({ "role": "assistant", "content": reply.value, "refusal": null }),
        Form::Call { name } => json!({
            "role": "assistant",
            "content": null,
            "refusal": null,
            "tool_calls": [{
                "id": told.id("call_"),
                "type": "function",
                "function": { "name": name, "arguments": reply.value },
            }],
        }),
    };
    json!({
        "id": told.id("chatcmpl-"),
        "object": "chat.completion",
        "created": told.created_at,
        "model": told.model,
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": reason(&told.form),
        }],
        "usage": usage(reply),
    })
}

/// Writes what a stream begins with.
pub(super) fn opening(told: &Told) -> Vec<Frame> {
    let delta = match &told.form {
        Form::Text => json!({ "role": "assistant", "content": "", "refusal": null }),
        Form::Call { name } => json!({
            "role": "assistant",
            "content": null,
            "tool_calls": [{
                "index": 0,
                "id": told.id("call_"),
                "type": "function",
                "function": { "name": name, "arguments": "" },
            }],
        }),
    };
    vec![chunk(told, &delta, &Value::Null)]
}

/// Writes more of the answer.
pub(super) fn piece(told: &Told, text: &str) -> Vec<Frame> {
    let delta = match told.form {
        Form::Text => json!({ "content": text }),
        Form::Call { .. } => {
            json!({ "tool_calls": [{ "index": 0, "function": { "arguments": text } }] })
        }
    };
    vec![chunk(told, &delta, &Value::Null)]
}

/// Writes a call that whoever answers made, which nobody need make again.
pub(in crate::gateway) fn call_made(told: &Told, index: usize, call: &watch::Call) -> Frame {
    let watch::Call { id, name, arguments } = call;
    let function = json!({ "name": name, "arguments": arguments });
    let made = json!({ "index": index, "id": id, "type": "function", "function": function });
    chunk(told, &json!({ "tool_calls": [made] }), &Value::Null)
}

/// Writes the end of an answer that was accepted.
pub(super) fn closing(told: &Told, reply: &Reply) -> Vec<Frame> {
    let mut frames = vec![chunk(told, &json!({}), &json!(reason(&told.form)))];
    if told.counts == Counts::Told {
        let mut last = head(told);
        if let Value::Object(members) = &mut last {
            members.insert("choices".to_owned(), json!([]));
            members.insert("usage".to_owned(), usage(reply));
        }
        frames.push(Frame::data(last));
    }
    frames.push(Frame::text("[DONE]"));
    frames
}

fn chunk(told: &Told, delta: &Value, reason: &Value) -> Frame {
    let mut chunk = head(told);
    if let Value::Object(members) = &mut chunk {
        let choice =
            json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason });
        members.insert("choices".to_owned(), json!([choice]));
    }
    Frame::data(chunk)
}

fn head(told: &Told) -> Value {
    json!({
        "id": told.id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": told.created_at,
        "model": told.model,
    })
}

fn reason(form: &Form) -> &'static str {
    match form {
        Form::Text => "stop",
        Form::Call { .. } => "tool_calls",
    }
}

fn usage(reply: &Reply) -> Value {
    let tokens = Tokens::of(&reply.usage);
    json!({
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": { "cached_tokens": tokens.cache_read },
        "completion_tokens_details": { "reasoning_tokens": tokens.reasoning },
    })
}
