//! Tools that read and write files.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use serde_json::json;

use crate::permission::{ApprovalMode, Permissions};
use crate::tools::RESULT_LIMIT_BYTES;
use crate::tools::trial::Trial;

fn lines(count: usize) -> String {
    (1..=count).flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()]).collect()
}

#[tokio::test]
async fn a_file_is_read_from_a_line_for_some_lines() {
    let trial = Trial::new();
    trial.put("f", lines(10));
    let page = trial.done("read_file", json!({"path": "f", "offset": 3, "limit": 2})).await;
    assert_eq!(page, "line 3\nline 4\n[more follows: read on with offset 5]");
    let end = trial.done("read_file", json!({"path": "f", "offset": 10})).await;
    assert_eq!(end, "line 10\n");
    let behind = trial.done("read_file", json!({"path": "f", "offset": 11})).await;
    assert_eq!(behind, "[nothing at line 11: the file has 10 lines]");
}

#[tokio::test]
async fn pages_of_a_long_file_are_whole_and_in_order() {
    let trial = Trial::new();
    let whole = lines(60_000).replace(' ', "\t\"quoted\" ü ");
    trial.put("f", &whole);
    let mut offset = 1;
    let mut read = String::new();
    loop {
        let arguments = json!({"path": "f", "offset": offset, "limit": 100_000});
        let page = trial.done("read_file", arguments).await;
        assert!(serde_json::to_string(&page).unwrap().len() <= RESULT_LIMIT_BYTES);
        match page.split_once("[more follows: read on with offset ") {
            None => {
                read.push_str(&page);
                break;
            }
            Some((text, next)) => {
                read.push_str(text);
                offset = next.trim_end_matches(']').parse().unwrap();
            }
        }
    }
    assert!(read == whole, "{} of {} bytes", read.len(), whole.len());
}

#[tokio::test]
async fn what_is_no_text_is_not_read() {
    let trial = Trial::new();
    trial.put("binary", b"ELF\0\x01").put("latin", b"caf\xe9\n").put("empty", "");
    mknodat(CWD, trial.path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert_eq!(
        trial.failed("read_file", json!({"path": "binary"})).await,
        "\"binary\" is a binary file, not text"
    );
    assert!(trial.failed("read_file", json!({"path": "pipe"})).await.contains("pipe, socket"));
    let latin = trial.done("read_file", json!({"path": "latin"})).await;
    assert!(latin.starts_with("caf\u{fffd}\n[not all of this is UTF-8"), "{latin}");
    assert_eq!(trial.done("read_file", json!({"path": "empty"})).await, "[the file is empty]");
}

#[tokio::test]
async fn a_line_longer_than_a_page_is_cut_and_the_next_is_reached() {
    let trial = Trial::new();
    trial.put("f", format!("{}\nnext\n", "x".repeat(1_000_000)));
    let first = trial.done("read_file", json!({"path": "f"})).await;
    assert!(first.contains("[this line is longer than can be shown]"));
    assert!(first.ends_with("[more follows: read on with offset 2]"));
    assert_eq!(trial.done("read_file", json!({"path": "f", "offset": 2})).await, "next\n");
}

#[tokio::test]
async fn a_folder_is_listed_as_git_sees_it() {
    let trial = Trial::new();
    trial.put(".gitignore", "*.log\n/build\n").put("a.rs", "").put("b.log", "").put("build/x", "");
    trial.put(".git/config", "").put("src/main.rs", "").put(".github/ci.yml", "");
    symlink("/etc", trial.path("link")).unwrap();
    let listing = trial.done("list_directory", json!({})).await;
    assert_eq!(listing, ".github/\n.gitignore\na.rs\nlink@\nsrc/\n");
    let inside = trial.done("list_directory", json!({"path": "src"})).await;
    assert_eq!(inside, "main.rs\n");
    let outside = trial.failed("list_directory", json!({"path": "link"})).await;
    assert_eq!(outside, "\"link\" leads out of the workspace; use a path inside it");
}

#[tokio::test]
async fn a_long_listing_says_how_much_is_missing() {
    let trial = Trial::new();
    for name in 0..1003 {
        trial.put(&format!("f{name:04}"), "");
    }
    let listing = trial.done("list_directory", json!({})).await;
    assert!(listing.ends_with("f0999\n[3 more names left out]"));
    let found = trial.done("glob", json!({"pattern": "f*"})).await;
    assert!(found.ends_with("f0999\n[only the first 1000 are shown; narrow the pattern]"));
}

#[tokio::test]
async fn a_glob_finds_files_below_a_folder() {
    let trial = Trial::new();
    trial.put(".gitignore", "target\n").put("src/a.rs", "").put("src/deep/b.rs", "");
    trial.put("c.rs", "").put("target/d.rs", "");
    assert_eq!(trial.done("glob", json!({"pattern": "*.rs"})).await, "c.rs\n");
    assert_eq!(
        trial.done("glob", json!({"pattern": "**/*.rs"})).await,
        "c.rs\nsrc/a.rs\nsrc/deep/b.rs\n"
    );
    let below = trial.done("glob", json!({"pattern": "*.rs", "path": "src"})).await;
    assert_eq!(below, "src/a.rs\n");
    assert_eq!(trial.done("glob", json!({"pattern": "*.py"})).await, "[no file matches]");
    assert!(trial.failed("glob", json!({"pattern": "["})).await.contains("is not a glob"));
}

#[tokio::test]
async fn a_pipe_in_place_of_rules_does_not_hold_a_walk() {
    let trial = Trial::new();
    trial.put("good/a.txt", "needle").put("bad/b.txt", "needle");
    mknodat(CWD, trial.path("bad/.gitignore"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let found = trial.done("grep", json!({"pattern": "needle"})).await;
    assert_eq!(found, "good/a.txt:1:needle\n");
    let refused = trial.failed("list_directory", json!({"path": "bad"})).await;
    assert!(refused.contains("is not a file"), "{refused}");
}

#[tokio::test]
async fn lines_are_found_by_pattern_path_and_glob() {
    let trial = Trial::new();
    trial.put("a.rs", "fn one() {}\nfn two() {}\r\n").put("b.py", "def one(): pass\n");
    trial.put("sub/c.rs", "fn one() {}").put("bin", b"fn one\0").put(".gitignore", "no.rs\n");
    trial.put("no.rs", "fn one() {}");
    assert_eq!(
        trial.done("grep", json!({"pattern": r"fn \w+\("})).await,
        "a.rs:1:fn one() {}\na.rs:2:fn two() {}\nsub/c.rs:1:fn one() {}\n"
    );
    assert_eq!(
        trial.done("grep", json!({"pattern": "ONE", "ignore_case": true, "glob": "*.py"})).await,
        "b.py:1:def one(): pass\n"
    );
    let below = trial.done("grep", json!({"pattern": "one", "path": "sub"})).await;
    assert_eq!(below, "sub/c.rs:1:fn one() {}\n");
    let single = trial.done("grep", json!({"pattern": "two", "path": "a.rs"})).await;
    assert_eq!(single, "a.rs:2:fn two() {}\n");
    assert_eq!(trial.done("grep", json!({"pattern": "none"})).await, "[no line matches]\n");
    assert!(trial.failed("grep", json!({"pattern": "("})).await.contains("refused"));
    assert!(trial.failed("grep", json!({"pattern": "x", "path": "../"})).await.contains("out of"));
    assert!(
        trial.failed("grep", json!({"pattern": "x", "path": "no"})).await.contains("not exist")
    );
}

#[tokio::test]
async fn a_search_is_bounded_in_lines_and_in_their_length() {
    let trial = Trial::new();
    trial.put("a", format!("x{}\n", "y".repeat(5000)).repeat(300)).put("b", "x\n");
    let found = trial.done("grep", json!({"pattern": "x", "max_matches": 2})).await;
    assert!(found.ends_with("[only the first 2 lines are shown; narrow the search]\n"));
    assert_eq!(found.matches(" [line cut]\n").count(), 2);
    assert!(found.len() < 1000);
}

#[tokio::test]
async fn a_search_never_shows_what_may_not_be_read() {
    let hidden = "read_file(secret/**)".parse().unwrap();
    let trial = Trial::with(Permissions::new(ApprovalMode::Yolo).exclude([hidden]));
    trial.put("secret/key.txt", "needle").put("open.txt", "needle");
    symlink("secret", trial.path("alias")).unwrap();
    assert_eq!(
        trial.done("grep", json!({"pattern": "needle"})).await,
        "open.txt:1:needle\n[1 files may not be read]\n"
    );
    assert_eq!(
        trial.done("grep", json!({"pattern": "needle", "path": "secret/key.txt"})).await,
        "[no line matches]\n[1 files may not be read]\n"
    );
    for path in ["secret/key.txt", "./secret/../secret/key.txt", "alias/key.txt"] {
        let denied = trial.failed("read_file", json!({ "path": path })).await;
        assert!(denied.starts_with("permission denied"), "{path}: {denied}");
    }
}

#[tokio::test]
async fn a_file_is_written_whole_with_its_folders() {
    let trial = Trial::new();
    let created = trial.done("write_file", json!({"path": "a/b/c.txt", "content": "één\n"})).await;
    assert_eq!(created, "Created a/b/c.txt (6 bytes).");
    let replaced = trial.done("write_file", json!({"path": "a/b/c.txt", "content": ""})).await;
    assert_eq!(
        (replaced.as_str(), trial.text("a/b/c.txt").as_str()),
        ("Replaced a/b/c.txt (0 bytes).", "")
    );
}

#[tokio::test]
async fn an_edit_changes_one_place_or_nothing() {
    let trial = Trial::new();
    trial.put("f", "one\r\ntwo\r\ntwo\r\n").put("binary", b"\xff\xfe");
    let edit = |old: &str, new: &str| json!({"path": "f", "old_string": old, "new_string": new});
    assert_eq!(trial.done("edit", edit("one\ntwo", "1\n2")).await, "Edited f.");
    assert_eq!(trial.text("f"), "1\r\n2\r\ntwo\r\n");
    let absent = trial.failed("edit", edit("three", "3")).await;
    assert!(absent.starts_with("\"f\" was not changed: old_string does not occur"), "{absent}");
    trial.put("f", "a a");
    assert!(trial.failed("edit", edit("a", "b")).await.contains("occurs 2 times"));
    assert_eq!(trial.text("f"), "a a");
    let all = json!({"path": "f", "old_string": "a", "new_string": "b", "replace_all": true});
    assert_eq!(trial.done("edit", all).await, "Edited f (2 places).");
    let binary = json!({"path": "binary", "old_string": "a", "new_string": "b"});
    assert!(trial.failed("edit", binary).await.contains("not UTF-8"));
}

#[tokio::test]
async fn escapes_are_refused_by_every_tool_without_a_word_of_what_is_there() {
    let trial = Trial::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "canary").unwrap();
    symlink(outside.path(), trial.path("out")).unwrap();
    symlink(outside.path().join("file"), trial.path("out-file")).unwrap();
    symlink("../..", trial.put("sub/f", "").path("sub/up")).unwrap();
    let absolute = outside.path().join("file");
    for path in [
        "../x",
        "sub/../../x",
        "sub/up/x",
        "/etc/passwd",
        absolute.to_str().unwrap(),
        "out",
        "out/file",
        "out/new",
        "out-file",
    ] {
        for (tool, arguments) in [
            ("read_file", json!({ "path": path })),
            ("list_directory", json!({ "path": path })),
            ("glob", json!({ "path": path, "pattern": "**" })),
            ("grep", json!({ "path": path, "pattern": "." })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("edit", json!({ "path": path, "old_string": "canary", "new_string": "x" })),
            ("run_shell_command", json!({ "directory": path, "command": "pwd" })),
        ] {
            let said = trial.failed(tool, arguments).await;
            assert_eq!(said, format!("{path:?} leads out of the workspace; use a path inside it"));
        }
    }
    assert_eq!(fs::read_to_string(outside.path().join("file")).unwrap(), "canary");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn no_tool_follows_a_link_that_takes_the_place_of_a_folder() {
    let trial = Trial::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "canary").unwrap();
    trial.put("here/file", "ours");
    symlink(outside.path(), trial.path("link")).unwrap();
    let (here, link) = (trial.path("here"), trial.path("link"));
    let done = Arc::new(AtomicBool::new(false));
    let is_done = Arc::clone(&done);
    let swapping = std::thread::spawn(move || {
        while !is_done.load(Ordering::Relaxed) {
            renameat_with(CWD, &here, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        }
    });
    for _ in 0..100 {
        for (tool, arguments) in [
            ("read_file", json!({ "path": "here/file" })),
            ("list_directory", json!({ "path": "here" })),
            ("glob", json!({ "path": "here", "pattern": "**" })),
            ("grep", json!({ "path": "here", "pattern": "." })),
            ("write_file", json!({ "path": "here/new", "content": "x" })),
            ("edit", json!({ "path": "here/file", "old_string": "canary", "new_string": "x" })),
        ] {
            let said = trial.call(tool, arguments).await.content;
            assert!(!said.contains("canary"), "{tool}: {said}");
        }
    }
    done.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert_eq!(fs::read_to_string(outside.path().join("file")).unwrap(), "canary");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}
