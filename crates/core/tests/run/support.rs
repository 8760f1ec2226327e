//! Jobs, replies and a driver made by hand.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use airtight_core::codec::{Reply, Request, Stop, Usage};
use airtight_core::message::{
    Block, Enforcement, Message, ToolCall, ToolResult, ToolSpec, ToolStatus,
};
use airtight_core::run::{
    Account, EventKind, Extractor, Job, Mode, Notification, Policy, Report, Run, Step,
    TERMINAL_TOOL, Terminal,
};
use airtight_core::{Contract, Dialect};
use serde_json::{Value, json};

/// A contract about a review.
pub(crate) fn review() -> Value {
    json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string" },
            "score": { "type": "integer", "minimum": 0, "maximum": 10 },
        },
        "required": ["summary", "score"],
        "additionalProperties": false,
    })
}

pub(crate) const GOOD: &str = r#"{"summary":"Reads well.","score":7}"#;
pub(crate) const BAD: &str = r#"{"summary":"Reads well.","score":70}"#;

pub(crate) fn contract(schema: Value) -> Arc<Contract> {
    Arc::new(Contract::compile(schema).expect("a contract"))
}

pub(crate) fn notification(task: &str, text: &str) -> Notification {
    Notification { task_id: task.to_owned(), status: "completed".to_owned(), text: text.to_owned() }
}

/// A job with the terminal tool and one other.
pub(crate) fn job(schema: Value) -> Job {
    Job {
        contract: Some(contract(schema)),
        dialect: Dialect::Anthropic,
        model: "model".to_owned(),
        mode: Mode::Tool,
        system: None,
        prompt: "Review it.".to_owned(),
        tools: vec![tool("write_file")],
        terminal: Terminal::Offered,
        policy: Policy::default(),
        price: None,
        account: Account::default(),
        source: None,
        check: None,
        extractor: None,
    }
}

/// A second model without a price.
pub(crate) fn extractor() -> Extractor {
    Extractor {
        model: "small".to_owned(),
        dialect: Dialect::Anthropic,
        price: None,
        account: Account::default(),
    }
}

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({ "type": "object" }).into(),
        enforcement: Enforcement::Hint,
    }
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Block {
    Block::Call(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        signature: None,
    })
}

pub(crate) fn answer(id: &str, arguments: &str) -> Block {
    call(id, TERMINAL_TOOL, arguments)
}

pub(crate) fn calls(blocks: Vec<Block>) -> Reply {
    Reply { blocks, stop: Some(Stop::ToolUse), usage: usage(10, 5), ..Reply::default() }
}

pub(crate) fn text(text: &str) -> Reply {
    Reply {
        blocks: vec![Block::Text(text.to_owned())],
        stop: Some(Stop::EndTurn),
        usage: usage(10, 5),
        ..Reply::default()
    }
}

pub(crate) fn usage(input: u64, output: u64) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
}

/// Everything that happened in a run driven by a script.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) report: Report,
    pub(crate) requests: Vec<Request>,
    pub(crate) executed: Vec<ToolCall>,
    pub(crate) events: Vec<EventKind>,
}

/// Drives `job` with these replies, its extractor included; tools answer `done`.
pub(crate) fn play(job: Job, replies: Vec<Reply>) -> Played {
    let run = Run::new(job).expect("a run");
    play_on(run, replies)
}

pub(crate) fn play_on(mut run: Run, replies: Vec<Reply>) -> Played {
    let mut replies = VecDeque::from(replies);
    let (mut requests, mut executed, mut events) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        match run.step() {
            Step::CallModel(request) => {
                requests.push(*request);
                run.answered(replies.pop_front().expect("a reply for every request"));
            }
            Step::CallTools(calls) => {
                let results = calls.iter().map(done).collect();
                executed.extend(calls);
                run.tools_returned(results);
            }
            Step::Extract(job) => {
                let mut child = Run::within(&run.household(), *job).expect("a run");
                let Step::CallModel(request) = child.step() else { panic!("one request") };
                requests.push(*request);
                child.answered(replies.pop_front().expect("a reply for every request"));
                run.extracted(Ok(child.finish(Duration::ZERO)));
            }
            Step::Wait => panic!("nothing to wait for"),
            Step::Done => break,
        }
        events.extend(run.take_events());
    }
    events.extend(run.take_events());
    assert!(replies.is_empty(), "{} replies were not asked for", replies.len());
    Played { report: run.finish(Duration::from_secs(1)), requests, executed, events }
}

pub(crate) fn done(call: &ToolCall) -> ToolResult {
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: "done".to_owned(),
        status: ToolStatus::Done,
    }
}

impl Played {
    /// Returns the last request's last message.
    pub(crate) fn last_heard(&self) -> &Message {
        self.requests.last().expect("a request").messages.last().expect("a message")
    }

    /// Returns the results of the last request's last message, as id and content.
    pub(crate) fn last_results(&self) -> Vec<(&str, &str)> {
        self.last_heard()
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Result(result) => Some((result.call_id.as_str(), result.content.as_str())),
                _ => None,
            })
            .collect()
    }

    /// Returns the text of the last request's last message.
    pub(crate) fn last_text(&self) -> String {
        let texts = self.last_heard().blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns what each event told calls, as id and content.
    pub(crate) fn heard(&self) -> Vec<Vec<(&str, &str)>> {
        let heard = self.events.iter().filter_map(|event| match event {
            EventKind::Heard(results) => Some(results),
            _ => None,
        });
        heard
            .map(|results| {
                results.iter().map(|it| (it.call_id.as_str(), it.content.as_str())).collect()
            })
            .collect()
    }

    pub(crate) fn value(&self) -> Option<String> {
        self.report.value.as_ref().map(airtight_core::Document::to_compact)
    }
}
