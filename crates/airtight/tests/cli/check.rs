use crate::folder::{Folder, REVIEW};
use serde_json::{Value, json};

#[test]
fn a_sound_contract_is_accepted() {
    let said = Folder::new().run(&["check", "review.json"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert!(said.stdout.starts_with("review.json: accepted ("), "{}", said.stdout);
    for dialect in ["openai-strict", "anthropic", "gemini", "claude-code"] {
        assert!(said.stdout.contains(&format!("\n  {dialect} ")), "{}", said.stdout);
    }
}

#[test]
fn white_space_and_key_order_do_not_make_another_contract() {
    let fingerprint = |contract: &str| {
        let said = Folder::new().run(&["check", contract, "--format", "json"]);
        let document: Value = serde_json::from_str(&said.stdout).unwrap();
        document["contracts"][0]["fingerprint"].as_str().unwrap().to_owned()
    };
    let one = fingerprint(r#"{"type": "object", "minProperties": 1}"#);
    assert_eq!(one, fingerprint(r#"{"minProperties":1,"type":"object"}"#));
    assert_ne!(one, fingerprint(r#"{"minProperties":2,"type":"object"}"#));
}

#[test]
fn a_misspelt_keyword_is_refused_with_what_was_meant() {
    let said = Folder::new().run(&["check", r#"{"type": "object", "propertees": {}}"#]);
    assert_eq!(said.code, 52);
    assert!(said.stdout.contains("error: /propertees: unknown keyword"), "{}", said.stdout);
    assert!(said.stdout.contains("did you mean `properties`"), "{}", said.stdout);
}

#[test]
fn wrapping_and_look_around_are_choices() {
    let folder = Folder::new();
    let array = r#"{"type": "array"}"#;
    assert_eq!(folder.run(&["check", array]).code, 0);
    assert_eq!(folder.run(&["check", array, "--no-wrap"]).code, 52);
    let pattern = r#"{"type": "string", "pattern": "^(?!x)"}"#;
    assert_eq!(folder.run(&["check", pattern]).code, 52);
    assert_eq!(folder.run(&["check", pattern, "--look-around"]).code, 0);
    assert_eq!(folder.run_with(&["validate", pattern, "--look-around"], "\"y\"").code, 0);
}

#[test]
fn explanations_add_to_the_report() {
    let folder = Folder::new();
    for contract in ["review.json", r#"{"propertees": {}}"#] {
        let brief = folder.run(&["check", contract]).stdout;
        let explained = folder.run(&["check", contract, "--explain"]).stdout;
        assert!(explained.len() > brief.len() + 40, "{explained}");
        assert!(brief.lines().all(|line| explained.contains(line)), "{explained}");
    }
}

#[test]
fn contracts_come_from_everywhere() {
    let folder = Folder::new()
        .with("contracts/named.json", "{}")
        .with("schemas/shipped.json", "{}")
        .with("elsewhere/other.json", "{}");
    for arguments in [
        &["check", "@review.json"][..],
        &["check", "./review.json"],
        &["check", "@~/review.json"],
        &["check", "named"],
        &["check", "shipped"],
        &["check", "other", "--contracts", "elsewhere"],
        &["check", r#"{"type": "object"}"#],
    ] {
        assert_eq!(folder.run(arguments).code, 0, "{arguments:?}");
    }
    assert_eq!(folder.run_with(&["check", "-"], "{}").code, 0);
}

#[test]
fn many_contracts_are_reported_in_the_order_they_were_typed() {
    let mut folder = Folder::new();
    let names: Vec<String> = (0..40).map(|number| format!("c{number}.json")).collect();
    for name in &names {
        folder = folder.with(name, if name.contains('7') { "{" } else { "{}" });
    }
    let mut arguments = vec!["check", "--format", "json"];
    arguments.extend(names.iter().map(String::as_str));
    let said = folder.run(&arguments);
    assert_eq!(said.code, 52);
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    let reports = document["contracts"].as_array().unwrap();
    let reported: Vec<(&str, bool)> = reports
        .iter()
        .map(|report| (report["contract"].as_str().unwrap(), report["accepted"] == json!(true)))
        .collect();
    let expected: Vec<(&str, bool)> =
        names.iter().map(|name| (name.as_str(), !name.contains('7'))).collect();
    assert_eq!(reported, expected);
}

#[test]
fn a_refused_contract_is_named_with_what_is_wrong_and_what_to_type() {
    let said = Folder::new().with("bad.json", r#"{"type": 42}"#).run(&["check", "bad.json"]);
    assert_eq!(said.code, 52);
    assert!(said.stdout.starts_with("bad.json: refused\n  error: /type: "), "{}", said.stdout);
    assert_eq!(
        said.stderr,
        "error: 1 of 1 contracts refused\nhint: run `airtight check bad.json --explain`\n"
    );
}

#[test]
fn a_role_whose_examples_break_its_contract_is_refused_with_each_of_them() {
    let folder = Folder::new()
        .with("contracts/reviewer.json", REVIEW)
        .with("contracts/reviewer.toml", "examples = \"shown\"\n")
        .with("contracts/shown/a.in.txt", "one")
        .with("contracts/shown/a.out.json", r#"{"summary":"one","score":1}"#);
    assert_eq!(folder.run(&["check", "reviewer"]).code, 0);
    let folder = folder
        .with("contracts/shown/b.in.txt", "two")
        .with("contracts/shown/b.out.json", r#"{"summary":"two","score":11}"#)
        .with("contracts/shown/c.in.txt", "three");
    let said = folder.run(&["check", "reviewer"]);
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stdout.starts_with("reviewer: refused\n  error: the example breaks"), "{said:?}");
    assert!(said.stdout.contains("shown/b.out.json`: ") && said.stdout.contains(": /score: "));
    assert!(said.stdout.contains("(`maximum`)\n    hint: correct the answer in it"), "{said:?}");
    assert!(said.stdout.contains("shown/c.out.json`"), "{said:?}");
    assert!(!said.stdout.contains("a.out.json"), "{said:?}");
    let said = folder.run(&["check", "reviewer", "--format", "json"]);
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    let report = &document["contracts"][0];
    assert_eq!((said.code, &report["accepted"]), (52, &json!(false)));
    assert_eq!(report["diagnostics"][0]["code"], "bad_example");
}

#[test]
fn json_reports_are_alone_on_stdout() {
    let said = Folder::new().run(&["check", "review.json", "missing", "--format", "json"]);
    assert_eq!((said.code, said.stderr.as_str()), (52, ""));
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(document["version"], 1);
    assert_eq!(document["contracts"][1]["diagnostics"][0]["code"], "unreadable");
}

#[test]
fn inline_errors_show_detail_and_file_errors_only_the_place() {
    let folder = Folder::new().with("secret.json", "{\n  \"key\": hunter2 }");
    let inline = folder.run(&["check", "{ hunter2 }"]);
    assert!(inline.stdout.contains("unexpected `h`"), "{}", inline.stdout);
    let file = folder.run(&["check", "@secret.json"]);
    assert!(file.stdout.contains("line 2 column 10"), "{}", file.stdout);
    assert!(!file.stdout.contains("hunter2") && !file.stdout.contains("`h`"));
}

#[test]
fn unknown_names_say_which_are_known() {
    let folder = Folder::new().with("contracts/b.json", "{}").with("schemas/a.json", "{}");
    let said = folder.run(&["check", "c"]);
    assert_eq!(said.code, 52);
    assert!(said.stdout.contains("hint: known contracts: a, b"), "{}", said.stdout);
}

#[test]
fn a_dialect_prints_the_schema_alone() {
    let said = Folder::new().run(&["check", "review.json", "--dialect", "anthropic"]);
    assert_eq!(said.code, 0);
    assert!(said.stderr.contains("loss: /properties/score: `maximum`"), "{}", said.stderr);
    let schema: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(schema["properties"]["summary"]["type"], "string");
}

#[test]
fn bad_usage_is_told_apart_from_bad_contracts() {
    let folder = Folder::new();
    for arguments in [
        &["check"][..],
        &["check", "-", "-"],
        &["check", "review.json", "--dialect", "nobody"],
        &["check", "review.json", "review.json", "--dialect", "openai-strict"],
        &["check", "review.json", "--dialect", "openai-strict", "--format", "json"],
        &["nonsense"],
    ] {
        let said = folder.run(arguments);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{arguments:?}");
    }
}

#[test]
fn blank_contracts_are_refused() {
    for blank in ["", "  "] {
        let said = Folder::new().run(&["check", blank]);
        assert_eq!(said.code, 52);
        assert!(said.stdout.contains("contract cannot be empty"));
    }
}

#[test]
fn contracts_must_be_objects() {
    for text in ["[]", "\"{}\"", "null"] {
        let said = Folder::new().run(&["check", text]);
        assert_eq!(said.code, 52);
        assert!(said.stdout.contains("must be a JSON object"), "{}", said.stdout);
    }
}

#[test]
fn programs_find_a_contract_by_what_was_typed() {
    let said = Folder::new().run(&["check", "@review.json", "{}", "--format", "json"]);
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(document["contracts"][0]["contract"], "@review.json");
    assert_eq!(document["contracts"][1]["contract"], "{}");
}

#[test]
fn contracts_that_cost_too_much_are_warned_of() {
    let mut definitions = serde_json::Map::new();
    for level in 0..30 {
        let next = serde_json::json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions.insert(format!("l{level}"), serde_json::json!({ "allOf": [next, next] }));
    }
    definitions.insert("l30".to_owned(), serde_json::json!({"type": "string"}));
    let bomb = serde_json::json!({"$ref": "#/$defs/l0", "$defs": definitions}).to_string();
    let said = Folder::new().with("bomb.json", &bomb).run(&["check", "bomb.json"]);
    assert_eq!(said.code, 0);
    assert!(said.stdout.contains("too much work to judge"), "{}", said.stdout);
}

#[test]
fn help_is_a_command_too() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["help", "check"]), folder.run(&["check", "--help"]));
}
