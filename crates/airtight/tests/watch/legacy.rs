//! Older prompts: markers in text and the handoff file, read where there is no structured answer.

use crate::estate::{Estate, answer, report, shell};
use airtight_fake::Turn;
use serde_json::json;

const MARKERS: &str = "I looked.\n\n[EVENT:warnig:web] slow\n[MEMORY:timing:web] starts in 30 s\n\
     ```\n[EVENT:critical] in a fence\n```\n";

/// CO-22, CO-25, CO-27, CO-42: without a structured answer markers are read, each once.
#[test]
fn markers_are_read_where_there_is_no_structured_answer() {
    let estate = Estate::new([Turn::text(MARKERS).forever()]);
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let session = estate.sessions().remove(0);
    assert_eq!((session.status.as_str(), session.extraction.as_str()), ("completed", "markers"));
    let events = estate.events();
    let marked: Vec<_> = events.iter().filter(|event| event.origin == "markers").collect();
    assert_eq!(marked.len(), 1, "{events:?}");
    assert_eq!(
        (marked[0].level.as_str(), marked[0].said_level.as_deref()),
        ("warning", Some("warnig"))
    );
    assert_eq!((marked[0].service.as_deref(), marked[0].message.as_str()), (Some("web"), "slow"));
}

/// CO-24: what is said is in the log at once; what a session yields is read once, when its stream has ended.
#[test]
fn co_24_a_stream_is_logged_at_once_and_read_once_at_its_end() {
    let marked = "[EVENT:warning:web] slow";
    let first = Turn::text(marked).then_call("run_shell_command", json!({ "command": "true" }));
    let estate = Estate::new([
        first,
        Turn::text("Done.").gate(0, "asked again"),
        Turn::text("Done.").forever(),
    ]);
    let watch = estate.start(&["--once"]);
    crate::estate::block_on(async { estate.fake.gate("asked again").reached().await });
    let session = estate.sessions().remove(0);
    let log = std::fs::read_to_string(session.log.unwrap()).unwrap();
    assert!(log.contains(marked), "it goes on, and what was said is there: {log}");
    assert!(estate.events().is_empty(), "nothing is read before its end");
    estate.fake.gate("asked again").open();
    let said: crate::estate::Said = watch.wait_with_output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let told = said.lines().into_iter().filter(|line| line["message"] == "slow").count();
    let kept = estate.events().into_iter().filter(|event| event.message == "slow").count();
    assert_eq!((told, kept), (1, 1), "{said:?}");
}

/// CO-21: a structured answer is the only source.
#[test]
fn markers_beside_a_structured_answer_do_not_count() {
    let both = Turn::text(MARKERS).then_call("structured_output", report("healthy", false));
    let estate = Estate::new([both]);
    assert_eq!(estate.once(&[]).code, 0);
    let messages: Vec<_> = estate.events().into_iter().map(|event| event.message).collect();
    assert_eq!(messages, ["web is healthy"]);
    assert_eq!(estate.sessions()[0].extraction, "structured");
}

/// CO-29: the fallback can be switched off.
#[test]
fn markers_do_not_count_where_they_are_switched_off() {
    let estate = Estate::new([Turn::text(MARKERS).forever()]).set("legacy = false");
    let said = estate.once(&[]);
    assert_eq!(said.code, 1, "{said:?}");
    let session = estate.sessions().remove(0);
    assert_eq!((session.status.as_str(), session.extraction.as_str()), ("failed", "none"));
    assert!(estate.events().iter().all(|event| event.origin == "watch"));
}

/// CO-26, CO-75, CO-76: a handoff escalates, in a mixed fleet, and is deleted once it is read.
#[test]
fn a_handoff_escalates_and_is_deleted() {
    let handoff = json!({
        "schema_version": 1,
        "recommended_tier": 2,
        "services_affected": ["web"],
        "check_results": [
            { "service": "web", "check_type": "http", "status": "down", "error": "503" }
        ],
    });
    let write = Turn::call(
        "run_shell_command",
        json!({ "command": format!("cat > handoff.json <<'END'\n{handoff}\nEND") }),
    );
    let prose = || Turn::text("I looked, and left a handoff.");
    let estate = Estate::new([write, prose(), prose(), prose(), answer(report("healthy", false))])
        .set("handoff = \"handoff.json\"");
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let told: Vec<_> =
        estate.sessions().into_iter().map(|it| (it.tier, it.status, it.extraction)).collect();
    let expected = [(1, "escalated", "markers"), (2, "completed", "structured")];
    assert_eq!(told, expected.map(|(tier, status, by)| (tier, status.to_owned(), by.to_owned())));
    assert!(!estate.path("handoff.json").exists());
}

/// CO-76: one that was there before is not acted on.
#[test]
fn a_handoff_of_an_earlier_chain_is_deleted_unread() {
    let stale = r#"{"schema_version":1,"recommended_tier":2,"services_affected":["web"]}"#;
    let estate = Estate::new([shell("ls"), answer(report("healthy", false))])
        .set("handoff = \"handoff.json\"")
        .with("handoff.json", stale);
    assert_eq!(estate.once(&[]).code, 0);
    assert_eq!(estate.statuses(), [(1, "completed".to_owned())]);
    assert!(!estate.path("handoff.json").exists());
}

/// CO-12, CO-22: a session that only chats has told nobody anything, however well it ended.
#[test]
fn a_session_that_leaves_nothing_has_failed() {
    let estate = Estate::new([Turn::text("I looked.").forever()]);
    let said = estate.once(&[]);
    assert_eq!(said.code, 1, "{said:?}");
    let session = estate.sessions().remove(0);
    assert_eq!((session.status.as_str(), session.extraction.as_str()), ("failed", "none"));
    let events = estate.events();
    assert!(events.iter().any(|it| it.message.contains("ended without an answer")), "{events:?}");
}
