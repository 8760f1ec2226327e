//! Lists, exports, statistics and what terminals show.

use airtight_fake::Turn;
use serde_json::json;

use super::{ask, listed, newest};
use crate::stage::{Stage, bad, good};
use crate::terminal::Terminal;

/// A stage with a run that is met and one that is not, the newest.
fn two() -> Stage {
    let stage = Stage::new([good(), bad()]);
    assert_eq!(stage.run(&["First"]).code, 0);
    assert_eq!(stage.run(&["--reasks", "0", "Second"]).code, 1);
    stage
}

fn seen(stage: &Stage, arguments: &[&str]) -> String {
    let terminal = Terminal::open();
    let mut command = stage.bare(arguments);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.stdout(terminal.device.try_clone().unwrap());
    command.stderr(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    child.wait().unwrap();
    terminal.close()
}

#[test]
fn runs_are_found_by_what_is_known_of_them() {
    let stage = two();
    let count = |filters: &[&str]| {
        let said = ask(&stage, &[&["runs", "list"], filters].concat());
        assert_eq!(said.code, 0, "{said:?}");
        said.lines().len()
    };
    assert_eq!(count(&[]), 2);
    assert_eq!(count(&["--valid"]), 1);
    assert_eq!(count(&["--invalid", "--outcome", "attempts_exhausted"]), 1);
    assert_eq!(count(&["--provider", "anthropic", "--model", "fake"]), 2);
    assert_eq!(count(&["--provider", "openai"]), 0);
    assert_eq!(count(&["--since", "1h"]), 2);
    assert_eq!(count(&["--until", "1h"]), 0);
    assert_eq!(count(&["--limit", "1"]), 1);
    assert_eq!(count(&["--state", "unknown"]), 0);
    let fingerprint = listed(&stage)[0]["fingerprint"].as_str().unwrap().to_owned();
    assert_eq!(count(&["--contract", &fingerprint[..12]]), 2);
}

#[test]
fn people_get_tables() {
    let stage = two();
    let screen = seen(&stage, &["runs", "list"]);
    for word in ["began (UTC)", "anthropic:fake", "met", "attempts_exhausted, to review"] {
        assert!(screen.contains(word), "{word} is not in {screen}");
    }
    let screen = seen(&stage, &["runs", "show", &newest(&stage)]);
    for word in ["attempt 1", "rejected", "/score", "failed: ", "Second", "--raw"] {
        assert!(screen.contains(word), "{word} is not in {screen}");
    }
    let screen = seen(&stage, &["stats"]);
    for word in ["95 % interval", "50.0 %", "anthropic"] {
        assert!(screen.contains(word), "{word} is not in {screen}");
    }
}

#[test]
fn a_terminal_obeys_nothing_from_the_ledger() {
    let naughty = "\u{1b}]52;c;aGk=\u{7}\u{1b}[2J";
    let stage = Stage::new([Turn::text(format!("{naughty} no")).forever()]);
    stage.run(&["--idempotency-key", naughty, naughty]);
    let id = newest(&stage);
    for arguments in [
        &["runs", "list"][..],
        &["runs", "show", &id],
        &["runs", "show", &id, "--raw"],
        &["runs", "show", &id, "--json"],
    ] {
        let screen = seen(&stage, arguments);
        assert!(!screen.contains("\u{1b}]52") && !screen.contains("\u{1b}[2J"), "{screen:?}");
    }
}

#[test]
fn exports_hold_everything_and_no_formulas() {
    let stage =
        Stage::new([Turn::call("structured_output", json!({ "summary": "=1+1", "score": 9 }))]);
    assert_eq!(stage.run(&["=HYPERLINK(\"http://x\")"]).code, 0);
    let lines = ask(&stage, &["runs", "export"]).lines();
    assert_eq!(lines[0]["prompt"], "=HYPERLINK(\"http://x\")");
    let table = ask(&stage, &["runs", "export", "--format", "csv"]).stdout;
    assert!(table.starts_with("id,parent,key,"), "{table}");
    assert!(table.contains("\"'=HYPERLINK(\"\"http://x\"\")\""), "{table}");
}

#[test]
fn statistics_count_what_is_on_record() {
    let stage = two();
    let said = ask(&stage, &["stats", "--by", "provider,model", "--svg", "plot.svg"]);
    assert_eq!(said.code, 0, "{said:?}");
    let stat = &said.lines()[0];
    assert_eq!((&stat["provider"], &stat["model"]), (&json!("anthropic"), &json!("fake")));
    assert_eq!((&stat["runs"], &stat["failed"]), (&json!(2), &json!(1)));
    assert_eq!(stat["failure"]["rate"], 0.5);
    // Wilson's interval for one of two.
    assert!((stat["failure"]["low"].as_f64().unwrap() - 0.0945).abs() < 1e-3, "{stat}");
    assert_eq!((&stat["inputTokens"], &stat["outputTokens"]), (&json!(200), &json!(40)));
    let plot = std::fs::read_to_string(stage.path("plot.svg")).unwrap();
    assert!(plot.starts_with("<svg ") && plot.contains("50.0 % of 2"), "{plot}");
    let days = ask(&stage, &["stats", "--by", "day", "--since", "1d"]).lines();
    assert_eq!(days.len(), 1);
    assert_eq!(days[0]["day"].as_str().unwrap().len(), 10);
}

#[test]
fn what_is_not_kept_is_pruned_and_still_counted() {
    let stage = Stage::new([good(), good()]);
    assert_eq!(stage.run(&["--store-keep", "1s", "A"]).code, 0);
    assert_eq!(stage.run(&["B"]).code, 0);
    let ended = listed(&stage)[1]["expiresAt"].as_i64().unwrap();
    assert!(ended > 0);
    let dry = ask(&stage, &["runs", "prune", "--older-than", "36500d", "--dry-run"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    // The clock goes on by itself: what is kept for a second is over soon.
    loop {
        let said = ask(&stage, &["runs", "prune"]);
        assert_eq!(said.code, 0, "{said:?}");
        if said.stdout == "1 runs deleted\n" {
            break;
        }
    }
    assert_eq!(listed(&stage).len(), 1);
    assert_eq!(ask(&stage, &["stats"]).lines()[0]["runs"], 2);
}
