//! Changes of every kind, made by real git.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use crate::stage::{Stage, finding, found, gaps, leak, places};

#[test]
fn what_changed_since_the_base_is_reviewed_whether_committed_or_not() {
    let stage = Stage::new([found(&json!([leak(), finding("info", "b.rs", 1, 2)]))]);
    stage.git(["checkout", "-q", "-b", "work"]);
    let stage = stage.with("b.rs", "one\ntwo\n");
    stage.commit();
    // What `main` has gained meanwhile is not our change.
    stage.git(["checkout", "-q", "main"]);
    let stage = stage.with("other.rs", "x\n");
    stage.commit();
    stage.git(["checkout", "-q", "work"]);
    let stage = stage.with("src/auth.rs", crate::stage::AFTER);
    let said = stage.review(&["--base", "main"]);
    assert_eq!(said.code, 0, "{said:?}");
    let expected = [("critical", "src/auth.rs", 3), ("info", "b.rs", 1)];
    assert_eq!(places(&said), expected.map(|(how, file, line)| (how.into(), file.into(), line)));
    assert!(!stage.asked()[0].contains("other.rs"));
}

#[test]
fn every_kind_of_change_is_reviewed_or_named() {
    let stage = Stage::new([found(&json!([]))])
        .with("moved.rs", "one\ntwo\nthree\nfour\nfive\nsix\n")
        .with("gone.rs", "x\n")
        .with("tool.sh", "#!/bin/sh\n")
        .with("crlf.txt", "one\r\ntwo\r\n")
        .with("end.txt", "no break")
        .with("logo.png", b"\x89PNG\0\x01".as_slice())
        .with("latin.txt", b"caf\xe9\n".as_slice());
    stage.commit();
    stage.git(["mv", "moved.rs", "new place.rs"]);
    stage.git(["rm", "-q", "gone.rs"]);
    let stage = stage
        .with("new place.rs", "one\ntwo\nthree\nfour\nfive\n6\n")
        .with("crlf.txt", "one\r\nzwei\r\n")
        .with("end.txt", "still no break")
        .with("logo.png", b"\x89PNG\0\x02".as_slice())
        .with("latin.txt", b"caf\xe9s\n".as_slice())
        .with("größe 漢.rs", "neu\n")
        .with("two\nlines.rs", "neu\n")
        .with(OsStr::from_bytes(b"raw\xff.rs"), "neu\n")
        .with("empty.rs", "");
    std::fs::set_permissions(stage.path("tool.sh"), Permissions::from_mode(0o755)).unwrap();
    symlink("src/auth.rs", stage.path("link")).unwrap();
    stage.git(["add", "--all"]);
    let said = stage.review(&["--base", "HEAD"]);
    assert_eq!(said.code, 0, "{said:?}");
    let expected = [
        ("empty.rs", "its content did not change"),
        ("gone.rs", "it was deleted"),
        ("logo.png", "it is binary"),
        ("tool.sh", "its content did not change"),
    ];
    assert_eq!(gaps(&said), expected.map(|(file, why)| (file.to_owned(), why.to_owned())));
    let asked = &stage.asked()[0];
    for shown in [
        r"File `new place.rs` (renamed from `moved.rs`)",
        r"File `crlf.txt` (modified)",
        r"     2 + zwei\n",
        r"     1 + still no break\n         (no line break at the end of the file)\n",
        r"File `größe 漢.rs` (new, mode 100644)",
        r"File `link` (new, mode 120000)",
        r"     1 + src/auth.rs\n",
        r"File `two\\nlines.rs`",
        r"File `raw\\377.rs`",
        r"     1 + caf\\xe9s\n",
    ] {
        assert!(asked.contains(shown), "{shown} in {asked}");
    }
}

#[test]
fn submodules_and_merges_are_named() {
    let inner = Stage::new([]);
    let stage = Stage::new([]);
    let place = inner.path("").display().to_string();
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", &place, "lib"];
    stage.git(add);
    let said = stage.review(&["--ignore", ".gitmodules"]);
    assert_eq!(said.code, 0, "{said:?}");
    let expected =
        [(".gitmodules", "it is ignored by `.gitmodules`"), ("lib", "it is a submodule")];
    assert_eq!(gaps(&said), expected.map(|(file, why)| (file.to_owned(), why.to_owned())));

    let merged = b"diff --cc both.c\nindex 1,2..3\n--- a/both.c\n+++ b/both.c\n\
        @@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n";
    let said = stage.piped(merged, &[]);
    assert_eq!(said.code, 42, "{said:?}");
    assert_eq!(gaps(&said)[0].0, "both.c");
}

#[test]
fn settings_of_the_user_change_nothing() {
    let stage = Stage::changed([found(&json!([leak()])).forever()]);
    let plain = stage.review(&["--fresh"]);
    for setting in [
        ["diff.noprefix", "true"],
        ["diff.mnemonicPrefix", "true"],
        ["diff.external", "false"],
        ["diff.context", "0"],
        ["diff.relative", "true"],
        ["color.diff", "always"],
        ["color.ui", "always"],
        ["core.pager", "false"],
        ["core.quotePath", "false"],
        ["diff.colorMoved", "zebra"],
        ["diff.algorithm", "patience"],
        ["diff.suppressBlankEmpty", "true"],
    ] {
        stage.git([["config"].as_slice(), &setting].concat());
    }
    let stage = stage.with(".gitattributes", "*.rs diff=upper\n");
    stage.git(["config", "diff.upper.textconv", "tr a-z A-Z <"]);
    let said = stage.review(&["--fresh"]);
    assert_eq!(places(&plain), places(&said), "{said:?}");
    let asked = stage.asked();
    assert_eq!(asked[0], asked[1]);
}

#[test]
fn files_that_git_does_not_track_are_told() {
    let stage = Stage::changed([found(&json!([]))]).with("new.rs", "x\n");
    let said = stage.review(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("not reviewed: 1 file that git does not track"), "{said:?}");
    stage.fake.push(found(&json!([finding("info", "new.rs", 1, 1)])));
    stage.git(["add", "-N", "new.rs"]);
    let said = stage.review(&[]);
    assert_eq!(places(&said), [("info".to_owned(), "new.rs".to_owned(), 1)]);
}

#[test]
fn a_folder_of_the_repository_reviews_all_of_it() {
    let stage = Stage::changed([found(&json!([leak()]))]);
    let mut command = stage.command(&["review"]);
    let said: crate::said::Said = command.current_dir(stage.path("src")).output().unwrap().into();
    assert_eq!(places(&said), [("critical".to_owned(), "src/auth.rs".to_owned(), 3)], "{said:?}");
}

#[test]
fn a_large_change_is_reviewed_in_parts_that_miss_nothing() {
    let stage = Stage::new([found(&json!([])).forever()]);
    let lines: Vec<String> =
        (1..=3_000).map(|number| format!("let value_{number} = {number};")).collect();
    let stage = stage.with("large.rs", lines.join("\n"));
    stage.git(["add", "-N", "large.rs"]);
    let said = stage.review(&["--part-tokens", "2000"]);
    assert_eq!(said.code, 0, "{said:?}");
    let asked = stage.asked();
    assert!(asked.len() > 10, "{}", asked.len());
    for number in 1..=3_000 {
        let line = format!("{number:>6} + let value_{number} = {number};");
        assert_eq!(asked.iter().filter(|text| text.contains(&line)).count(), 1, "{line}");
    }
}

#[test]
fn a_file_that_is_there_twice_is_refused() {
    let stage = Stage::changed([found(&json!([]))]);
    let once = stage.git(["diff"]);
    let said = stage.piped(&[once.as_slice(), once.as_slice()].concat(), &[]);
    assert_eq!(said.code, 42, "{said:?}");
    assert!(said.stderr.contains("`src/auth.rs` is in the diff more than once"), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn a_change_of_line_breaks_alone_can_be_seen() {
    let stage = Stage::new([found(&json!([]))]).with("a.txt", "one\n");
    stage.git(["add", "."]);
    stage.git(["commit", "-qm", "a"]);
    let stage = stage.with("a.txt", "one\r\n");
    assert_eq!(stage.review(&["--base", "HEAD"]).code, 0);
    let asked = stage.asked().concat();
    assert!(asked.contains("- one\\n") && asked.contains("+ one\\\\r\\n"), "{asked}");
}
