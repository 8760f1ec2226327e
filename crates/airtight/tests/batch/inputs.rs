//! What comes in.

use serde_json::{Value, json};

use crate::stage::{Said, Stage, bad, good, lines};

fn prompts(stage: &Stage) -> Vec<String> {
    let mut prompts: Vec<String> = stage
        .fake
        .requests()
        .iter()
        .map(|request| request.body["messages"][0]["content"].to_string())
        .collect();
    prompts.sort();
    prompts
}

#[test]
fn fields_go_where_the_template_has_them() {
    let table = "id,text\r\n7,\"says \"\"no\"\", twice\nand more\"\r\n";
    let stage = Stage::new([good().forever()]).with("in.csv", table);
    let said =
        stage.say(&["batch", "review.json", "in.csv", "-p", "{{id}}: {{text}}", "-o", "out.jsonl"]);
    assert_eq!(said.code, 0, "{said:?}");
    let prompt = "7: says \\\"no\\\", twice\\nand more";
    assert!(prompts(&stage)[0].contains(prompt), "{:?}", prompts(&stage));
}

#[test]
fn inputs_are_never_written_over() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", "\"one\"\n");
    for outputs in [["-o", "in.jsonl"], ["--failures", "./in.jsonl"]] {
        let said = stage.say(&[&["batch", "review.json", "in.jsonl"][..], &outputs].concat());
        assert_eq!(said.code, 2, "{said:?}");
    }
    let said = stage.batch(&["--failures", "out.jsonl"]);
    assert_eq!(said.code, 2, "{said:?}");
    // Nor those that are the failures of another time.
    let stage = stage.with("out.jsonl.failures.jsonl", "\"two\"\n");
    let again = ["batch", "review.json", "out.jsonl.failures.jsonl", "-o", "out.jsonl"];
    let said = stage.say(&again);
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(std::fs::read_to_string(stage.path("in.jsonl")).unwrap(), "\"one\"\n");
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn no_input_at_all_is_refused_before_anything_is_written() {
    let stage = Stage::new([good().forever()])
        .with("empty.jsonl", "")
        .with("blank.jsonl", " \n\n \n")
        .with("header.csv", "id,text\n")
        .with("out.jsonl", "before\n");
    std::fs::create_dir(stage.path("folder")).unwrap();
    for input in ["empty.jsonl", "blank.jsonl", "header.csv", "folder", "-"] {
        for more in [&["-o", "out.jsonl"][..], &["--dry-run"], &["--enqueue"]] {
            let said = stage.say(&[&["batch", "review.json", input][..], more].concat());
            assert_eq!((said.code, said.stdout.as_str()), (42, ""), "{said:?}");
            assert!(said.stderr.starts_with("error: there is no input: "), "{said:?}");
            assert!(said.stderr.contains("hint: an input is "), "{said:?}");
        }
    }
    assert_eq!(std::fs::read_to_string(stage.path("out.jsonl")).unwrap(), "before\n");
    assert!(!stage.path("out.jsonl.partial").exists() && !stage.path("data").exists());
    // What is empty beside others is no reason to stop.
    let stage = stage.with("in.jsonl", lines(1));
    let said = stage.say(&["batch", "review.json", "empty.jsonl", "in.jsonl"]);
    assert_eq!((said.code, said.lines().len()), (0, 1), "{said:?}");
}

/// Keys are those of whoever asks.
#[test]
fn who_only_counts_or_queues_needs_no_key() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(2));
    let keyless = |more: &[&str]| -> Said {
        let mut command = stage.command(&[&["batch", "review.json", "in.jsonl"], more].concat());
        command.env_remove("ANTHROPIC_API_KEY").output().unwrap().into()
    };
    assert_eq!(keyless(&[]).code, 41);
    let extractor = ["--dry-run", "--extractor", "openai:other"];
    for (more, told) in [
        (&["--dry-run"][..], "2 inputs, "),
        (&extractor[..], "2 inputs, "),
        (&["--enqueue", "--name", "night"][..], "batch night: 2 queued, "),
    ] {
        let said = keyless(more);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.stdout.starts_with(told), "{said:?}");
    }
    // It is the same work for who has the key.
    assert_eq!(stage.say(&["worker", "--until-empty"]).code, 0);
    assert_eq!((stage.batch(&[]).code, stage.positions()), (0, vec![1, 2]));
    assert_eq!(stage.fake.requests().len(), 2);
}

/// A variable that is not set must not send the whole folder away.
#[test]
fn an_input_without_a_name_is_not_this_folder() {
    let stage = Stage::new([good().forever()]).with("secret.env", "KEY=1");
    let said = stage.say(&["batch", "review.json", ""]);
    assert_eq!((said.code, stage.fake.requests().len()), (2, 0), "{said:?}");
}

/// Nor must a variable that is not set name nothing.
#[test]
fn a_flag_without_a_name_is_refused_by_its_name() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(1));
    for flag in ["--key", "--name"] {
        let said = stage.batch(&[flag, ""]);
        assert_eq!((said.code, stage.fake.requests().len()), (2, 0), "{said:?}");
        assert!(said.stderr.starts_with("error:") && said.stderr.contains(flag), "{said:?}");
    }
}

#[test]
fn a_key_that_says_nothing_tells_nothing_apart() {
    let text = "{\"id\":null,\"text\":\"a\"}\n{\"id\":null,\"text\":\"b\"}\n{\"id\":\"\",\"text\":\"c\"}\n";
    let stage = Stage::new([good().forever()]).with("in.jsonl", text);
    let said = stage.batch(&["--key", "id", "-p", "{{text}}"]);
    assert_eq!((said.code, stage.fake.requests().len()), (1, 0), "{said:?}");
}

#[test]
fn files_are_one_input_each() {
    let stage = Stage::new([good().forever()]).with("b.txt", "two").with("a.txt", "one");
    let said = stage.say(&["batch", "review.json", "a.txt", "b.txt", "-p", "{{name}}={{text}}"]);
    assert_eq!(said.code, 0, "{said:?}");
    let inputs: Vec<_> = said.lines().iter().map(|line| line["input"].clone()).collect();
    assert_eq!(inputs, [json!("a.txt"), json!("b.txt")]);
    assert!(prompts(&stage)[0].contains("a.txt=one") && prompts(&stage)[1].contains("b.txt=two"));
}

#[test]
fn an_input_that_cannot_be_used_is_listed_with_its_line() {
    let text = "{\"text\": \"one\"}\nnot json\n{\"other\": 1}\n{\"text\": \"four\"}\n";
    let stage = Stage::new([good().forever()]).with("in.jsonl", text);
    let said = stage.batch(&["-p", "{{text}}"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(stage.positions(), [1, 4]);
    let failures = stage.results("out.jsonl.failures.jsonl");
    let told: Vec<_> =
        failures.iter().map(|line| (line["input"].as_str(), line["outcome"].as_str())).collect();
    assert_eq!(told, [(Some("in.jsonl:2"), Some("input")), (Some("in.jsonl:3"), Some("input"))]);
    assert_eq!(failures[1]["error"], "there is no field `text`");
    assert_eq!(stage.fake.requests().len(), 2);
}

#[test]
fn strict_inputs_end_the_batch_at_the_first_that_cannot_be_used() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", "1\n\"two\"\n");
    let said = stage.batch(&["--strict-inputs"]);
    assert_eq!(said.code, 42, "{said:?}");
    assert!(said.stderr.contains("in.jsonl:1"), "{said:?}");
    assert!(stage.fake.requests().is_empty());
}

/// The same command would stop at the same input.
#[test]
fn who_is_stopped_by_an_input_is_told_to_mend_it_before_going_on() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", "\"one\"\n2\n\"three\"\n");
    let said = stage.batch(&["--strict-inputs"]);
    assert_eq!(said.code, 42, "{said:?}");
    let told = "hint: mend or remove input 2 first, or leave `--strict-inputs` out to list such \
        inputs among the failures\n\
        hint: then type the same command again to go on: what is done is in the ledger\n";
    assert!(said.stderr.ends_with(told), "{said:?}");
    let said = stage.say(&["batch", "review.json", "in.jsonl", "--enqueue", "--strict-inputs"]);
    assert_eq!(said.code, 42, "{said:?}");
    let told = "hint: mend or remove input 2, then type the same command again\n";
    assert!(said.stderr.ends_with(told), "{said:?}");
    let stage = stage.with("in.jsonl", "\"one\"\n\"two\"\n\"three\"\n");
    assert_eq!((stage.batch(&["--strict-inputs"]).code, stage.positions()), (0, vec![1, 2, 3]));
    assert_eq!(stage.fake.requests().len(), 3);
}

#[test]
fn a_huge_line_costs_itself() {
    let huge = format!("\"{}\"\n\"two\"\n", "x".repeat(9 << 20));
    let stage = Stage::new([good().forever()]).with("in.jsonl", huge);
    assert_eq!(stage.batch(&[]).code, 1);
    assert_eq!(stage.positions(), [2]);
}

#[test]
fn a_dry_run_counts_and_asks_nothing() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", format!("{}[]\n", lines(3)));
    let model = ["--model", "anthropic:claude-sonnet-4-5"];
    let said = stage
        .say(&[&["batch", "review.json", "in.jsonl", "--dry-run", "--json"], &model[..]].concat());
    assert_eq!(said.code, 1, "{said:?}");
    let summary = &said.lines()[0];
    assert_eq!((&summary["inputs"], &summary["unusable"]), (&json!(3), &json!(1)));
    assert!(said.stderr.contains("error: 1 of 4 inputs cannot be used\n"), "{said:?}");
    assert!(summary["estimated_cost_usd"].as_f64().unwrap() > 0.0, "{summary}");
    assert!(stage.fake.requests().is_empty());
    assert!(!stage.path("data").exists());
}

#[test]
fn a_dry_run_counts_what_would_be_asked_and_the_instructions_with_it() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(3));
    let dry = |arguments: &[&str]| {
        let said = stage.batch(&[&["--dry-run", "--json"], arguments].concat());
        assert_eq!(said.code, 0, "{said:?}");
        said.lines()[0].clone()
    };
    let tokens = |summary: &Value| summary["estimated_tokens"].as_u64().unwrap();
    let all = dry(&[]);
    assert_eq!((&all["inputs"], &all["answered"]), (&json!(3), &json!(0)));
    assert_eq!(tokens(&dry(&["--system", &"x".repeat(400)])), tokens(&all) + 3 * 100);
    assert_eq!(stage.batch(&["--limit", "2"]).code, 0);
    let rest = dry(&[]);
    assert_eq!((&rest["inputs"], &rest["answered"]), (&json!(3), &json!(2)));
    assert_eq!(tokens(&rest) * 3, tokens(&all));
    let said = stage.batch(&["--dry-run"]);
    let told = "3 inputs, 2 of them answered, 1 to ask, 0 unusable; about ";
    assert!(said.stdout.starts_with(told), "{said:?}");
}

#[test]
fn a_dry_run_tells_failures_apart_from_answers_and_whether_they_would_be_asked_again() {
    let stage = Stage::new([bad().when_contains("ticket 2").forever(), good().forever()])
        .with("in.jsonl", lines(3));
    assert_eq!(stage.batch(&["--reasks", "0", "--limit", "2"]).code, 1);
    let cases: [(&[&str], [u64; 3]); 2] = [(&[], [1, 1, 1]), (&["--retry-failed"], [1, 0, 2])];
    for (more, expected) in cases {
        let dry = [&["--reasks", "0", "--dry-run"], more].concat();
        let said = stage.batch(&[&dry[..], &["--json"]].concat());
        assert_eq!(said.code, 0, "{said:?}");
        let summary = &said.lines()[0];
        let counted = ["answered", "failed", "to_ask"].map(|key| summary[key].as_u64().unwrap());
        assert_eq!(counted, expected, "{summary}");
        let told = stage.batch(&dry).stdout;
        let failed = if expected[1] > 0 { ", 1 failed before" } else { "" };
        let begin = format!("3 inputs, 1 of them answered{failed}, {} to ask,", expected[2]);
        assert!(told.starts_with(&begin), "{told}");
        // As many as are really asked.
        let before = stage.fake.requests().len() as u64;
        if !more.is_empty() {
            assert_eq!(stage.batch(&["--reasks", "0", "--retry-failed"]).code, 1);
            assert_eq!(stage.fake.requests().len() as u64 - before, expected[2]);
        }
    }
}

#[test]
fn a_dry_run_counts_a_key_once_and_another_text_of_it_as_unusable() {
    let line = |id: u64, text: &str| format!("{}\n", json!({ "id": id, "text": text }));
    let text = [line(1, "a"), line(1, "a"), line(1, "b"), line(2, "b")].concat();
    let stage = Stage::new([good().forever()]).with("in.jsonl", text);
    let key = ["--key", "id", "-p", "{{text}}", "--concurrency", "1"];
    let dry = || {
        let said = stage.batch(&[&key[..], &["--dry-run", "--json"]].concat());
        assert_eq!(said.code, 1, "{said:?}");
        let told = "input 3 (`in.jsonl:3`): its key `1` belongs to another text before it\n";
        assert!(said.stderr.starts_with(told), "{said:?}");
        let summary = said.lines()[0].clone();
        ["inputs", "answered", "to_ask", "unusable"].map(|name| summary[name].as_u64().unwrap())
    };
    assert_eq!(dry(), [2, 0, 2, 1]);
    assert_eq!((stage.batch(&key).code, stage.positions()), (1, vec![1, 2, 4]));
    assert_eq!(stage.fake.requests().len(), 2);
    assert_eq!(dry(), [2, 2, 0, 1]);
}

#[test]
fn a_template_without_a_place_for_the_input_is_refused() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(1));
    let said = stage.batch(&["-p", "Sort this"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.contains("{{input}}"), "{said:?}");
}
