//! A folder with a stand-in, and what a whole run on it comes to.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use airtight_agent::provider::Provider;
use airtight_agent::{
    Agent, ApprovalMode, Deadlines, Event, Harness, Hooks, Installed, Observer, Project, Setup,
    Toolbox, Traits,
};
use airtight_core::Contract;
use airtight_core::run::{EventKind, Job, Policy, Report, Run, Terminal};
use airtight_core::transcript::{Event as Told, Program, Record};
use airtight_fake::Deed;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const INIT: &str =
    r#"{"type":"system","subtype":"init","session_id":"s1","tools":["StructuredOutput"]}"#;

pub(crate) fn result(members: &str) -> String {
    format!(r#"{{"type":"result","session_id":"s1","num_turns":1,{members}}}"#)
}

pub(crate) fn success(payload: &str) -> String {
    let members = r#""subtype":"success","is_error":false,"stop_reason":"tool_use","#;
    let usage = r#""usage":{"input_tokens":10,"output_tokens":5},"total_cost_usd":0.25"#;
    result(&format!(r#"{members}"structured_output":{payload},{usage}"#))
}

pub(crate) fn say(line: &str) -> Deed {
    Deed::Say { text: format!("{line}\n") }
}

/// A folder with a stand-in that is called like its program.
pub(crate) struct Scene {
    program: Program,
    folder: TempDir,
    pub(crate) deadlines: Deadlines,
    pub(crate) policy: Policy,
}

/// What happened.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) records: Vec<Record>,
    pub(crate) raw: usize,
    /// Cancelled when the program says that it is done.
    pub(crate) at_result: CancellationToken,
}

impl Observer for Seen {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Recorded(record) => self.records.push((**record).clone()),
            EventKind::Witnessed(event) => {
                self.raw += usize::from(matches!(**event, Told::Raw(_)));
                if matches!(**event, Told::Result(_)) {
                    self.at_result.cancel();
                }
            }
            EventKind::Began(_)
            | EventKind::Delta(_)
            | EventKind::Said { .. }
            | EventKind::Heard(_)
            | EventKind::Judged(_)
            | EventKind::Extracting { .. }
            | EventKind::Retried(_)
            | EventKind::Notified(_)
            | EventKind::Ended(_) => {}
        }
    }
}

impl Scene {
    /// Has `claude` do `deeds` whenever it is called.
    pub(crate) fn new(deeds: &[Deed]) -> Self {
        Self::of(Program::Claude, deeds)
    }

    /// Has `program` do `deeds` whenever it is called.
    pub(crate) fn of(program: Program, deeds: &[Deed]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tests = std::env::current_exe().unwrap();
        let standin = tests.parent().unwrap().parent().unwrap().join("examples/standin");
        std::os::unix::fs::symlink(standin, folder.path().join(program.name())).unwrap();
        let script = serde_json::to_string(deeds).unwrap();
        std::fs::write(folder.path().join(format!("{}.json", program.name())), script).unwrap();
        let deadlines = Deadlines { exit: Duration::from_millis(200), ..Deadlines::default() };
        Self { program, folder, deadlines, policy: Policy { reasks: 1, ..Policy::default() } }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) async fn run(&self) -> (Report, Seen) {
        self.run_until(CancellationToken::new()).await
    }

    pub(crate) async fn run_until(&self, interrupt: CancellationToken) -> (Report, Seen) {
        self.run_seen_by(Seen::default(), interrupt).await
    }

    pub(crate) async fn run_seen_by(
        &self,
        mut seen: Seen,
        interrupt: CancellationToken,
    ) -> (Report, Seen) {
        let program = self.program;
        let path = self.path(program.name());
        let found = Installed::find(program, Some(&path), OsStr::new("")).unwrap();
        let harness = Harness::new(Setup {
            program,
            installed: found,
            folder: self.folder.path().to_owned(),
            project: Project::Plain,
            environment: Vec::new(),
            model: None,
            approval: ApprovalMode::Default,
            max_turns: None,
            reasks: 1,
            arguments: Vec::new(),
            hooks: Vec::new(),
            guard: Some(env!("CARGO_BIN_EXE_airtight-sandbox").into()),
            deadlines: self.deadlines.clone(),
        });
        let schema = json!({
            "type": "object",
            "properties": { "answer": { "type": "integer" } },
            "required": ["answer"],
            "additionalProperties": false,
        });
        let run = Run::new(Job {
            contract: Some(Arc::new(Contract::compile(schema).unwrap())),
            dialect: Traits::of(program).dialect,
            model: program.name().to_owned(),
            mode: Traits::of(program).mode,
            system: None,
            prompt: "What is the answer?".to_owned(),
            tools: Vec::new(),
            terminal: Terminal::Offered,
            policy: self.policy.clone(),
            price: None,
            account: Traits::of(program).account,
            source: None,
            check: None,
            extractor: None,
        });
        let agent = Agent::new(Provider::Harness(harness), Toolbox::default(), Hooks::default());
        let report = agent.drive(run.unwrap(), &mut seen, interrupt).await;
        (report, seen)
    }
}

pub(crate) fn value(report: &Report) -> Option<String> {
    report.value.as_ref().map(airtight_core::Document::to_compact)
}

/// What a model says that has a command run, and what it is told then.
pub(crate) const COMMAND: [&str; 2] = [
    r#"{"type":"assistant","session_id":"s1","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}],"usage":{"input_tokens":10,"output_tokens":5}}}"#,
    r#"{"type":"user","session_id":"s1","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}}"#,
];

/// What a model says that answers.
pub(crate) const ACCEPTED: &str = r#"{"type":"assistant","session_id":"s1","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"StructuredOutput","input":{"answer":42}}],"usage":{"input_tokens":10,"output_tokens":5}}}"#;
