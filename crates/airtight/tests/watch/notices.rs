//! What a watch tells, on stdout and to those who are to be told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Child;

use airtight_fake::Turn;
use airtight_store::NotificationState;
use serde_json::{Value, json};

use crate::estate::{Estate, answer, report, shell};

/// Reads until so many chains have ended.
pub(crate) fn await_ended_chains(child: &mut Child, count: usize) {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let ended = lines.filter(|line| {
        let notice: Value = serde_json::from_str(line.as_ref().unwrap()).unwrap();
        notice["type"] == "chain_ended"
    });
    assert_eq!(ended.take(count).count(), count);
}

/// CO-24: in a pipe, stdout is pure data, and what a session yields is told once, at its end.
#[test]
fn a_pipe_gets_one_object_a_line() {
    let estate = Estate::new([answer(report("healthy", false))]);
    let said = estate.once(&[]);
    let kinds: Vec<Value> = said.lines().iter().map(|line| line["type"].clone()).collect();
    let expected =
        ["leading", "chain_began", "session_began", "event", "session_ended", "chain_ended"];
    assert_eq!(kinds, expected.map(Value::from));
    assert!(said.lines().iter().all(|line| line["version"] == 1));
    assert_eq!(said.stderr, "");
}

/// CO-95: the first chain of a day queues a digest, the second does not.
#[test]
fn a_digest_is_sent_once_a_day() {
    let estate = Estate::new([answer(report("healthy", false)), answer(report("healthy", false))])
        .set("---\n[notify.file]\ncommand = \"cat >> told.jsonl\"\n");
    assert_eq!(estate.once(&[]).code, 0);
    assert_eq!(estate.once(&[]).code, 0);
    let titles: Vec<_> = estate.notifications().into_iter().map(|it| it.title).collect();
    assert_eq!(titles, ["Daily digest: all 1 services are healthy"]);
    let told = std::fs::read_to_string(estate.path("told.jsonl")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["category"], &told["version"]), (&json!("daily_digest"), &json!(1)));
}

/// CO-108: a target that fails blocks nothing, and is on record.
#[test]
fn a_target_that_fails_is_on_record() {
    let estate = Estate::new([answer(report("healthy", false))])
        .set("---\n[notify.dead]\nwebhook = \"http://127.0.0.1:1/s3cret-address\"\n");
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let queued = estate.notifications().remove(0);
    assert_eq!((queued.state, queued.attempts), (NotificationState::Queued, 1));
    assert!(queued.error.unwrap().contains("cannot be reached"));
    assert!(!said.stdout.contains("s3cret-address"), "{said:?}");
}

/// Tier 1 tells of services; when it keeps failing itself, people are told, once.
#[test]
fn five_failures_of_the_first_tier_in_a_row_are_told_once() {
    let estate = Estate::new([Turn::status(500).forever()])
        .set("---\n[notify.file]\ncommand = \"cat >> told.jsonl\"\n");
    for _ in 0..6 {
        assert_eq!(estate.once(&[]).code, 1);
    }
    let is_alarm = |message: &str| message.starts_with("tier 1 failed 5 times in a row");
    let alarms: Vec<_> =
        estate.events().into_iter().filter(|event| is_alarm(&event.message)).collect();
    let [alarm] = &alarms[..] else { panic!("{alarms:?}") };
    assert_eq!((alarm.level.as_str(), alarm.origin.as_str()), ("critical", "watch"));
    let told: Vec<_> = estate.notifications().into_iter().filter(|it| is_alarm(&it.body)).collect();
    let [told] = &told[..] else { panic!("{told:?}") };
    assert_eq!(told.category, "human_attention");
    assert_eq!(told.title, "Needs human attention: nobody is looking");
}

/// CO-92, CO-108: what is refused again and again is an event each time, and told once.
#[test]
fn co_108_the_same_cause_is_told_once() {
    let restart = |n: u32| shell(&format!("echo {n}; docker restart web"));
    let turns = (1..=6).map(restart).chain([answer(report("down", false))]);
    let estate = Estate::new(turns.collect::<Vec<_>>())
        .set("deny = []\n---\n[notify.file]\ncommand = \"cat >> told.jsonl\"\n")
        .with("stubborn-web", "")
        .break_web();
    assert_eq!(estate.once(&["--tier", "3", "--prompt", "Repair web"]).code, 0);
    let is_refused = |message: &str| message.starts_with("cooldown: no restart of web");
    assert_eq!(estate.events().iter().filter(|it| is_refused(&it.message)).count(), 4);
    assert_eq!(estate.notifications().iter().filter(|it| is_refused(&it.body)).count(), 1);
}

/// A webhook gets what Slack takes.
#[test]
fn a_webhook_gets_what_it_takes() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let told = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut text = Vec::new();
        while !String::from_utf8_lossy(&text).trim_end().ends_with('}') {
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).unwrap();
            assert_ne!(count, 0, "it is told whole");
            text.extend_from_slice(&buffer[..count]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
        String::from_utf8(text).unwrap()
    });
    let estate = Estate::new([answer(report("healthy", false))])
        .set(&format!("---\n[notify.chat]\nwebhook = \"{url}\"\nformat = \"slack\"\n"));
    assert_eq!(estate.once(&[]).code, 0);
    let told = told.join().unwrap();
    let body: Value = serde_json::from_str(told.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert!(body["text"].as_str().unwrap().contains("Daily digest"), "{body}");
    assert_eq!(estate.notifications()[0].state, NotificationState::Sent);
}

/// CO-108: a target that hangs holds up no other, and that it was cut off is on record.
#[test]
fn co_108_a_target_that_hangs_holds_up_no_other() {
    let estate = Estate::new([answer(report("healthy", false))]).set(
        "---\n[notify.a-hung]\ncommand = \"sleep 60\"\n\
         [notify.b-file]\ncommand = \"cat >> told.jsonl\"\n",
    );
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let [hung, told] = &estate.notifications()[..] else { panic!("two are told") };
    assert_eq!((hung.state, hung.attempts), (NotificationState::Queued, 1));
    assert!(hung.error.as_ref().unwrap().contains("when the watch ended"), "{hung:?}");
    assert_eq!((told.state, told.attempts), (NotificationState::Sent, 1));
    assert!(estate.path("told.jsonl").is_file());
}

/// CO-108: tries are a minute apart, however much happens in between.
#[test]
fn co_108_a_target_that_fails_is_not_tried_again_at_once() {
    let estate = Estate::new([answer(report("down", true))])
        .set("max_tier = 1\n---\n[notify.dead]\ncommand = \"echo x >> tries; exit 1\"\n");
    assert_eq!(estate.once(&[]).code, 0);
    let attempts: Vec<_> =
        estate.notifications().iter().map(|it| (it.state, it.attempts)).collect();
    assert_eq!(attempts, [(NotificationState::Queued, 1); 2], "its attention and its digest");
    let tries = std::fs::read_to_string(estate.path("tries")).unwrap();
    assert_eq!(tries.lines().count(), 2);
}
