//! Streams of the real programs: what is read, and what it comes to.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use test_case::test_case;

use super::{Decoder, Ended, Event, Exit, Heuristics, Program, Record};
use crate::chunks::chunks;
use crate::page::repository;

/// Reads a stream in chunks of these sizes, again and again; whole if there are none.
pub(super) fn read(mut decoder: Decoder, bytes: &[u8], sizes: &[usize]) -> (Vec<Event>, Record) {
    let mut events = Vec::new();
    for chunk in chunks(bytes, sizes) {
        events.extend(decoder.push(chunk));
    }
    let Ended { events: last, record } = decoder.finish(Exit::Unknown);
    events.extend(last);
    (events, record)
}

/// Returns everything that is told of a stream.
pub(super) fn told(decoder: Decoder, bytes: &[u8], sizes: &[usize]) -> String {
    let (events, record) = read(decoder, bytes, sizes);
    let mut lines: Vec<String> =
        events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    lines.push(serde_json::to_string(&record).unwrap());
    lines.join("\n")
}

/// Returns the streams of a program, by name.
pub(super) fn streams(program: Program) -> Vec<(String, Vec<u8>)> {
    let folder = repository().join("fixtures/transcripts").join(program.name());
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

fn stream(program: Program, name: &str) -> Record {
    let streams = streams(program);
    let (_, bytes) = streams.iter().find(|(found, _)| found == name).unwrap();
    read(Decoder::default(), bytes, &[]).1
}

fn show(bytes: &[u8]) -> String {
    let (events, record) = read(Decoder::default(), bytes, &[]);
    let events: Vec<String> =
        events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    format!("{}\n\n{}", events.join("\n"), serde_json::to_string_pretty(&record).unwrap())
}

#[test_case(Program::Claude)]
#[test_case(Program::Codex)]
#[test_case(Program::Qwen)]
#[test_case(Program::Gemini)]
#[test_case(Program::Opencode)]
fn a_stream_is_read_as_it_is_meant(program: Program) {
    for (name, bytes) in streams(program) {
        let shown = show(&bytes);
        assert!(shown.contains(&format!("\"program\": \"{}\"", program.name())), "{name}");
        assert_snapshot!(format!("{}.{name}", program.name()), shown);
    }
}

#[test]
fn the_payload_of_a_lost_result_is_that_of_the_call_that_counts() {
    let value = |program, name| stream(program, name).payload.unwrap().value.get().to_owned();
    assert_eq!(value(Program::Claude, "lost_result"), "{\"answer\":42.5}");
    assert_eq!(value(Program::Qwen, "retried"), "{\"answer\":42}");
}

#[test]
fn doubts_can_be_switched_off() {
    let (_, bytes) = streams(Program::Claude).into_iter().find(|(it, _)| it == "question").unwrap();
    let decoder = Decoder::default().with_heuristics(Heuristics::Off);
    let record = read(decoder, &bytes, &[]).1;
    assert!(record.succeeded_cleanly);
    assert_eq!((record.error_category, record.warnings), (None, Vec::new()));
}

#[test]
fn text_that_was_retried_does_not_count() {
    let record = stream(Program::Codex, "reconnected");
    assert_eq!((record.output.as_str(), record.num_retries), ("{\"answer\":42}", 1));
    assert_eq!(stream(Program::Qwen, "retried").output, "");
}

#[test]
fn pieces_of_a_failed_gemini_are_no_answer() {
    let record = stream(Program::Gemini, "cut_and_retried");
    assert_eq!((record.answer, record.succeeded), (None, false));
    assert_eq!(record.output, "{\"answ{\"answer\":42}");
}

#[test]
fn a_result_alone_is_a_success_and_what_is_odd_about_it_is_told() {
    let record = stream(Program::Claude, "result_alone");
    assert_eq!((record.answer.as_deref(), record.succeeded), (Some("Forty-two."), true));
    assert_eq!(record.total_cost_usd, None);
    let told: Vec<&str> = record.warnings.iter().filter_map(|it| it.split(':').next()).collect();
    assert_eq!(told, ["huge-numbers", "odd-error-flag"]);
}

#[test]
fn an_array_of_lines_says_what_the_lines_say() {
    for (name, bytes) in streams(Program::Qwen).into_iter().chain(streams(Program::Codex)) {
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        // One of them is an array already.
        if lines.iter().any(serde_json::Value::is_array) {
            continue;
        }
        let stream: Vec<String> = lines.iter().map(serde_json::Value::to_string).collect();
        let array = serde_json::Value::from(lines);
        let expected = without_places(stream.join("\n").as_bytes());
        assert_eq!(without_places(array.to_string().as_bytes()), expected, "{name}");
        let pretty = serde_json::to_string_pretty(&array).unwrap();
        assert_eq!(without_places(pretty.as_bytes()), expected, "{name}");
    }
}

/// Returns what a stream says, wherever it stands there.
fn without_places(bytes: &[u8]) -> Vec<serde_json::Value> {
    let told = told(Decoder::default(), bytes, &[7, 100]);
    let mut lines: Vec<serde_json::Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.iter_mut().for_each(forget_places);
    lines
}

fn forget_places(value: &mut serde_json::Value) {
    if let Some(members) = value.as_object_mut() {
        for place in ["at", "result_at", "raw_lines", "lines"] {
            members.remove(place);
        }
        members.values_mut().for_each(forget_places);
    }
}

#[test]
fn what_stands_in_a_document_is_found_there() {
    let (_, bytes) = streams(Program::Claude).into_iter().find(|(it, _)| it == "array").unwrap();
    let (events, record) = read(Decoder::default(), &bytes, &[]);
    let breaks = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
    assert_eq!(record.lines.total, breaks(&bytes));
    assert_eq!(record.lines.raw_messages, events.len() as u64);
    let at = record.result_at.unwrap();
    let start = usize::try_from(at.offset).unwrap();
    let found = &bytes[start..start + usize::try_from(at.length).unwrap()];
    let found: serde_json::Value = serde_json::from_slice(found).unwrap();
    assert_eq!(found["type"], "result");
    assert_eq!(at.line, breaks(&bytes[..start]) + 1);
}
