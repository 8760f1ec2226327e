//! `.airtight/review.toml`, baselines, and whom to believe.

use serde_json::json;

use crate::stage::{AFTER, Stage, document, finding, found, gaps, leak, places};

#[test]
fn the_rules_of_the_house_are_told_to_the_model() {
    let stage = Stage::changed([found(&json!([]))]).with(
        ".airtight/review.toml",
        "rules = [\"Secrets are compared in constant time.\"]\nignore = [\"*.lock\"]\n",
    );
    let stage = stage.with("Cargo.lock", "x\n");
    stage.git(["add", "-N", "Cargo.lock"]);
    let said = stage.review(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let system = stage.fake.requests()[0].body["system"].to_string();
    assert!(system.contains("- Secrets are compared in constant time."), "{system}");
    let ignored = ("Cargo.lock".to_owned(), "it is ignored by `*.lock`".to_owned());
    assert_eq!(gaps(&said), [ignored]);
}

#[test]
fn unknown_and_wrong_settings_are_refused_with_their_line() {
    for (text, words) in [
        ("rulez = []\n", "review.toml:1: no such setting: `rulez`"),
        ("rulez = []\n", "did you mean `rules`?"),
        ("\nfail_on = \"awful\"\n", "review.toml:2: `review.fail_on`"),
        ("model = \"anthropic:x\"\n", "no such setting: `model`"),
        ("base_url = \"http://evil\"\n", "no such setting: `base_url`"),
        ("baseline = \"../x.json\"\n", "must be in the project"),
        ("baseline = \"/etc/passwd\"\n", "must be in the project"),
        ("ignore = [\"a[b\"]\n", "no pattern of files"),
        ("rules = 1\n", "a list of strings"),
        ("rules = [\n", "not TOML"),
    ] {
        let stage = Stage::changed([]).with(".airtight/review.toml", text);
        let said = stage.review(&[]);
        assert_eq!(said.code, 52, "{said:?}");
        assert!(said.stderr.contains(words), "{words} in {said:?}");
        // Other commands do not care.
        assert_ne!(stage.say(&["doctor"]).code, 52);
    }
}

#[test]
fn flags_are_stronger_than_the_file_and_the_user_is_too() {
    let stage = Stage::changed([found(&json!([leak()])).forever()])
        .with(".airtight/review.toml", "fail_on = \"info\"\nignore_severities = [\"info\"]\n");
    assert_eq!(stage.review(&[]).code, 1);
    let stage = stage.with("airtight.toml", "[review]\nfail_on = \"critical\"\n");
    assert_eq!(stage.review(&[]).code, 1);
    let warning = finding("warning", "src/auth.rs", 3, 3);
    stage.fake.push(found(&json!([warning])));
    let stage = Stage::changed([found(&json!([warning])).forever()])
        .with(".airtight/review.toml", "fail_on = \"info\"\n");
    assert_eq!(stage.review(&["--fail-on", "critical"]).code, 0);
}

#[test]
fn severities_that_nobody_wants_are_counted() {
    let info = finding("info", "src/auth.rs", 1, 1);
    let stage = Stage::changed([found(&json!([leak(), info]))])
        .with(".airtight/review.toml", "ignore_severities = [\"info\"]\n");
    let document = document(&stage.review(&[]));
    assert_eq!(
        (&document["ignored"], document["findings"].as_array().unwrap().len()),
        (&json!(1), 1)
    );
}

#[test]
fn rules_that_a_change_hides_or_takes_away_are_told() {
    let told = "by rules that it changes itself: `.airtight/review.toml`";
    let hidden = Stage::changed([found(&json!([]))])
        .with(".airtight/review.toml", "ignore = [\".airtight/**\"]\n");
    hidden.git(["add", "-N", "."]);
    let said = hidden.review(&[]);
    assert!(said.stderr.contains(told), "{said:?}");

    let removed = Stage::changed([found(&json!([]))])
        .with(".airtight/review.toml", "fail_on = \"critical\"\n");
    removed.git(["add", "."]);
    removed.git(["commit", "-qm", "rules"]);
    removed.git(["rm", "-q", ".airtight/review.toml"]);
    let said = removed.review(&["--base", "HEAD"]);
    assert!(said.stderr.contains(told), "{said:?}");
}

#[test]
fn a_change_of_the_rules_themselves_is_told() {
    let stage = Stage::changed([found(&json!([]))])
        .with(".airtight/review.toml", "ignore = [\"src/**\"]\n");
    stage.git(["add", "-N", "."]);
    let said = stage.review(&[]);
    assert!(said.stderr.contains("by rules that it changes itself"), "{said:?}");
    assert!(
        said.stderr.contains("not reviewed: src/auth.rs: it is ignored by `src/**`"),
        "{said:?}"
    );
}

#[test]
fn a_baseline_reports_only_what_is_new() {
    let stage = Stage::changed([found(&json!([leak()]))]);
    let update = ["--baseline", "known.json", "--update-baseline"];
    let said = stage.review(&update);
    assert_eq!((said.code, places(&said).len()), (0, 1), "{said:?}");

    // Lines above it moved, and the model says it in other words.
    let mut again = finding("critical", "src/auth.rs", 5, 5);
    again["description"] =
        json!("The token is compared with == in src/auth.rs, and its length leaks.");
    let other = json!({
        "severity": "critical", "file": "src/auth.rs", "line_start": 1, "line_end": 1,
        "description": "The comment promises a version that does not exist.", "suggestion": "Remove it.",
    });
    let stage = stage.with("src/auth.rs", format!("// Version 9\n\n{AFTER}"));
    stage.fake.push(found(&json!([again, other])));
    let said = stage.review(&["--baseline", "known.json"]);
    assert_eq!(places(&said), [("critical".to_owned(), "src/auth.rs".to_owned(), 1)], "{said:?}");
    assert_eq!(document(&said)["known"], 1);
    assert!(said.stderr.contains("1 known"), "{said:?}");
    assert_eq!(stage.review(&[&update[..], &["--quiet"]].concat()).code, 0);
    let said = stage.review(&["--baseline", "known.json", "--fail-on", "info"]);
    assert_eq!((said.code, places(&said).len()), (0, 0), "{said:?}");
}

#[test]
fn a_baseline_of_the_project_is_written_within_it() {
    let stage = Stage::changed([found(&json!([leak()]))])
        .with(".airtight/review.toml", "baseline = \".airtight/known.json\"\n");
    // Whoever changes the code may leave links behind, at any name that can be foreseen.
    let elsewhere = tempfile::tempdir().unwrap();
    let theirs = elsewhere.path().join("profile");
    std::fs::write(&theirs, "theirs").unwrap();
    let link = stage.path(".airtight/known.json.partial");
    std::os::unix::fs::symlink(&theirs, link).unwrap();
    let said = stage.review(&["--update-baseline"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
    assert!(stage.path(".airtight/known.json").is_file());
    assert_eq!(places(&stage.review(&[])), []);
    std::fs::remove_file(stage.path(".airtight/known.json")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", stage.path(".airtight/known.json")).unwrap();
    let said = stage.review(&[]);
    assert_eq!(said.code, 52, "{said:?}");
}
