//! Every way to fail has its exit code, its outcome and exactly one result.

use airtight_fake::Turn;
use serde_json::{Value, json};

use crate::stage::{Said, Stage, bad, good};

fn ends(said: &Said, code: i32, outcome: &str) -> Value {
    let result = said.result();
    assert_eq!((said.code, result["outcome"].as_str()), (code, Some(outcome)), "{said:?}");
    assert_eq!(result["is_error"], true);
    assert_eq!(result["error"]["type"], outcome);
    assert!(!result["error"]["message"].as_str().unwrap().is_empty());
    assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
    result
}

#[test]
fn plain_text_is_no_answer() {
    let stage = Stage::new([Turn::text("Looks good to me.").forever()]);
    let result = ends(&stage.stream(&["Review"]), 1, "no_answer");
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["num_turns"], 3);
}

#[test]
fn wrong_answers_exhaust_the_attempts() {
    let stage = Stage::new([bad().forever()]);
    let result = ends(&stage.stream(&["--reasks", "1", "Review"]), 1, "attempts_exhausted");
    assert_eq!(result["attempts"].as_array().unwrap().len(), 2);
}

#[test]
fn a_refusal_is_told_as_one() {
    ends(
        &Stage::new([Turn::refusal("I cannot help with that.").forever()]).stream(&["Review"]),
        1,
        "refused",
    );
}

#[test]
fn an_answer_cut_at_the_token_limit_is_truncated() {
    let cut = Turn::call_text("structured_output", r#"{"summary": "fi"#).max_tokens().forever();
    ends(&Stage::new([cut]).stream(&["Review"]), 1, "truncated");
}

#[test]
fn a_broken_provider_can_be_tried_again() {
    for status in [500, 529] {
        ends(&Stage::new([Turn::status(status).forever()]).stream(&["Review"]), 3, "provider");
    }
    let result = Stage::new([Turn::status(529), good()]).stream(&["Review"]).result();
    assert_eq!(
        (result["outcome"].as_str(), result["num_retries"].as_u64()),
        (Some("met"), Some(1))
    );
}

#[test]
fn nobody_at_the_address_is_the_provider_failing() {
    let stage = Stage::new([good()]);
    // The port was free a moment ago, and nobody else is told of it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}");
    ends(&stage.stream(&["--base-url", &url, "Review"]), 3, "provider");
}

#[test]
fn a_refused_key_is_no_other_failure() {
    for status in [401, 403] {
        ends(&Stage::new([Turn::status(status).forever()]).stream(&["Review"]), 41, "auth");
    }
}

#[test]
fn a_missing_key_is_told_before_anything_is_sent() {
    let stage = Stage::new([good()]);
    let run = ["run", "--json-schema", "review.json", "--output-format", "stream-json", "Review"];
    let said: Said = stage.command(&run).env_remove("ANTHROPIC_API_KEY").output().unwrap().into();
    ends(&said, 41, "auth");
    assert!(said.stderr.contains("export ANTHROPIC_API_KEY="), "{}", said.stderr);
    assert!(stage.fake.requests().is_empty());
}

#[test]
fn the_turn_cap_has_a_hint() {
    let look = Turn::call("list_directory", json!({ "path": "." })).forever();
    let result = ends(&Stage::new([look]).stream(&["--max-turns", "2", "Review"]), 53, "turn_cap");
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["num_turns"], 2);
}

#[test]
fn budgets_end_runs() {
    let look = || Turn::call("list_directory", json!({ "path": "." })).usage(100, 20).forever();
    ends(&Stage::new([look()]).stream(&["--max-tool-calls", "0", "Review"]), 55, "budget");
    ends(&Stage::new([look()]).stream(&["--max-tokens-total", "100", "Review"]), 55, "budget");
    let silent = Turn::text("x").stall_after(0).forever();
    ends(&Stage::new([silent]).stream(&["--max-wall-time", "1", "Review"]), 55, "budget");
}

#[test]
fn an_unknown_price_is_refused_under_a_cost_budget() {
    ends(&Stage::new([good()]).stream(&["--max-cost", "1", "Review"]), 52, "config");
}

#[test]
fn refused_contracts_and_settings_have_a_result_too() {
    let stage = Stage::new([good()]);
    let refused = [
        vec!["--json-schema", r#"{"propertees": {}}"#],
        vec!["--json-schema", "@missing.json"],
        vec!["--json-schema", "not json {"],
        vec!["--json-schema", r#"{"type": "array"}"#, "--no-wrap"],
        vec!["--json-schema", "review.json", "--model", "nobody:x"],
        vec!["--json-schema", "review.json", "--model", "claude-sonnet-4-5"],
        vec!["--json-schema", "review.json", "--model", "openai-compatible:x"],
    ];
    for arguments in refused {
        let all = [&["run", "--output-format", "stream-json", "Review"], &arguments[..]].concat();
        let said: Said = stage.command(&all).output().unwrap().into();
        ends(&said, 52, "config");
    }
    assert!(stage.fake.requests().is_empty());
}

#[test]
fn no_model_says_what_to_set() {
    let stage = Stage::new([good()]);
    let mut command = stage.bare(&["run", "--json-schema", "review.json", "x"]);
    // Whoever has a key means a model of its provider, and not the small one in the process.
    let said: Said = command.env("OPENAI_API_KEY", "key").output().unwrap().into();
    assert_eq!((said.code, said.stdout.as_str()), (52, ""));
    for word in [
        "error: no model is set",
        "--model anthropic:NAME",
        "--model embedded",
        "AIRTIGHT_MODEL",
        "airtight.toml",
        "OPENAI_API_KEY",
    ] {
        assert!(said.stderr.contains(word), "{}", said.stderr);
    }
}

#[test]
fn no_prompt_is_unusable_input() {
    let stage = Stage::new([good()]);
    ends(&stage.stream(&[]), 42, "input");
    ends(&stage.stream(&["@missing.txt"]), 42, "input");
    let said = stage.run(&["--output-format", "json"]);
    let array: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.code, array.len(), array[0]["outcome"].as_str()), (42, 1, Some("input")));
}

#[test]
fn without_raw_not_even_the_error_quotes_the_answer() {
    let stage = Stage::new([Turn::text("It is s3cret.").forever()]);
    let kept = stage.stream(&["--reasks", "0", "Review"]).result();
    assert_eq!(kept["raw"], "It is s3cret.");
    assert!(kept["error"]["message"].as_str().unwrap().ends_with("preview: It is s3cret."));
    let said = stage.stream(&["--reasks", "0", "--no-raw", "Review"]);
    let result = ends(&said, 1, "no_answer");
    assert!(!result.to_string().contains("s3cret"), "{result}");
    assert!(!said.stderr.contains("s3cret"), "{}", said.stderr);
}

#[test]
fn what_to_do_names_the_flag_or_the_setting() {
    let cut = Turn::text("It was").max_tokens().forever();
    let silent = Turn::text("x").stall_after(0).forever();
    let page = Turn::raw(["<html>"]).header("content-type", "text/html").forever();
    for (turn, code, hint) in [
        (cut, 1, "raise `--max-output-tokens`"),
        (silent, 3, "raise `AIRTIGHT_IDLE_TIMEOUT`"),
        (page, 3, "check `--base-url`"),
    ] {
        let stage = Stage::new([turn]);
        let run = ["run", "--json-schema", "review.json", "--reasks", "0", "Review"];
        let said: Said = stage
            .command(&run)
            .env("AIRTIGHT_IDLE_TIMEOUT", "1")
            .env("AIRTIGHT_RETRY_ATTEMPTS", "0")
            .output()
            .unwrap()
            .into();
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.stderr.contains(&format!("hint: {hint}")), "{}", said.stderr);
    }
}
