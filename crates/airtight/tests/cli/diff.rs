//! `airtight diff`: two versions of a contract.

use std::process::Command;

use crate::folder::{Folder, Said};
use serde_json::{Value, json};

/// A ticket of this version with these properties, all required and nothing else.
fn ticket(version: &str, properties: &Value) -> String {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let schema = json!({
        "x-version": version,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    schema.to_string()
}

fn levels(levels: &[&str]) -> Value {
    json!({"level": {"enum": levels}})
}

/// A folder with version 1.4.0 of a ticket, and a later one.
fn folder(version: &str, properties: &Value) -> Folder {
    Folder::new()
        .with("old.json", ticket("1.4.0", &levels(&["low", "high"])))
        .with("new.json", ticket(version, properties))
}

fn compared(folder: &Folder, arguments: &[&str]) -> Said {
    folder.run(&[&["diff", "old.json", "new.json"], arguments].concat())
}

#[test]
fn a_value_more_breaks_consumers_and_an_answer_shows_it() {
    let folder = folder("1.5.0", &levels(&["low", "high", "urgent"]));
    let said = compared(&folder, &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(
        lines[1..],
        [
            "  step   old answers  consumers  where              what",
            "  major  yes          no         /properties/level  \"urgent\" is among the values",
            "  /properties/level: \"urgent\" is among the values",
            "    only the new one accepts {\"level\":\"urgent\"}",
            "    the old one says /level: `urgent` is not allowed, use one of `low`, `high`",
            "  every old answer is still valid: yes",
            "  every new answer is valid for old consumers: no",
            "  the version needs a major step; 1.4.0 → 2.0.0 would be",
        ]
    );
}

#[test]
fn a_version_that_moves_too_little_fails_the_check_and_is_told_what_to_write() {
    let folder = folder("1.5.0", &levels(&["low", "high", "urgent"]));
    let said = compared(&folder, &["--check"]);
    assert_eq!(said.code, 1);
    assert_eq!(
        said.stderr,
        "error: the changes need a major step, and the version goes from 1.4.0 to 1.5.0\n\
         hint: write `\"x-version\": \"2.0.0\"` at the root of the schema\n"
    );
}

#[test]
fn a_version_that_moves_far_enough_passes() {
    for (version, levels_after) in
        [("2.0.0", vec!["low", "urgent"]), ("1.5.0", vec!["low"]), ("2.0.0-rc.1", vec!["x"])]
    {
        let said = compared(&folder(version, &levels(&levels_after)), &["--check"]);
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{version}: {}", said.stdout);
    }
}

#[test]
fn a_patch_needs_a_version_of_its_own() {
    let described = json!({"level": {"enum": ["low", "high"], "description": "How bad?"}});
    assert_eq!(compared(&folder("1.4.1", &described), &["--check"]).code, 0);
    let said = compared(&folder("1.4.0", &described), &["--check"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("need a patch step"), "{}", said.stderr);
    assert!(said.stderr.contains("\"x-version\": \"1.4.1\""), "{}", said.stderr);
}

#[test]
fn the_same_contract_has_nothing_to_declare() {
    let said = compared(&folder("1.4.0", &levels(&["low", "high"])), &["--check"]);
    assert_eq!(said.code, 0);
    assert!(said.stdout.ends_with("  nothing changes\n"), "{}", said.stdout);
    // A version may move although nothing else does.
    assert_eq!(compared(&folder("3.0.0", &levels(&["low", "high"])), &["--check"]).code, 0);
}

#[test]
fn versions_that_go_back_or_are_missing_fail_the_check() {
    let said = compared(&folder("1.3.0", &levels(&["low"])), &["--check"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("the version goes back, from 1.4.0 to 1.3.0"), "{}", said.stderr);
    assert!(said.stderr.contains("hint: name the older contract first"), "{}", said.stderr);
    let said = Folder::new().run(&["diff", "{}", r#"{"type": "object"}"#, "--check"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("need a minor step, and `(inline)` has no version"));
    assert!(said.stderr.contains("hint: write `\"x-version\": \"1.0.0\"`"));
}

#[test]
fn programs_get_everything_as_one_document() {
    let folder = folder("1.5.0", &levels(&["low", "urgent"]));
    let said = compared(&folder, &["--format", "json", "--check"]);
    assert_eq!((said.code, said.stderr.as_str()), (1, ""));
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    let facts =
        ["version", "decided", "step", "declared", "sufficient", "next_version", "unlisted"];
    let facts = facts.map(|name| document[name].clone());
    assert_eq!(
        facts,
        [
            json!(1),
            json!(true),
            json!("major"),
            json!("minor"),
            json!(false),
            json!("2.0.0"),
            json!(0)
        ]
    );
    assert_eq!(document["old"]["version"], "1.4.0");
    let witness = &document["changes"][0]["old_answers"]["witness"];
    assert_eq!(witness["value"], json!({"level": "high"}));
    assert_eq!(witness["accepted_by"], "old");
    assert_eq!(witness["violation"]["pointer"], "/level");
    assert_eq!(document["changes"][1]["consumers"]["answer"], "no");
    assert_eq!(document["replay"], Value::Null);
}

#[test]
fn one_contract_may_come_from_stdin_and_not_both() {
    let folder = folder("1.5.0", &levels(&["low"]));
    let old = std::fs::read(folder.path("old.json")).unwrap();
    let said = folder.run_with(&["diff", "-", "new.json", "--check"], old);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let said = folder.run(&["diff", "-", "-"]);
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (2, "error: only one contract can come from stdin\n")
    );
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = folder("1.5.0", &levels(&["low"])).with("bad.json", r#"{"type": "objct"}"#);
    assert_eq!(folder.run(&["diff", "old.json"]).code, 2);
    assert_eq!(folder.run(&["diff", "old.json", "bad.json"]).code, 52);
    assert_eq!(folder.run(&["diff", "absent.json", "new.json"]).code, 52);
    assert_eq!(folder.run(&["diff", "old.json", "."]).code, 52);
    assert_eq!(folder.run(&["diff", "{}", "--rev", "HEAD"]).code, 2);
    for revision in ["", "-x", "a:b"] {
        let rev = format!("--rev={revision}");
        let said = folder.run(&["diff", "old.json", &rev]);
        assert_eq!(said.code, 2, "{revision}: {}", said.stderr);
    }
}

#[test]
fn unrelated_contracts_are_compared_and_said_to_be_others() {
    let folder = Folder::new()
        .with("a.json", r#"{"title": "Ticket", "type": "object"}"#)
        .with("b.json", r#"{"title": "Scores", "type": "array"}"#);
    let said = folder.run(&["diff", "a.json", "b.json"]);
    assert_eq!(said.code, 0);
    assert!(
        said.stdout.contains("call themselves differently: `Ticket` and `Scores`"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("the version needs a major step"), "{}", said.stdout);
}

fn git(folder: &Folder, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder.path(""))
        .env("HOME", folder.path(""))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// A repository whose first commit has version 1.4.0 of a contract and of a role.
fn repository() -> Folder {
    let folder = Folder::new()
        .with("contracts/ticket.json", ticket("1.4.0", &levels(&["low", "high"])))
        .with("contracts/old-triage.json", ticket("0.1.0", &levels(&["low"])))
        .with("contracts/triage.toml", "version = \"3.0.0\"\nschema = \"old-triage.json\"\n");
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    folder
        .with("contracts/ticket.json", ticket("1.4.1", &levels(&["low"])))
        .with("contracts/triage.json", ticket("0.2.0", &levels(&["low", "high"])))
        .with("contracts/triage.toml", "version = \"3.1.0\"\n")
}

#[test]
fn a_contract_is_compared_with_itself_at_another_revision() {
    let folder = repository();
    for contract in ["ticket", "@contracts/ticket.json", "contracts/ticket.json"] {
        let said = folder.run(&["diff", contract, "--rev", "main", "--check"]);
        assert_eq!(said.code, 1, "{}", said.stdout);
        assert!(
            said.stderr.contains("need a minor step, and the version goes from 1.4.0 to 1.4.1")
        );
    }
    let said = folder.run(&["diff", "ticket", "--rev", "HEAD"]);
    assert!(said.stdout.starts_with("ticket at HEAD 1.4.0 ("), "{}", said.stdout);
}

#[test]
fn a_role_is_compared_with_the_schema_and_the_version_that_it_had() {
    let said = repository().run(&["diff", "triage", "--rev", "main", "--check"]);
    assert_eq!(said.code, 1, "{}", said.stdout);
    assert!(said.stderr.contains("need a major step, and the version goes from 3.0.0 to 3.1.0"));
    assert!(said.stderr.contains("hint: write `version = \"4.0.0\"` in `"), "{}", said.stderr);
}

#[test]
fn revisions_that_do_not_have_it_are_told() {
    let folder = repository().with("contracts/fresh.json", "{}");
    for (contract, revision) in [("fresh", "main"), ("ticket", "no-such-branch")] {
        let said = folder.run(&["diff", contract, "--rev", revision]);
        assert_eq!(said.code, 42, "{}", said.stderr);
        assert!(said.stderr.contains(&format!("at `{revision}`: fatal: ")), "{}", said.stderr);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = folder("1.5.0", &levels(&["low"]));
    let program = assert_cmd::cargo::cargo_bin!("airtight").display();
    let script = format!("set -o pipefail; {program} diff old.json new.json | true");
    let done = Command::new("bash").args(["-c", &script]).current_dir(folder.path("")).output();
    assert_eq!(done.unwrap().status.code(), Some(0));
}
