//! A model in the process: no key, no server, no network.
//!
//! Its weights are random and tiny, so that it says nothing sensible in no time: what conforms is the
//! grammar's doing. What the real one says is asked in `weights.rs`.

use std::fs;

use airtight::{Contract, Outcome, Rung, Runner};
use serde_json::{Value, json};
use test_case::test_case;

use crate::interrupts::{block_on, signal};
use crate::stage::{Said, Stage};

pub(crate) const TINY: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/local/tiny.gguf");

fn run(stage: &Stage, model: &str, arguments: &[&str]) -> Said {
    let model = format!("embedded:{model}");
    let run = ["run", "--output-format", "stream-json", "--model", &model, "Review"];
    stage.bare(&[&run, arguments].concat()).output().unwrap().into()
}

#[test]
fn an_answer_needs_no_key_and_costs_nothing() {
    let stage = Stage::new([]);
    let said = run(&stage, TINY, &["--json-schema", "review.json"]);
    let result = said.result();
    assert_eq!((said.code, result["outcome"].as_str()), (0, Some("met")), "{said:?}");
    assert_eq!(result["rung"], "grammar");
    assert_eq!(result["total_cost_usd"], 0.0);
    assert!(result["usage"]["output_tokens"].as_u64().unwrap() > 0, "{result}");
    assert!(result["structured_output"]["score"].as_i64().is_some_and(|score| score <= 10));
    let init = &said.lines()[0];
    assert_eq!(init["model"], format!("embedded:{TINY}"));
    assert_eq!(init["tools"], json!([]));
    assert!(stage.fake.requests().is_empty());
}

#[test_case("auto", "grammar")]
#[test_case("native", "grammar")]
#[test_case("tool", "tool")]
fn the_grammar_holds_in_every_mode_that_has_a_schema(mode: &str, rung: &str) {
    let contract = json!({"type": "array", "items": {"enum": ["a", 1, null]}, "minItems": 2});
    let stage = Stage::new([]).with("list.json", contract.to_string());
    let arguments = ["--json-schema", "list.json", "--mode", mode, "--temperature", "0.9"];
    let said = run(&stage, TINY, &arguments);
    let result = said.result();
    assert_eq!((said.code, result["rung"].as_str()), (0, Some(rung)), "{said:?}");
    assert!(result["structured_output"].as_array().is_some_and(|items| items.len() >= 2));
}

#[test]
fn what_it_says_is_streamed() {
    let stage = Stage::new([]);
    let said = run(&stage, TINY, &["--json-schema", "review.json", "--include-partial-messages"]);
    let lines = said.lines();
    let text = |line: &Value| line["event"]["delta"]["text"].as_str().map(str::to_owned);
    let pieces: Vec<String> = lines.iter().filter_map(text).collect();
    assert!(pieces.len() > 1, "{said:?}");
    let whole: Value = serde_json::from_str(&pieces.concat()).unwrap();
    assert_eq!(whole, said.result()["structured_output"]);
}

#[test]
fn an_answer_that_has_no_room_is_cut_and_what_to_raise_is_said() {
    let stage = Stage::new([]);
    let said = run(&stage, TINY, &["--json-schema", "review.json", "--max-output-tokens", "3"]);
    assert_eq!((said.code, said.result()["outcome"].as_str()), (1, Some("truncated")), "{said:?}");
    assert!(said.stdout.contains("raise `--max-output-tokens`"), "{said:?}");
}

#[test]
fn a_prompt_that_has_no_room_says_to_send_less() {
    let stage = Stage::new([]).with("long.txt", "x ".repeat(9000));
    let model = format!("embedded:{TINY}");
    let arguments = ["run", "--output-format", "stream-json", "--json-schema", "review.json"];
    let mut command = stage.bare(&[&arguments[..], &["--model", &model]].concat());
    let prompt = fs::File::open(stage.path("long.txt")).unwrap();
    let said: Said = command.stdin(prompt).output().unwrap().into();
    assert_eq!((said.code, said.result()["outcome"].as_str()), (3, Some("provider")), "{said:?}");
    let result = said.result().to_string();
    assert!(result.contains("over the model's limit of 2048"), "{result}");
    assert!(result.contains("send less"), "{result}");
}

#[test]
fn flags_that_the_model_has_no_use_for_are_refused() {
    let stage = Stage::new([]).with("examples/a.in.txt", "one");
    let base_url = ["--json-schema", "review.json", "--base-url", "http://127.0.0.1:1"];
    let said = run(&stage, TINY, &base_url);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stdout.contains("the embedded model is in this process"), "{said:?}");
    for flag in [["--seed", "1"], ["--examples", "examples"]] {
        let said = stage.run(&[&flag[..], &["x"]].concat());
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains("or use `--model embedded`"), "{said:?}");
    }
    assert!(stage.fake.requests().is_empty());
}

#[test]
fn the_same_seed_gives_the_same_answer() {
    let contract = json!({"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 20});
    let stage = Stage::new([]).with("list.json", contract.to_string());
    let answer = |seed: &str| {
        let chance = ["--json-schema", "list.json", "--temperature", "2", "--seed", seed];
        run(&stage, TINY, &chance).result()["structured_output"].clone()
    };
    assert_eq!(answer("7"), answer("7"));
    assert_ne!(answer("7"), answer("8"));
}

#[test]
fn examples_of_a_folder_are_read_by_the_model_and_judged_before() {
    let stage = Stage::new([])
        .with("examples/a.in.txt", "A fine change.")
        .with("examples/a.out.json", r#"{"summary": "fine", "score": 9}"#);
    let tokens = |arguments: &[&str]| {
        let said = run(&stage, TINY, &[&["--json-schema", "review.json"], arguments].concat());
        assert_eq!(said.code, 0, "{said:?}");
        said.result()["usage"]["input_tokens"].as_u64().unwrap()
    };
    // The example takes the place of the made-up value, which has another length.
    assert_ne!(tokens(&["--examples", "examples"]), tokens(&[]));
    let stage = stage.with("examples/a.out.json", r#"{"summary": "fine", "score": 11}"#);
    let said = run(&stage, TINY, &["--json-schema", "review.json", "--examples", "examples"]);
    assert_eq!(said.code, 52, "{said:?}");
    let result = said.result().to_string();
    assert!(result.contains("a.out.json") && result.contains("/score"), "{result}");
}

#[test]
fn a_model_without_a_name_is_refused() {
    let stage = Stage::new([]);
    let said = run(&stage, "", &["--json-schema", "review.json"]);
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stdout.contains("or `embedded` for the default weights"), "{said:?}");
}

#[test]
fn tools_are_refused() {
    let stage = Stage::new([]);
    let said = run(&stage, TINY, &["--json-schema", "review.json", "--allow-tool", "read_file"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stdout.contains("the embedded model cannot use tools"), "{said:?}");
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let place = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    [&bytes[..place], to.as_bytes(), &bytes[place + from.len()..]].concat()
}

#[test_case(|bytes| bytes[..bytes.len() / 2].to_vec(), "it was cut off"; "cut off in its tensors")]
#[test_case(|bytes| bytes[..500].to_vec(), "ends inside its header"; "cut off in its header")]
#[test_case(|bytes| replaced(bytes, "llama", "mamba"), "architecture `mamba`"; "another architecture")]
#[test_case(|bytes| replaced(bytes, "{{ '<|im", "{{ '<|em"), "chat template"; "another template")]
#[test_case(|_| b"<html>404</html>".to_vec(), "no GGUF file"; "another format")]
#[test_case(|_| Vec::new(), "ends inside its header"; "empty")]
fn damaged_weights_are_refused_with_the_reason(damage: fn(&[u8]) -> Vec<u8>, why: &str) {
    let stage = Stage::new([]).with("damaged.gguf", damage(&fs::read(TINY).unwrap()));
    let said = run(&stage, "damaged.gguf", &["--json-schema", "review.json"]);
    assert_eq!((said.code, said.result()["outcome"].as_str()), (52, Some("config")), "{said:?}");
    let told = said.stdout + &said.stderr;
    assert!(told.contains(why) && told.contains("damaged.gguf"), "{told}");
}

#[test]
fn what_is_no_regular_file_is_refused_and_not_waited_for() {
    let stage = Stage::new([]);
    let pipe = stage.path("pipe.gguf");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in ["./pipe.gguf", "/dev/zero"] {
        let said = run(&stage, path, &["--json-schema", "review.json"]);
        assert_eq!(said.code, 52, "{said:?}");
        let told = said.stdout + &said.stderr;
        assert!(told.contains("no regular file"), "{told}");
    }
}

#[test]
fn a_file_that_is_not_there_and_a_name_that_nobody_knows_are_refused() {
    let stage = Stage::new([]);
    let said = run(&stage, "no/such.gguf", &["--json-schema", "review.json"]);
    assert_eq!(said.code, 52, "{said:?}");
    let said = run(&stage, "gpt-9", &["--json-schema", "review.json"]);
    assert_eq!(said.code, 52, "{said:?}");
    assert!((said.stdout.clone() + &said.stderr).contains("airtight models list"), "{said:?}");
}

#[test]
fn an_interrupt_ends_a_long_answer() {
    let contract = json!({"type": "array", "items": {"type": "integer"}, "minItems": 500});
    let stage = Stage::new([]).with("long.json", contract.to_string());
    let model = format!("embedded:{TINY}");
    let arguments = [
        &["run", "--json-schema", "long.json", "--output-format", "stream-json"][..],
        &["--include-partial-messages", "--max-output-tokens", "1900", "--model", &model, "Go"],
    ];
    let mut child = stage.bare(&arguments.concat()).spawn().unwrap();
    // The first piece of the answer shows that the model is at work.
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert!(lines.by_ref().any(|line| line.unwrap().contains("content_block_delta")));
    signal(&child, "INT");
    let last = lines.map(Result::unwrap).last().unwrap();
    let result: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(result["outcome"], "interrupted", "{result}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn the_doctor_says_whether_the_model_loads() {
    let stage = Stage::new([]);
    let model = format!("embedded:{TINY}");
    let said: Said =
        stage.bare(&["doctor", "--model", &model, "--offline"]).output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("loads "), "{said:?}");
    // Without a model, a key and weights, nothing works yet; what to type is said.
    let said: Said = stage.bare(&["doctor", "--offline"]).output().unwrap().into();
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stdout.contains("hint: type `airtight models pull smollm2-135m`"), "{said:?}");
}

#[test]
fn the_doctor_finds_damaged_weights() {
    for damaged in [fs::read(TINY).unwrap(), vec![0; 98_362_432]] {
        let stage = Stage::new([]).with("data/airtight/models/smollm2-135m.gguf", damaged);
        let doctor = ["doctor", "--offline"];
        let said: Said = stage.bare(&doctor).output().unwrap().into();
        assert_eq!(said.code, 52, "{said:?}");
        assert!(said.stdout.contains("the weights are damaged: `smollm2-135m`"), "{said:?}");
        assert!(said.stdout.contains("type `airtight models pull smollm2-135m`"), "{said:?}");
        // With another model in force that is a problem, but not one of the run.
        let said: Said = stage.command(&doctor).output().unwrap().into();
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.stdout.contains("the weights are damaged: `smollm2-135m`"), "{said:?}");
    }
}

#[test]
fn damaged_weights_answer_nothing() {
    let stage = Stage::new([]).with("data/airtight/models/smollm2-135m.gguf", vec![0; 98_362_432]);
    let said: Said =
        stage.bare(&["run", "--json-schema", "review.json", "Go"]).output().unwrap().into();
    assert_eq!((said.code, said.stdout.as_str()), (52, ""), "{said:?}");
    assert!(said.stderr.contains("the weights are damaged: `smollm2-135m`"), "{said:?}");
    assert!(said.stderr.contains("type `airtight models pull smollm2-135m`"), "{said:?}");
}

#[test]
fn a_runner_loads_a_model_once_and_reads_a_prompt_once() {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false});
    let contract = Contract::compile(schema).unwrap();
    let runner = Runner::new(&format!("embedded:{TINY}"));
    let [first, second] = [(); 2].map(|()| block_on(runner.run(&contract, "Go")).unwrap());
    assert_eq!((first.rung, second.rung), (Rung::Grammar, Rung::Grammar));
    let reused = |answer: &airtight::Answer<Value>| answer.usage.cache_read_input_tokens.unwrap();
    assert_eq!(reused(&first), 0);
    assert_eq!(reused(&second), second.usage.input_tokens.unwrap() - 1);
    assert_eq!(second.cost, airtight::Cost::from_usd(0.0));
}

#[test]
fn a_runner_finds_weights_by_name_in_the_folder_that_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let contract = Contract::compile(json!({"enum": ["a", "b"]})).unwrap();
    let runner = Runner::new("embedded:mine");
    let failure = block_on(runner.run(&contract, "Go")).unwrap_err();
    assert_eq!((failure.outcome, failure.hint.is_some()), (Outcome::Config, true));
    let runner = runner.models(folder.path());
    let failure = block_on(runner.run(&contract, "Go")).unwrap_err();
    assert_eq!(failure.to_string(), "the weights are not here: `mine`");
    fs::copy(TINY, folder.path().join("mine.gguf")).unwrap();
    block_on(runner.run(&contract, "Go")).unwrap();
}
