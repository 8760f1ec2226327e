//! Where the job comes from.

use std::io::Write;
use std::process::Stdio;

use crate::stage::{Said, Stage, good};

/// Runs with `arguments` and `stdin`, and returns what the model was asked.
fn asked(arguments: &[&str], stdin: &[u8]) -> (Said, String) {
    let stage = Stage::new([good()]).with("job.txt", "from a file");
    let all = [&["run", "--json-schema", "review.json"], arguments].concat();
    let mut child = stage.command(&all).stdin(Stdio::piped()).spawn().unwrap();
    // A child that needs no input may be gone already.
    drop(child.stdin.take().unwrap().write_all(stdin));
    let said = child.wait_with_output().unwrap().into();
    let requests = stage.fake.requests();
    let asked = requests.first().map(|request| request.body["messages"].to_string());
    (said, asked.unwrap_or_default())
}

#[test]
fn prompts_come_from_argument_flag_file_and_stdin() {
    let cases: [(&[&str], &[u8], &str); 7] = [
        (&["typed"], b"", "typed"),
        (&["-p", "typed"], b"", "typed"),
        (&["--prompt", "typed"], b"", "typed"),
        (&["@job.txt"], b"", "from a file"),
        (&["@@job.txt"], b"", "@job.txt"),
        (&[], b"piped", "piped"),
        (&["-"], b"piped", "piped"),
    ];
    for (arguments, stdin, expected) in cases {
        let (said, asked) = asked(arguments, stdin);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(asked.contains(expected), "{arguments:?}: {asked}");
    }
}

#[test]
fn stdin_is_added_to_a_prompt_as_context() {
    let (said, asked) = asked(&["Review this:"], b"diff --git");
    assert_eq!(said.code, 0);
    assert!(asked.contains(r"Review this:\n\ndiff --git"), "{asked}");
}

#[test]
fn what_cannot_be_read_of_stdin_is_replaced_and_said() {
    let (said, asked) = asked(&["Review"], b"caf\xe9");
    assert_eq!(said.code, 0);
    assert!(asked.contains("caf\u{fffd}"), "{asked}");
    assert!(said.stderr.contains("stdin is not UTF-8"), "{}", said.stderr);
}

#[test]
fn endless_stdin_is_refused_at_the_limit() {
    let (said, asked) = asked(&[], &vec![b'x'; 9 << 20]);
    assert_eq!((said.code, asked.as_str()), (42, ""));
    assert!(said.stderr.contains("over the limit of 8388608 bytes"), "{}", said.stderr);
}

#[test]
fn a_contract_from_stdin_leaves_the_prompt_to_the_argument() {
    let stage = Stage::new([good()]);
    let mut child = stage
        .command(&["run", "--json-schema", "-", "typed"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{}").unwrap();
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(stage.fake.requests()[0].body["messages"].to_string().contains("typed"));
}
