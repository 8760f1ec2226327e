//! What people decide, and what a new contract would.

use airtight_fake::Turn;
use serde_json::json;

use super::{ask, newest, shown};
use crate::stage::{Said, Stage, bad, good};

/// A stage with one run on record that has no answer.
fn flagged() -> (Stage, String) {
    let stage = Stage::new([bad(), good()]);
    assert_eq!(stage.run(&["--reasks", "0", "Review"]).code, 1);
    let id = newest(&stage);
    (stage, id)
}

fn edit(stage: &Stage, id: &str, script: &str) -> Said {
    let mut command = stage.bare(&["runs", "accept", id, "--edit", "--by", "ada"]);
    command.env("EDITOR", script).output().unwrap().into()
}

#[test]
fn a_flagged_run_waits_until_somebody_decides() {
    let (stage, id) = flagged();
    let waiting = ask(&stage, &["runs", "review"]);
    assert_eq!(waiting.lines()[0]["id"], id.as_str());
    let said = ask(&stage, &["runs", "reject", &id, "--why", "nonsense", "--by", "ada"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(ask(&stage, &["runs", "review"]).stdout, "");
    let decision = &shown(&stage, &id)["decisions"][0];
    assert_eq!((&decision["who"], &decision["note"]), (&json!("ada"), &json!("nonsense")));
}

#[test]
fn an_edited_value_is_accepted_by_the_rule_of_the_run() {
    let (stage, id) = flagged();
    let said = edit(&stage, &id, "sed -i 's/11/10/'");
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.stdout, "{\"summary\":\"too much\",\"score\":10}\n");
    let run = shown(&stage, &id);
    assert_eq!((&run["rung"], &run["outputValid"]), (&json!("human"), &json!(true)));
    assert_eq!(run["parsedOutput"]["score"], 10);
    // What the model said stays, and so does the verdict on it.
    assert!(run["output"].as_str().unwrap().contains("11"));
    assert_eq!(run["outcome"], "attempts_exhausted");
    assert_eq!(run["decisions"][0]["who"], "ada");
}

#[test]
fn an_edited_value_that_breaks_the_contract_is_shown_and_refused() {
    let (stage, id) = flagged();
    let said = edit(&stage, &id, "true");
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("/score"), "{said:?}");
    assert_eq!(shown(&stage, &id)["review"], "flagged");
    let said = edit(&stage, &id, "false");
    assert_eq!(said.code, 3, "{said:?}");
}

/// Without anybody to ask, an editor that never comes to a value is not opened for ever.
#[test]
fn an_editor_that_nobody_sits_at_is_opened_three_times() {
    let (stage, id) = flagged();
    let script = "echo once more >> \"$0.times\"\nsed -i 's/1/11/' \"$1\"\n";
    let stage = stage.with("more.sh", script);
    let said = edit(&stage, &id, &format!("sh {}", stage.path("more.sh").display()));
    assert_eq!(said.code, 1, "{said:?}");
    let times = std::fs::read_to_string(stage.path("more.sh.times")).unwrap();
    assert_eq!(times.lines().count(), 3);
    assert_eq!(shown(&stage, &id)["review"], "flagged");
}

#[test]
fn an_editor_begins_with_what_looks_like_an_answer() {
    let prose = "This is my review.\n\n```json\n{\"summary\":\"too much\",\"score\":11}\n```\n";
    let stage = Stage::new([Turn::text(prose)]);
    assert_eq!(stage.run(&["--reasks", "0", "Review"]).code, 1);
    let said = edit(&stage, &newest(&stage), "sed -i 's/11/10/'");
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.stdout, "{\"summary\":\"too much\",\"score\":10}\n");
}

#[test]
fn a_value_is_accepted_from_where_it_is() {
    let (stage, id) = flagged();
    let stage = stage.with("value.json", r#"{"summary": "mended", "score": 3.0}"#);
    let said = ask(&stage, &["runs", "accept", &id, "--value", r#"{"summary": 1}"#]);
    assert_eq!(said.code, 1, "{said:?}");
    let said = ask(&stage, &["runs", "accept", &id, "--value", "@value.json"]);
    assert_eq!(said.code, 0, "{said:?}");
    // Digits are those of who decided.
    assert_eq!(said.stdout, "{\"summary\":\"mended\",\"score\":3.0}\n");
    let said = ask(&stage, &["runs", "accept", &id]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_replay_says_which_verdicts_change() {
    let stage = Stage::new([
        good(),
        Turn::call("structured_output", json!({ "summary": "x", "score": 3 })),
    ]);
    let strict = crate::stage::REVIEW.replace("\"minimum\": 0", "\"minimum\": 5");
    let stage = stage.with("stricter.json", strict);
    assert_eq!((stage.run(&["A"]).code, stage.run(&["B"]).code), (0, 0));
    let said = ask(&stage, &["runs", "replay", "--json-schema", "stricter.json"]);
    assert_eq!(said.code, 1, "{said:?}");
    let changed: Vec<bool> =
        said.lines().iter().map(|it| it["changed"].as_bool().unwrap()).collect();
    assert_eq!(changed, [false, true]);
    assert!(said.lines()[1]["violations"][0].as_str().unwrap().contains("/score"), "{said:?}");
    let said = ask(&stage, &["runs", "replay", "--json-schema", "review.json"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_verdict_on_record_is_reached_again_from_what_was_said() {
    let optional = r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"], "additionalProperties": false}"#;
    let stage =
        Stage::new(
            [Turn::text(r#"{"a": 1, "b": null}"#).when_wire(airtight_fake::Wire::Responses)],
        )
        .with("optional.json", optional);
    let mut command = stage.bare(&[
        "run",
        "--json-schema",
        "optional.json",
        "--mode",
        "native",
        "--no-tools",
        "x",
    ]);
    command.env("AIRTIGHT_MODEL", "openai:fake").env("OPENAI_API_KEY", "sk-test-test");
    command.env("OPENAI_BASE_URL", stage.fake.openai_base());
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.stdout, "{\"a\":1}\n", "{said:?}");
    let said = ask(&stage, &["runs", "replay", "--json-schema", "optional.json"]);
    assert_eq!(said.code, 0, "{said:?}");
}
