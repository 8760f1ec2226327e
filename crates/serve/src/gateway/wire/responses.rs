//! `OpenAI` Responses. `docs/wire/openai-responses.md` has the format.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Frame, Tokens, Told};
use crate::desk::Reply;
use crate::door::Door;
use crate::gateway::asked::{Asked, Counts, Delivery, Form, demand, held_format};
use crate::gateway::conversation::{Conversation, Speaker, called, pieces, text_of};
use crate::gateway::fields::{self, Fields};
use crate::gateway::tools::{self, Choice, Tool};
use crate::problem::Problem;

/// One item of the conversation.
#[derive(Debug, Deserialize)]
struct Item {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
    #[serde(default)]
    output: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct ToolEntry {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<IgnoredAny>,
    #[serde(default)]
    parameters: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct NamedChoice {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
}

/// Reads a request.
pub(super) fn read(bytes: &[u8]) -> Result<Asked, Problem> {
    let mut fields = Fields::read(bytes)?;
    let model = fields.need("model")?;
    if fields.take::<String>("previous_response_id")?.is_some() {
        let message = "no conversation is kept here: send all of it as `input`";
        return Err(Problem::request(message).at("previous_response_id"));
    }
    let mut conversation = Conversation::default();
    if let Some(instructions) = fields.take::<String>("instructions")? {
        conversation.say(Speaker::System, instructions);
    }
    hear(&fields.need::<Box<RawValue>>("input")?, &mut conversation)
        .map_err(|problem| problem.at("input"))?;
    let (system, prompt) = conversation.question()?;
    let format = held_format(&mut fields, "text")?;
    let format = demand(&mut fields, format, "text")?;
    let tools: Vec<ToolEntry> = fields.take("tools")?.unwrap_or_default();
    if tools.iter().any(|it| it.description.is_some()) {
        fields.ignore("tools.description");
    }
    let tool =
        |it: ToolEntry| Tool { name: it.name.unwrap_or_default(), parameters: it.parameters };
    let choice = choice(fields.take("tool_choice")?)?;
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
        max_output_tokens: fields.take("max_output_tokens")?,
        temperature: fields.take("temperature")?,
        ignored: fields.left(),
    })
}

fn hear(input: &RawValue, conversation: &mut Conversation) -> Result<(), Problem> {
    if input.get().starts_with('"') {
        conversation.say(Speaker::User, text_of(input)?);
        return Ok(());
    }
    let items: Vec<Item> = fields::read(input)
        .map_err(|error| Problem::request(format!("`input` cannot be read: {error}")))?;
    for item in items {
        match (item.kind.as_deref().unwrap_or("message"), item.role, item.content) {
            ("message", Some(role), Some(content)) => {
                let who = Speaker::of(&role)?;
                conversation.say_all(who, &pieces(who, &content)?);
            }
            ("function_call", ..) => {
                let name = item.name.unwrap_or_default();
                let arguments = item.arguments.unwrap_or_default();
                conversation.say(Speaker::Assistant, called(&name, &arguments));
            }
            ("function_call_output", ..) => {
                let output = item.output.map_or(Ok(String::new()), |it| text_of(&it))?;
                conversation.say(Speaker::Tool, output);
            }
            // What only the vendor can read, and nobody else can answer by.
            ("reasoning", ..) => {}
            _ => {
                let message = "`input` may hold messages, calls and their results";
                return Err(Problem::request(message));
            }
        }
    }
    Ok(())
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
            Choice::of(&named.kind, named.name)
        }
    }
}

/// Writes a whole answer.
pub(super) fn document(told: &Told, reply: &Reply) -> Value {
    response(told, "completed", &[item(told, "completed", Some(&reply.value))], Some(reply))
}

/// Writes what a stream begins with.
pub(super) fn opening(told: &Told) -> Vec<Frame> {
    let begun = response(told, "in_progress", &[], None);
    let mut frames = vec![
        numbered("response.created", json!({ "response": begun })),
        numbered("response.in_progress", json!({ "response": begun })),
        numbered(
            "response.output_item.added",
            json!({ "output_index": 0, "item": item(told, "in_progress", None) }),
        ),
    ];
    if told.form == Form::Text {
        frames.push(numbered("response.content_part.added", part_event(told, "part", &part(""))));
    }
    frames
}

/// Writes more of the answer.
pub(super) fn piece(told: &Told, text: &str) -> Vec<Frame> {
    vec![match &told.form {
        Form::Text => {
            let mut event = part_event(told, "delta", &json!(text));
            put(&mut event, "logprobs", json!([]));
            numbered("response.output_text.delta", event)
        }
        Form::Call { .. } => numbered(
            "response.function_call_arguments.delta",
            json!({ "item_id": item_id(told), "output_index": 0, "delta": text }),
        ),
    }]
}

/// Writes the end of an answer that was accepted.
pub(super) fn closing(told: &Told, reply: &Reply) -> Vec<Frame> {
    let value = &reply.value;
    let mut frames = match &told.form {
        Form::Text => {
            let mut event = part_event(told, "text", &json!(value));
            put(&mut event, "logprobs", json!([]));
            vec![
                numbered("response.output_text.done", event),
                numbered("response.content_part.done", part_event(told, "part", &part(value))),
            ]
        }
        Form::Call { name } => vec![numbered(
            "response.function_call_arguments.done",
            json!({
                "item_id": item_id(told),
                "output_index": 0,
                "name": name,
                "arguments": value,
            }),
        )],
    };
    let whole = item(told, "completed", Some(value));
    frames.push(numbered("response.output_item.done", json!({ "output_index": 0, "item": whole })));
    frames.push(numbered("response.completed", json!({ "response": document(told, reply) })));
    frames
}

/// Writes the end of an answer that was not accepted. The format has the words beside `type`, and its
/// clients look for them under `error`.
pub(super) fn failure(problem: &Problem) -> Vec<Frame> {
    let mut event = problem.body(Door::OpenAi);
    put(&mut event, "code", json!(problem.code));
    put(&mut event, "message", json!(problem.message));
    put(&mut event, "param", Value::Null);
    vec![numbered("error", event)]
}

fn numbered(kind: &'static str, mut event: Value) -> Frame {
    put(&mut event, "type", json!(kind));
    Frame::numbered(kind, event)
}

fn put(value: &mut Value, name: &str, member: Value) {
    if let Value::Object(members) = value {
        members.insert(name.to_owned(), member);
    }
}

fn part_event(told: &Told, name: &str, member: &Value) -> Value {
    json!({ "item_id": item_id(told), "output_index": 0, "content_index": 0, name: member })
}

fn part(text: &str) -> Value {
    json!({ "type": "output_text", "annotations": [], "logprobs": [], "text": text })
}

fn item_id(told: &Told) -> String {
    match told.form {
        Form::Text => told.id("msg_"),
        Form::Call { .. } => told.id("fc_"),
    }
}

fn item(told: &Told, status: &str, value: Option<&str>) -> Value {
    match &told.form {
        Form::Text => json!({
            "id": item_id(told),
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": Vec::from_iter(value.map(part)),
        }),
        Form::Call { name } => json!({
            "id": item_id(told),
            "type": "function_call",
            "status": status,
            "call_id": told.id("call_"),
            "name": name,
            "arguments": value.unwrap_or_default(),
        }),
    }
}

fn response(told: &Told, status: &str, output: &[Value], reply: Option<&Reply>) -> Value {
    json!({
        "id": told.id("resp_"),
        "object": "response",
        "created_at": told.created_at,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "model": told.model,
        "output": output,
        "parallel_tool_calls": false,
        "previous_response_id": null,
        "temperature": null,
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "usage": reply.map(usage),
        "metadata": {},
    })
}

fn usage(reply: &Reply) -> Value {
    let tokens = Tokens::of(&reply.usage);
    json!({
        "input_tokens": tokens.input,
        "input_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
        },
        "output_tokens": tokens.output,
        "output_tokens_details": { "reasoning_tokens": tokens.reasoning },
        "total_tokens": tokens.input + tokens.output,
    })
}
