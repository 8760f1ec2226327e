//! Arguments and answers that mean harm: each has a defined answer, soon.

use crate::folder::{Folder, REVIEW};

const FOUR_MEBIBYTES: usize = 4 * 1024 * 1024;

fn padded(size: usize) -> Vec<u8> {
    let mut text = REVIEW.as_bytes().to_vec();
    text.resize(size, b' ');
    text
}

#[test]
fn a_contract_may_have_four_mebibytes_and_not_one_byte_more() {
    let folder = Folder::new()
        .with("full.json", padded(FOUR_MEBIBYTES))
        .with("over.json", padded(FOUR_MEBIBYTES + 1));
    assert_eq!(folder.run(&["check", "@full.json"]).code, 0);
    let said = folder.run(&["check", "@over.json"]);
    assert_eq!(said.code, 52);
    assert!(said.stdout.contains("over the limit of 4194304 bytes"), "{}", said.stdout);
    let piped = folder.run_with(&["check", "-"], padded(FOUR_MEBIBYTES + 1));
    assert_eq!(piped.code, 52);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_without_blocking() {
    let folder = Folder::new().with("answer.txt", "{}").with("directory/file", "");
    let pipe = folder.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("loop", folder.path("loop")).unwrap();
    for path in ["pipe", "directory", "/dev/zero", "/dev/null", "loop"] {
        let contract = format!("@{path}");
        let said = folder.run(&["check", &contract]);
        assert_eq!(said.code, 52, "{path}");
        assert!(said.stdout.contains(&format!("could not read contract: `{path}`")));
        assert_eq!(folder.run(&["validate", &contract, "answer.txt"]).code, 52, "{path}");
        let said = folder.run(&["validate", "review.json", path]);
        assert_eq!(said.code, 42, "{path}");
        assert!(said.stderr.contains(&format!("could not read input: `{path}`")));
        let hint = if path == "directory" { "name one of the files in it" } else { "pipe it in" };
        assert_eq!(said.stderr.contains(hint), path != "loop", "{}", said.stderr);
    }
}

#[test]
fn a_hint_can_be_typed_whatever_the_file_is_called() {
    for name in ["-x.json", "a\nb.json", "it's.json"] {
        let folder = Folder::new().with(name, r#"{"type": "objct"}"#);
        let refused = folder.run(&["validate", "--", name, "review.json"]);
        let hint = refused.stderr.lines().find_map(|line| line.strip_prefix("hint: run `"));
        let command = hint.unwrap().strip_suffix('`').unwrap().strip_prefix("airtight").unwrap();
        let program = assert_cmd::cargo::cargo_bin!("airtight").display();
        let typed = std::process::Command::new("bash")
            .args(["-c", &format!("{program}{command}")])
            .current_dir(folder.path(""))
            .output()
            .unwrap();
        let said = String::from_utf8(typed.stdout).unwrap();
        assert!(said.contains("did you mean `object`"), "{name:?}: {said}");
    }
}

#[test]
fn a_file_that_may_not_grow_is_a_failed_write() {
    let folder = Folder::new().with("answer.json", r#"{"summary": "fine", "score": 9}"#);
    let program = assert_cmd::cargo::cargo_bin!("airtight").display();
    let script = format!("ulimit -f 0; exec {program} validate review.json answer.json > out.json");
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.starts_with("error: could not write output"), "{stderr}");
}

#[test]
fn a_contract_that_is_not_text_is_refused() {
    let folder = Folder::new().with("latin1.json", b"{\"title\": \"caf\xe9\"}");
    let said = folder.run(&["check", "latin1.json"]);
    assert_eq!(said.code, 52);
    assert!(said.stdout.contains("line 1 column 15"), "{}", said.stdout);
}

#[test]
fn an_answer_that_is_not_text_is_rejected_alone_and_among_lines() {
    let folder = Folder::new();
    let bytes = b"{\"summary\": \"\xff\", \"score\": 1}";
    let said = folder.run_with(&["validate", "review.json"], bytes);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    let mut lines = bytes.to_vec();
    lines.extend(b"\n{\"summary\": \"ok\", \"score\": 1}\n");
    let said = folder.run_with(&["validate", "review.json", "--ndjson"], lines);
    assert!(said.stderr.contains("2 lines, 1 accepted, 1 rejected"), "{}", said.stderr);
}

#[test]
fn an_oversized_line_is_reported_and_reading_goes_on() {
    let mut lines = vec![b'x'; 33 * 1024 * 1024];
    lines.extend(b"\n{\"summary\": \"ok\", \"score\": 1}\n");
    let said = Folder::new().run_with(&["validate", "review.json", "--ndjson"], lines);
    let reason = r#"{"line":1,"valid":false,"reason":{"type":"over_limit","limit":"line_bytes"}"#;
    assert!(said.stdout.starts_with(reason), "{:.200}", said.stdout);
    assert_eq!(said.stderr, "summary: 2 lines, 1 accepted, 1 rejected\n");
}

#[test]
fn an_oversized_answer_is_refused() {
    let answer = vec![b' '; 64 * 1024 * 1024 + 1];
    let said = Folder::new().run_with(&["validate", "review.json"], answer);
    assert_eq!(said.code, 42);
    assert!(said.stderr.contains("over the limit of 67108864 bytes"), "{}", said.stderr);
}

#[test]
fn control_characters_of_an_answer_never_reach_stderr() {
    let naughty = "\\u001b]52;c;aGk=\\u0007\u{9b}2J\u{202e}\\r\\nerror: fake";
    let answer = format!(r#"{{"summary": 1, "score": "{naughty}", "{naughty}": 2}}"#);
    let said = Folder::new().run_with(&["validate", "review.json"], answer);
    assert_eq!(said.code, 1);
    let raw = |character: char| character.is_control() && character != '\n';
    assert!(!said.stderr.contains(raw), "{:?}", said.stderr);
    assert!(!said.stderr.contains('\u{202e}'));
    assert!(!said.stderr.lines().any(|line| line.starts_with("error: fake")));
}

#[test]
fn a_password_in_a_url_is_not_repeated() {
    for typed in [
        &["run", "--base-url", "http://ada:pa55word@127.0.0.1:1/v1", "Review"][..],
        &["review", "--post", "a/b#1", "--api-url", "http://ada:pa55/w@rd@127.0.0.1:1"],
        &["review", "postgres://pa55word@db/x"],
    ] {
        let said = Folder::new().run(typed);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.starts_with("error: invalid value '"), "{said:?}");
        assert!(said.stderr.contains("://[masked]@"), "{said:?}");
        assert!(!said.stderr.contains("pa55") && !said.stderr.contains("w@rd"), "{said:?}");
    }
}

#[test]
fn quoted_values_are_shortened() {
    let answer = format!(r#"{{"summary": "x", "score": "{}"}}"#, "y".repeat(100_000));
    let said = Folder::new().run_with(&["validate", "review.json"], answer);
    assert_eq!(said.code, 1);
    assert!(said.stderr.len() < 5_000, "{} bytes", said.stderr.len());
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    let folder = Folder::new();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("airtight"))
        .args(["validate", "{}", "--ndjson"])
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdin.write_all(b"1\n").unwrap();
    // A verdict is there before the next line is written: nothing waits for a full buffer.
    let mut first = [0; 8];
    stdout.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"{\"line\":");
    drop(stdout);
    while stdin.write_all(&b"1\n".repeat(10_000)).is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("airtight"))
        .args(["completions", "bash"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: could not write output"));
}
