use crate::folder::{Folder, Said};
use serde_json::{Value, json};

const GOOD: &str = r#"{ "summary": "fine", "score": 7 }"#;

fn judged(arguments: &[&str], answer: &str) -> Said {
    let mut all = vec!["validate", "review.json"];
    all.extend(arguments);
    Folder::new().run_with(&all, answer)
}

#[test]
fn an_accepted_value_is_all_there_is_on_stdout() {
    let said = judged(&[], GOOD);
    let stdout = "{\"summary\":\"fine\",\"score\":7}\n".to_owned();
    assert_eq!(said, Said { code: 0, stdout, stderr: String::new() });
}

#[test]
fn numbers_keep_their_digits() {
    let answer = "[12345678901234567890123, 1.50, 1e2, -0]";
    let said = Folder::new().run_with(&["validate", "{}"], answer);
    assert_eq!(said.stdout, "[12345678901234567890123,1.50,1e2,-0]\n");
}

#[test]
fn answers_come_from_files_and_stdin() {
    let folder = Folder::new().with("answer.txt", GOOD);
    assert_eq!(folder.run(&["validate", "review.json", "answer.txt"]).code, 0);
    assert_eq!(folder.run_with(&["validate", "review.json", "-"], GOOD).code, 0);
    assert_eq!(folder.run_with(&["validate", "-", "answer.txt"], "{}").code, 0);
}

#[test]
fn only_the_first_of_many_edits_are_listed_for_people() {
    let answer = format!("[{}]", "'a',".repeat(300));
    let said = Folder::new().run_with(&["validate", "{}"], answer);
    assert_eq!(said.code, 0);
    assert_eq!(said.stderr.lines().count(), 101);
    assert!(said.stderr.ends_with(
        "edit: and 201 more, 301 in all: 300 × replaced quotes by double quotes, \
         1 × dropped a trailing comma; `--format json` lists the first 1000 of each kind\n"
    ));
}

#[test]
fn programs_are_told_how_many_edits_there_were_in_all() {
    let answer = format!("[{}]", "'a',".repeat(1_200));
    let said = Folder::new().run_with(&["validate", "{}", "--format", "json"], answer);
    let document: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(document["edits"].as_array().map(Vec::len), Some(1_001));
    assert_eq!(document["edit_total"], 1_201);
    assert_eq!(document["edit_counts"], serde_json::json!({"quotes": 1_200, "trailing_comma": 1}));
}

#[test]
fn grounded_strings_are_looked_up_in_the_source() {
    let folder = Folder::new().with("report.txt", "The disk\n  is full.");
    let contract = r#"{"items": {"type": "string", "x-grounded": true}}"#;
    let judge = |answer: &str| {
        folder.run_with(&["validate", contract, "-", "--source", "report.txt"], answer)
    };
    assert_eq!(judge(r#"["disk is full"]"#).code, 0);
    assert_eq!(judge(r#"["disk is empty"]"#).code, 1);
    assert_eq!(folder.run_with(&["validate", contract], r#"["disk is full"]"#).code, 1);
}

#[test]
fn contract_and_answer_cannot_share_stdin() {
    let shared = [
        &["validate", "-"][..],
        &["validate", "-", "-"],
        &["validate", "{}", "-", "--source", "-"],
    ];
    for arguments in shared {
        assert_eq!(Folder::new().run_with(arguments, "{}").code, 2);
    }
}

#[test]
fn edits_are_listed_on_stderr() {
    let answer = format!("Here it is:\n```json\n{GOOD}\n```");
    let said = judged(&[], &answer);
    assert_eq!(said.stdout, "{\"summary\":\"fine\",\"score\":7}\n");
    assert!(said.stderr.starts_with("edit: "), "{}", said.stderr);
    assert!(judged(&["--explain"], &answer).stderr.len() > said.stderr.len());
    assert_eq!(judged(&["--strict"], &answer).code, 1);
}

#[test]
fn a_rejected_answer_leaves_stdout_empty_and_says_all_that_is_wrong() {
    let said = judged(&[], r#"{"score": 11}"#);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.starts_with("error: answer breaks the contract\n"));
    assert!(said.stderr.contains("/score: "), "{}", said.stderr);
    assert!(said.stderr.contains("summary"), "{}", said.stderr);
}

#[test]
fn json_verdicts_are_whole_documents() {
    let accepted = judged(&["--format", "json"], GOOD);
    assert_eq!(
        accepted.stdout,
        "{\"version\":1,\"valid\":true,\"value\":{\"summary\":\"fine\",\"score\":7},\"edits\":[],\"edit_total\":0,\"edit_counts\":{}}\n"
    );
    let rejected = judged(&["--format", "json"], r#"{"summary":"x","score":11}"#);
    assert_eq!((rejected.code, rejected.stderr.as_str()), (1, ""));
    let document: Value = serde_json::from_str(&rejected.stdout).unwrap();
    assert_eq!(document["valid"], json!(false));
    assert_eq!(document["reason"], json!({"type": "invalid"}));
    assert_eq!(document["violations"][0]["pointer"], "/score");
    assert_eq!(document["violations"][0]["keyword"], "maximum");
}

#[test]
fn masked_verdicts_repeat_nothing_of_the_answer() {
    let secrets = [
        r#"{"summary":"fine","score":"hunter2"}"#,
        r#"{"summary":"hunter2","score":3}"#,
        r#"prose {"summary":"hunter2","score":"#,
        "hunter2",
    ];
    for answer in secrets {
        for format in ["text", "json"] {
            for mode in [&["--masked", "--format", format][..], &["--masked", "--ndjson"]] {
                let said = judged(mode, answer);
                assert!(!said.stdout.contains("hunter2"), "{}", said.stdout);
                assert!(!said.stderr.contains("hunter2"), "{}", said.stderr);
            }
        }
    }
}

#[test]
fn exit_codes_tell_who_is_to_blame() {
    let folder = Folder::new().with("bad.json", r#"{"type": 42}"#).with("good.txt", GOOD);
    for (arguments, code) in [
        (&["validate", "review.json", "good.txt"][..], 0),
        (&["validate", "{\"type\":\"array\"}", "good.txt"], 1),
        (&["validate", "review.json", "good.txt", "--nonsense"], 2),
        (&["validate", "review.json", "missing.txt"], 42),
        (&["validate", "bad.json", "good.txt"], 52),
        (&["validate", "missing.json", "good.txt"], 52),
    ] {
        assert_eq!(folder.run(arguments).code, code, "{arguments:?}");
    }
}

#[test]
fn every_line_gets_its_verdict_in_order() {
    let lines = format!("{GOOD}\n\nnonsense\n{{\"score\":11}}\r\n{GOOD}");
    let said = judged(&["--ndjson"], &lines);
    assert_eq!(said.code, 1);
    assert_eq!(said.stderr, "summary: 4 lines, 2 accepted, 2 rejected\n");
    let verdicts: Vec<Value> =
        said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let outline: Vec<(u64, bool)> = verdicts
        .iter()
        .map(|verdict| (verdict["line"].as_u64().unwrap(), verdict["valid"] == json!(true)))
        .collect();
    assert_eq!(outline, [(1, true), (3, false), (4, false), (5, true)]);
}

#[test]
fn thousands_of_lines_keep_their_order() {
    let lines: Vec<String> = (0..20_000)
        .map(|number| format!("{{\"summary\":\"{number}\",\"score\":{}}}", number % 11))
        .collect();
    let said = judged(&["--ndjson"], &lines.join("\n"));
    assert_eq!(said.code, 0);
    for (number, line) in said.stdout.lines().enumerate() {
        let start = format!(
            "{{\"line\":{},\"valid\":true,\"value\":{{\"summary\":\"{number}\"",
            number + 1
        );
        assert!(line.starts_with(&start), "{line}");
    }
    assert_eq!(said.stdout.lines().count(), 20_000);
}

#[test]
fn no_lines_are_no_input() {
    let said = judged(&["--ndjson"], "\n\n");
    assert_eq!((said.code, said.stdout.as_str()), (42, ""));
    assert_eq!(said.stderr, "error: there are no lines in `(stdin)`\n");
}

#[test]
fn nothing_is_no_input() {
    for nothing in ["", " \n"] {
        let said = judged(&[], nothing);
        assert_eq!((said.code, said.stdout.as_str()), (42, ""));
        assert_eq!(said.stderr, "error: there is nothing in `(stdin)`\n");
    }
}

#[test]
fn masked_pointers_hold_only_names_of_the_contract() {
    let contract = r#"{"properties": {"known": {}},
        "additionalProperties": {"type": "object", "additionalProperties": {"type": "boolean"}}}"#;
    let secret = r#"{"hunter2": {"known": 1, "hunter2": 2, "hunter2": 3}}"#;
    let said = Folder::new().run_with(&["validate", contract, "-", "--masked"], secret);
    assert!(!said.stderr.contains("hunter2"), "{}", said.stderr);
    assert!(said.stderr.contains("/*/known: "), "{}", said.stderr);
    let edited = r#"{"hunter2": {"hunter2": "true"}}"#;
    let said = Folder::new().run_with(&["validate", contract, "-", "--masked"], edited);
    assert_eq!(said.stderr, "edit: /*/*: made a boolean of a string\n");
}

#[test]
fn answers_to_an_adapted_schema_are_turned_back() {
    let arguments = ["validate", r#"{"type": "array"}"#, "-", "--dialect", "openai-strict"];
    let folder = Folder::new();
    let lowered = folder.run(&["check", arguments[1], "--dialect", "openai-strict"]);
    assert!(lowered.stdout.contains("\"value\""), "{}", lowered.stdout);
    for (answer, code) in [(r#"{"value": []}"#, 0), ("[]", 1), (r#"{"value": 1}"#, 1), ("x", 1)] {
        let said = folder.run_with(&arguments, answer);
        assert_eq!(said.code, code, "{answer}: {}", said.stderr);
    }
    assert_eq!(folder.run_with(&arguments, r#"{"value": []}"#).stdout, "[]\n");
}

#[test]
fn what_takes_too_much_work_was_not_judged() {
    let mut definitions = serde_json::Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions.insert(format!("l{level}"), json!({ "allOf": [next, next] }));
    }
    definitions.insert("l30".to_owned(), json!({"type": "string"}));
    let contract = json!({"$ref": "#/$defs/l0", "$defs": definitions}).to_string();
    let folder = Folder::new().with("bomb.json", &contract);
    let said = folder.run_with(&["validate", "bomb.json"], "\"x\"");
    assert_eq!(said.code, 1);
    assert!(said.stderr.starts_with("error: answer could not be judged\n"), "{}", said.stderr);
    let said = folder.run_with(&["validate", "bomb.json", "--format", "json"], "\"x\"");
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(document["reason"], json!({"type": "over_limit", "limit": "work"}));
}

#[test]
fn hints_repeat_every_flag_that_matters() {
    let folder = Folder::new().with("answer.txt", r#"{"score": 11}"#);
    let said =
        folder.run(&["validate", "review.json", "answer.txt", "--look-around", "--contracts", "x"]);
    let hint = "airtight validate review.json answer.txt --contracts x --look-around --explain";
    assert!(said.stderr.contains(hint), "{}", said.stderr);
    let said = judged(&[], r#"{"score": 11}"#);
    assert!(said.stderr.contains("save the input to a file"), "{}", said.stderr);
}

#[test]
fn the_hint_after_a_refused_contract_really_explains_it() {
    let folder = Folder::new().with("own/bad.json", r#"{"pattern": "(?=a)", "minimum": "x"}"#);
    let flags = ["--contracts", "own", "--look-around"];
    let hint = "hint: run `airtight check bad --contracts own --look-around --explain`";
    for command in [&["validate", "bad", "-"][..], &["check", "bad", "--dialect", "anthropic"]] {
        let said = folder.run_with(&[command, &flags].concat(), "{}");
        assert_eq!(said.code, 52);
        assert!(said.stderr.contains(hint), "{}", said.stderr);
    }
    let said = folder.run(&[&["check", "bad", "--explain"], &flags[..]].concat());
    assert!(said.stdout.starts_with("bad: refused\n  error: /minimum: "), "{}", said.stdout);
}

#[test]
fn an_unreadable_answer_is_told_to_programs_too() {
    let arguments: [&[&str]; 2] = [&["absent.txt"], &["-", "--source", "absent.txt"]];
    for files in arguments {
        let command = [&["validate", "review.json", "--format", "json"], files].concat();
        let said = Folder::new().run_with(&command, "{}");
        assert_eq!(said.code, 42);
        assert!(said.stderr.starts_with("error: could not read input: `absent.txt`\n"));
        let document: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(document["valid"], json!(false));
        assert_eq!(document["reason"]["type"], "unreadable");
        assert_eq!(document["reason"]["message"], "could not read input: `absent.txt`");
        assert_eq!(document["reason"]["findings"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn a_refused_contract_is_told_to_programs_too() {
    let contract = r#"{"type": "objct", "propertees": {}}"#;
    let said = Folder::new().run_with(&["validate", contract, "--format", "json"], "{}");
    assert_eq!(said.code, 52);
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(document["reason"]["type"], "contract_refused");
    let findings = document["reason"]["findings"].to_string();
    for meant in ["did you mean `properties`", "did you mean `object`"] {
        assert!(findings.contains(meant), "{findings}");
        assert!(said.stderr.contains(meant), "{}", said.stderr);
    }
}
