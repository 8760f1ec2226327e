//! Gemini CLI. See `docs/wire/gemini-cli.md`.
//!
//! Text comes in pieces, and a request that is sent again leaves no mark between those of both
//! attempts; so pieces are trusted only if the result is a success.

mod document;

use crate::codec::Usage;
use crate::json::Node;

use super::Program;
use super::category::Evidence;
use super::event::{
    Assistant, AssistantMessage, Block, Event, Finish, Init, Place, System, Told, User,
    UserMessage, Warning,
};
use super::object::{Fields, Object};
use super::output::Joint;
use super::tally::{Failure, Tally};

/// Reads lines of gemini.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The last error that was told; the result repeats not all of them.
    complaint: Option<Failure>,
}

impl Reader {
    /// Reads a line; nothing comes of one that is not known.
    pub(super) fn read(&mut self, at: Place, object: &Object, tally: &mut Tally) -> Vec<Event> {
        let root = object.root();
        match root.text("type") {
            Some("init") => vec![began(at, root, tally)],
            Some("message") => message(at, root, tally).into_iter().collect(),
            Some("tool_use") => vec![called(at, object, tally)],
            Some("tool_result") => vec![answered(at, root, tally)],
            Some("error") => {
                let message = root.owned("message").unwrap_or_default();
                if root.text("severity") == Some("warning") {
                    tally.warn(&format!("error: {message}"));
                } else {
                    self.complaint = Some(Failure::new(Some(&message), Evidence::default()));
                }
                vec![Event::System(System::Warning(Warning { at, message }))]
            }
            Some("result") => vec![self.ended(at, object, tally)],
            None => document::read(at, object, tally),
            Some(_) => Vec::new(),
        }
    }

    fn ended(&mut self, at: Place, object: &Object, tally: &mut Tally) -> Event {
        let root = object.root();
        let status = root.text("status");
        let stats = root.object("stats");
        let usage = stats.map(usage).unwrap_or_default();
        let is_error = status != Some("success");
        let failure = is_error.then(|| self.failure(root));
        tally.record.subtype = status.map(str::to_owned);
        tally.record.usage.replace(&usage);
        let models = stats.and_then(|stats| stats.object("models"));
        tally.record.model_usage = models.map(|models| object.verbatim(models));
        tally.took(stats.and_then(|stats| stats.number("duration_ms")).as_ref());
        let finish = Finish {
            at,
            subtype: tally.record.subtype.clone(),
            is_error,
            error: failure.as_ref().map(|failure| failure.message.clone()),
            result: tally.output.this_turn().filter(|_| !is_error),
            structured_output: None,
            stop_reason: None,
            usage,
        };
        tally.result.clone_from(&finish.result);
        if let Some(failure) = failure {
            tally.fail(failure);
        }
        tally.end(at);
        Event::Result(Box::new(finish))
    }

    /// Says why it failed: in the result, else in the last error before it.
    fn failure(&mut self, root: Node<'_>) -> Failure {
        let told = root.object("error").and_then(|error| error.text("message"));
        match (told, self.complaint.take()) {
            (None, Some(complaint)) => complaint,
            (told, _) => Failure::new(told, Evidence::default()),
        }
    }
}

fn began(at: Place, root: Node<'_>, tally: &mut Tally) -> Event {
    let (session_id, model) = (root.owned("session_id"), root.owned("model"));
    let record = &mut tally.record;
    record.session_id = record.session_id.take().or_else(|| session_id.clone());
    record.model = record.model.take().or_else(|| model.clone());
    Event::System(System::Init(Box::new(Init {
        at,
        program: Program::Gemini,
        program_version: None,
        session_id,
        model,
        cwd: None,
        tools: Vec::new(),
        permission_mode: None,
        api_key_source: None,
    })))
}

/// Reads a message of either side; nothing comes of one of a third, or of one that is no text.
fn message(at: Place, root: Node<'_>, tally: &mut Tally) -> Option<Event> {
    let text = root.owned("content")?;
    match root.text("role") {
        Some("assistant") => {
            let goes_on = root.flag("delta") == Some(true);
            tally.output.say(&text, if goes_on { Joint::GoesOn } else { Joint::Apart });
            Some(said(at, Block::Text { text }))
        }
        Some("user") => {
            tally.output.end_turn();
            Some(told(at, Told::Text { text }))
        }
        _ => None,
    }
}

fn called(at: Place, object: &Object, tally: &mut Tally) -> Event {
    let root = object.root();
    tally.record.num_tool_calls += 1;
    said(
        at,
        Block::ToolUse {
            id: root.owned("tool_id").unwrap_or_default(),
            name: root.owned("tool_name").unwrap_or_default(),
            input: object.verbatim_member(root, "parameters"),
        },
    )
}

fn answered(at: Place, root: Node<'_>, tally: &mut Tally) -> Event {
    tally.output.end_turn();
    let error = root.object("error").and_then(|error| error.owned("message"));
    let output = root.owned("output").filter(|output| !output.is_empty());
    told(
        at,
        Told::ToolResult {
            tool_use_id: root.owned("tool_id").unwrap_or_default(),
            content: output.or(error).unwrap_or_default(),
            is_error: root.text("status") != Some("success"),
        },
    )
}

fn said(at: Place, block: Block) -> Event {
    let message = AssistantMessage { content: vec![block], ..Default::default() };
    Event::Assistant(Assistant { at, parent_tool_use_id: None, message })
}

fn told(at: Place, block: Told) -> Event {
    let message = UserMessage { content: vec![block] };
    Event::User(User { at, parent_tool_use_id: None, message })
}

fn usage(stats: Node<'_>) -> Usage {
    Usage {
        input_tokens: stats.count("input_tokens"),
        output_tokens: stats.count("output_tokens"),
        cache_read_input_tokens: stats.count("cached"),
        ..Usage::default()
    }
}
