//! Chains: what tiers find, hand on and repair.

use crate::estate::{Estate, KEY, answer, report, shell};
use airtight_core::watch::ActionState;
use airtight_fake::Turn;
use serde_json::json;

/// What asks tier 3 for a repair.
const REPAIR: [&str; 4] = ["--tier", "3", "--prompt", "Repair web"];

/// A target that keeps what it is told.
const TELLING: &str = "---\n[notify.file]\ncommand = \"cat >> told.jsonl\"\n";

/// Runs a chain in which nothing is done to any service, and returns what its model was told last.
fn idle(estate: &Estate, arguments: &[&str]) -> String {
    let said = estate.once(arguments);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(estate.docker(), Vec::<String>::new());
    assert_eq!(estate.actions(), []);
    last_told(estate)
}

fn last_told(estate: &Estate) -> String {
    estate.fake.requests().last().unwrap().body.to_string()
}

fn states(estate: &Estate) -> Vec<ActionState> {
    estate.actions().iter().map(|action| action.state).collect()
}

/// Returns what people were told by the command.
fn delivered(estate: &Estate) -> String {
    std::fs::read_to_string(estate.path("told.jsonl")).unwrap()
}

/// The turns of a chain that goes up to tier 3 and restarts `web` there.
fn repairing() -> Vec<Turn> {
    vec![
        answer(report("down", true)),
        answer(report("down", true)),
        shell("docker restart web"),
        answer(report("healthy", false)),
    ]
}

/// CO-3, CO-70..CO-73: observe, investigate, remediate.
#[test]
fn a_chain_heals_a_broken_service() {
    let estate = Estate::new(Vec::new()).break_web();
    estate.fake.push(shell(&estate.probing()));
    for turn in repairing() {
        estate.fake.push(turn);
    }
    assert_eq!(estate.probe(), "HTTP/1.0 503 Broken");
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(estate.probe(), "HTTP/1.0 200 OK");
    assert_eq!(estate.docker(), ["restart web"]);

    let sessions = estate.sessions();
    let told: Vec<_> = sessions
        .iter()
        .map(|it| (it.tier, it.status.as_str(), it.extraction.as_str(), it.cause.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (1, "escalated", "structured", "scheduled"),
            (2, "escalated", "structured", "escalation"),
            (3, "completed", "structured", "escalation"),
        ]
    );
    assert_eq!(sessions[1].parent.as_ref(), Some(&sessions[0].id));
    assert_eq!(sessions[2].parent.as_ref(), Some(&sessions[1].id));
    let messages: Vec<_> = estate.events().into_iter().map(|event| event.message).collect();
    assert_eq!(messages, ["web is down", "web is down", "web is healthy"]);
    let services = estate.services();
    assert_eq!((services[0].name.as_str(), services[0].status.as_str()), ("web", "healthy"));
    let actions = estate.actions();
    assert_eq!((actions.len(), actions[0].state), (1, ActionState::Success));
    assert_eq!(actions[0].session.as_ref(), Some(&sessions[2].id));

    let seen = estate.fake.requests().iter().map(|it| it.body.to_string()).collect::<Vec<_>>();
    assert!(seen[1].contains("503 Broken"), "the first tier saw it: {}", seen[1]);
    assert!(seen[2].contains("Escalation from tier 1"), "{}", seen[2]);
    assert!(seen[2].contains("web answers 503"), "{}", seen[2]);
}

/// CO-5, CO-9, CO-71: each session has a log of its own and a run of its name.
#[test]
fn a_session_has_a_log_and_a_run_of_its_name() {
    let estate = Estate::new([answer(report("healthy", false))]);
    assert_eq!(estate.once(&[]).code, 0);
    let session = estate.sessions().remove(0);
    let log = std::fs::read_to_string(session.log.unwrap()).unwrap();
    let lines: Vec<(&str, serde_json::Value)> = log
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(at, json)| (at, serde_json::from_str(json).unwrap()))
        .collect();
    assert!(lines.iter().all(|(at, _)| at.ends_with('Z') && at.len() == 24), "{log}");
    assert_eq!(lines.last().unwrap().1["type"], "result");
    assert!(!log.contains(KEY));
    let id = session.id.clone();
    let run = estate.asked(async |ledger| ledger.run(&id).await.unwrap());
    assert_eq!(run.summary.outcome.as_deref(), Some("met"));
    assert_eq!(run.summary.contract, "agent-response");
    assert_eq!(run.summary.contract_version, "1.0.0");
}

/// CO-77: a dry run starts nothing above tier 1, and lets tier 1 do nothing.
#[test]
fn a_dry_run_does_not_touch_anything() {
    let estate = Estate::new([
        shell("docker restart web"),
        shell("sudo systemctl restart web"),
        answer(report("down", true)),
    ])
    .set("dry_run = true\ndeny = []")
    .break_web();
    let told = idle(&estate, &[]);
    assert!(told.contains("this is a dry run"), "{told}");
    assert_eq!(estate.probe(), "HTTP/1.0 503 Broken");
    assert_eq!(estate.statuses(), [(1, "completed".to_owned())]);
    let events = estate.events();
    let blocked = events.iter().find(|event| event.message.starts_with("escalation to tier 2"));
    let blocked = blocked.unwrap();
    assert_eq!(blocked.level, "info");
    assert!(blocked.message.contains("dry run") && blocked.message.contains("web"), "{blocked:?}");
}

/// CO-8: what a tier must not run is not run.
#[test]
fn the_first_tier_is_denied_what_changes_something() {
    let estate = Estate::new([shell("docker restart web"), answer(report("healthy", false))]);
    let told = idle(&estate, &[]);
    assert!(told.contains("permission denied"), "{told}");
}

/// CO-8: tier 1 changes nothing, however it is written and whatever the lists say.
#[test]
fn co_8_the_first_tier_acts_on_no_service_however_it_is_written() {
    let estate = Estate::new([
        shell("docker --log-level info restart web"),
        shell("bash -c 'docker restart web'"),
        shell("docker restart $(echo web)"),
        answer(report("down", false)),
    ])
    .set("deny = []");
    let told = idle(&estate, &[]);
    assert_eq!(told.matches("tier 1 changes nothing").count(), 3, "{told}");
}

/// CO-8: what tier 1 may ask of `systemctl` is judged by its words, and nobody removes everything.
#[test]
fn co_8_what_is_judged_by_its_words_is_judged_whatever_the_lists_say() {
    let estate = Estate::new([
        shell("systemctl daemon-reload"),
        shell("rm -Rf -- /"),
        shell("echo gone > gone; rm -rf \"$PWD/gone\""),
        answer(report("down", false)),
    ])
    .set("deny = []");
    let told = idle(&estate, &[]);
    assert_eq!(told.matches("by `systemctl` it only looks").count(), 1, "{told}");
    assert_eq!(told.matches("it removes what cannot be put back").count(), 1, "{told}");
    assert!(!estate.path("gone").exists());
}

/// CO-93: a loop would be one reservation and many restarts.
#[test]
fn co_93_a_restart_in_a_loop_is_refused() {
    let estate = Estate::new([
        shell("for i in 1 2 3 4 5; do docker restart web; done"),
        answer(report("down", false)),
    ])
    .set("deny = []");
    let told = idle(&estate, &REPAIR);
    assert!(told.contains("in a loop"), "{told}");
    assert!(estate.events().iter().any(|event| event.message.contains("in a loop")));
}

/// CO-12: a session that is ended while it acts leaves an action of which nobody knows what came.
#[test]
fn co_12_an_action_that_was_cut_off_is_unknown_and_work_is_left_behind() {
    let estate = Estate::new([shell("docker restart web; sleep 60")])
        .set("deny = []\nmax_session_time = \"3s\"");
    let said = estate.once(&REPAIR);
    assert_eq!(said.code, 1, "{said:?}");
    let session = estate.sessions().remove(0);
    assert_eq!((session.status.as_str(), session.pending), ("timed_out", true));
    assert_eq!(states(&estate), [ActionState::Unknown]);
}

/// What was done to a service is looked at again, also where the chain did not settle; why it did not is
/// told in the stream.
#[test]
fn a_repair_of_a_session_that_failed_is_verified() {
    let estate = Estate::new([shell("docker restart web")]);
    let said = estate.once(&REPAIR);
    assert_ne!(said.code, 0, "{said:?}");
    assert_eq!(estate.statuses(), [(3, "failed".to_owned())]);
    let schedule = estate.asked(async |ledger| ledger.mark("schedule").await.unwrap().unwrap());
    let schedule: serde_json::Value = serde_json::from_str(&schedule).unwrap();
    assert_eq!(schedule["verifications"][0]["services"], json!(["web"]));
    let lines = said.lines();
    let mut told =
        lines.iter().filter(|line| line["type"] == "event" && line["level"] == "critical");
    assert!(told.next_back().unwrap()["message"].as_str().unwrap().starts_with("tier 3 failed: "));
}

/// CO-90, CO-92, CO-93: two restarts in four hours, and the third is not made.
#[test]
fn the_third_restart_is_refused_and_somebody_is_told() {
    let restart = |n: u32| shell(&format!("echo {n}; docker restart web"));
    let estate = Estate::new([restart(1), restart(2), restart(3), answer(report("down", false))])
        .set(&format!("deny = []\n{TELLING}"))
        .with("stubborn-web", "")
        .break_web();
    let said = estate.once(&REPAIR);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(estate.docker(), ["restart web", "restart web"]);
    let failed = [ActionState::Failure, ActionState::Failure];
    assert_eq!(states(&estate), failed, "failed attempts count");
    let told = last_told(&estate);
    assert!(told.contains("cooldown: no restart of web"), "{told}");
    let notifications = estate.notifications();
    let attention = notifications.iter().find(|it| it.category == "human_attention").unwrap();
    assert_eq!(attention.title, "Needs human attention: web");
    let delivered = delivered(&estate);
    assert!(delivered.contains("Needs human attention: web"), "{delivered}");

    // In another process, later: what was done still counts.
    estate.fake.push(restart(4));
    estate.fake.push(answer(report("down", false)));
    assert_eq!(estate.once(&REPAIR).code, 0);
    assert_eq!(estate.docker().len(), 2);
}

/// CO-78: the highest tier that is allowed leaves an event and a notification, and its own status.
#[test]
fn an_escalation_past_the_highest_tier_is_told_to_people() {
    let estate =
        Estate::new([answer(report("down", true))]).set(&format!("max_tier = 1\n{TELLING}"));
    assert_eq!(estate.once(&[]).code, 0);
    assert_eq!(estate.statuses(), [(1, "completed".to_owned())]);
    let events = estate.events();
    let last = events.last().unwrap();
    assert_eq!((last.level.as_str(), last.origin.as_str()), ("critical", "watch"));
    assert!(last.message.contains("the highest tier allowed is 1"), "{last:?}");
    let told = delivered(&estate);
    assert!(told.contains("Needs human attention: web"), "{told}");
}

/// CO-5: a hook that refuses ends the chain before any record of a session.
#[test]
fn a_hook_may_refuse_a_session() {
    let estate = Estate::new(Vec::new()).set("pre_session = \"echo not today >&2; exit 3\"");
    let said = estate.once(&[]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(estate.sessions(), []);
    let events = estate.events();
    assert!(events[0].message.contains("not today"), "{events:?}");
    assert_eq!(estate.fake.requests().len(), 0);
}

/// What a session asks for reaches every tier, whichever begins.
#[test]
fn a_request_is_told_whichever_tier_begins() {
    for tier in ["1", "2", "3"] {
        let estate = Estate::new([answer(report("healthy", false))]);
        let said = estate.once(&["--tier", tier, "--prompt", "Why is the shop slow?"]);
        assert_eq!(said.code, 0, "{said:?}");
        let asked = estate.fake.requests()[0].body.to_string();
        assert!(asked.contains("Why is the shop slow?"), "{asked}");
        let session = estate.sessions().remove(0);
        assert_eq!((session.tier.to_string(), session.cause.as_str()), (tier.to_owned(), "manual"));
    }
}

/// A failing model leaves a failed session, an event, and an exit code.
#[test]
fn a_session_that_fails_is_on_record() {
    let estate = Estate::new([Turn::status(500).forever()]);
    let said = estate.once(&[]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(estate.statuses(), [(1, "failed".to_owned())]);
    let levels: Vec<_> = estate.events().into_iter().map(|event| event.level).collect();
    assert!(levels.contains(&"critical".to_owned()), "{levels:?}");
}

/// CO-20: an answer that breaks the contract is asked for again, and counts once.
#[test]
fn a_rejected_answer_is_asked_for_again() {
    let mut wrong = report("healthy", false);
    wrong["events"][0]["level"] = json!("warnig");
    let estate = Estate::new([answer(wrong), answer(report("healthy", false))]);
    assert_eq!(estate.once(&[]).code, 0);
    assert_eq!(estate.events().len(), 1);
    assert_eq!(estate.sessions()[0].extraction, "structured");
}
