//! What is told of runs.

use airtight_core::{Contract, Document, verdict};
use airtight_fake::Turn;
use serde_json::{Value, json};

use crate::stage::{KEY, Stage, bad, good};

#[test]
fn text_is_exactly_the_compact_answer_and_a_newline() {
    let said = Stage::new([Turn::say()
        .then_text("Here you are.")
        .then_call("structured_output", json!({ "summary": "fine é 漢", "score": 9 }))])
    .run(&["Review"]);
    assert_eq!(said.stdout, "{\"summary\":\"fine é 漢\",\"score\":9}\n");
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
}

#[test]
fn numbers_keep_every_digit() {
    let arguments = r#"{"summary":"x","score":9,"big":12345678901234567890123.50}"#;
    let stage = Stage::new([Turn::call_text("structured_output", arguments)]);
    let said =
        stage.command(&["run", "--json-schema", "{}", "--output-format", "stream-json", "x"]);
    let said: crate::stage::Said = { said }.output().unwrap().into();
    assert_eq!(said.result()["result"], arguments);
    let line = said.stdout.lines().last().unwrap();
    assert!(line.contains(&format!("\"structured_output\":{arguments}")), "{line}");
}

#[test]
fn a_failed_run_prints_nothing_on_stdout() {
    let said = Stage::new([Turn::text("I would rather not.").forever()]).run(&["Review"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
}

#[test]
fn json_is_one_array_with_the_result_last() {
    let said = Stage::new([bad(), good()]).run(&["--output-format", "json", "Review"]);
    assert_eq!(said.code, 0);
    let array: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let kinds: Vec<&str> = array.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"system"));
    assert_eq!(kinds.iter().filter(|kind| **kind == "result").count(), 1);
    let result = array.last().unwrap();
    assert_eq!(result["type"], "result");
    assert_eq!(result["result"], r#"{"summary":"fine","score":9}"#);
    assert_eq!(result["structured_result"], json!({ "summary": "fine", "score": 9 }));
    assert_eq!(result["structured_output"], result["structured_result"]);
}

#[test]
fn the_result_tells_how_the_answer_was_obtained() {
    let said = Stage::new([bad(), good()]).stream(&["Review"]);
    let result = said.result();
    assert_eq!(said.code, 0);
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["is_error"], false);
    assert_eq!(result["outcome"], "met");
    assert_eq!(result["rung"], "re-ask");
    assert_eq!(result["num_turns"], 2);
    assert_eq!(result["total_cost_usd"], Value::Null);
    assert_eq!(result["usage"]["input_tokens"], 200);
    // The first answer was cancelled where no score could save it any more.
    assert!(result["tokens_saved"].as_u64().is_some());
    let endings: Vec<&Value> =
        result["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["ending"]).collect();
    assert_eq!(endings, ["cancelled", "accepted"]);
    assert_eq!(result["attempts"][0]["violations"][0]["pointer"], "/score");
    assert!(result.get("raw").is_none() && result.get("error").is_none());
}

#[test]
fn an_answer_that_is_cancelled_early_is_seen_by_the_server_and_its_savings_are_told() {
    let wrong = Turn::call_text("structured_output", r#"{"score": [11], "summary": "never said"}"#);
    let stage =
        Stage::new([wrong.usage(100, 20).chunk_chars(12).stall_after(2), good().usage(100, 500)]);
    let said = stage.stream(&["Review"]);
    let result = said.result();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(crate::interrupts::block_on(stage.fake.next_cancel()).request, 0);
    assert_eq!(result["attempts"][0]["ending"], "cancelled");
    assert!(result["tokens_saved"].as_u64().unwrap() > 400, "{result}");
    assert!(!said.stdout.contains("never said"));
}

#[test]
fn the_first_line_lists_the_terminal_tool_where_it_is_offered() {
    let tools = |arguments: &[&str]| -> Vec<String> {
        let said = Stage::new([good()]).stream(&[arguments, &["Review"]].concat());
        let tools = said.lines()[0]["tools"].as_array().unwrap().clone();
        tools.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let is_terminal = |name: &String| name == "structured_output";
    assert_eq!(tools(&[]).iter().filter(|name| is_terminal(name)).count(), 1);
    assert_eq!(tools(&["--no-tools", "--mode", "tool"]), ["structured_output"]);
    assert!(!tools(&["--mode", "prompt"]).iter().any(is_terminal));
}

#[test]
fn events_that_nobody_knows_are_counted_in_the_result() {
    let news = "event: news\ndata: {\"type\":\"news\"}\n\n";
    let strange = bad().garbage_after(1, news);
    let said = Stage::new([strange, good()]).stream(&["Review"]);
    assert_eq!((said.code, &said.result()["unknown_events"]), (0, &json!(1)), "{said:?}");
    assert_eq!(Stage::new([good()]).stream(&["Review"]).result()["unknown_events"], 0);
}

/// Returns what a run of a model with a price cost.
fn cost(turns: Vec<Turn>) -> Value {
    let stage = Stage::new(turns);
    let arguments = ["run", "--json-schema", "review.json", "--output-format", "stream-json", "x"];
    let mut command = stage.command(&arguments);
    let output = command.env("AIRTIGHT_MODEL", "anthropic:claude-sonnet-4-5").output().unwrap();
    crate::stage::Said::from(output).result()["total_cost_usd"].clone()
}

#[test]
fn the_cost_is_told_only_if_everything_was_counted() {
    assert_eq!(cost(vec![good()]), json!(0.0006));
    assert_eq!(cost(vec![Turn::status(529), good()]), json!(0.0006));
    assert_eq!(cost(vec![Turn::text("So far").cut_after(0), good()]), Value::Null);
}

#[test]
fn the_raw_answer_of_a_failed_run_is_kept_unless_unwanted() {
    let turns = || [Turn::text("I would rather not.").forever()];
    let result = Stage::new(turns()).stream(&["--reasks", "0", "Review"]).result();
    assert_eq!(result["raw"], "I would rather not.");
    assert_eq!(result["is_error"], true);
    assert!(result.get("result").is_none() && result.get("structured_output").is_none());
    let result = Stage::new(turns()).stream(&["--reasks", "0", "--no-raw", "Review"]).result();
    assert!(result.get("raw").is_none());
}

#[test]
fn a_change_of_block_kind_begins_another_message() {
    let turn = Turn::say()
        .then_thinking("hm")
        .then_text("I will ")
        .then_text("answer.")
        .then_call("structured_output", json!({ "summary": "fine", "score": 9 }));
    let lines = Stage::new([turn]).stream(&["Review"]).lines();
    let messages: Vec<&Value> = lines
        .iter()
        .filter(|line| line["type"] == "assistant")
        .map(|line| &line["message"])
        .collect();
    let kinds: Vec<&Value> =
        messages.iter().map(|message| &message["content"][0]["type"]).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    assert!(messages.iter().all(|message| message["content"].as_array().unwrap().len() == 1));
    assert_eq!(messages[1]["content"][0]["text"], "I will answer.");
    let reasons: Vec<&Value> = messages.iter().map(|message| &message["stop_reason"]).collect();
    assert_eq!(reasons, [&Value::Null, &Value::Null, &json!("tool_use")]);
}

#[test]
fn pieces_are_told_only_on_request() {
    let kinds = |said: crate::stage::Said| -> Vec<String> {
        let lines = said.lines();
        let pieces = lines.iter().filter(|line| line["type"] == "stream_event");
        pieces.map(|line| line["event"]["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(Stage::new([good()]).stream(&["Review"])), [""; 0]);
    let told = kinds(Stage::new([good()]).stream(&["--include-partial-messages", "Review"]));
    assert_eq!(told.first().map(String::as_str), Some("message_start"));
    assert_eq!(told.last().map(String::as_str), Some("message_stop"));
    assert!(told.iter().any(|kind| kind == "content_block_delta"));
}

#[test]
fn every_line_conforms_to_its_published_schema() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/events");
    let said = Stage::new([
        Turn::status(529),
        Turn::say()
            .then_thinking("hm")
            .then_text("Let me look.")
            .then_call("list_directory", json!({ "path": "." })),
        bad(),
        good(),
    ])
    .stream(&["--include-partial-messages", "Review"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    for line in said.stdout.lines() {
        let kind =
            serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned();
        let schema = std::fs::read(folder.join(format!("{kind}.json"))).unwrap();
        let contract = Contract::compile(serde_json::from_slice(&schema).unwrap()).unwrap();
        let violations = verdict::check(&contract, &Document::parse(line).unwrap());
        assert!(violations.is_empty(), "{line}\n{violations:?}");
    }
}

#[test]
fn the_key_shows_nowhere() {
    let stage = Stage::new([Turn::status(400).message(format!("bad key {KEY}"))])
        .with("notes.txt", format!("the key is {KEY}"));
    for format in ["text", "json", "stream-json"] {
        let said = stage.run(&["--output-format", format, "Review"]);
        assert_ne!(said.code, 0);
        assert!(!said.stdout.contains(KEY) && !said.stderr.contains(KEY), "{said:?}");
    }
    let leak = || Turn::call("read_file", json!({ "path": "notes.txt" }));
    for format in ["json", "stream-json"] {
        let stage = Stage::new([leak(), good()]).with("notes.txt", format!("the key is {KEY}"));
        let said = stage.run(&["--output-format", format, "Review"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        assert!(!said.stdout.contains(KEY) && !said.stderr.contains(KEY), "{said:?}");
        assert!(stage.contents("data/airtight/runs").iter().all(|text| !text.contains(KEY)));
    }
    let denied = Turn::call("write_file", json!({ "path": "a.txt", "content": KEY }));
    let said = Stage::new([denied, good()]).stream(&["Review"]);
    assert_eq!(said.result()["permission_denials"][0]["tool_input"]["content"], "[masked]");
    assert!(!said.stdout.contains(KEY), "{said:?}");
}

#[test]
fn quiet_runs_and_good_runs_say_nothing_on_stderr() {
    let said = Stage::new([good()]).run(&["--quiet", "Review"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
}

#[test]
fn a_transcript_is_kept_without_the_answer_unless_unwanted() {
    let planted = json!({ "summary": "xylograph", "score": 9 });
    let stage = Stage::new([Turn::call("structured_output", planted), good()]);
    let said = stage.run(&["Review"]);
    assert!(said.code == 0 && said.stdout.contains("xylograph"), "{said:?}");
    let kept = stage.contents("data/airtight/runs");
    assert_eq!(kept.len(), 1);
    assert!(kept[0].contains("structured_output"), "{}", kept[0]);
    assert!(!kept[0].contains("xylograph"), "{}", kept[0]);
    assert_eq!(stage.run(&["--no-record", "Review"]).code, 0);
    assert_eq!(stage.contents("data/airtight/runs").len(), 1);
}
