//! Console blocks in the README and the guide are run, so that they cannot drift.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::path::Path;

use airtight_fake::{Fake, Script, Turn};
use serde_json::json;

/// The model that the guide talks to.
fn script() -> Script {
    let review =
        json!({ "summary": "Compares tokens in constant time.", "level": "info", "score": 9 });
    let report = json!({
        "summary": "All services answer.",
        "events": [{ "level": "warning", "service": "web", "message": "web takes 900 ms" }],
        "escalation": { "needed": false },
        "services_checked": [
            { "name": "web", "status": "healthy" },
            { "name": "db", "status": "healthy" },
        ],
    });
    let findings = json!({ "value": [{
        "severity": "info", "file": "src/session.rs", "line_start": -1, "line_end": -1,
        "description": "No test covers a token of another length.",
        "suggestion": "Consider adding tests.",
    }, {
        "severity": "critical", "file": "src/session.rs", "line_start": 118, "line_end": 118,
        "description": "The token is compared with ==, which leaks its length by timing.",
        "suggestion": "Compare in constant time, as before: `constant_time_eq`.",
    }] });
    Script::new([
        Turn::call("structured_output", report).when_contains("Do your task").forever(),
        Turn::text(findings.to_string()).when_contains("Review the changes to").forever(),
        Turn::text(review.to_string()).when_contains("Review this change").forever(),
        Turn::call("structured_output", review).when_contains("Review HEAD").forever(),
        Turn::text("Why do programmers prefer dark mode? Light attracts bugs.").forever(),
    ])
}

/// A page that counts the runs on record, and so has a ledger of its own.
const LEDGER: &str = "ledger.md";

/// Runs the blocks of `pages` from `folder`, where their readers are.
fn run(folder: &str, pages: &str) {
    let fake = Fake::start_blocking(script()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let home = home.path().to_str().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    std::env::set_current_dir(folder).unwrap();
    let cases = trycmd::TestCases::new();
    cases
        .env("NO_COLOR", "1")
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home)
        .env("XDG_DATA_HOME", home)
        .env("AIRTIGHT_MODEL", "anthropic:fake")
        .env("ANTHROPIC_API_KEY", "sk-test")
        .env("ANTHROPIC_BASE_URL", fake.anthropic_base())
        .case(pages);
    if pages != LEDGER {
        cases.skip(LEDGER);
    }
}

// One test, in a process of its own: there is only one current directory.
#[test]
fn console_blocks_show_what_really_happens() {
    run("", "README.md");
    run("docs/guide", "*.md");
    run("docs/guide", LEDGER);
}
