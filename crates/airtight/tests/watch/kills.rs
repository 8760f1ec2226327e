//! `kill -9` at any point, and again: nothing that was begun is done twice.

use std::process::Child;
use std::time::Duration;

use airtight_core::watch::ActionState;
use airtight_store::{ChainState, Minutes};
use serde_json::{Value, json};

use crate::estate::{Estate, answer, block_on, report, shell};

fn await_gate(estate: &Estate, name: &str) {
    let gate = estate.fake.gate(name);
    block_on(async { gate.reached().await });
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A restart that was on record before the kill counts, whether it was done or not.
#[test]
fn a_lost_session_is_told_and_its_actions_count() {
    let estate = Estate::new([
        shell("docker restart web"),
        answer(report("healthy", false)).gate(0, "restarted"),
    ])
    .set("---\n[notify.file]\ncommand = \"cat >> told.jsonl\"\n")
    .break_web();
    let watch = estate.start(&["--tier", "3", "--prompt", "Repair web"]);
    await_gate(&estate, "restarted");
    kill(watch);
    assert_eq!(estate.statuses(), [(3, "running".to_owned())]);

    estate.fake.push(answer(report("healthy", false)));
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let expected = [(3, "failed"), (1, "completed")].map(|(tier, it)| (tier, it.to_owned()));
    assert_eq!(estate.statuses(), expected);
    assert_eq!(estate.docker(), ["restart web"], "it was not done again");
    let actions = estate.actions();
    assert_eq!((actions.len(), actions[0].state), (1, ActionState::Success));
    let lost = estate.events().into_iter().find(|it| it.message.contains("the watch was gone"));
    assert_eq!(lost.unwrap().level, "critical");
    let told = std::fs::read_to_string(estate.path("told.jsonl")).unwrap();
    assert!(told.contains("Needs human attention: tier 3 was interrupted"), "{told}");
    assert_eq!(verified(&estate), json!(["web"]), "what a lost session did is looked at again");
}

/// Returns the services that are to be looked at again.
fn verified(estate: &Estate) -> Value {
    let schedule = estate.asked(async |ledger| ledger.mark("schedule").await.unwrap().unwrap());
    let schedule: Value = serde_json::from_str(&schedule).unwrap();
    schedule["verifications"][0]["services"].clone()
}

/// A chain that only another version understands is given up; its session is over, and what it did is
/// looked at again.
#[test]
fn a_chain_that_cannot_be_read_is_given_up_and_what_it_did_is_verified() {
    let estate = Estate::new([
        shell("docker restart web"),
        answer(report("healthy", false)).gate(0, "restarted"),
    ]);
    let watch = estate.start(&["--tier", "3", "--prompt", "Repair web"]);
    await_gate(&estate, "restarted");
    kill(watch);
    estate.asked(async |ledger| {
        let left = ledger.open_chain().await.unwrap().unwrap();
        let lead = ledger.lead(Duration::from_mins(1)).await.unwrap().unwrap();
        let chain = ChainState {
            id: left.id,
            cause: left.cause,
            machine: "{\"of\":\"another version\"}".to_owned(),
            started_at: left.started_at,
            ended_at: None,
        };
        let at_ms = ledger.now_ms();
        let minutes = Minutes { at_ms, chain: Some(chain), ..Minutes::default() };
        ledger.minute(lead, minutes).await.unwrap();
        ledger.resign().await.unwrap();
    });
    estate.fake.push(answer(report("healthy", false)));
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let expected = [(3, "failed"), (1, "completed")].map(|(tier, it)| (tier, it.to_owned()));
    assert_eq!(estate.statuses(), expected);
    assert_eq!(verified(&estate), json!(["web"]));
    let events = estate.events();
    assert!(events.iter().any(|it| it.message.contains("cannot be gone on with")), "{events:?}");
}

/// Killed after ever longer, the watch goes on each time: two restarts at most, whatever happens.
#[test]
fn kills_at_many_points_never_grant_a_third_restart() {
    let estate = Estate::new(Vec::new()).set("deny = []").with("stubborn-web", "").break_web();
    for round in 0..10_u64 {
        for turn in [
            answer(report("down", true)),
            answer(report("down", true)),
            shell(&format!("echo {round}; docker restart web")),
            answer(report("down", false)),
        ] {
            estate.fake.push(turn);
        }
        let mut watch = estate.start(&["--once"]);
        // From before the first write to after the last.
        let life = Duration::from_millis(40 * round);
        let ended = wait_for(&mut watch, life);
        if !ended {
            kill(watch);
        }
        while estate.fake.remaining() > 0 {
            // What was not asked belongs to no later round.
            let rest = estate.once(&["--prompt", "Look again"]);
            assert!(rest.code <= 1, "{rest:?}");
        }
    }
    // Undisturbed, twice: whatever room the kills left is used.
    for round in 10..12 {
        estate.fake.push(shell(&format!("echo {round}; docker restart web")));
        estate.fake.push(answer(report("down", false)));
        assert_eq!(estate.once(&["--tier", "3", "--prompt", "Repair web"]).code, 0);
    }
    let (docker, reserved) = (estate.docker(), estate.actions());
    assert_eq!(reserved.len(), 2, "{reserved:?}");
    let is_known = |action: &&airtight_store::Action| action.state != ActionState::Unknown;
    let known = reserved.iter().filter(is_known).count();
    assert!(known <= docker.len() && docker.len() <= 2, "{docker:?} {reserved:?}");
    assert!(reserved.iter().all(|action| action.state != ActionState::Reserved), "{reserved:?}");
    assert!(estate.statuses().iter().all(|(_, status)| status != "running"));
}

/// Waits for the end of a process, no longer than `life`.
fn wait_for(child: &mut Child, life: Duration) -> bool {
    let begun = std::time::Instant::now();
    while begun.elapsed() < life {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::yield_now();
    }
    child.try_wait().unwrap().is_some()
}
