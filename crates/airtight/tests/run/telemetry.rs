//! Spans for a collector: what they say, what they never say, and that nobody waits for them.

use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use airtight_fake::Turn;
use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use serde_json::json;

use crate::stage::{KEY, Said, Stage};

/// What must not be exported, each said in another place.
const PROMPT: &str = "prompt-marker";
const PAYLOAD: &str = "payload-marker";
const REJECTED: &str = "rejected-marker";
const ARGUMENT: &str = "argument-marker";
const CONTENT: &str = "content-marker";
const INVENTED: &str = "invented_tool_marker";
const ERRAND: &str = "errand-marker";
const ANSWER: &str = "answer-marker";

/// How long an export may take, in milliseconds: longer than any test.
const AN_HOUR: &str = "3600000";

/// Takes whatever is exported to it.
struct Collector {
    address: SocketAddr,
    taken: Receiver<(HeaderMap, Bytes)>,
}

/// Whether a collector answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Temper {
    Answers,
    Hangs,
}

impl Collector {
    fn start(temper: Temper) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, taken) = channel();
        let take = move |headers: HeaderMap, body: Bytes| async move {
            sender.send((headers, body)).unwrap();
            if temper == Temper::Hangs {
                std::future::pending::<()>().await;
            }
        };
        let service = Router::new().route("/v1/traces", axum::routing::post(take));
        thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, service).await.unwrap();
            });
        });
        Self { address, taken }
    }

    /// Returns everything that was exported until now, in one piece.
    fn bytes(&self) -> Vec<u8> {
        self.taken.try_iter().flat_map(|(_, body)| body).collect()
    }
}

fn command(stage: &Stage, collector: SocketAddr) -> Command {
    let mut command = stage.command(&["run", "--json-schema", "review.json", PROMPT]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{collector}"));
    command
}

fn run(command: &mut Command) -> Said {
    command.output().unwrap().into()
}

/// Reads a file, calls a tool that is none, sends a subagent, is rejected once, and ends well.
fn eventful() -> Stage {
    let errand = json!({ "description": ERRAND, "prompt": ERRAND });
    let rejected = json!({ "summary": REJECTED, "score": 11 });
    let accepted = json!({ "summary": PAYLOAD, "score": 9 });
    Stage::new([
        Turn::call("read_file", json!({ "path": format!("{ARGUMENT}.txt") })).usage(100, 20),
        Turn::call(INVENTED, json!({ "x": ARGUMENT })),
        Turn::call("agent", errand),
        Turn::text(ANSWER),
        Turn::call("structured_output", rejected),
        Turn::call("structured_output", accepted),
    ])
    .with(&format!("{ARGUMENT}.txt"), CONTENT)
}

fn count(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).filter(|window| *window == part).count()
}

/// Returns how protobuf writes a field that holds bytes.
fn field(tag: u8, bytes: &[u8]) -> Vec<u8> {
    [&[tag, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

fn span(name: &str) -> Vec<u8> {
    field(0x2a, name.as_bytes())
}

fn text(key: &str, value: &str) -> Vec<u8> {
    let value = field(0x0a, value.as_bytes());
    [field(0x0a, key.as_bytes()), field(0x12, &value)].concat()
}

fn number(key: &str, value: u8) -> Vec<u8> {
    [field(0x0a, key.as_bytes()), field(0x12, &[0x18, value])].concat()
}

#[test]
fn spans_have_names_and_counts() {
    let (stage, collector) = (eventful(), Collector::start(Temper::Answers));
    let said = run(&mut command(&stage, collector.address));
    assert_eq!(said.code, 0, "{said:?}");
    let bytes = collector.bytes();
    let seen = |part: Vec<u8>| count(&bytes, &part);
    assert_eq!((seen(span("run")), seen(span("turn")), seen(span("tool"))), (2, 6, 3));
    for expected in [
        text("service.name", "airtight"),
        text("gen_ai.operation.name", "invoke_agent"),
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.provider.name", "anthropic"),
        text("gen_ai.request.model", "fake"),
        text("gen_ai.tool.name", "read_file"),
        text("gen_ai.tool.name", "agent"),
        text("gen_ai.tool.name", "_OTHER"),
        text("airtight.tool.status", "done"),
        text("airtight.tool.status", "failed"),
        text("airtight.run.mode", "auto"),
        text("airtight.run.outcome", "met"),
        text("airtight.run.rung", "re-ask"),
        number("airtight.run.attempts", 2),
        number("airtight.run.turns", 5),
        number("airtight.turn.number", 5),
        number("gen_ai.usage.input_tokens", 100),
        number("gen_ai.usage.output_tokens", 20),
        text("airtight.turn.stop", "tool_use"),
    ] {
        assert!(seen(expected.clone()) > 0, "{}", String::from_utf8_lossy(&expected));
    }
    assert_eq!(seen(text("gen_ai.output.type", "json")), 1, "only the user's run has it");
}

#[test]
fn nothing_that_was_said_is_exported_whatever_comes_of_the_run() {
    let cut =
        Turn::call("structured_output", json!({ "summary": PAYLOAD, "score": 9 })).cut_after(3);
    let refused = Turn::status(400).message(ANSWER);
    for (stage, code) in [
        (eventful(), 0),
        (Stage::new([Turn::text(PAYLOAD).forever()]), 1),
        (Stage::new([cut.forever()]), 3),
        (Stage::new([refused]), 3),
    ] {
        let collector = Collector::start(Temper::Answers);
        // Everything that is noted is noted, and still only spans are exported.
        let said = run(command(&stage, collector.address).env("AIRTIGHT_LOG", "trace"));
        assert_eq!(said.code, code, "{said:?}");
        let bytes = collector.bytes();
        assert!(count(&bytes, &span("run")) > 0);
        for secret in [PROMPT, PAYLOAD, REJECTED, ARGUMENT, CONTENT, INVENTED, ERRAND, ANSWER, KEY]
        {
            assert_eq!(count(&bytes, secret.as_bytes()), 0, "{secret}");
        }
    }
}

#[test]
fn the_headers_of_the_collector_are_sent_to_it_and_shown_to_nobody() {
    let shell = Turn::call("run_shell_command", json!({ "command": "env" }));
    let end = Turn::call("structured_output", json!({ "summary": "fine", "score": 9 }));
    let stage = Stage::new([shell, end]);
    let collector = Collector::start(Temper::Answers);
    let mut command = command(&stage, collector.address);
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-auth=s3cret-header");
    command.args(["--approval-mode", "yolo", "--output-format", "stream-json"]);
    let said = run(&mut command);
    assert_eq!(said.code, 0, "{said:?}");
    let (headers, _) = collector.taken.try_recv().unwrap();
    assert_eq!(headers["x-auth"], "s3cret-header");
    assert!(!said.stdout.contains("s3cret-header"), "{}", said.stdout);
}

#[test]
fn a_collector_that_is_down_or_hangs_changes_nothing() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hanging = Collector::start(Temper::Hangs);
    let expected = run(&mut eventful().command(&["run", "--json-schema", "review.json", PROMPT]));
    for address in [nobody, hanging.address] {
        let said = run(command(&eventful(), address).env("OTEL_EXPORTER_OTLP_TIMEOUT", AN_HOUR));
        assert_eq!(said, expected);
    }
    assert!(!hanging.bytes().is_empty());
}

#[test]
fn what_is_switched_off_or_wrong_exports_nothing_and_changes_nothing() {
    let collector = Collector::start(Temper::Answers);
    for (name, value) in [("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_TRACES_EXPORTER", "none")] {
        let said = run(command(&eventful(), collector.address).env(name, value));
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{name}");
        assert!(collector.bytes().is_empty(), "{name}");
    }
}

#[test]
fn a_collector_that_cannot_be_spoken_to_is_told_and_changes_nothing_else() {
    let collector = Collector::start(Temper::Answers);
    for (name, value) in
        [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "no url"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]
    {
        let said = run(command(&eventful(), collector.address).env(name, value));
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.stderr.contains("warning: spans cannot be exported"), "{said:?}");
        assert!(collector.bytes().is_empty(), "{name}");
    }
}

#[test]
fn the_answer_does_not_wait_for_the_collector() {
    let collector = Collector::start(Temper::Hangs);
    let stage = eventful();
    // Everything is exported at the end.
    let mut child = command(&stage, collector.address)
        .env("OTEL_EXPORTER_OTLP_TIMEOUT", AN_HOUR)
        .env("OTEL_BSP_SCHEDULE_DELAY", AN_HOUR)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    collector.taken.recv().unwrap();
    child.kill().unwrap();
    let said = child.wait_with_output().unwrap();
    let answer = String::from_utf8(said.stdout).unwrap();
    assert!(answer.contains(PAYLOAD), "{answer}");
}
