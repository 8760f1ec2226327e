//! What happens now, as it happens.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use airtight_fake::Turn;
use serde_json::{Value, json};

use crate::stage::{GOOD, Stage, chat, good};

/// A stream that is read message by message.
struct Viewer(BufReader<TcpStream>);

#[derive(Debug)]
struct Told {
    id: Option<i64>,
    event: String,
    data: Value,
}

impl Viewer {
    /// Begins to read; over HTTP/1.0, so that the stream has no frames but its own.
    fn open(stage: &Stage, path: &str, headers: &str) -> Self {
        let mut stream = stage.connect();
        let text = format!("GET {path} HTTP/1.0\r\nHost: {}\r\n{headers}\r\n", stage.address);
        stream.write_all(text.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Self(reader)
    }

    /// Returns the next message; none at the end.
    fn next(&mut self) -> Option<Told> {
        let mut told = Told { id: None, event: String::new(), data: Value::Null };
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(id) = line.strip_prefix("id: ") {
                told.id = Some(id.parse().unwrap());
            } else if let Some(event) = line.strip_prefix("event: ") {
                event.clone_into(&mut told.event);
            } else if let Some(data) = line.strip_prefix("data: ") {
                told.data = serde_json::from_str(data).unwrap();
            } else if line.is_empty() && told.data != Value::Null {
                return Some(told);
            }
        }
    }

    fn rest(mut self) -> Vec<Told> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

fn numbers(told: &[Told]) -> Vec<i64> {
    told.iter().filter_map(|told| told.id).collect()
}

fn kinds(told: &[Told]) -> Vec<&str> {
    let named = |told: &'_ Told| told.id.is_some();
    told.iter().filter(|it| named(it)).filter_map(|it| it.data["kind"].as_str()).collect()
}

#[test]
fn a_run_of_the_gateway_is_followed_while_it_goes_on() {
    let stage = Stage::new([Turn::text(GOOD).chunk_chars(7).gate(2, "held").usage(100, 20)]);
    let mut everything = Viewer::open(&stage, "/api/v1/events/stream", "");
    assert_eq!(everything.next().unwrap().data, json!({ "open": [] }));
    let asking = std::thread::scope(|scope| {
        let asking = scope.spawn(|| stage.post("/v1/chat/completions", &chat("airtight")));
        let began = everything.next().unwrap();
        assert_eq!((began.event.as_str(), &began.data["state"]), ("run", &json!("open")));
        let id = began.data["id"].as_str().unwrap().to_owned();
        let mut viewer = Viewer::open(&stage, &format!("/api/v1/runs/{id}/events"), "");
        assert_eq!(viewer.next().unwrap().data["state"], "open");
        let first = viewer.next().unwrap();
        assert_eq!((first.id, &first.data["body"]["subtype"]), (Some(1), &json!("init")));
        stage.fake.gate("held").open();
        let rest = viewer.rest();
        assert_eq!(kinds(&rest), ["assistant", "attempt"]);
        let end = rest.last().unwrap();
        assert_eq!((end.event.as_str(), &end.data["outcome"]), ("end", &json!("met")));
        // CO-14: whoever reads now finds what was told.
        let shown = stage.get(&format!("/api/v1/runs/{id}"), "");
        assert_eq!(shown.body["run"]["state"], "done");
        assert_eq!(shown.body["parsedOutput"], json!({ "summary": "fine", "score": 9 }));
        let ended = everything.next().unwrap();
        assert_eq!((&ended.data["id"], &ended.data["state"]), (&json!(id), &json!("done")));
        asking.join().unwrap()
    });
    assert_eq!(asking.status, 200);
}

#[test]
fn a_run_of_another_process_is_followed_and_gone_on_with() {
    let stage = Stage::new([Turn::text(GOOD).chunk_chars(7).gate(2, "held").usage(100, 20)]);
    let mut everything = Viewer::open(&stage, "/api/v1/events/stream", "");
    assert_eq!(everything.next().unwrap().event, "snapshot");
    let run = stage.command(&["run", "--json-schema", "review", "Review this."]).spawn().unwrap();
    let id = everything.next().unwrap().data["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/runs/{id}/events");
    let mut viewer = Viewer::open(&stage, &path, "");
    assert_eq!(viewer.next().unwrap().event, "state");
    assert_eq!(viewer.next().unwrap().id, Some(1));
    drop(viewer);
    stage.fake.gate("held").open();
    assert!(run.wait_with_output().unwrap().status.success());
    let resumed = Viewer::open(&stage, &path, "Last-Event-ID: 1\r\n").rest();
    let whole = Viewer::open(&stage, &format!("{path}?after=0"), "").rest();
    assert_eq!(numbers(&resumed), numbers(&whole)[1..]);
    assert_eq!(kinds(&whole), ["init", "assistant", "attempt"]);
    let listed = stage.get(&format!("{path}/list"), "");
    let listed: Vec<i64> = listed.body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["number"].as_i64().unwrap())
        .collect();
    assert_eq!(listed, numbers(&whole));
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let stage = Stage::new([good().forever()]);
    assert_eq!(stage.get("/api/v1/runs/nobody/events", "").problem(), (404, "not_found"));
    let run = stage.post("/v1/chat/completions", &chat("airtight"));
    let path = format!("/api/v1/runs/{}/events", run.header("airtight-run").unwrap());
    for query in ["?after=-1", "?after=x", "?after=9223372036854775807", "?before=1"] {
        let refused = stage.get(&format!("{path}{query}"), "");
        assert_eq!(refused.problem(), (400, "invalid_request"), "{query}");
    }
    let refused = stage.get(&path, "Last-Event-ID: -7\r\n");
    assert_eq!(refused.problem(), (400, "invalid_request"));
}

/// The server ends at once, whoever looks.
#[test]
fn viewers_do_not_hold_up_the_end_of_the_server() {
    let stage = Stage::new([]);
    let mut viewer = Viewer::open(&stage, "/api/v1/events/stream", "");
    assert_eq!(viewer.next().unwrap().event, "snapshot");
    stage.signal("TERM");
    assert!(viewer.next().is_none());
    let (code, _, _) = stage.end();
    assert_eq!(code, Some(0));
}
