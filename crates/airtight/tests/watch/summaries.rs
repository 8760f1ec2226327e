//! Summaries by a small model, of sessions that gave none.

use crate::estate::{Estate, KEY, answer, report};
use airtight_fake::Turn;

/// Who makes summaries.
const SMALL: &str = "summary_model = \"anthropic:small\"";

/// What a session says that answers by markers alone.
fn marked() -> Turn {
    let said = format!("I looked with {KEY}.\n\n[EVENT:warning:web] slow");
    Turn::text(said).when_model("fake").forever()
}

/// Returns status, extraction and summary of the only session.
fn told(estate: &Estate) -> (String, String, Option<String>) {
    let session = estate.sessions().remove(0);
    (session.status, session.extraction, session.summary)
}

/// Returns what the small model was asked.
fn asked_of_small(estate: &Estate) -> Vec<serde_json::Value> {
    let bodies = estate.fake.requests().into_iter().map(|request| request.body);
    bodies.filter(|body| body["model"] == "small").collect()
}

/// CO-15: what a session said that has no summary is put in a few sentences, by a run of its own.
#[test]
fn co_15_what_a_session_said_is_put_in_a_few_sentences() {
    let brief = r#"{"summary":"web is slow. Nothing was done."}"#;
    let estate = Estate::new([Turn::text(brief).when_model("small"), marked()]).set(SMALL);
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let summary = "web is slow. Nothing was done.";
    let expected = ("completed".to_owned(), "markers".to_owned(), Some(summary.to_owned()));
    assert_eq!(told(&estate), expected);
    let lines = said.lines();
    let ended = lines.iter().find(|line| line["type"] == "session_ended").unwrap();
    assert_eq!(ended["summary"], summary);
    let asked = asked_of_small(&estate);
    assert_eq!((asked.len(), &asked[0]["max_tokens"]), (1, &serde_json::json!(300)));
    let words = asked[0].to_string();
    assert!(words.contains("[EVENT:warning:web] slow") && !words.contains(KEY), "{words}");
    let run = estate.asked(async |ledger| ledger.run("2").await.unwrap());
    assert_eq!(run.summary.contract, "session-summary");
    assert_eq!(run.summary.outcome.as_deref(), Some("met"));
}

/// CO-15: a model that fails leaves no summary and an event, and the session is what it was.
#[test]
fn co_15_a_summary_that_fails_changes_nothing_else() {
    let estate = Estate::new([Turn::status(500).when_model("small").forever(), marked()]);
    let estate = estate.set(SMALL);
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(told(&estate), ("completed".to_owned(), "markers".to_owned(), None));
    let events = estate.events();
    let event = events.iter().find(|it| it.message.contains("has no summary")).unwrap();
    assert_eq!((event.level.as_str(), event.origin.as_str()), ("warning", "watch"));
}

/// CO-15: nobody is asked where a session says it itself, or where nobody is set.
#[test]
fn co_15_nobody_is_asked_for_what_is_there_or_not_wanted() {
    let estate = Estate::new([answer(report("healthy", false))]).set(SMALL);
    assert_eq!(estate.once(&[]).code, 0);
    assert_eq!(told(&estate).2.as_deref(), Some("web is healthy"));
    assert_eq!(asked_of_small(&estate).len(), 0);
    let estate = Estate::new([marked()]);
    assert_eq!(estate.once(&[]).code, 0);
    assert_eq!(told(&estate).2, None);
}

/// CO-15: who cannot be asked is found out at the start, and not in the first session.
#[test]
fn co_15_a_model_that_nobody_knows_is_refused_at_the_start() {
    let estate = Estate::new(Vec::new()).set("summary_model = \"nobody:small\"");
    let said = estate.once(&[]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("summary_model"), "{said:?}");
    assert_eq!(estate.fake.requests().len(), 0);
}
