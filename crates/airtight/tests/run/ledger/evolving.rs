//! Contracts change, and answers stay on record.

use airtight_fake::Turn;
use serde_json::{Value, json};
use test_case::test_case;

use super::{ask, newest, shown};
use crate::stage::{KEY, REVIEW, Said, Stage, good};

/// The contract of the stage with scores up to this one.
fn limited(maximum: u8) -> String {
    REVIEW.replace("\"maximum\": 10", &format!("\"maximum\": {maximum}"))
}

#[test]
fn answers_on_record_are_judged_by_the_new_contract() {
    let stage =
        Stage::new([good(), good()]).with("narrow.json", limited(8)).with("wide.json", limited(12));
    assert_eq!(stage.run(&["First"]).code, 0);
    assert_eq!(stage.run(&["Second"]).code, 0);
    let replayed = |new: &str, arguments: &[&str]| {
        let diff = ["diff", "review.json", new, "--replay", "--format", "json"];
        let said = ask(&stage, &[&diff, arguments].concat());
        let document: Value = serde_json::from_str(&said.stdout).unwrap();
        (said.code, document["replay"].clone())
    };
    let (code, kept) = replayed("wide.json", &[]);
    let none = json!({"judged": 2, "valid": 2, "carried": 0, "lost": 0, "silent": 0, "named": []});
    assert_eq!((code, kept), (0, none));
    let (code, lost) = replayed("narrow.json", &[]);
    assert_eq!((code, &lost["lost"], &lost["valid"]), (0, &json!(2), &json!(0)));
    assert_eq!(lost["named"][1]["run"], newest(&stage));
    assert!(lost["named"][0]["violations"][0].as_str().unwrap().starts_with("/score: "));
    // Whoever has no answers on record is told so.
    let (_, nothing) = replayed("review.json", &[]);
    assert_eq!(nothing["judged"], 2);
    let said = ask(&stage, &["diff", "wide.json", "narrow.json", "--replay"]);
    assert!(said.stdout.contains("0 answers on record: "), "{said:?}");
}

#[test]
fn what_is_masked_or_not_kept_is_no_answer_on_record() {
    let leak = Turn::call("structured_output", json!({ "summary": KEY, "score": 9 }));
    let stage = Stage::new([leak, good(), good()]);
    for (level, prompt) in [("masked", "First"), ("metadata", "Second"), ("masked", "Third")] {
        assert_eq!(stage.run(&["--store-level", level, prompt]).code, 0);
    }
    // The third is masked where there is something to mask, and there is nothing.
    let said = ask(&stage, &["runs", "replay", "--json-schema", "review.json"]);
    assert_eq!((said.code, said.lines().len()), (0, 1), "{said:?}");
    assert!(said.stderr.contains("2 without an answer on record"), "{said:?}");
    let diff = ["diff", "review.json", "review.json", "--replay", "--format", "json"];
    let document: Value = serde_json::from_str(&ask(&stage, &diff).stdout).unwrap();
    let kept = json!({"judged": 1, "valid": 1, "carried": 0, "lost": 0, "silent": 2, "named": []});
    assert_eq!(document["replay"], kept);
}

#[test_case(["--reasks", "0"], 1; "and nothing after it")]
#[test_case(["--max-turns", "1"], 53; "and no turn was left")]
fn what_stands_in_an_answer_that_was_cut_is_not_accepted(limit: [&str; 2], code: i32) {
    let said = r#"A draft is {"summary": "fine", "score": 9}. I look at the rest, which"#;
    let stage = Stage::new([Turn::text(said).max_tokens().forever()]);
    assert_eq!(stage.run(&[&limit[..], &["First"]].concat()).code, code);
    let said = ask(&stage, &["runs", "replay", "--json-schema", "review.json"]);
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.code, &told["before"], &told["after"]), (0, &json!(false), &json!(false)));
    assert!(told["violations"][0].as_str().unwrap().contains("cut off"), "{told}");
    let said = ask(&stage, &["runs", "accept", &newest(&stage)]);
    assert!(said.code == 1 && said.stderr.contains("cut off"), "{said:?}");
}

#[test]
fn a_whole_value_in_an_answer_that_was_cut_is_judged_as_ever() {
    let whole = Turn::text(r#"{"summary": "fine", "score": 11}"#).max_tokens().forever();
    let stage = Stage::new([whole]).with("wide.json", limited(12));
    assert_eq!(stage.run(&["--reasks", "0", "First"]).code, 1);
    let said = ask(&stage, &["runs", "replay", "--json-schema", "wide.json"]);
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.code, &told["before"], &told["after"]), (1, &json!(false), &json!(true)));
}

#[test]
fn a_source_that_is_masked_counts_only_where_answers_must_quote_it() {
    let quoting =
        REVIEW.replace(r#"{ "type": "string" }"#, r#"{ "type": "string", "x-grounded": true }"#);
    let stage = Stage::new([good()])
        .with("notes.txt", format!("All is fine; the key is {KEY}."))
        .with("quoting.json", quoting);
    let run = ["--store-level", "masked", "--source", "notes.txt", "First"];
    assert_eq!(stage.run(&run).code, 0);
    for (contract, judged, silent) in [("review.json", 1, 0), ("quoting.json", 0, 1)] {
        let said = ask(&stage, &["runs", "replay", "--json-schema", contract]);
        assert_eq!((said.code, said.lines().len()), (0, judged), "{said:?}");
        let words = format!("{silent} without an answer on record");
        assert!(said.stderr.contains(&words), "{said:?}");
        let diff = ["diff", "review.json", contract, "--replay", "--format", "json"];
        let document: Value = serde_json::from_str(&ask(&stage, &diff).stdout).unwrap();
        let counted = (&document["replay"]["judged"], &document["replay"]["silent"]);
        assert_eq!(counted, (&json!(judged), &json!(silent)), "{document}");
    }
}

#[test]
fn lost_answers_fail_the_check_unless_the_version_warns() {
    let version = |schema: &str, version: &str| {
        schema.replacen('{', &format!("{{\"x-version\": \"{version}\","), 1)
    };
    let stage = Stage::new([good()])
        .with("review.json", version(REVIEW, "1.0.0"))
        .with("minor.json", version(&limited(8), "1.1.0"))
        .with("major.json", version(&limited(8), "2.0.0"));
    assert_eq!(stage.run(&["First"]).code, 0);
    let check = |new: &str| ask(&stage, &["diff", "review.json", new, "--check", "--replay"]);
    let said = check("minor.json");
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("1 answers on record are valid no longer"), "{said:?}");
    assert_eq!(check("major.json").code, 0);
    let said = ask(&stage, &["diff", "review.json", "minor.json", "--check"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_run_takes_answers_of_an_older_version_and_the_record_names_it() {
    let old = Turn::call("structured_output", json!({"summary": "fine", "points": 9}));
    let role = "accepts = [\"1.x\"]\n[[carry]]\nfrom = \"1.x\"\nschema = \"reviewer-1.json\"\n\
                rename = { \"/points\" = \"/score\" }";
    let stage = Stage::new([old])
        .with("contracts/reviewer.json", REVIEW)
        .with("contracts/reviewer-1.json", REVIEW.replace("score", "points"))
        .with("contracts/reviewer.toml", role);
    let run = ["run", "--contract", "reviewer", "--output-format", "stream-json", "Review"];
    let said: Said = stage.command(&run).output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let result = said.result();
    assert_eq!(result["structured_output"], json!({"summary": "fine", "score": 9}));
    assert_eq!(result["rung"], "repair");
    let edits = json!([
        {"kind": "carried", "pointer": "", "version": "1.x"},
        {"kind": "carry_moved", "pointer": "/points", "to": "/score", "version": "1.x"},
    ]);
    assert_eq!(result["edits"], edits);
    assert_eq!(shown(&stage, &newest(&stage))["edits"], edits);
    let said = ask(&stage, &["runs", "replay", "--json-schema", "reviewer"]);
    assert_eq!((said.code, said.lines()[0]["changed"].clone()), (0, json!(false)), "{said:?}");
}
