//! The forms of a review.

use airtight_core::{Contract, Document};
use serde_json::{Value, json};

use crate::screen::Terminal;
use crate::stage::{Stage, found, leak};

fn stage() -> Stage {
    Stage::changed([found(&json!([leak()]))])
}

#[test]
fn sarif_satisfies_the_schema_of_the_standard() {
    let said = stage().review(&["--format", "sarif"]);
    assert_eq!(said.code, 0, "{said:?}");
    let schema = include_str!("../../../../fixtures/sarif/sarif-2.1.0.json");
    let schema = Contract::compile(serde_json::from_str(schema).unwrap()).unwrap();
    let document = Document::parse(said.stdout.as_str()).unwrap();
    let violations = airtight_core::verdict::check(&schema, &document);
    assert!(violations.is_empty(), "{violations:?}");
    let region = document.to_value();
    let place = &region["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"], json!({ "startLine": 3, "endLine": 3 }));
    assert_eq!(place["artifactLocation"]["uri"], "src/auth.rs");
}

#[test]
fn the_payload_for_github_names_lines_of_the_new_side() {
    let said = stage().review(&["--format", "github", "--commit", "0123abc"]);
    let payload: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&payload["event"], &payload["commit_id"]), (&json!("COMMENT"), &json!("0123abc")));
    let comment = &payload["comments"][0];
    assert_eq!(
        (&comment["path"], &comment["line"], &comment["side"]),
        (&json!("src/auth.rs"), &json!(3), &json!("RIGHT"))
    );
    assert_eq!(comment.get("start_line"), None);
}

#[test]
fn the_report_for_gitlab_has_what_merge_requests_show() {
    let said = stage().review(&["--format", "gitlab"]);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    let entry = &report[0];
    assert_eq!(
        entry["location"],
        json!({ "path": "src/auth.rs", "lines": { "begin": 3, "end": 3 } })
    );
    assert_eq!(
        (&entry["severity"], &entry["check_name"]),
        (&json!("critical"), &json!("airtight.review.critical"))
    );
    assert_eq!(entry["fingerprint"].as_str().unwrap().len(), 32);
}

#[test]
fn text_shows_the_lines_that_a_finding_is_about() {
    let said = stage().review(&["--format", "text", "--quiet"]);
    assert_eq!(said.stderr, "");
    assert_eq!(
        said.stdout,
        "critical src/auth.rs:3
  The token is compared with == in src/auth.rs, which leaks its length.
    1 |   impl Token {
    2 |       fn matches(&self, other: &str) -> bool {
  > 3 | +         self.0 == other
    4 |       }
    5 |   }
  suggestion:
  Compare in constant time: `constant_time_eq`.

1 finding: 1 critical
"
    );
}

#[test]
fn markdown_is_a_page() {
    let said = stage().review(&["--format", "markdown"]);
    assert!(
        said.stdout.starts_with("## Review\n\n1 critical.\n\n### critical: `src/auth.rs:3`\n"),
        "{said:?}"
    );
}

#[test]
fn people_see_text_and_pipes_get_json() {
    let stage = stage();
    let mut terminal = Terminal::open();
    let mut command = stage.command(&["review"]);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command
        .stdout(terminal.device.try_clone().unwrap())
        .stderr(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    terminal.shows(&["critical src/auth.rs:3", "> 3 | + ", "1 finding: 1 critical"]);
    assert!(child.wait().unwrap().success());
    assert!(stage.review(&[]).stdout.starts_with("{\"type\":\"review\",\"version\":1,"));
}

#[test]
fn words_of_a_model_do_nothing_to_a_terminal() {
    let mut finding = leak();
    finding["description"] = json!("\u{1b}[2J\u{202e}gone");
    let said = Stage::changed([found(&json!([finding]))]).review(&["--format", "text"]);
    assert!(!said.stdout.contains('\u{1b}') && !said.stdout.contains('\u{202e}'), "{said:?}");
}

#[test]
fn words_of_a_model_are_seen_as_they_are_in_every_comment() {
    let mut finding = leak();
    finding["description"] = json!("The name \u{202e}nimda is not checked.");
    finding["suggestion"] = json!("Refuse it: `name != \"\u{202e}nimda\"`.");
    for form in ["github", "markdown"] {
        let stage = Stage::changed([found(&json!([finding]))]);
        let said = stage.review(&["--format", form]);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(!said.stdout.contains('\u{202e}'), "{said:?}");
        assert!(said.stdout.contains("u{202e}nimda"), "{said:?}");
    }
}
