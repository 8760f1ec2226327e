//! What workers and `jobs` say of a queue that is not as it was thought to be.

use serde_json::{Value, json};

use crate::stage::{Said, Stage, good, lines};

const LEDGER: [&str; 2] = ["--database", "queue.db"];

fn enqueue(stage: &Stage) {
    let batch = ["batch", "review.json", "in.jsonl", "--enqueue"];
    let said = stage.say(&[&batch[..], &LEDGER].concat());
    assert_eq!(said.code, 0, "{said:?}");
}

fn counts(stage: &Stage) -> Value {
    stage.say(&[&["jobs", "counts", "--json"][..], &LEDGER].concat()).lines()[0].clone()
}

fn ready(jobs: u64) -> Value {
    json!({ "ready": jobs, "claimed": 0, "quarantined": 0 })
}

#[test]
fn a_worker_without_a_key_says_what_is_left_and_what_to_set() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(3));
    enqueue(&stage);
    let worker = [&["worker", "--until-empty", "--quiet"][..], &LEDGER].concat();
    // However often it is tried, no job is to blame.
    for _ in 0..2 {
        let mut keyless = stage.command(&worker);
        let said: Said = keyless.env_remove("ANTHROPIC_API_KEY").output().unwrap().into();
        assert_eq!(said.code, 41, "{said:?}");
        let told = "error: 3 jobs are left that this worker cannot do\n";
        assert!(said.stderr.starts_with(told), "{said:?}");
        assert!(said.stderr.contains("there is no key for `anthropic`"), "{said:?}");
        assert!(said.stderr.contains("hint: type `export ANTHROPIC_API_KEY=…`"), "{said:?}");
        assert!(said.stderr.contains("offered again in "), "{said:?}");
        assert_eq!(counts(&stage), ready(3));
        let said = stage.say(&[&["jobs", "retry", "--all"][..], &LEDGER].concat());
        assert_eq!(said.stdout, "3 jobs retried\n", "{said:?}");
    }
    assert_eq!(stage.fake.requests().len(), 0);
    let said = stage.say(&worker);
    assert_eq!((said.code, counts(&stage)), (0, ready(0)), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 3);
}

#[test]
fn what_a_worker_has_the_key_for_is_done_before_it_says_what_is_left() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(2));
    let other = ["batch", "review.json", "in.jsonl", "--enqueue", "--model", "openai:other"];
    let mut other = stage.command(&[&other[..], &LEDGER].concat());
    let said: Said =
        other.env("OPENAI_API_KEY", "another-key-of-the-test").output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    enqueue(&stage);
    let said = stage.say(&[&["worker", "--until-empty"][..], &LEDGER].concat());
    assert_eq!(said.code, 41, "{said:?}");
    assert!(said.stderr.contains("worker: 2 done, 0 failed"), "{said:?}");
    assert!(said.stderr.contains("error: 2 jobs are left"), "{said:?}");
    assert!(said.stderr.contains("export OPENAI_API_KEY"), "{said:?}");
    assert_eq!((counts(&stage), stage.fake.requests().len()), (ready(2), 2));
}

#[test]
fn a_worker_without_an_address_says_where_it_can_be_set() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(1));
    let batch = ["batch", "review.json", "in.jsonl", "--enqueue"];
    let address = ["--model", "openai-compatible:other", "--base-url", "http://127.0.0.1:1/v1"];
    let said = stage.say(&[&batch[..], &address, &LEDGER].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let worker = [&["worker", "--until-empty", "--quiet"][..], &LEDGER].concat();
    let said = stage.say(&worker);
    assert_eq!(said.code, 52, "{said:?}");
    let told = "hint: name it by `providers.openai-compatible.base_url` in `airtight.toml`, or type \
        `export OPENAI_BASE_URL=…`\n";
    assert!(said.stderr.contains(told) && !said.stderr.contains("--base-url"), "{said:?}");
    // Either of them will do.
    let setting =
        format!("[providers.openai-compatible]\nbase_url = \"{}\"\n", stage.fake.openai_base());
    std::fs::create_dir_all(stage.path("config/airtight")).unwrap();
    let stage = stage.with("config/airtight/airtight.toml", setting);
    let said = stage.say(&[&["jobs", "retry", "--all"][..], &LEDGER].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let said = stage.say(&worker);
    assert_eq!((said.code, counts(&stage)), (0, ready(0)), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
}

#[test]
fn a_job_that_is_not_there_is_named_and_nothing_is_changed() {
    let stage = Stage::new([]).with("in.jsonl", lines(1));
    enqueue(&stage);
    let job = stage.say(&[&["jobs", "list", "--json"][..], &LEDGER].concat()).lines()[0].clone();
    let number = job["number"].to_string();
    for action in ["retry", "cancel"] {
        for jobs in [&["99"][..], &[number.as_str(), "99"]] {
            let said = stage.say(&[&["jobs", action][..], jobs, &LEDGER].concat());
            assert_eq!((said.code, said.stdout.as_str()), (42, ""), "{said:?}");
            assert!(said.stderr.contains("error: the queue has no job `99`"), "{said:?}");
            assert!(said.stderr.contains("hint: `airtight jobs list`"), "{said:?}");
            assert_eq!(counts(&stage), ready(1));
        }
    }
    let said = stage.say(&[&["jobs", "cancel", number.as_str()][..], &LEDGER].concat());
    assert_eq!((said.code, counts(&stage)), (0, ready(0)), "{said:?}");
}

/// A path with a slip in it must not become a ledger without jobs.
#[test]
fn no_ledger_is_made_by_who_looks_for_jobs() {
    let stage = Stage::new([]);
    for command in [&["worker", "--until-empty"][..], &["worker"], &["jobs", "counts"]] {
        let said = stage.say(&[command, &["--database", "mistyped.db"]].concat());
        assert_eq!(said.code, 4, "{said:?}");
        assert!(said.stderr.starts_with("error: there is no ledger: `"), "{said:?}");
        assert!(said.stderr.contains("--enqueue --database "), "{said:?}");
        assert!(!stage.path("mistyped.db").exists());
        std::fs::write(stage.path("empty.db"), "").unwrap();
        let said = stage.say(&[command, &["--database", "empty.db"]].concat());
        assert_eq!(said.code, 4, "{said:?}");
        assert_eq!(std::fs::metadata(stage.path("empty.db")).unwrap().len(), 0);
    }
}
