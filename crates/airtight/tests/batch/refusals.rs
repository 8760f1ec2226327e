//! What is refused before anything is asked: ledgers that are none, and examples that teach the wrong thing.

use crate::stage::{Stage, good, lines};

#[test]
fn an_example_that_breaks_its_contract_is_named_with_what_to_do() {
    let role = "schema = \"review.json\"\nexamples = \"examples\"\n";
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(1));
    std::fs::create_dir(stage.path("examples")).unwrap();
    let stage = stage
        .with("reviewer.toml", role)
        .with("examples/a.in.txt", "ticket 0")
        .with("examples/a.out.json", r#"{"summary":"ticket","score":1}"#)
        .with("examples/b.in.txt", "ticket 1")
        .with("examples/b.out.json", r#"{"summary":"ticket","score":11}"#);
    for command in
        [&["batch", "reviewer.toml", "in.jsonl"][..], &["run", "--contract", "reviewer.toml", "Go"]]
    {
        let said = stage.say(command);
        assert_eq!(said.code, 52, "{said:?}");
        assert!(said.stderr.contains("examples/b.out.json`\n"), "{said:?}");
        assert!(said.stderr.contains("  /score: "), "{said:?}");
        assert!(said.stderr.contains("hint: correct the answer in it"), "{said:?}");
        assert!(said.stderr.contains("`airtight check NAME`"), "{said:?}");
    }
    assert!(stage.fake.requests().is_empty());
}

#[test]
fn an_empty_file_is_told_as_such_and_may_become_a_ledger() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(1)).with("empty.db", "");
    let ledger = ["--database", "empty.db"];
    let said = stage.say(&[&["runs", "list"][..], &ledger].concat());
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.stderr.contains("empty.db` is an empty file, and no ledger yet"), "{said:?}");
    assert!(said.stderr.contains("hint: record a run first"), "{said:?}");
    let said = stage.batch(&[&["--dry-run"][..], &ledger].concat());
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    assert_eq!(std::fs::read(stage.path("empty.db")).unwrap(), b"");
    assert_eq!(stage.batch(&ledger).code, 0);
    let said = stage.say(&[&["runs", "list"][..], &ledger].concat());
    assert_eq!((said.code, said.lines().len()), (0, 1), "{said:?}");
}

#[test]
fn a_file_that_is_no_ledger_is_told_as_such_and_left_as_it_is() {
    let diary = "this is my diary\n".repeat(400);
    let stage = Stage::new([good()]).with("in.jsonl", lines(1)).with("diary.db", &diary);
    for command in [&["worker"][..], &["jobs", "counts"], &["runs", "list"]] {
        let said = stage.say(&[command, &["--database", "diary.db"]].concat());
        assert_eq!(said.code, 4, "{said:?}");
        assert!(said.stderr.contains("damaged or is no database"), "{said:?}");
    }
    assert_eq!(std::fs::read_to_string(stage.path("diary.db")).unwrap(), diary);
}
