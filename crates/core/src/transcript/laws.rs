//! Laws of all decoders.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::fixtures::{read, streams, told};
use super::{Category, Decoder, Event, Exit, Parsed, Program, RawReason, Record};

fn record_of(lines: &[Value]) -> Record {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    read(Decoder::of(Program::Claude), lines.join("\n").as_bytes(), &[]).1
}

fn result(members: Value) -> Value {
    let mut line = json!({ "type": "result", "subtype": "success" });
    let Value::Object(members) = members else { panic!("{members}") };
    line.as_object_mut().unwrap().extend(members);
    line
}

fn said(content: Value) -> Value {
    let mut line = json!({ "type": "assistant", "message": {} });
    line["message"]["content"] = content;
    line
}

/// Returns everything that is told of a stream whose lines are parsed apart, once it is under way.
fn told_of_parts(bytes: &[u8]) -> String {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    let mut pieces = bytes.split_inclusive(|byte| *byte == b'\n');
    while !decoder.is_underway()
        && let Some(piece) = pieces.next()
    {
        events.extend(decoder.push(piece));
    }
    if decoder.is_underway() {
        let mut lines = decoder.hand_over_lines();
        let mut rest: Vec<_> = pieces.flat_map(|piece| lines.push(piece)).collect();
        rest.extend(lines.finish());
        events.extend(rest.into_iter().flat_map(|line| decoder.hear(Parsed::read(line))));
    }
    let ended = decoder.finish(Exit::Unknown);
    events.extend(ended.events);
    let mut lines: Vec<String> =
        events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    lines.push(serde_json::to_string(&ended.record).unwrap());
    lines.join("\n")
}

#[test]
fn lines_that_were_parsed_apart_say_the_same() {
    for program in Program::ALL {
        for (name, bytes) in streams(program) {
            assert_eq!(told_of_parts(&bytes), told(Decoder::default(), &bytes, &[]), "{name}");
        }
    }
}

#[test]
fn only_a_literal_true_is_an_error() {
    for flag in [json!(null), json!(false), json!("true"), json!(1)] {
        let record = record_of(&[result(json!({ "is_error": flag, "result": "429" }))]);
        assert_eq!((record.error, record.error_category), (None, None), "{flag}");
    }
    let record = record_of(&[result(json!({ "is_error": true, "result": "429" }))]);
    assert_eq!(record.error_category, Some(Category::RateLimit));
}

#[test]
fn an_error_without_words_says_so() {
    for text in [json!(null), json!(7), json!([])] {
        let record = record_of(&[result(json!({ "is_error": true, "result": text }))]);
        assert_eq!(record.error.as_deref(), Some("API error (no detail)"));
        assert_eq!(record.error_category, Some(Category::Api));
    }
}

#[test]
fn a_long_error_is_cut_after_it_was_classified() {
    let error = |text: &str| record_of(&[result(json!({ "is_error": true, "result": text }))]);
    let exact = "x".repeat(4_096);
    assert_eq!(error(&exact).error, Some(exact.clone()));
    let record = error(&format!("{exact} 429"));
    assert_eq!(record.error, Some(format!("{exact} ... (truncated)")));
    assert_eq!(record.error_category, Some(Category::RateLimit));
}

#[test]
fn a_later_success_does_not_undo_an_error() {
    let lines = [
        result(json!({ "is_error": true, "result": "boom" })),
        result(json!({ "is_error": false, "result": "fine", "structured_output": {} })),
    ];
    let record = record_of(&lines);
    assert_eq!(record.error.as_deref(), Some("boom"));
    assert_eq!((record.num_results, record.payload.is_some()), (2, true));
    assert!(!record.succeeded);
}

#[test]
fn the_first_init_decides_where_the_key_comes_from() {
    let init = |source: Value| json!({ "type": "system", "subtype": "init", "session_id": "s", "apiKeySource": source });
    let source = |lines: &[Value]| record_of(lines).api_key_source;
    assert_eq!(source(&[init(json!("none")), init(json!("claude.ai"))]).as_deref(), Some("none"));
    assert_eq!(source(&[init(json!(7)), init(json!("claude.ai"))]), None);
    assert_eq!(
        source(&[json!({ "type": "system", "subtype": "hook", "apiKeySource": "x" })]),
        None
    );
}

#[test]
fn texts_of_all_messages_are_joined_by_newlines() {
    let lines = [
        said(json!([{ "type": "text", "text": "a" }, { "type": "tool_use", "name": "Read" }])),
        said(json!([{ "type": "text" }, { "type": "thinking", "thinking": "hm" }])),
        said(json!("no list")),
        said(json!([{ "type": "text", "text": "b" }])),
    ];
    assert_eq!(record_of(&lines).output, "a\n\nno list\nb");
}

/// Tells what is doubtful about a run of so many turns that ended with a text and these calls.
fn doubt(turns: Value, text: &str, calls: &[Value]) -> Option<Category> {
    let mut content = vec![json!({ "type": "text", "text": text })];
    content.extend(calls.iter().cloned());
    let mut end = result(json!({ "stop_reason": "end_turn", "result": text }));
    end["num_turns"] = turns;
    let record = record_of(&[said(json!(content)), end]);
    assert_eq!(record.succeeded_cleanly, record.error_category.is_none());
    assert!(record.succeeded && record.error.is_none());
    record.error_category
}

fn call(id: &str, name: &str, input: Value) -> Value {
    let mut block = json!({ "type": "tool_use", "id": id, "name": name });
    block["input"] = input;
    block
}

#[test]
fn a_question_of_a_single_turn_is_doubtful() {
    let asks = call("1", "AskUserQuestion", json!({}));
    let hang = Some(Category::Interactive);
    assert_eq!(doubt(json!(1), "Which one? \n", &[]), hang);
    assert_eq!(doubt(json!(1), "I ask.", std::slice::from_ref(&asks)), hang);
    assert_eq!(doubt(json!(1), "Fine.", &[call("1", "Bash", json!({}))]), None);
    for turns in [json!(2), json!(null), json!("1"), json!(1.5)] {
        assert_eq!(doubt(turns, "Which one?", std::slice::from_ref(&asks)), None);
    }
}

#[test]
fn abandoned_background_work_is_doubtful() {
    let task = |id: &str, flag: Value| call(id, "Task", json!({ "run_in_background": flag }));
    let abandoned = Some(Category::BackgroundTask);
    assert_eq!(doubt(json!(9), "Still Waiting for it.", &[task("1", json!(true))]), abandoned);
    assert_eq!(doubt(json!(null), "It is in progress", &[task("1", json!(true))]), abandoned);
    assert_eq!(doubt(json!(2), "Done.", &[task("1", json!(true))]), abandoned);
    assert_eq!(
        doubt(json!(4), "Done.", &[1, 2, 3].map(|n| task(&n.to_string(), json!(true)))),
        abandoned
    );
    assert_eq!(doubt(json!(3), "Done.", &[task("1", json!(true))]), None);
    assert_eq!(doubt(json!(9), "discontinuing", &[task("1", json!(true))]), None);
    assert_eq!(doubt(json!(null), "Done.", &[task("1", json!(true))]), None);
    for flag in [json!(1), json!("true"), json!(false), json!(null)] {
        assert_eq!(doubt(json!(2), "in the background", &[task("1", flag)]), None);
    }
    let question = doubt(json!(1), "continuing?", &[task("1", json!(true))]);
    assert_eq!(question, Some(Category::Interactive));
}

#[test]
fn the_exit_code_of_the_process_is_part_of_a_success() {
    let text =
        format!("{}\n{}\n", said(json!([{ "type": "text", "text": "a" }])), result(json!({})));
    let ended = |exit| {
        let mut decoder = Decoder::of(Program::Claude);
        decoder.push(text.as_bytes());
        let record = decoder.finish(exit).record;
        (record.succeeded, record.succeeded_cleanly, record.exit_code)
    };
    assert_eq!(ended(Exit::Code(0)), (true, true, Some(0)));
    assert_eq!(ended(Exit::Code(-15)), (false, false, Some(-15)));
    assert_eq!(ended(Exit::Unknown), (true, true, None));
}

#[test]
fn a_stream_without_a_result_is_not_clean_whatever_the_exit_code() {
    let mut decoder = Decoder::of(Program::Claude);
    decoder.push(format!("{}\n", said(json!([{ "type": "text", "text": "a" }]))).as_bytes());
    let record = decoder.finish(Exit::Code(0)).record;
    assert_eq!((record.succeeded, record.succeeded_cleanly), (true, false));
    assert_eq!((record.input_tokens, record.output_tokens), (0, 0));
    assert_eq!(record.warnings, ["no-result: the stream ends before the program says it is done"]);
}

#[test]
fn the_last_message_of_codex_is_the_answer_whatever_follows_it() {
    let item = |item: Value| json!({ "type": "item.completed", "item": item }).to_string();
    let lines = [
        item(json!({ "id": "1", "type": "agent_message", "text": "draft" })),
        item(json!({ "id": "2", "type": "agent_message", "text": "answer" })),
        item(json!({ "id": "3", "type": "command_execution", "status": "completed" })),
        json!({ "type": "error", "message": "Reconnecting... 1/5" }).to_string(),
        json!({ "type": "turn.completed" }).to_string(),
    ];
    let record = read(Decoder::default(), lines.join("\n").as_bytes(), &[]).1;
    assert_eq!(record.answer.as_deref(), Some("answer"));
    assert_eq!(record.output, "draft\nanswer");
}

fn record_of_codex(lines: &[String]) -> Record {
    read(Decoder::of(Program::Codex), lines.join("\n").as_bytes(), &[]).1
}

#[test]
fn the_answer_of_codex_is_of_the_last_turn_and_nothing_unreadable_follows_it() {
    let turn = |kind: &str| json!({ "type": kind }).to_string();
    let (began, over) = (turn("turn.started"), turn("turn.completed"));
    let item = json!({ "id": "1", "type": "agent_message", "text": "one" });
    let said = json!({ "type": "item.completed", "item": item }).to_string();
    let whole = [began.clone(), "noise".into(), said.clone(), String::new(), over.clone()];
    assert_eq!(record_of_codex(&whole).answer.as_deref(), Some("one"));
    let silent = [began.clone(), said.clone(), over.clone(), began.clone(), over.clone()];
    assert_eq!(record_of_codex(&silent).answer, None);
    let stopped = [began.clone(), said.clone(), over.clone(), began.clone()];
    assert_eq!(record_of_codex(&stopped).answer, None);
    for lost in ["{\"type\":\"item.comp", "7", "{\"type\":\"item.completed\"}"] {
        let holed = [began.clone(), said.clone(), lost.to_owned(), over.clone()];
        assert_eq!(record_of_codex(&holed).answer, None, "{lost}");
    }
}

#[test]
fn a_call_delivers_only_if_it_has_arguments_and_is_accepted() {
    let payload = |block: Value, answers: &[Value]| {
        let told = json!({ "type": "user", "message": { "content": answers } });
        record_of(&[said(json!([block])), told]).payload
    };
    let answer = json!({ "type": "tool_result", "tool_use_id": "1" });
    let full = call("1", "StructuredOutput", json!({ "answer": 42 }));
    let delivered = payload(full.clone(), std::slice::from_ref(&answer)).unwrap();
    assert_eq!(delivered.value.get(), "{\"answer\":42}");
    assert!(payload(full, &[]).is_none());
    let bare = json!({ "type": "tool_use", "id": "1", "name": "StructuredOutput" });
    assert!(payload(bare, std::slice::from_ref(&answer)).is_none());
}

#[test]
fn a_call_without_arguments_is_told_with_null() {
    let tool = json!({ "type": "tool", "callID": "1", "tool": "t", "state": { "output": "o" } });
    let calls = [
        (Program::Claude, said(json!([{ "type": "tool_use", "id": "1", "name": "t" }]))),
        (Program::Gemini, json!({ "type": "tool_use", "tool_id": "1", "tool_name": "t" })),
        (Program::Opencode, json!({ "type": "tool_use", "part": tool })),
    ];
    for (program, line) in calls {
        let told = told(Decoder::of(program), line.to_string().as_bytes(), &[]);
        assert!(told.contains(r#""id":"1","name":"t","input":null}"#), "{told}");
    }
}

#[test]
fn a_program_that_failed_claims_nothing() {
    let end = |is_error| result(json!({ "is_error": is_error, "structured_output": { "a": 1 } }));
    assert_eq!(record_of(&[end(false)]).claim(), Some("{\"a\":1}"));
    let record = record_of(&[end(true)]);
    assert_eq!((record.claim(), record.payload.is_some()), (None, true));
}

#[test]
fn a_result_that_says_its_payload_twice_delivers_none() {
    let line = r#"{"type":"result","structured_output":{"a":1},"structured_output":{"a":2}}"#;
    let (events, record) = read(Decoder::of(Program::Claude), line.as_bytes(), &[]);
    let [Event::Raw(raw)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(raw.reason, RawReason::Ambiguous);
    assert_eq!(raw.detail.as_deref(), Some("member `structured_output` twice"));
    assert_eq!((record.claim(), record.lines.malformed), (None, 1));
}

#[test]
fn a_null_payload_hides_no_answer() {
    let record = record_of(&[result(json!({ "structured_output": null, "result": "fine" }))]);
    assert_eq!(record.claim(), Some("fine"));
    let line = json!({ "structured_output": null, "structured_result": { "a": 1 } });
    assert_eq!(record_of(&[result(line)]).claim(), Some("{\"a\":1}"));
}

#[test]
fn no_count_of_tokens_overflows() {
    let usage = json!({ "input_tokens": 1, "cache_read_input_tokens": u64::MAX, "cache_creation_input_tokens": 1 });
    let record = record_of(&[result(json!({ "usage": usage }))]);
    assert_eq!(record.input_tokens, u64::MAX);
}

#[test]
fn warnings_and_ids_are_bounded_in_bytes() {
    let error = json!({ "type": "error", "severity": "warning", "message": "x".repeat(100_000) });
    let record = read(Decoder::of(Program::Gemini), error.to_string().as_bytes(), &[]).1;
    assert_eq!(record.warnings.last().map(|warning| warning.chars().count()), Some(257));
    let task = |id: &str| json!({ "type": "system", "subtype": "task_started", "task_id": id });
    let record = record_of(&[task(&"x".repeat(257)), task(&"y".repeat(256))]);
    assert_eq!(record.pending_tasks, ["y".repeat(256)]);
}

/// Words without blocks are words, whoever says them.
#[test]
fn content_that_is_a_plain_string_is_said() {
    let lines = format!("{}\n{}\n", said(json!("I looked.")), result(json!({ "result": "" })));
    let (events, record) = read(Decoder::of(Program::Claude), lines.as_bytes(), &[]);
    let [Event::Assistant(heard), Event::Result(_)] = events.as_slice() else {
        panic!("{events:?}")
    };
    let content = serde_json::to_value(&heard.message.content).unwrap();
    assert_eq!(content, json!([{ "type": "text", "text": "I looked." }]));
    assert_eq!(record.output, "I looked.");
}

#[test]
fn an_oversized_line_does_not_cost_the_next_one() {
    let long = json!({ "type": "user", "message": { "content": "x".repeat(10 * 1024 * 1024) } });
    let text = format!("{long}\n{}\n", result(json!({ "result": "fine" })));
    let decoder = Decoder::of(Program::Claude).within(1024 * 1024);
    let (events, record) = read(decoder, text.as_bytes(), &[64 * 1024]);
    let [Event::Raw(raw), Event::Result(finish)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((raw.reason, raw.at.length), (RawReason::TooLong, long.to_string().len() as u64));
    assert_eq!(finish.result.as_deref(), Some("fine"));
    assert_eq!((record.lines.too_long, record.num_results), (1, 1));
}

/// Names of members.
const KEYS: [&str; 24] = [
    "type",
    "subtype",
    "message",
    "content",
    "text",
    "id",
    "name",
    "input",
    "item",
    "part",
    "error",
    "result",
    "usage",
    "is_error",
    "status",
    "stats",
    "role",
    "tool_id",
    "state",
    "reason",
    "tokens",
    "info",
    "parts",
    "structured_output",
];

/// Names of kinds.
const WORDS: [&str; 22] = [
    "system",
    "init",
    "assistant",
    "user",
    "result",
    "text",
    "tool_use",
    "tool_result",
    "item.completed",
    "item.started",
    "turn.completed",
    "turn.failed",
    "agent_message",
    "command_execution",
    "error",
    "success",
    "message",
    "step_finish",
    "step_start",
    "retry",
    "task_started",
    "Reconnecting...",
];

/// A line of the words that the programs use.
fn line() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => proptest::sample::select(&WORDS[..]).prop_map(|word| json!(word)),
        1 => any::<u64>().prop_map(|number| json!(number)),
        1 => any::<bool>().prop_map(|flag| json!(flag)),
        1 => Just(json!(null)),
    ];
    let value = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            3 => vec((proptest::sample::select(&KEYS[..]), inner.clone()), 0..6)
                .prop_map(|members| members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
            1 => vec(inner, 0..3).prop_map(Value::Array),
        ]
    });
    let head = proptest::sample::select(&WORDS[..]);
    (head, value).prop_map(|(word, mut value)| {
        if let Value::Object(members) = &mut value {
            members.insert("type".to_owned(), json!(word));
        }
        value.to_string()
    })
}

/// Checks that every line is accounted for, once, and told as JSON.
fn is_accounted_for(bytes: &[u8], decoder: Decoder) -> Result<(), TestCaseError> {
    let (events, record) = read(decoder, bytes, &[]);
    let lines = record.lines;
    let raw = events.iter().filter(|event| matches!(event, Event::Raw(_))).count() as u64;
    let uncounted = lines.blank + lines.malformed + lines.no_object + lines.too_long;
    prop_assert_eq!(raw, uncounted + lines.unknown);
    // Items of an array stand on one line.
    prop_assert!(lines.total <= uncounted + lines.raw_messages);
    let places: Option<BTreeSet<String>> = events.iter().map(line_of).collect();
    prop_assert_eq!(places.map(|places| places.len() as u64), Some(lines.total));
    Ok(())
}

/// Returns the number of the line that an event is told with.
fn line_of(event: &Event) -> Option<String> {
    let told = serde_json::to_string(event).ok()?;
    let (_, place) = told.split_once(r#""at":{"line":"#)?;
    place.split(',').next().map(str::to_owned)
}

proptest! {
    #[test]
    fn how_a_stream_is_cut_does_not_matter(sizes in vec(1_usize..90, 1..9)) {
        for program in Program::ALL {
            for (name, bytes) in streams(program) {
                let whole = told(Decoder::default(), &bytes, &[]);
                prop_assert_eq!(told(Decoder::default(), &bytes, &sizes), whole, "{}", name);
            }
        }
    }

    #[test]
    fn any_bytes_give_a_record(bytes in vec(any::<u8>(), 0..200)) {
        for program in Program::ALL {
            is_accounted_for(&bytes, Decoder::of(program))?;
        }
    }

    #[test]
    fn any_words_give_a_record(lines in vec(line(), 0..8)) {
        let text = lines.join("\n");
        for program in Program::ALL {
            is_accounted_for(text.as_bytes(), Decoder::of(program))?;
        }
        is_accounted_for(text.as_bytes(), Decoder::default())?;
    }

    #[test]
    fn the_order_of_members_is_free(seed in any::<u64>()) {
        for program in Program::ALL {
            for (name, bytes) in streams(program) {
                let Ok(text) = String::from_utf8(bytes) else { continue };
                let is_plain = |line| serde_json::from_str::<Map<String, Value>>(line).is_ok();
                if name == "damaged" || name == "lost_result" || !text.lines().all(is_plain) {
                    continue;
                }
                let turned: String = text.lines().map(|line| rotated(line, seed) + "\n").collect();
                let of = |text: &str| {
                    let mut record = read(Decoder::default(), text.as_bytes(), &[]).1;
                    record.model_usage = None;
                    record.permission_denials = None;
                    if let Some(payload) = &mut record.payload {
                        let value: Value = serde_json::from_str(payload.value.get()).unwrap();
                        prop_assert!(value.is_object());
                    }
                    record.payload = None;
                    Ok(serde_json::to_value(&record).unwrap())
                };
                prop_assert_eq!(of(&turned)?, of(&text)?, "{}", name);
            }
        }
    }
}

/// Returns an object with its members in another order.
fn rotated(line: &str, seed: u64) -> String {
    let value: Value = serde_json::from_str(line).unwrap();
    let Value::Object(members) = value else { return line.to_owned() };
    let mut members: Vec<_> = members.into_iter().collect();
    let by = usize::try_from(seed % members.len().max(1) as u64).unwrap();
    members.rotate_left(by);
    Value::Object(members.into_iter().collect()).to_string()
}
