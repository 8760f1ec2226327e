//! Whole runs on a stand-in for claude that misbehaves as the real one was seen to, and worse.

// What is left behind is read from `/proc`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use airtight_agent::provider::Provider;
use airtight_agent::{
    Agent, ApprovalMode, Deadlines, Event, GUARD_ARGUMENT, Harness, Hooks, Installed, Observer,
    Project, Setup, Toolbox, Traits,
};
use airtight_core::Contract;
use airtight_core::run::{
    Account, Claim, Ending, EventKind, Job, Mode, Outcome, Policy, Report, Run, Terminal,
};
use airtight_core::transcript::{Category, Event as Told, Program, Record};
use airtight_fake::{Deed, Matter, Variables};
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const INIT: &str =
    r#"{"type":"system","subtype":"init","session_id":"s1","tools":["StructuredOutput"]}"#;

fn result(members: &str) -> String {
    format!(r#"{{"type":"result","session_id":"s1","num_turns":1,{members}}}"#)
}

fn success(payload: &str) -> String {
    let members = r#""subtype":"success","is_error":false,"stop_reason":"tool_use","#;
    let usage = r#""usage":{"input_tokens":10,"output_tokens":5},"total_cost_usd":0.25"#;
    result(&format!(r#"{members}"structured_output":{payload},{usage}"#))
}

fn say(line: &str) -> Deed {
    Deed::Say { text: format!("{line}\n") }
}

/// A folder with a stand-in called `claude`.
struct Scene {
    folder: TempDir,
    deadlines: Deadlines,
    policy: Policy,
}

/// What happened.
#[derive(Default)]
struct Seen {
    records: Vec<Record>,
    raw: usize,
    /// Cancelled when the program says that it is done.
    at_result: CancellationToken,
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
    fn new(deeds: &[Deed]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tests = std::env::current_exe().unwrap();
        let standin = tests.parent().unwrap().parent().unwrap().join("examples/standin");
        std::os::unix::fs::symlink(standin, folder.path().join("claude")).unwrap();
        let script = serde_json::to_string(deeds).unwrap();
        std::fs::write(folder.path().join("claude.json"), script).unwrap();
        let deadlines = Deadlines { exit: Duration::from_millis(200), ..Deadlines::default() };
        Self { folder, deadlines, policy: Policy { reasks: 1, ..Policy::default() } }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn run(&self) -> (Report, Seen) {
        self.run_until(CancellationToken::new()).await
    }

    async fn run_until(&self, interrupt: CancellationToken) -> (Report, Seen) {
        self.run_seen_by(Seen::default(), interrupt).await
    }

    async fn run_seen_by(&self, mut seen: Seen, interrupt: CancellationToken) -> (Report, Seen) {
        let program = Program::Claude;
        let found = Installed::find(program, Some(&self.path("claude")), OsStr::new("")).unwrap();
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
            model: "claude".to_owned(),
            mode: Mode::Tool,
            system: None,
            prompt: "What is the answer?".to_owned(),
            tools: Vec::new(),
            terminal: Terminal::Offered,
            policy: self.policy.clone(),
            price: None,
            account: Account::Driver,
            source: None,
            check: None,
            extractor: None,
        });
        let agent = Agent::new(Provider::Harness(harness), Toolbox::default(), Hooks::default());
        let report = agent.drive(run.unwrap(), &mut seen, interrupt).await;
        (report, seen)
    }
}

fn value(report: &Report) -> Option<String> {
    report.value.as_ref().map(airtight_core::Document::to_compact)
}

#[tokio::test]
async fn c1_a_result_counts_although_the_program_never_exits() {
    let deeds = [say(INIT), say(&success(r#"{"answer":42}"#)), Deed::Stall];
    let (report, seen) = Scene::new(&deeds).run().await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    let warnings = &seen.records[0].warnings;
    assert!(warnings.iter().any(|it| it.starts_with("exit-forced")), "{warnings:?}");
    assert_eq!(report.cost.map(airtight_core::price::Cost::usd), Some(0.25));
}

/// A program that has answered, and would stay for a minute.
fn lingering() -> Scene {
    let mut scene = Scene::new(&[say(INIT), say(&success(r#"{"answer":42}"#)), Deed::Stall]);
    scene.deadlines.exit = Duration::from_mins(1);
    scene
}

fn is_forced(seen: &Seen) -> bool {
    seen.records.iter().flat_map(|it| &it.warnings).any(|it| it.starts_with("exit-forced"))
}

#[tokio::test]
async fn c1_a_result_counts_although_time_is_up_before_the_program_exits() {
    let mut scene = lingering();
    scene.policy.budget.wall = Some(Duration::from_secs(3));
    let (report, seen) = scene.run().await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    assert!(is_forced(&seen), "{:?}", seen.records);
}

#[tokio::test]
async fn c1_a_result_counts_although_the_run_is_interrupted_before_the_program_exits() {
    let interrupt = CancellationToken::new();
    let seen = Seen { at_result: interrupt.clone(), ..Seen::default() };
    let (report, seen) = lingering().run_seen_by(seen, interrupt).await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    assert!(is_forced(&seen), "{:?}", seen.records);
}

/// The states of all guards that this process started and has not waited for.
fn guards() -> Vec<String> {
    let us = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let stats = processes.filter_map(|it| std::fs::read_to_string(it.path().join("stat")).ok());
    stats
        .filter_map(|stat| {
            let (name, rest) = stat.rsplit_once(") ")?;
            let mut fields = rest.split(' ');
            let (state, parent) = (fields.next()?, fields.next()?);
            // The kernel keeps fifteen characters of a name.
            (name.ends_with("(airtight-sandbo") && parent == us).then(|| state.to_owned())
        })
        .collect()
}

#[tokio::test]
async fn guards_are_dismissed_with_their_programs() {
    let scene = Scene::new(&[say(INIT), say(&success(r#"{"answer":42}"#))]);
    for _ in 0..3 {
        let (report, _) = scene.run().await;
        assert_eq!(report.outcome, Outcome::Met);
    }
    // The last one is waited for when the next is dismissed, and is dead until then.
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while guards().iter().any(|state| state != "Z") {
        assert!(std::time::Instant::now() < until, "{:?}", guards());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (report, _) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Met);
    assert!(guards().len() <= 1, "{:?}", guards());
}

#[test]
fn a_program_that_was_being_started_when_its_keeper_was_killed_is_ended() {
    let mark = format!("{}-test", std::process::id());
    let mut guard = std::process::Command::new(env!("CARGO_BIN_EXE_airtight-sandbox"))
        .args([GUARD_ARGUMENT, &mark])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut program = std::process::Command::new("sleep")
        .arg("300")
        .env("AIRTIGHT_CHILD", &mark)
        .spawn()
        .unwrap();
    // The keeper is gone, and has not told who leads.
    drop(guard.stdin.take());
    assert!(guard.wait().unwrap().success());
    let ended = program.try_wait().unwrap();
    program.kill().unwrap();
    assert!(ended.is_some_and(|status| !status.success()), "{ended:?}");
}

#[tokio::test]
async fn c2_an_exit_without_a_result_is_no_success() {
    for code in [0, 1] {
        let deeds = [say(INIT), Deed::Warn { text: "out of luck".to_owned() }, Deed::Exit { code }];
        let (report, _) = Scene::new(&deeds).run().await;
        let error = report.error.unwrap().to_string();
        assert_eq!(report.outcome, Outcome::Harness);
        assert!(error.contains(&code.to_string()) && error.contains("out of luck"), "{error}");
    }
}

#[tokio::test]
async fn c2_a_bad_exit_after_a_valid_result_is_a_warning() {
    let deeds = [say(INIT), say(&success(r#"{"answer":42}"#)), Deed::Exit { code: 1 }];
    let (report, seen) = Scene::new(&deeds).run().await;
    assert_eq!(report.outcome, Outcome::Met);
    let warnings = &seen.records[0].warnings;
    assert!(warnings.iter().any(|it| it.starts_with("exit-code: 1")), "{warnings:?}");
}

#[tokio::test]
async fn c2_an_error_with_exit_0_is_an_error() {
    let members = r#""subtype":"success","is_error":true,"api_error_status":401,"result":"no key""#;
    let deeds = [say(INIT), say(&result(members)), Deed::Exit { code: 0 }];
    let (report, _) = Scene::new(&deeds).run().await;
    assert_eq!(report.outcome, Outcome::Auth);
}

#[tokio::test]
async fn c3_what_a_program_leaves_running_is_gone_when_the_run_is_over() {
    let grandchild = [
        Deed::LeaveSession,
        Deed::CatchTerm { say: String::new(), exit: None },
        Deed::Note { what: Matter::Pid, path: "grandchild".into() },
        Deed::Stall,
    ];
    let deeds = [
        say(INIT),
        Deed::Start { deeds: grandchild.to_vec(), variables: Variables::Kept },
        Deed::Await { path: "grandchild".into() },
        say(&success(r#"{"answer":42}"#)),
    ];
    let scene = Scene::new(&deeds);
    let (report, _) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Met);
    let pid = std::fs::read_to_string(scene.path("grandchild")).unwrap();
    assert!(!std::path::Path::new("/proc").join(&pid).exists(), "{pid} is still there");
}

#[tokio::test]
async fn c5_silence_says_which_deadline_passed() {
    let mut scene = Scene::new(&[Deed::Stall]);
    scene.deadlines.first_line = Duration::from_millis(200);
    let (report, _) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Harness);
    let error = report.error.unwrap();
    assert!(error.message.contains("it said nothing"), "{error}");
    assert_eq!(error.advice, Some(airtight_core::Advice::WaitLonger));
}

#[tokio::test]
async fn c5_an_accepted_answer_counts_although_no_result_follows() {
    let mut scene = Scene::new(&[say(INIT), say(ACCEPTED), say(COMMAND[1]), Deed::Stall]);
    scene.deadlines.idle = Duration::from_millis(200);
    let (report, seen) = scene.run().await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    let record = &seen.records[0];
    assert_eq!((&record.error, record.error_category), (&None, Some(Category::Timeout)));
}

#[tokio::test]
async fn c5_an_answer_counts_that_is_told_with_an_error_after_the_deadline() {
    let members = r#""subtype":"error_during_execution","is_error":true,"errors":["aborted"]"#;
    let last = result(&format!(r#"{members},"structured_output":{{"answer":42}}"#));
    let tell = Deed::CatchTerm { say: format!("{last}\n"), exit: Some(143) };
    let mut scene = Scene::new(&[tell, say(INIT), Deed::Stall]);
    scene.deadlines.idle = Duration::from_millis(200);
    let (report, seen) = scene.run().await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    assert_eq!(seen.records[0].error.as_deref(), Some("aborted"));
}

#[tokio::test]
async fn c5_a_program_that_tries_again_for_ever_is_ended() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"error":"overloaded"}"#;
    let deeds: Vec<Deed> =
        [INIT].into_iter().chain([retry; 20]).map(say).chain([Deed::Stall]).collect();
    let (report, _) = Scene::new(&deeds).run().await;
    assert_eq!(report.outcome, Outcome::Provider);
    let error = report.error.unwrap().to_string();
    assert!(error.contains("20 times in a row") && error.contains("overloaded"), "{error}");
}

#[tokio::test]
async fn c6_what_is_no_line_of_the_stream_is_kept_counted_and_passed_over() {
    let noise =
        "\u{feff}\u{1b}[1mUpdate available\u{1b}[0m\r\n\n\0\nnull\n[1]\n{\"a\":1}{\"b\":2}\n";
    let deeds =
        [Deed::Say { text: noise.to_owned() }, say(INIT), say(&success(r#"{"answer":42}"#))];
    let (report, seen) = Scene::new(&deeds).run().await;
    assert_eq!(report.outcome, Outcome::Met);
    let lines = seen.records[0].lines;
    assert_eq!((lines.total, lines.blank, lines.raw_messages, seen.raw), (8, 1, 2, 6));
}

#[tokio::test]
async fn c9_lines_of_a_kind_that_is_not_known_are_kept() {
    let deeds =
        [say(INIT), say(r#"{"type":"hologram","version":9}"#), say(&success(r#"{"answer":42}"#))];
    let (report, seen) = Scene::new(&deeds).run().await;
    assert_eq!((report.outcome, report.unknown_events, seen.raw), (Outcome::Met, 1, 1));
}

#[tokio::test]
async fn a_success_that_breaks_the_contract_is_told_apart_and_asked_again() {
    let deeds = [
        Deed::Note { what: Matter::Arguments, path: "arguments".into() },
        Deed::Note { what: Matter::Input, path: "input".into() },
        say(INIT),
        say(&success(r#"{"answer":"forty-two"}"#)),
    ];
    let scene = Scene::new(&deeds);
    let (report, seen) = scene.run().await;
    assert_eq!(report.outcome, Outcome::AttemptsExhausted);
    let attempts: Vec<_> = report.attempts.iter().map(|it| (it.ending.clone(), it.claim)).collect();
    assert_eq!(attempts, vec![(Ending::Rejected, Claim::Success); 2]);
    // The second call goes on with the session of the first, and says what is wrong.
    let arguments = std::fs::read_to_string(scene.path("arguments")).unwrap();
    assert!(arguments.contains("--resume\ns1"), "{arguments}");
    let input = std::fs::read_to_string(scene.path("input")).unwrap();
    assert!(input.contains("/answer") && input.contains("`StructuredOutput`"), "{input}");
    assert_eq!(seen.records.len(), 2);
    // Claude counts the cost of a session, so the second call cost nothing more.
    assert_eq!(report.cost.map(airtight_core::price::Cost::usd), Some(0.25));
}

#[tokio::test]
async fn calls_over_the_budget_end_the_program() {
    let call = r#"{"type":"assistant","session_id":"s1","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}"#;
    let mut scene = Scene::new(&[say(INIT), say(call), Deed::Stall]);
    scene.policy.budget.tool_calls = Some(0);
    let (report, seen) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Budget);
    assert!(seen.records[0].warnings.iter().any(|it| it.starts_with("cancelled")));
}

/// What a model says that has a command run, and what it is told then.
const COMMAND: [&str; 2] = [
    r#"{"type":"assistant","session_id":"s1","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}],"usage":{"input_tokens":10,"output_tokens":5}}}"#,
    r#"{"type":"user","session_id":"s1","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}}"#,
];

/// What a model says that answers.
const ACCEPTED: &str = r#"{"type":"assistant","session_id":"s1","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"StructuredOutput","input":{"answer":42}}],"usage":{"input_tokens":10,"output_tokens":5}}}"#;

#[tokio::test]
async fn tokens_over_the_budget_end_the_program() {
    let mut scene = Scene::new(&[say(INIT), say(COMMAND[0]), say(COMMAND[1]), Deed::Stall]);
    scene.policy.budget.tokens = Some(15);
    let (report, _) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Budget);
    assert_eq!((report.usage.input_tokens, report.usage.output_tokens), (Some(10), Some(5)));
    // Nobody knows what else it used.
    assert_eq!(report.cost, None);
}

#[tokio::test]
async fn an_answer_counts_that_used_up_the_budget() {
    let result = success(r#"{"answer":42}"#);
    let mut scene = Scene::new(&[say(INIT), say(ACCEPTED), say(COMMAND[1]), say(&result)]);
    scene.policy.budget.tokens = Some(15);
    let (report, _) = scene.run().await;
    assert_eq!((report.outcome, report.usage.total()), (Outcome::Met, 15));
}

#[tokio::test]
async fn claude_is_told_what_is_left_of_the_budget_for_cost() {
    let deeds = [
        Deed::Note { what: Matter::Arguments, path: "arguments".into() },
        say(INIT),
        say(&success(r#"{"answer":"forty-two"}"#)),
    ];
    for (reasks, left) in [(0, "--max-budget-usd=1\n"), (1, "--max-budget-usd=0.75\n")] {
        let mut scene = Scene::new(&deeds);
        scene.policy.reasks = reasks;
        scene.policy.budget.cost = airtight_core::price::Cost::from_usd(1.0);
        scene.run().await;
        let arguments = std::fs::read_to_string(scene.path("arguments")).unwrap();
        assert!(format!("{arguments}\n").contains(left), "{arguments}");
    }
}

#[tokio::test]
async fn what_was_used_until_an_interrupt_is_told() {
    let scene = Scene::new(&[
        say(INIT),
        say(COMMAND[0]),
        Deed::Note { what: Matter::Pid, path: "spoke".into() },
        Deed::Stall,
    ]);
    let interrupt = CancellationToken::new();
    let (token, spoke) = (interrupt.clone(), scene.path("spoke"));
    let soon = async move {
        while !spoke.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        token.cancel();
    };
    let ((report, seen), ()) = tokio::join!(scene.run_until(interrupt), soon);
    assert_eq!((report.outcome, report.cost), (Outcome::Interrupted, None));
    assert_eq!((report.usage.input_tokens, report.usage.output_tokens), (Some(10), Some(5)));
    assert_eq!(seen.records[0].input_tokens, 10);
}

#[tokio::test]
async fn an_interrupt_ends_the_program_and_the_run() {
    let scene = Scene::new(&[say(INIT), Deed::Stall]);
    let interrupt = CancellationToken::new();
    let token = interrupt.clone();
    let soon = async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        token.cancel();
    };
    let ((report, seen), ()) = tokio::join!(scene.run_until(interrupt), soon);
    assert_eq!(report.outcome, Outcome::Interrupted);
    assert_eq!(seen.records.len(), 1);
}
