//! Without the embedded model, which is a crate of its own, the program and the library are whole and
//! say what is missing. `make slim` builds them so; anywhere else there is nothing here to run.

#![cfg(all(feature = "cli", not(feature = "embedded")))]
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::process::{Command, Stdio};

use airtight::{Contract, Outcome, Runner};
use serde_json::json;
use test_case::test_case;

/// What is said by both.
const MISSING: &str = "this program was built without the embedded model";

/// Returns the exit code and what was said on stdout and stderr, with nothing set and a new home.
fn said(arguments: &[&str]) -> (Option<i32>, String, String) {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(assert_cmd::cargo::cargo_bin!("airtight"))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.path())
        .current_dir(home.path())
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test_case(&["models", "list"]; "a command about it")]
#[test_case(&["run", "--model", "embedded", "--json-schema", r#"{"type": "object"}"#, "Go"]; "a run")]
fn the_program_says_what_is_missing(arguments: &[&str]) {
    let (code, stdout, stderr) = said(arguments);
    assert_eq!((code, stdout.as_str()), (Some(52), ""), "{stderr}");
    assert!(stderr.contains(MISSING), "{stderr}");
    assert!(stderr.contains("`cargo install airtight`"), "{stderr}");
}

#[test]
fn whoever_has_no_model_is_not_sent_to_one_that_is_not_there() {
    let (code, stdout, stderr) = said(&["run", "--json-schema", r#"{"type": "object"}"#, "Go"]);
    assert_eq!((code, stdout.as_str()), (Some(52), ""), "{stderr}");
    assert!(stderr.contains("no model is set"), "{stderr}");
    assert!(!stderr.contains("embedded"), "{stderr}");
}

#[tokio::test]
async fn the_library_says_what_is_missing() {
    let contract = Contract::compile(json!({ "type": "object" })).unwrap();
    let failure = Runner::new("embedded").run(&contract, "Go").await.unwrap_err();
    assert_eq!((failure.outcome, failure.message.as_str()), (Outcome::Config, MISSING));
    assert_eq!(failure.hint.as_deref(), Some("switch on the feature `embedded` of `airtight`"));
}
