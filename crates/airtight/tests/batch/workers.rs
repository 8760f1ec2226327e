//! Jobs in the queue, and workers that are killed, stopped and told to end.

use std::process::{Child, Command};

use airtight_fake::Turn;
use serde_json::{Value, json};

use crate::postgres::Server;
use crate::stage::{Stage, bad, block_on, good, lines, signal};

/// A ledger for each database there is.
fn ledgers(stage: &Stage) -> [String; 2] {
    [stage.path("queue.db").display().to_string(), Server::shared().database()]
}

fn enqueue(stage: &Stage, ledger: &str) -> Value {
    let arguments =
        ["batch", "review.json", "in.jsonl", "--enqueue", "--json", "--database", ledger];
    let said = stage.say(&arguments);
    assert_eq!(said.code, 0, "{said:?}");
    said.lines()[0].clone()
}

fn start(stage: &Stage, ledger: &str, arguments: &[&str]) -> Child {
    let worker = ["worker", "--database", ledger, "--lease", "1s"];
    stage.command(&[&worker, arguments].concat()).spawn().unwrap()
}

fn counts(stage: &Stage, ledger: &str) -> Value {
    stage.say(&["jobs", "counts", "--json", "--database", ledger]).lines()[0].clone()
}

fn empty() -> Value {
    json!({ "ready": 0, "claimed": 0, "quarantined": 0 })
}

/// Writes the results to `out.jsonl`; nothing is asked for that.
fn collect(stage: &Stage, ledger: &str) {
    let requests = stage.fake.requests().len();
    let said = stage.batch(&["--database", ledger]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(stage.fake.requests().len(), requests);
}

#[test]
fn what_is_queued_is_done_by_workers_and_collected_by_the_same_command() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(30));
    for ledger in ledgers(&stage) {
        assert_eq!(enqueue(&stage, &ledger)["queued"], 30);
        assert_eq!(enqueue(&stage, &ledger)["known"], 30);
        let workers =
            [0, 1].map(|_| start(&stage, &ledger, &["--until-empty", "--concurrency", "4"]));
        for worker in workers {
            let said = worker.wait_with_output().unwrap();
            assert!(said.status.success(), "{said:?}");
        }
        assert_eq!(counts(&stage, &ledger), empty());
        collect(&stage, &ledger);
        assert_eq!(stage.positions(), (1..=30).collect::<Vec<_>>());
    }
    assert_eq!(stage.fake.requests().len(), 60);
}

/// What the role of a contract adds, and the model that extracts, come along with the job.
#[test]
fn a_queued_job_is_done_as_the_batch_itself_would() {
    let prose = Turn::text("It is fine, and I give it 9 of 10.").when_model("fake").forever();
    let answer = json!({ "summary": "It is fine", "score": 9 });
    let found = Turn::call("structured_output", answer).when_model("small").forever();
    let stage = Stage::new([prose, found]).with("in.jsonl", lines(2));
    std::fs::create_dir(stage.path("examples")).unwrap();
    let role = "schema = \"review.json\"\nversion = \"1.2.0\"\nexamples = \"examples\"\n";
    let stage = stage
        .with("reviewer.toml", role)
        .with("examples/a.in.txt", "ticket 0")
        .with("examples/a.out.json", r#"{"summary":"ticket","score":1}"#);
    let batch = ["batch", "reviewer.toml", "in.jsonl", "--mode", "tool"];
    let batch = [&batch[..], &["--extractor", "anthropic:small"]].concat();
    for ledger in ledgers(&stage) {
        let before = stage.fake.requests().len();
        let queued = stage.say(&[&batch[..], &["--enqueue", "--database", &ledger]].concat());
        assert_eq!(queued.code, 0, "{queued:?}");
        let said = start(&stage, &ledger, &["--until-empty"]).wait_with_output().unwrap();
        assert!(said.status.success(), "{said:?}");
        assert_eq!(stage.fake.requests().len() - before, 4);
        let collect = ["-o", "out.jsonl", "--database", &ledger];
        let collected = stage.say(&[&batch[..], &collect].concat());
        assert_eq!(collected.code, 0, "{collected:?}");
        assert_eq!(stage.fake.requests().len() - before, 4, "nothing is asked for that");
        let lines = stage.results("out.jsonl");
        assert!(lines.iter().all(|line| line["rung"] == "extract"), "{lines:?}");
        let id = lines[0]["run_id"].as_str().unwrap();
        let run = stage.say(&["runs", "show", id, "--json", "--database", &ledger]).lines();
        assert_eq!(run[0]["contractVersion"], "1.2.0", "{run:?}");
        let told = stage.say(&["runs", "show", id, "--events", "--database", &ledger]).lines();
        let told: Vec<_> = told.iter().map(|line| line["subtype"].as_str().unwrap()).collect();
        assert_eq!(told, ["init", "attempt", "extracting", "attempt"]);
    }
}

#[test]
fn a_job_of_a_killed_worker_is_done_by_another() {
    let stage = Stage::new([]).with("in.jsonl", lines(1));
    for ledger in ledgers(&stage) {
        stage.fake.push(good().gate(0, &ledger));
        stage.fake.push(good());
        enqueue(&stage, &ledger);
        let mut killed = start(&stage, &ledger, &[]);
        block_on(stage.fake.gate(&ledger).reached());
        killed.kill().unwrap();
        killed.wait().unwrap();
        // Its lease runs out first.
        let other = start(&stage, &ledger, &[]);
        while counts(&stage, &ledger) != empty() {
            std::thread::yield_now();
        }
        signal(&other, "TERM");
        assert!(other.wait_with_output().unwrap().status.success());
        collect(&stage, &ledger);
        assert_eq!(stage.positions(), [1]);
    }
}

#[test]
fn a_worker_that_slept_past_its_lease_does_not_count() {
    let stage = Stage::new([]).with("in.jsonl", lines(1));
    for ledger in ledgers(&stage) {
        let late = Turn::text(r#"{"summary":"late","score":1}"#);
        stage.fake.push(late.gate(0, &ledger));
        stage.fake.push(good());
        enqueue(&stage, &ledger);
        let slept = start(&stage, &ledger, &[]);
        block_on(stage.fake.gate(&ledger).reached());
        signal(&slept, "STOP");
        let other = start(&stage, &ledger, &[]);
        while counts(&stage, &ledger) != empty() {
            std::thread::yield_now();
        }
        stage.fake.gate(&ledger).open();
        signal(&slept, "CONT");
        for worker in [slept, other] {
            signal(&worker, "TERM");
            let said = worker.wait_with_output().unwrap();
            assert!(said.status.success(), "{said:?}");
        }
        collect(&stage, &ledger);
        assert_eq!(stage.results("out.jsonl")[0]["structured_output"]["summary"], "fine");
    }
}

#[test]
fn a_job_that_takes_workers_down_waits_for_a_person() {
    let stage = Stage::new([]).with("in.jsonl", lines(1));
    for ledger in ledgers(&stage) {
        enqueue(&stage, &ledger);
        for round in 0..2 {
            let gate = format!("{ledger} {round}");
            stage.fake.push(good().gate(0, &gate));
            let mut killed = start(&stage, &ledger, &["--claims", "2"]);
            block_on(stage.fake.gate(&gate).reached());
            killed.kill().unwrap();
            killed.wait().unwrap();
        }
        let bystander = start(&stage, &ledger, &["--claims", "2"]);
        while counts(&stage, &ledger)["quarantined"] != 1 {
            std::thread::yield_now();
        }
        signal(&bystander, "TERM");
        assert!(bystander.wait_with_output().unwrap().status.success());
        let said = stage.say(&["jobs", "list", "--state", "quarantined", "--database", &ledger]);
        assert_eq!(said.lines()[0]["claims"], 2, "{said:?}");
        let which = ["--state", "quarantined", "--database", &ledger];
        let said = stage.say(&[&["jobs", "retry"], &which[..]].concat());
        assert_eq!(said.stdout, "1 job retried\n", "{said:?}");
        stage.fake.push(good());
        let said = start(&stage, &ledger, &["--until-empty"]).wait_with_output().unwrap();
        assert!(said.status.success(), "{said:?}");
        collect(&stage, &ledger);
    }
}

#[test]
fn a_worker_that_is_told_to_end_returns_what_it_cannot_finish() {
    let stage = Stage::new([]).with("in.jsonl", lines(1));
    for ledger in ledgers(&stage) {
        stage.fake.push(good().gate(0, &ledger));
        enqueue(&stage, &ledger);
        let worker = start(&stage, &ledger, &["--grace", "10ms"]);
        block_on(stage.fake.gate(&ledger).reached());
        signal(&worker, "TERM");
        let said = worker.wait_with_output().unwrap();
        assert!(said.status.success(), "{said:?}");
        assert_eq!(counts(&stage, &ledger)["ready"], 1);
        let said = stage.say(&["jobs", "cancel", "--all", "--database", &ledger]);
        assert_eq!(said.stdout, "1 job cancelled\n", "{said:?}");
        assert_eq!(counts(&stage, &ledger), empty());
    }
}

#[test]
fn a_worker_without_a_good_key_fails_no_job() {
    let stage = Stage::new([Turn::status(401).forever()]).with("in.jsonl", lines(3));
    let [ledger, _] = ledgers(&stage);
    enqueue(&stage, &ledger);
    let said = start(&stage, &ledger, &[]).wait_with_output().unwrap();
    assert_eq!(said.status.code(), Some(41), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
    assert_eq!(counts(&stage, &ledger)["ready"], 3);
}

#[test]
fn a_job_whose_model_nobody_has_is_set_aside_and_the_others_are_done() {
    let absent = || Turn::status(404).when_model("gone").forever();
    let stage = Stage::new([absent(), good().forever()]).with("in.jsonl", lines(2));
    for ledger in ledgers(&stage) {
        let arguments = ["batch", "review.json", "in.jsonl", "--enqueue", "--database", &ledger];
        let gone = [&arguments[..], &["--model", "anthropic:gone"]].concat();
        assert_eq!(stage.say(&gone).code, 0);
        enqueue(&stage, &ledger);
        let said = start(&stage, &ledger, &["--until-empty"]).wait_with_output().unwrap();
        assert_eq!(said.status.code(), Some(52), "{said:?}");
        let told = String::from_utf8_lossy(&said.stderr);
        assert!(told.contains("error: 2 jobs are set aside that nobody can do"), "{told}");
        let aside = json!({ "ready": 0, "claimed": 0, "quarantined": 2 });
        assert_eq!(counts(&stage, &ledger), aside);
        let jobs = stage.say(&["jobs", "list", "--json", "--database", &ledger]).lines();
        let numbers = [0, 1].map(|at| jobs[at]["number"].to_string());
        assert!(jobs[0]["error"].as_str().unwrap().contains("404"), "{jobs:?}");
        let named = ["jobs", "list", "--database", &ledger, &numbers[0], &numbers[1]];
        assert_eq!(stage.say(&named).lines(), jobs);
        collect(&stage, &ledger);
    }
}

#[test]
fn a_worker_ends_badly_if_a_critical_job_failed() {
    let stage = Stage::new([bad().when_contains("ticket 2").forever(), good().forever()])
        .with("in.jsonl", lines(3));
    let [ledger, _] = ledgers(&stage);
    for (critical, code) in [(false, 0), (true, 1)] {
        let role =
            format!("schema = \"review.json\"\n[policy]\nreasks = 0\ncritical = {critical}\n");
        let name = format!("reviewer-{critical}");
        std::fs::write(stage.path(&format!("{name}.toml")), role).unwrap();
        // Another name is another batch.
        let system = ["--system", &name, "--enqueue", "--database", &ledger];
        let contract = format!("{name}.toml");
        let queued = stage.say(&[&["batch", &contract, "in.jsonl"], &system[..]].concat());
        assert_eq!(queued.code, 0, "{queued:?}");
        let said =
            start(&stage, &ledger, &["--until-empty", "--quiet"]).wait_with_output().unwrap();
        assert_eq!(said.status.code(), Some(code), "{said:?}");
        let told = String::from_utf8_lossy(&said.stderr);
        let cry = format!("CRITICAL: the contract `{name}` is not met: 1 input has no answer");
        assert_eq!(told.contains(&cry), critical, "{told}");
    }
}

#[test]
fn no_transaction_is_open_while_a_model_is_asked() {
    let stage = Stage::new([good().gate(0, "held")]).with("in.jsonl", lines(1));
    let [_, ledger] = ledgers(&stage);
    enqueue(&stage, &ledger);
    let worker = start(&stage, &ledger, &[]);
    block_on(stage.fake.gate("held").reached());
    let open = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                AND state LIKE 'idle in transaction%'";
    let asked = Command::new("psql").args([&ledger, "-Atc", open]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&asked.stdout), "0\n", "{asked:?}");
    stage.fake.gate("held").open();
    signal(&worker, "TERM");
    assert!(worker.wait_with_output().unwrap().status.success());
}

#[test]
fn a_budget_of_the_whole_batch_cannot_be_queued() {
    let stage = Stage::new([]).with("in.jsonl", lines(1));
    for budget in ["--budget-usd", "--max-tokens-total"] {
        let said = stage.say(&["batch", "review.json", "in.jsonl", "--enqueue", budget, "100"]);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains(budget), "{said:?}");
    }
}
