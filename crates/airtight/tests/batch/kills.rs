//! Processes that are killed or interrupted at any point.

use std::process::Child;

use airtight_store::AttemptState;

use crate::stage::{Stage, block_on, good, lines, signal};

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn whenever_it_is_killed_the_same_command_gives_each_input_one_result() {
    const INPUTS: usize = 150;
    const CONCURRENCY: usize = 8;
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(INPUTS));
    let arguments = ["--concurrency", "8"];
    let mut kills = 0;
    // Each process is killed after another number of requests, some before the first.
    for requests in [0, 1, 2, 5, 9, 14, 20, 27, 35] {
        let child = stage.start(&arguments);
        block_on(async {
            for _ in 0..requests {
                stage.fake.next_request().await;
            }
        });
        kill(child);
        kills += 1;
    }
    let said = stage.batch(&arguments);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(stage.positions(), (1..=INPUTS as u64).collect::<Vec<_>>());
    let runs: std::collections::HashSet<String> = stage
        .results("out.jsonl")
        .iter()
        .map(|line| line["run_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(runs.len(), INPUTS);
    // What was under way when a process died may be asked for again, and nothing else.
    assert!(stage.fake.requests().len() <= INPUTS + kills * CONCURRENCY);
}

#[test]
fn a_request_that_was_under_way_at_the_kill_stays_on_record_as_unknown() {
    let stage = Stage::new([good().gate(0, "held"), good()]).with("in.jsonl", lines(1));
    let child = stage.start(&[]);
    block_on(stage.fake.gate("held").reached());
    kill(child);
    assert_eq!(stage.batch(&[]).code, 0);
    let attempts = stage.attempts(&stage.results("out.jsonl")[0]);
    let states: Vec<AttemptState> = attempts.iter().map(|attempt| attempt.state).collect();
    assert_eq!(states, [AttemptState::Unknown, AttemptState::Closed]);
}

#[test]
fn an_interrupted_batch_goes_on_where_it_was() {
    for name in ["INT", "TERM"] {
        let held = good().gate(0, "held").when_contains("ticket 3");
        let stage = Stage::new([held, good().forever()]).with("in.jsonl", lines(6));
        let child = stage.start(&["--concurrency", "1"]);
        block_on(stage.fake.gate("held").reached());
        signal(&child, name);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{ended:?}");
        assert_eq!(stage.positions(), [1, 2]);
        assert_eq!(stage.batch(&[]).code, 0);
        assert_eq!(stage.positions(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(stage.fake.requests().len(), 7);
    }
}

#[test]
fn two_processes_do_not_write_the_same_file() {
    let stage = Stage::new([good().gate(0, "held"), good().forever()]).with("in.jsonl", lines(2));
    let child = stage.start(&[]);
    block_on(stage.fake.gate("held").reached());
    let said = stage.batch(&[]);
    assert_eq!(said.code, 2, "{said:?}");
    stage.fake.gate("held").open();
    assert!(child.wait_with_output().unwrap().status.success());
}
