//! Where diffs come from, and what is none.

use serde_json::json;
use test_case::test_case;

use crate::stage::{Stage, document, finding, found, gaps, leak, places};

#[test]
fn a_diff_may_be_a_file_or_come_from_stdin() {
    let stage = Stage::changed([found(&json!([leak()])).forever()]);
    let diff = stage.git(["diff"]);
    let stage = stage.with("change.patch", &diff);
    for said in [
        stage.review(&["--diff", "change.patch"]),
        stage.piped(&diff, &[]),
        stage.piped(&[b"commit 1\nAuthor: Ada\n\n    Words\n\n", diff.as_slice()].concat(), &[]),
    ] {
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(places(&said), [("critical".to_owned(), "src/auth.rs".to_owned(), 3)]);
    }
    // The same change is the same question, wherever it comes from.
    assert_eq!(stage.fake.requests().len(), 1);
}

#[test]
fn where_nothing_changed_that_is_said_and_needs_no_model() {
    let stage = Stage::new([]);
    for arguments in [&["review"][..], &["review", "--base", "main"]] {
        let mut command = stage.command(arguments);
        command.env_remove("AIRTIGHT_MODEL").env_remove("ANTHROPIC_API_KEY");
        let said: crate::said::Said = command.output().unwrap().into();
        assert_eq!(said.code, 0, "{said:?}");
        let document = document(&said);
        assert_eq!((&document["findings"], &document["complete"]), (&json!([]), &json!(true)));
        assert!(said.stderr.contains("unchanged: nothing changed since `main`"), "{said:?}");
        assert!(!said.stderr.contains("reviewed:"), "{said:?}");
    }
    assert_eq!(stage.fake.requests().len(), 0);
}

/// A pipeline that broke looks like this, and must not pass.
#[test]
fn an_empty_diff_that_somebody_made_is_none() {
    let stage = Stage::changed([]).with("empty.patch", "").with("blank.patch", "\n \n");
    for (said, label) in [
        (stage.piped(b"", &[]), "(stdin)"),
        (stage.review(&["--diff", "-"]), "(stdin)"),
        (stage.review(&["--diff", "empty.patch"]), "empty.patch"),
        (stage.review(&["--diff", "blank.patch"]), "blank.patch"),
    ] {
        assert_eq!((said.code, said.stdout.as_str()), (42, ""), "{said:?}");
        let words = format!("error: the diff is empty: `{label}`");
        assert!(said.stderr.contains(&words), "{said:?}");
        assert!(said.stderr.contains("airtight review --base COMMIT"), "{said:?}");
    }
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test_case(&["review", "--diff", "nowhere.patch"], 42, "could not read input"; "no such file")]
#[test_case(&["review", "--diff", "src"], 42, "is a directory"; "a folder")]
#[test_case(&["review", "--diff", "src/auth.rs"], 42, "there is no diff in the input"; "no diff")]
#[test_case(&["review", "--base", "nosuch"], 2, "there is no commit called `nosuch`"; "no such commit")]
#[test_case(&["review", "--base", "--output=x"], 2, ""; "a flag for a commit")]
#[test_case(&["review", "--base", "main", "--diff", "x"], 2, "cannot be used with"; "two sources")]
#[test_case(&["review", "x.patch"], 2, "invalid value"; "a file without its flag")]
#[test_case(&["review", "--fail-on", "awful"], 2, "`critical`, `warning`, `info`"; "no such severity")]
#[test_case(&["review", "--format", "xml"], 2, "possible values"; "no such form")]
#[test_case(&["review", "--update-baseline"], 2, "there is no baseline to update"; "no baseline")]
#[test_case(&["review", "--baseline", "none.json"], 42, "`--update-baseline` makes it"; "no such baseline")]
#[test_case(&["review", "--baseline", "src/auth.rs"], 42, "it is no baseline"; "not a baseline")]
#[test_case(&["review", "--ignore", "a[b"], 52, "no pattern of files: `a[b`"; "no such pattern")]
#[test_case(&["review", "--part-tokens", "1"], 2, "between 100 and"; "parts that hold nothing")]
#[test_case(&["review", "--commit", "HEAD"], 2, "expected the hash"; "no hash")]
fn what_cannot_work_is_refused_before_anything_is_spent(typed: &[&str], code: i32, words: &str) {
    let stage = Stage::changed([]);
    let said = stage.say(typed);
    assert_eq!((said.code, said.stdout.as_str()), (code, ""), "{said:?}");
    assert!(said.stderr.contains(words), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn a_folder_that_is_no_repository_says_what_to_type() {
    let stage = Stage::new([]);
    std::fs::remove_dir_all(stage.path(".git")).unwrap();
    let said = stage.review(&[]);
    assert_eq!(said.code, 42, "{said:?}");
    assert!(said.stderr.contains("in no git repository") && said.stderr.contains("--diff FILE"));
}

#[test]
fn branches_without_a_common_commit_are_told() {
    let stage = Stage::new([]);
    stage.git(["checkout", "-q", "--orphan", "other"]);
    let stage = stage.with("other.rs", "x\n");
    stage.commit();
    let said = stage.review(&["--base", "main"]);
    assert_eq!(said.code, 42, "{said:?}");
    assert!(said.stderr.contains("no common ancestor"), "{said:?}");
}

#[test]
fn a_pipe_is_read_only_as_stdin() {
    let stage = Stage::new([]);
    let pipe = stage.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let said = stage.review(&["--diff", "pipe"]);
    assert_eq!(said.code, 42, "{said:?}");
    assert!(said.stderr.contains("pipe it in instead"), "{said:?}");
}

#[test]
fn what_is_damaged_is_told_and_the_rest_is_reviewed() {
    let stage = Stage::changed([found(&json!([leak()]))]);
    let diff = stage.git(["diff"]);
    let damaged = [diff.as_slice(), b"diff --git a/x b/y\nindex 1..2\n"].concat();
    let said = stage.piped(&damaged, &[]);
    assert_eq!(said.code, 42, "{said:?}");
    assert_eq!(places(&said).len(), 1);
    assert_eq!(gaps(&said)[0].1, "line 12 of the diff cannot be read: the header names no file");
    assert_eq!(document(&said)["complete"], false);
}

#[test_case("@@ -1 +1 @@\n-a\n+b\n", "make it again, with `git diff`"; "a hunk of no file")]
#[test_case("Only in new: b.rs\n", "`diff -N` shows files"; "a file on one side")]
#[test_case("Binary files old/a and new/a differ\n", "`diff --exclude PATTERN`"; "no text")]
fn what_belongs_to_no_file_is_told_what_would_help(text: &str, hint: &str) {
    let stage = Stage::changed([found(&json!([leak()]))]);
    let diff = [text.as_bytes(), stage.git(["diff"]).as_slice()].concat();
    let said = stage.piped(&diff, &["--ignore", "*.none"]);
    assert_eq!((said.code, gaps(&said).len()), (42, 1), "{said:?}");
    assert!(said.stderr.contains(hint), "{said:?}");
    assert!(!said.stderr.contains("--ignore"), "{said:?}");
}

#[test_case("--- a/gen.rs\n+++ b/gen.rs\n@@ -1,3 +1,3 @@\n-a\n+b\n", "make it again"; "a hunk that is cut")]
#[test_case("--- a/gen.rs\n+++ b/gen.rs\n@@ here @@\n-a\n+b\n", "make it again"; "no numbers")]
#[test_case("* Unmerged path gen.rs\n", "resolve the conflicts first"; "not merged")]
fn what_cannot_be_read_of_a_file_that_is_ignored_is_no_loss(text: &str, hint: &str) {
    let stage = Stage::changed([found(&json!([leak()])).forever()]);
    let diff = [stage.git(["diff"]).as_slice(), text.as_bytes()].concat();
    let said = stage.piped(&diff, &[]);
    assert_eq!((said.code, gaps(&said)[0].0.as_str()), (42, "gen.rs"), "{said:?}");
    assert!(said.stderr.contains(hint) && said.stderr.contains("--ignore PATTERN"), "{said:?}");
    let said = stage.piped(&diff, &["--ignore", "gen.rs"]);
    assert_eq!(said.code, 0, "{said:?}");
    let ignored = ("gen.rs".to_owned(), "it is ignored by `gen.rs`".to_owned());
    assert_eq!(gaps(&said), [ignored]);
}

#[test]
fn a_line_that_no_part_can_hold_is_told() {
    let stage = Stage::changed([found(&json!([finding("info", "a.min.js", 2, 2)]))]);
    let stage = stage.with("a.min.js", format!("{}\nshort\n", "x".repeat(50_000)));
    stage.git(["add", "-N", "a.min.js"]);
    let said = stage.review(&["--part-tokens", "1000"]);
    assert_eq!(said.code, 42, "{said:?}");
    let told = &gaps(&said)[0];
    assert_eq!(told.0, "a.min.js");
    assert!(said.stderr.contains("a.min.js:1: the line has 50000 bytes"), "{said:?}");
    assert!(said.stderr.contains("--ignore PATTERN"), "{said:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let stage = Stage::changed([found(&json!([leak()]))]);
    let mut child = stage.command(&["review"]).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
