//! What is refused before anything is asked: ledgers that are none, examples that teach the wrong thing, and
//! results in the place of something else.

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
    let typed =
        ["batch", "review.json", "in.jsonl", "--model", "embedded", "--examples", "examples"];
    for command in [
        &["batch", "reviewer.toml", "in.jsonl"][..],
        &["run", "--contract", "reviewer.toml", "Go"],
        &typed,
    ] {
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

#[test]
fn results_never_replace_what_the_command_reads_or_keeps() {
    let role = "schema = \"review.json\"\nprompt_file = \"role.md\"\nexamples = \"examples\"\n";
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(1));
    std::fs::create_dir(stage.path("examples")).unwrap();
    let stage = stage
        .with("reviewer.toml", role)
        .with("role.md", "Review it.")
        .with("examples/a.in.txt", "ticket 0")
        .with("examples/a.out.json", r#"{"summary":"ticket","score":1}"#)
        .with("prompt.md", "{{text}}")
        .with("airtight.toml", "")
        .with("x.db", "");
    let batch = ["batch", "reviewer.toml", "in.jsonl", "-p", "@prompt.md", "--database", "x.db"];
    for (file, what) in [
        ("x.db", "the ledger"),
        ("./examples/../x.db-wal", "the ledger"),
        ("x.db-shm", "the ledger"),
        ("reviewer.toml", "the contract"),
        ("review.json", "the contract"),
        ("role.md", "the prompt of the contract"),
        ("examples/a.out.json", "the examples of the contract"),
        ("examples/b.out.json", "the examples of the contract"),
        ("prompt.md", "the prompt"),
        ("airtight.toml", "the settings"),
        ("in.jsonl", "an input"),
    ] {
        for flag in ["-o", "--failures"] {
            let before = std::fs::read(stage.path(file)).ok();
            let said = stage.say(&[&batch[..], &[flag, file]].concat());
            assert_eq!(said.code, 2, "{said:?}");
            let told = format!("error: results would be written over {what}: `");
            assert!(said.stderr.contains(&told), "{said:?}");
            assert_eq!(std::fs::read(stage.path(file)).ok(), before, "{file}");
        }
    }
    assert!(stage.fake.requests().is_empty());
}

#[test]
fn files_that_nobody_typed_replace_nothing_either() {
    let stage = Stage::new([good().forever()])
        .with("in.jsonl", lines(1))
        .with("in.partial", "a text")
        .with("a.failures.jsonl", "");
    for (input, more, what) in [
        ("in.jsonl", &["-o", "a", "--database", "a.failures.jsonl"][..], "the ledger"),
        ("in.partial", &["-o", "in"][..], "an input"),
        (".", &["-o", "in.partial"][..], "an input"),
    ] {
        let said = stage.say(&[&["batch", "review.json", input][..], more].concat());
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains(&format!("written over {what}: `")), "{said:?}");
    }
    assert_eq!(std::fs::read_to_string(stage.path("in.partial")).unwrap(), "a text");
    assert_eq!(std::fs::read(stage.path("a.failures.jsonl")).unwrap(), b"");
}

#[test]
fn a_name_that_is_no_file_is_refused_and_nothing_is_left() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(1));
    std::fs::create_dir(stage.path("folder")).unwrap();
    for (flags, told) in [
        (["-o", "-"], "hint: leave `-o` out to print answers"),
        (["--failures", "-"], "`--failures -` names no file"),
        (["-o", "folder"], "`folder` is a folder"),
        (["--failures", "folder"], "`folder` is a folder"),
        (["-o", "new/"], "`new/` is a folder"),
        (["-o", ""], "--output"),
        (["--failures", ""], "--failures"),
        (["--name", " "], "--name"),
    ] {
        let said = stage.say(&[&["batch", "review.json", "in.jsonl"][..], &flags].concat());
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains(told), "{said:?}");
    }
    let names = std::fs::read_dir(stage.path("")).unwrap().map(|it| it.unwrap().file_name());
    let left = names.filter(|name| name.to_string_lossy().ends_with(".partial")).count();
    assert_eq!((left, stage.path("-").exists()), (0, false));
    assert!(stage.fake.requests().is_empty());
}
