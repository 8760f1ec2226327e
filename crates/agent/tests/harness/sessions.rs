//! What a program that is asked again goes on with, and what it leaves beside its stream.

use airtight_core::run::{Claim, Ending, Outcome};
use airtight_core::transcript::Program;
use airtight_fake::{Deed, Matter};
use test_case::test_case;

use crate::scene::{COMMAND, INIT, Scene, result, say, success, value};

#[tokio::test]
async fn a_success_that_breaks_the_contract_is_told_apart_and_asked_again() {
    let deeds = [
        Deed::Note { what: Matter::Arguments, path: "arguments".into() },
        Deed::Note { what: Matter::Input, path: "input".into() },
        say(INIT),
        say(&success(r#"{"answer":"forty-two"}"#)),
    ];
    let scene = Scene::new(&deeds);
    let (report, seen) = scene.run().await;
    assert_eq!(report.outcome, Outcome::AttemptsExhausted);
    let attempts: Vec<_> = report.attempts.iter().map(|it| (it.ending.clone(), it.claim)).collect();
    assert_eq!(attempts, vec![(Ending::Rejected, Claim::Success); 2]);
    // The second call goes on with the session of the first, and says what is wrong.
    let arguments = std::fs::read_to_string(scene.path("arguments")).unwrap();
    assert!(arguments.contains("--resume\ns1"), "{arguments}");
    let input = std::fs::read_to_string(scene.path("input")).unwrap();
    assert!(input.contains("/answer") && input.contains("`StructuredOutput`"), "{input}");
    assert_eq!(seen.records.len(), 2);
    // Claude counts the cost of a session, so the second call cost nothing more.
    assert_eq!(report.cost.map(airtight_core::price::Cost::usd), Some(0.25));
}

/// What it did is not ours to undo, and nobody else knows of it.
#[tokio::test]
async fn work_that_ended_in_silence_is_not_done_again() {
    let nameless = |line: &str| say(&line.replace(r#""session_id":"s1","#, ""));
    let silence =
        result(r#""subtype":"success","is_error":false,"stop_reason":"end_turn","result":"""#);
    let deeds = [nameless(INIT), nameless(COMMAND[0]), nameless(COMMAND[1]), nameless(&silence)];
    let (report, _) = Scene::new(&deeds).run().await;
    let message = report.error.unwrap().message;
    assert!(message.contains("named no session to go on with"), "{message}");
}

/// As above, with an answer that breaks the contract.
#[test_case("Bash" => 1; "after work")]
#[test_case("StructuredOutput" => 2; "after answers alone")]
#[tokio::test]
async fn work_in_a_session_without_a_name_is_not_done_again(tool: &str) -> usize {
    let nameless = |line: &str| say(&line.replace(r#""session_id":"s1","#, ""));
    let deeds = [
        nameless(INIT),
        nameless(&COMMAND[0].replace("Bash", tool)),
        nameless(COMMAND[1]),
        nameless(&success(r#"{"answer":"forty-two"}"#)),
    ];
    let (report, _) = Scene::new(&deeds).run().await;
    assert_eq!(report.outcome, Outcome::AttemptsExhausted);
    let message = report.error.unwrap().message;
    assert_eq!(message.contains("named no session to go on with"), tool == "Bash", "{message}");
    report.attempts.len()
}

#[tokio::test]
async fn a_session_in_which_only_tools_were_called_goes_on() {
    let deeds = [
        Deed::Note { what: Matter::Arguments, path: "arguments".into() },
        say(INIT),
        say(COMMAND[0]),
        say(COMMAND[1]),
        say(&result(
            r#""subtype":"success","is_error":false,"stop_reason":"end_turn","result":"""#,
        )),
    ];
    let scene = Scene::new(&deeds);
    scene.run().await;
    let arguments = std::fs::read_to_string(scene.path("arguments")).unwrap();
    assert!(arguments.contains("--resume\ns1"), "{arguments}");
}

/// CX-6: codex leaves its last message in a file, too.
fn left(turn: &str, said: Option<&str>, text: &str) -> Vec<Deed> {
    let message = said.map(|text| {
        let text = serde_json::to_string(text).unwrap();
        say(&format!(
            r#"{{"type":"item.completed","item":{{"id":"i","type":"agent_message","text":{text}}}}}"#
        ))
    });
    let before = [r#"{"type":"thread.started","thread_id":"s1"}"#, r#"{"type":"turn.started"}"#];
    let leave = Deed::Leave { flag: "--output-last-message".to_owned(), text: text.to_owned() };
    before.map(say).into_iter().chain(message).chain([leave, say(turn)]).collect()
}

const COMPLETED: &str = r#"{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":5}}"#;

#[tokio::test]
async fn cx_6_a_message_that_only_the_file_has_is_the_answer() {
    let deeds = left(COMPLETED, None, r#"{"answer":42}"#);
    let (report, seen) = Scene::of(Program::Codex, &deeds).run().await;
    assert_eq!(value(&report).as_deref(), Some(r#"{"answer":42}"#), "{report:?}");
    let warnings = &seen.records[0].warnings;
    assert!(warnings.iter().any(|it| it.starts_with("last-message-empty:")), "{warnings:?}");
}

#[tokio::test]
async fn cx_6_a_message_in_the_stream_counts_before_the_file() {
    let deeds = left(COMPLETED, Some(r#"{"answer":1}"#), r#"{"answer":42}"#);
    let (report, seen) = Scene::of(Program::Codex, &deeds).run().await;
    assert_eq!(value(&report).as_deref(), Some(r#"{"answer":1}"#), "{report:?}");
    assert_eq!(seen.records[0].warnings, [""; 0]);
}

#[tokio::test]
async fn cx_6_the_file_of_a_turn_that_failed_is_no_answer() {
    let failed = r#"{"type":"turn.failed","error":{"message":"stream disconnected"}}"#;
    let deeds = left(failed, None, r#"{"answer":42}"#);
    let (report, _) = Scene::of(Program::Codex, &deeds).run().await;
    assert_eq!((report.outcome, value(&report)), (Outcome::Provider, None), "{report:?}");
}

/// Files that were changed are work, too, although codex tells of no call.
#[tokio::test]
async fn work_of_codex_without_a_call_is_not_done_again() {
    let change = r#"{"type":"item.completed","item":{"id":"i","type":"file_change","changes":[]}}"#;
    let deeds = [say(r#"{"type":"turn.started"}"#), say(change), say(COMPLETED)];
    let (report, _) = Scene::of(Program::Codex, &deeds).run().await;
    let message = report.error.unwrap().message;
    assert!(message.contains("named no session to go on with"), "{message}");
}

#[tokio::test]
async fn what_was_said_in_an_earlier_turn_of_codex_is_no_answer() {
    let mut deeds = left(COMPLETED, Some(r#"{"answer":1}"#), "");
    deeds.extend([say(r#"{"type":"turn.started"}"#), say(COMPLETED)]);
    let (report, _) = Scene::of(Program::Codex, &deeds).run().await;
    assert_eq!((report.outcome, value(&report)), (Outcome::NoAnswer, None), "{report:?}");
}
