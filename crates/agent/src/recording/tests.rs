//! What must not be in a transcript is looked for in its bytes.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use airtight_core::codec::{Delta, FailureKind, ProviderFailure, Reply, Stop};
use airtight_core::message::{Block, Enforcement, ToolCall, ToolResult, ToolSpec, ToolStatus};
use airtight_core::redact::{MASK, Redactor};
use airtight_core::run::{
    CallFailure, EventKind, Job, Mode, Notification, Policy, Run, Step, TERMINAL_TOOL, Terminal,
};
use airtight_core::{Contract, Dialect};
use serde_json::{Value, json};
use test_case::test_matrix;

use super::Recording;
use crate::drive::{Event, Observer};

/// A word that is nowhere but in the payload.
const PLANTED: &str = "xylograph";

const SECRET: &str = "hunter2-hunter2";

/// How the answer is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    Call,
    TextBesideCall,
    TextInsteadOfCall,
    Native,
    Prompt,
}

/// What comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Accepted,
    Rejected,
    Interrupted,
    Late,
    Failed,
}

use Delivery::{Call, Native, Prompt, TextBesideCall, TextInsteadOfCall};
use Fate::{Accepted, Failed, Interrupted, Late, Rejected};

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({ "type": "object" }).into(),
        enforcement: Enforcement::Hint,
    }
}

fn job(mode: Mode) -> Job {
    let schema = json!({
        "type": "object",
        "properties": { "why": { "type": "string" } },
        "required": ["why"],
        "additionalProperties": false
    });
    Job {
        contract: Some(Arc::new(Contract::compile(schema).unwrap())),
        dialect: Dialect::Anthropic,
        model: "model-1".to_owned(),
        mode,
        system: None,
        prompt: "Why?".to_owned(),
        tools: vec![tool("look"), tool("agent")],
        terminal: Terminal::Offered,
        policy: Policy::default(),
        price: None,
        account: airtight_core::run::Account::default(),
        source: None,
        check: None,
        extractor: None,
    }
}

fn call(name: &str, arguments: &str) -> Block {
    Block::Call(ToolCall {
        id: "call-1".to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        signature: None,
    })
}

fn reply(blocks: Vec<Block>) -> Reply {
    Reply { blocks, stop: Some(Stop::EndTurn), ..Reply::default() }
}

fn delivered(delivery: Delivery, payload: &Value) -> Reply {
    let text = Block::Text(payload.to_string());
    reply(match delivery {
        Call => vec![call(TERMINAL_TOOL, &payload.to_string())],
        TextBesideCall => vec![text, call(TERMINAL_TOOL, &payload.to_string())],
        TextInsteadOfCall | Native | Prompt => vec![text],
    })
}

/// Returns the transcript of a run, and of its end.
fn transcript(mut run: Run, perform: impl FnOnce(&mut Run)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs").join("run.jsonl");
    let mut recording = Recording::create(&path, Redactor::new([SECRET])).unwrap();
    perform(&mut run);
    let mut kinds = run.take_events();
    kinds.push(EventKind::Ended(Box::new(run.finish(Duration::ZERO))));
    for kind in kinds {
        recording.event(&event(kind));
    }
    assert!(recording.failure().is_none());
    std::fs::read_to_string(path).unwrap()
}

fn event(kind: EventKind) -> Event {
    Event { seq: 0, at_ms: 0, parent_call_id: None, kind }
}

fn failure() -> CallFailure {
    CallFailure::Provider(ProviderFailure {
        kind: FailureKind::Network,
        status: None,
        code: None,
        message: "cut".to_owned(),
        retry_after: None,
    })
}

fn meet(run: &mut Run, fate: Fate, said: &Reply) {
    assert!(matches!(run.step(), Step::CallModel(_)));
    match fate {
        Accepted => run.answered(said.clone()),
        Rejected => {
            while matches!(run.step(), Step::CallModel(_)) {
                run.answered(said.clone());
            }
        }
        Interrupted => {
            run.interrupt();
            run.failed(said.clone(), failure());
        }
        Late => {
            run.interrupt();
            run.answered(said.clone());
        }
        Failed => run.failed(said.clone(), failure()),
    }
}

#[test_matrix(
    [Call, TextBesideCall, TextInsteadOfCall, Native, Prompt],
    [Accepted, Rejected, Interrupted, Late, Failed]
)]
fn no_byte_of_the_payload_is_kept(delivery: Delivery, fate: Fate) {
    let mode = match delivery {
        Call | TextBesideCall | TextInsteadOfCall => Mode::Tool,
        Native => Mode::Native,
        Prompt => Mode::Prompt,
    };
    let payload = match fate {
        Rejected => json!({ "why": PLANTED, PLANTED: [PLANTED] }),
        Accepted | Interrupted | Late | Failed => json!({ "why": PLANTED }),
    };
    let said = delivered(delivery, &payload);
    let kept = transcript(Run::new(job(mode)).unwrap(), |run| meet(run, fate, &said));
    assert!(!kept.contains(PLANTED), "{kept}");
    let lines: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["type"], &lines[1]["type"]), (&json!("began"), &json!("said")));
    assert_eq!(lines[0]["began"]["mode"], mode.name());
    let last = lines.last().unwrap();
    assert_eq!(last["type"], "ended");
    assert_eq!(last["ended"]["outcome"] == "met", fate == Accepted, "{last}");
}

#[test]
fn what_a_subagent_comes_back_with_is_not_kept() {
    let kept = transcript(Run::new(job(Mode::Tool)).unwrap(), |run| {
        run.step();
        run.answered(reply(vec![call("agent", "{}")]));
        run.tools_returned(vec![ToolResult {
            call_id: "call-1".to_owned(),
            name: "agent".to_owned(),
            content: json!({ "why": PLANTED }).to_string(),
            status: ToolStatus::Done,
        }]);
        run.background_began("agent-1");
        run.notified(Notification {
            task_id: "agent-1".to_owned(),
            status: "completed".to_owned(),
            text: json!({ "why": PLANTED }).to_string(),
        });
    });
    assert!(!kept.contains(PLANTED), "{kept}");
    assert!(kept.contains("\"heard\"") && kept.contains("\"notified\""), "{kept}");
}

#[test]
fn prose_and_results_of_tools_are_kept_without_secrets() {
    let kept = transcript(Run::new(job(Mode::Tool)).unwrap(), |run| {
        run.step();
        let prose = Block::Text(format!("I look with {SECRET}."));
        run.answered(reply(vec![prose, call("look", &format!("{{\"key\":\"{SECRET}\"}}"))]));
        run.tools_returned(vec![ToolResult {
            call_id: "call-1".to_owned(),
            name: "look".to_owned(),
            content: format!("seen {SECRET}"),
            status: ToolStatus::Done,
        }]);
    });
    assert!(!kept.contains(SECRET), "{kept}");
    assert!(kept.contains(&format!("I look with {MASK}.")), "{kept}");
    assert!(kept.contains(&format!("seen {MASK}")), "{kept}");
}

#[test]
fn a_transcript_says_what_ran_and_numbers_its_lines_without_gaps() {
    let job = job(Mode::Auto);
    let fingerprint = job.contract.as_ref().unwrap().fingerprint().to_string();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut recording = Recording::create(&path, Redactor::new([])).unwrap();
    let mut run = Run::new(job).unwrap();
    meet(&mut run, Accepted, &delivered(Call, &json!({ "why": "so" })));
    let delta = || EventKind::Delta(Delta::Text("s".to_owned()));
    let kinds = run.take_events().into_iter().flat_map(|kind| [delta(), kind]);
    for (seq, kind) in (0..).zip(kinds) {
        recording.event(&Event { seq, at_ms: 7, parent_call_id: None, kind });
    }
    let kept = std::fs::read_to_string(path).unwrap();
    let lines: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    let version = env!("CARGO_PKG_VERSION");
    let began = json!({
        "airtight_version": version, "model": "model-1", "mode": "tool", "contract": fingerprint,
    });
    assert_eq!((&lines[0]["began"], &lines[0]["at_ms"]), (&began, &json!(7)));
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs").join("run.jsonl");
    let _recording = Recording::create(&path, Redactor::new([])).unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert!(Recording::create(&path, Redactor::new([])).is_err(), "nothing is written over");
}

#[test]
fn a_disk_that_fails_is_told_once_and_ends_nothing() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let read_only = File::open(file.path()).unwrap();
    let mut recording =
        Recording { file: Some(read_only), redactor: Redactor::new([]), next: 0, failure: None };
    let mut run = Run::new(job(Mode::Tool)).unwrap();
    meet(&mut run, Accepted, &delivered(Call, &json!({ "why": "so" })));
    run.take_events().into_iter().for_each(|kind| recording.event(&event(kind)));
    assert!(recording.failure().is_some());
    assert!(run.finish(Duration::ZERO).value.is_some());
}
