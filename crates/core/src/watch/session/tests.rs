//! What a session yields, and from where.

use serde_json::json;
use test_case::test_case;

use super::*;
use crate::watch::event::Event;
use crate::watch::handoff::HandoffError;
use crate::watch::level::Level;
use crate::watch::memory::{MemoryClaim, MemoryKey};
use crate::watch::response::{Escalation, KeyedMemory};
use crate::watch::services::ServiceStatus;
use crate::watch::tier::Tier;

fn response(escalation: Escalation) -> AgentResponse {
    AgentResponse {
        summary: "structured".to_owned(),
        events: vec![Event::of_session(Level::Info, None, "structured")],
        memories: vec![KeyedMemory { key: "timing".to_owned(), value: "structured".to_owned() }],
        escalation,
        services_checked: Vec::new(),
    }
}

fn markers() -> Markers {
    Markers::read(["[EVENT:info] marked\n[MEMORY:timing] marked\n[COOLDOWN:restart:a] success - x"])
}

fn handoff() -> HandoffFile {
    let value = json!({
        "schema_version": 1,
        "recommended_tier": 2,
        "services_affected": ["a"],
        "check_results": [{ "service": "a", "status": "down" }],
    });
    HandoffFile::Present { bytes: value.to_string().into_bytes() }
}

fn finished(payload: Payload) -> Finished {
    let ending = SessionEnding::FINE;
    let (markers, handoff) = (markers(), handoff());
    Finished { ending, payload, markers, handoff, cost: None, retold: Retold::Not }
}

fn extract(finished: &Finished, legacy: Legacy) -> Extracted {
    Extracted::of(finished, Tier::Observe, legacy)
}

/// A service whose name nobody can keep costs its check, not the session.
#[test]
fn a_check_of_a_service_with_a_very_long_name_is_told_and_dropped() {
    let check = |bytes: usize| crate::watch::services::ServiceCheck {
        name: "a".repeat(bytes),
        status: ServiceStatus::Down,
        detail: None,
    };
    let services_checked = vec![check(256), check(255)];
    let accepted = AgentResponse { services_checked, ..response(Escalation::NotNeeded) };
    let accepted = Payload::Accepted(Box::new(accepted));
    let extracted = extract(&finished(accepted), Legacy::Read);
    assert_eq!(extracted.checks, [check(255)]);
    let told = extracted.events.last().unwrap();
    assert_eq!(told.level, Level::Warning);
    assert!(told.message.contains("has 256 bytes, over 255: down: aaa"), "{}", told.message);
}

/// CO-21: a structured answer is the only source, whatever else there is.
#[test]
fn co_21_a_structured_answer_is_the_only_source() {
    let accepted = Payload::Accepted(Box::new(response(Escalation::NotNeeded)));
    let extracted = extract(&finished(accepted), Legacy::Read);
    let key = MemoryKey::parse("timing").unwrap();
    let expected = Extracted {
        by: Extraction::Structured,
        summary: Some("structured".to_owned()),
        events: vec![Event::of_session(Level::Info, None, "structured")],
        claims: vec![MemoryClaim { key, observation: "structured".to_owned() }],
        checks: Vec::new(),
        cooldowns: markers().cooldowns,
        ask: Ask::Nothing,
        notes: vec!["2 markers do not count".to_owned(), "a handoff does not count".to_owned()],
    };
    assert_eq!(extracted, expected);
}

/// CO-25: what was done to services is said in markers alone, so text that nobody read is told of beside an
/// answer, too.
#[test]
fn co_25_text_that_nobody_read_is_told_of_beside_an_answer() {
    let mut finished = finished(Payload::Accepted(Box::new(response(Escalation::NotNeeded))));
    let more = "x".repeat(crate::watch::MARKER_TEXT_LIMIT_BYTES);
    finished.markers = Markers::read(["[EVENT:info] marked", &more]);
    let extracted = extract(&finished, Legacy::Read);
    let told: Vec<&str> = extracted.events.iter().map(|event| event.message.as_str()).collect();
    let why =
        "the session said more than is read: from line 1 of text 2 on, nobody looked for markers";
    assert_eq!(told, ["structured", why]);
}

/// CO-22: without one, markers and handoff are read, and the log says so.
#[test]
fn co_22_without_an_answer_markers_and_handoff_are_read() {
    let extracted = extract(&finished(Payload::Absent), Legacy::Read);
    assert_eq!(extracted.by, Extraction::Markers);
    assert_eq!(extracted.events, markers().events);
    assert_eq!(extracted.claims, markers().memories);
    assert!(matches!(extracted.ask, Ask::Handoff(_)));
    assert_eq!(extracted.checks[0].status, ServiceStatus::Down);
    assert_eq!(extracted.notes, ["tier 1 gave no structured answer"]);
}

/// CO-23: an answer that the contract does not accept is told, and the fallback applies.
#[test]
fn co_23_a_rejected_answer_is_told_and_falls_back() {
    let rejected = Payload::Rejected("`/summary` is required".to_owned());
    let extracted = extract(&finished(rejected), Legacy::Read);
    let why = "the structured answer of tier 1 does not count: `/summary` is required";
    let mut events = markers().events;
    events.push(Event::of_watch(Level::Warning, why));
    assert_eq!((extracted.by, extracted.events), (Extraction::Markers, events));
}

/// CO-29: with the fallback off, nothing of it is read, and what is lost is told.
#[test]
fn co_29_with_the_fallback_off_nothing_else_is_read() {
    let extracted = extract(&finished(Payload::Absent), Legacy::Ignored);
    let why = "tier 1 ended without an answer: what it found is not known";
    assert_eq!(extracted.by, Extraction::None);
    assert_eq!(extracted.events, [Event::of_watch(Level::Warning, why)]);
    assert_eq!((extracted.claims, extracted.ask), (Vec::new(), Ask::Nothing));
    assert_eq!(extracted.notes[0], "2 markers do not count");
}

/// CO-50: a memory with an unknown category is refused with a warning, not with the answer.
#[test]
fn co_50_a_memory_of_an_unknown_category_costs_only_itself() {
    let mut response = response(Escalation::NotNeeded);
    response.memories.push(KeyedMemory { key: "a:trivia".to_owned(), value: "v".to_owned() });
    let extracted = extract(&finished(Payload::Accepted(Box::new(response))), Legacy::Read);
    assert_eq!(extracted.claims.len(), 1);
    let told = extracted.events.last().unwrap();
    assert_eq!(told.level, Level::Warning);
    assert!(told.message.starts_with("a memory is not kept: \"trivia\" is no category"));
}

/// CO-25: slips of cooldown markers are told even beside a structured answer, others are not.
#[test]
fn co_25_only_cooldowns_are_read_beside_an_answer() {
    let accepted = Payload::Accepted(Box::new(response(Escalation::NotNeeded)));
    let markers = Markers::read(["[EVENT:info]\n[COOLDOWN:restart:a] worked"]);
    let finished = Finished { markers, ..finished(accepted) };
    let extracted = extract(&finished, Legacy::Read);
    assert_eq!(extracted.events.len(), 2);
    assert!(extracted.events[1].message.ends_with("[COOLDOWN:restart:a] worked"));
}

/// S2: a handoff that was there before the session is not of it.
#[test_case(HandoffFile::Stale => true; "before")]
#[test_case(handoff() => false; "of the session")]
fn a_handoff_from_before_the_session_is_stale(handoff: HandoffFile) -> bool {
    let finished = Finished { handoff, ..finished(Payload::Absent) };
    extract(&finished, Legacy::Read).ask == Ask::Invalid(HandoffError::Stale)
}

/// CO-12: how a session ended; that it calls itself an error is believed, which the original did not.
#[test_case(SessionEnding::FINE => SessionStatus::Completed)]
#[test_case(SessionEnding::Exited { code: 0, claim: ExitClaim::Error } => SessionStatus::Failed; "an error with exit 0")]
#[test_case(SessionEnding::Exited { code: 3, claim: ExitClaim::Fine } => SessionStatus::Failed)]
#[test_case(SessionEnding::Stopped => SessionStatus::Stopped)]
#[test_case(SessionEnding::TimedOut => SessionStatus::TimedOut)]
#[test_case(SessionEnding::Lost => SessionStatus::Failed)]
fn co_12_an_ending_is_a_status(ending: SessionEnding) -> SessionStatus {
    ending.status()
}

/// CO-12: statuses have these names.
#[test]
fn co_12_statuses_have_their_names() {
    let names = ["running", "completed", "failed", "stopped", "timed_out", "escalated"];
    assert_eq!(SessionStatus::ALL.map(SessionStatus::name), names);
    for status in SessionStatus::ALL {
        assert_eq!(SessionStatus::named(status.name()), Some(status));
        assert_eq!(json!(status), status.name());
    }
    for extraction in Extraction::ALL {
        assert_eq!(Extraction::named(extraction.name()), Some(extraction));
    }
}

/// CO-13: the result, else what was said last that is not empty, else the summary.
#[test_case(Some("r"), &["s"], Some("t") => Some("r".to_owned()))]
#[test_case(Some(" "), &["s"], Some("t") => Some("s".to_owned()))]
#[test_case(None, &["s", "", " \n"], Some("t") => Some("s".to_owned()); "asked again, it said nothing")]
#[test_case(None, &[""], Some("t") => Some("t".to_owned()))]
#[test_case(None, &[], None => None)]
fn co_13_a_response_is_never_empty_if_anything_was_said(
    result: Option<&str>,
    said: &[&str],
    summary: Option<&str>,
) -> Option<String> {
    let said: Vec<String> = said.iter().map(|text| (*text).to_owned()).collect();
    response_text(result, &said, summary).map(str::to_owned)
}

/// CO-15: a summary by somebody else counts where there is no other, and that there is none changes nothing.
#[test]
fn co_15_a_summary_by_somebody_else_counts_where_there_is_no_other() {
    let extracted = |payload, retold| {
        let finished = Finished { retold, ..finished(payload) };
        extract(&finished, Legacy::Read)
    };
    let briefly = || Retold::Briefly("briefly".to_owned());
    let accepted = Payload::Accepted(Box::new(response(Escalation::NotNeeded)));
    let own = extracted(accepted, briefly());
    assert_eq!(own.summary.as_deref(), Some("structured"));
    let other = extracted(Payload::Absent, briefly());
    assert_eq!(other.summary.as_deref(), Some("briefly"));
    let none = extracted(Payload::Absent, Retold::Failed("nobody answers".to_owned()));
    assert_eq!((none.by, none.summary.as_deref()), (other.by, None));
    let words = "what tier 1 said has no summary: nobody answers";
    let told: Vec<_> = none.events.iter().filter(|it| it.message == words).collect();
    assert_eq!(told, [&Event::of_watch(Level::Warning, words.to_owned())]);
}

/// What is compared with what is on record is masked as that is, wherever it was said; words of the format
/// are not.
#[test]
fn names_and_observations_are_compared_as_they_are_kept() {
    let redactor = crate::redact::Redactor::new(["jellyfin", "degraded"]);
    let said = "[EVENT:info:jellyfin] m\n[MEMORY:timing:jellyfin] jellyfin is slow\n\
                [COOLDOWN:restart:jellyfin] success - x";
    let value = json!({
        "schema_version": 1,
        "recommended_tier": 2,
        "services_affected": ["jellyfin"],
        "check_results": [{ "service": "jellyfin", "status": "degraded" }],
    });
    let handoff = HandoffFile::Present { bytes: value.to_string().into_bytes() };
    let markers = Markers::read([said]);
    let finished = Finished { markers, handoff, ..finished(Payload::Absent) };
    let mut extracted = extract(&finished, Legacy::Read);
    extracted.mask(&redactor);
    let names = [
        extracted.events[0].service.as_deref(),
        extracted.claims[0].key.service.as_deref(),
        Some(extracted.cooldowns[0].service.as_str()),
        Some(extracted.checks[0].name.as_str()),
    ];
    assert_eq!(names, [Some("[masked]"); 4]);
    assert_eq!(extracted.claims[0].observation, "[masked] is slow");
    assert_eq!(extracted.checks[0].status, ServiceStatus::Degraded);
    let Ask::Handoff(handoff) = extracted.ask else { panic!("{:?}", extracted.ask) };
    assert_eq!(handoff.services_affected, ["[masked]"]);
}
