//! What streams and ends of programs come to.

use std::ops::ControlFlow;
use std::path::Path;

use airtight_core::Advice;
use airtight_core::codec::Stop;
use airtight_core::message::{Block, ToolChoice};
use airtight_core::run::Claim;
use airtight_core::transcript::{Event, System};
use test_case::test_case;

use super::child::{Deadline, Ended, How, StartError};
use super::*;
use crate::provider::Heard;

/// A request of nothing.
pub(super) fn request() -> Request {
    Request {
        model: String::new(),
        system: None,
        messages: Vec::new(),
        tools: Vec::new(),
        choice: ToolChoice::Auto,
        format: None,
        examples: Vec::new(),
        max_output_tokens: None,
        temperature: None,
        max_cost: None,
    }
}

/// A program that is nobody's, in a folder that is nobody's.
pub(super) fn setup(program: Program) -> Setup {
    let path = PathBuf::from("/bin/sh");
    let installed = Installed {
        path: path.clone(),
        version: Some("1.2.3".to_owned()),
        launched: path,
        leading: Vec::new(),
    };
    Setup {
        program,
        installed,
        folder: PathBuf::from("/"),
        project: Project::Plain,
        environment: Vec::new(),
        model: Some("model-1".to_owned()),
        approval: ApprovalMode::Default,
        max_turns: None,
        reasks: 2,
        arguments: Vec::new(),
        hooks: Vec::new(),
        guard: None,
        deadlines: Deadlines::default(),
    }
}

fn harness(program: Program) -> Harness {
    Harness::new(setup(program))
}

fn ended(how: How, exit_code: i32) -> Ended {
    Ended {
        how,
        exit_code: Some(exit_code),
        stderr: "words".to_owned(),
        stdout_bytes: 0,
        elapsed: Duration::from_secs(2),
        warnings: Vec::new(),
    }
}

/// Has a program say what a fixture says, and end.
fn exchange(program: Program, fixture: &str, how: How, exit_code: i32) -> Exchange {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/transcripts");
    let stream = match fixture {
        "" => Vec::new(),
        _ => std::fs::read(folder.join(program.name()).join(format!("{fixture}.ndjson"))).unwrap(),
    };
    concluded(program, &stream, &ended(how, exit_code))
}

/// Has a program say this, and end.
fn concluded(program: Program, stream: &[u8], ended: &Ended) -> Exchange {
    let mut listen = |_: Heard<'_>| ControlFlow::Continue(());
    let mut hearing = Hearing::new(program, true, &mut listen);
    hearing.hear(stream);
    let (record, reason, calls) = hearing.finish(ended);
    harness(program).conclude(record, ended, (&reason, calls), None)
}

/// Says in one line what an exchange comes to.
fn told(exchange: &Exchange) -> String {
    let said = exchange.reply.blocks.iter().find_map(|block| match block {
        Block::Call(call) => Some(format!("call {}", call.arguments)),
        Block::Text(text) => Some(format!("text {text}")),
        Block::Thinking(_) | Block::Opaque(_) | Block::Session(_) | Block::Result(_) => None,
    });
    let end = match &exchange.end {
        End::Whole => "whole".to_owned(),
        End::Stopped => "stopped".to_owned(),
        End::Failed(failure) => format!("{:?}", failure.kind),
    };
    format!("{end}: {}", said.unwrap_or_default())
}

use Program::{Claude, Codex, Gemini, Opencode, Qwen};

#[test_case(Claude, "structured", 0; "a payload")]
#[test_case(Claude, "structured", 1; "a payload and a bad exit")]
#[test_case(Claude, "lost_result", 0; "a payload whose result line was lost")]
#[test_case(Claude, "no_payload", 0; "success without a payload")]
#[test_case(Claude, "exhausted", 1; "rejected until it gave up")]
#[test_case(Claude, "invalid_key", 1; "a bad key")]
#[test_case(Claude, "rate_limit", 1; "a rate limit")]
#[test_case(Claude, "abandoned", 143; "killed by somebody")]
#[test_case(Codex, "answer", 0; "an answer of codex")]
#[test_case(Codex, "prose", 0; "prose of codex")]
#[test_case(Codex, "failed", 1; "a failed turn")]
#[test_case(Codex, "interrupted", 1; "an interrupted turn")]
#[test_case(Qwen, "number_as_string", 0; "a number as a string")]
#[test_case(Qwen, "plain_text", 1; "prose of qwen")]
#[test_case(Qwen, "", 53; "no turn left")]
#[test_case(Qwen, "", 55; "no time left")]
#[test_case(Qwen, "", 52; "a refused schema")]
#[test_case(Gemini, "truncated", 0; "a cut answer")]
#[test_case(Gemini, "cut_and_retried", 0; "two answers in one")]
#[test_case(Gemini, "invalid_key", 145; "a bad key of gemini")]
#[test_case(Gemini, "", 41; "no key of gemini")]
#[test_case(Opencode, "answer", 0; "an answer of opencode")]
#[test_case(Opencode, "length", 0; "an answer of opencode that was cut")]
fn what_a_program_says_decides(program: Program, fixture: &str, exit_code: i32) {
    let exchange = exchange(program, fixture, How::Exited, exit_code);
    let name = format!("{}_{fixture}_{exit_code}", program.name());
    insta::assert_snapshot!(name, told(&exchange));
}

#[test]
fn success_is_a_claim_of_the_program_and_no_more() {
    let lie = exchange(Qwen, "number_as_string", How::Exited, 0);
    assert_eq!((lie.end, lie.reply.claim), (End::Whole, Claim::Success));
    let prose = exchange(Qwen, "plain_text", How::Exited, 1);
    assert_eq!(prose.reply.claim, Claim::None);
}

#[test]
fn nobody_says_that_a_cut_answer_of_gemini_is_whole() {
    let cut = exchange(Gemini, "truncated", How::Exited, 0);
    assert!(matches!(cut.reply.stop, Some(Stop::Other(_))), "{:?}", cut.reply.stop);
    let cut = exchange(Opencode, "length", How::Exited, 0);
    assert_eq!(cut.reply.stop, Some(Stop::MaxTokens));
}

#[test_case(How::TimedOut(Deadline::FirstLine) => "codex: it said nothing for 120 s")]
#[test_case(How::TimedOut(Deadline::Idle) => "codex: it fell silent for 720 s")]
#[test_case(How::TimedOut(Deadline::Total) => "codex: it took longer than 3600 s")]
#[test_case(How::TooMuch => "codex: it wrote more than is read")]
fn a_program_that_was_ended_says_why(how: How) -> String {
    let exchange = exchange(Codex, "interrupted", how, -15);
    let End::Failed(failure) = exchange.end else { panic!("{:?}", exchange.end) };
    assert_eq!(failure.kind, FailureKind::Program);
    failure.message
}

#[test]
fn a_program_that_said_it_is_done_may_be_slow_to_exit() {
    let forced = exchange(Claude, "structured", How::ExitForced, -15);
    assert_eq!(forced.end, End::Whole);
    let record = forced.record.unwrap();
    assert!(record.warnings.iter().any(|it| it.starts_with("exit-forced")), "{record:?}");
}

#[test]
fn every_end_fills_in_duration_version_and_warnings() {
    for how in [How::Exited, How::TimedOut(Deadline::Idle), How::TooMuch, How::Cancelled] {
        let record = exchange(Codex, "interrupted", how, 1).record.unwrap();
        assert_eq!(record.duration_seconds, Some(2.0));
        assert_eq!(record.program_version.as_deref(), Some("1.2.3"));
        assert_eq!(record.model.as_deref(), Some("model-1"));
        assert!(record.warnings.iter().any(|it| it == "stderr: words"), "{record:?}");
    }
    let missing = StartError::Missing("nowhere/codex".into());
    let took = Duration::from_secs(2);
    let record = harness(Codex).not_started(FailureKind::Program, &missing, took).record.unwrap();
    assert_eq!((record.kind, record.program), ("record", Some(Codex)));
    assert_eq!(record.duration_seconds, Some(2.0));
    assert_eq!(record.program_version.as_deref(), Some("1.2.3"));
    assert_eq!(record.model.as_deref(), Some("model-1"));
    assert_eq!(record.error_category, Some(Category::Subprocess));
    let error = record.error.as_deref();
    assert!(error.is_some_and(|it| it.starts_with("there is no program `nowhere/codex`")));
}

#[test_case(How::TimedOut(Deadline::Idle) => (Some(Category::Timeout), Some("it fell silent for 720 s".to_owned())); "silence")]
#[test_case(How::TooMuch => (Some(Category::Subprocess), Some("it wrote more than is read".to_owned())); "too much")]
#[test_case(How::Exited => (Some(Category::Subprocess), Some("it exited with 1 before it said that it is done: words".to_owned())); "an exit without a word")]
#[test_case(How::Cancelled => (None, None); "it was we who stopped it")]
fn cl_8_cl_9_a_record_says_what_went_wrong(how: How) -> (Option<Category>, Option<String>) {
    let record = exchange(Codex, "interrupted", how, 1).record.unwrap();
    (record.error_category, record.error.clone())
}

#[test]
fn cl_9_a_deadline_counts_before_what_is_said_at_the_end() {
    let exchange = exchange(Claude, "invalid_key", How::TimedOut(Deadline::Idle), 143);
    let End::Failed(failure) = &exchange.end else { panic!("{:?}", exchange.end) };
    assert_eq!((failure.kind, failure.code.as_deref()), (FailureKind::Program, Some("timeout")));
    let record = exchange.record.unwrap();
    assert_eq!(record.error_category, Some(Category::Timeout));
    assert!(record.warnings.iter().any(|it| it.starts_with("error: ")), "{record:?}");
}

#[test_case(How::TimedOut(Deadline::Idle) => Some(Category::Timeout); "silence")]
#[test_case(How::TooMuch => None; "too much")]
fn an_accepted_answer_counts_although_the_program_hangs(how: How) -> Option<Category> {
    let exchange = exchange(Claude, "lost_result", how, -15);
    assert!(told(&exchange).starts_with("whole: call "), "{}", told(&exchange));
    let record = exchange.record.unwrap();
    assert_eq!(record.error, None);
    record.error_category
}

const ANSWERED: &str =
    r#"{"type":"result","subtype":"success","is_error":false,"structured_output":{"n":1}}"#;
const ABORTED: &str =
    r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["aborted"]}"#;
const BOTH: &str = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["aborted"],"structured_output":{"n":1}}"#;

#[test_case(&[ANSWERED, ABORTED], How::TimedOut(Deadline::Idle) => r#"whole: call {"n":1}"#; "an error behind the answer, after silence")]
#[test_case(&[ANSWERED, ABORTED], How::TimedOut(Deadline::Total) => r#"whole: call {"n":1}"#; "an error behind the answer, after all time")]
#[test_case(&[BOTH], How::TimedOut(Deadline::Idle) => r#"whole: call {"n":1}"#; "an error with the answer")]
#[test_case(&[ABORTED], How::TimedOut(Deadline::Idle) => "Program: "; "no answer at all")]
#[test_case(&[ANSWERED, ABORTED], How::Exited => r#"Request: call {"n":1}"#; "an error that nobody caused")]
fn an_error_after_the_deadline_takes_no_answer_back(lines: &[&str], how: How) -> String {
    let stream = format!("{}\n", lines.join("\n"));
    told(&concluded(Claude, stream.as_bytes(), &ended(how, 143)))
}

#[tokio::test]
async fn who_waits_for_others_to_end_says_so() {
    let seats: Vec<_> = std::iter::from_fn(child::free_seat).collect();
    let mut warnings = 0;
    let mut listen = |heard: Heard<'_>| {
        if let Heard::Activity(event) = heard
            && matches!(*event, Event::System(System::Warning(_)))
        {
            warnings += 1;
        }
        ControlFlow::Continue(())
    };
    let stop = tokio::task::yield_now();
    let exchange = harness(Claude).exchange(&request(), &mut listen, stop).await;
    assert_eq!((exchange.end, warnings), (End::Stopped, 1));
    drop(seats);
}

#[test]
fn a_session_without_the_tool_is_ended_at_once() {
    let line = br#"{"type":"system","subtype":"init","session_id":"s","tools":["Bash"]}"#;
    let mut listen = |_: Heard<'_>| ControlFlow::Continue(());
    let mut hearing = Hearing::new(Claude, true, &mut listen);
    hearing.hear(&[line.as_slice(), b"\n"].concat());
    assert!(hearing.enough.is_cancelled());
    let ended = ended(How::Cancelled, -15);
    let (record, reason, calls) = hearing.finish(&ended);
    let exchange = harness(Claude).conclude(record, &ended, (&reason, calls), None);
    let End::Failed(failure) = exchange.end else { panic!("{:?}", exchange.end) };
    assert_eq!(failure.kind, FailureKind::Program);
}

const RECONNECTING: &str = r#"{"type":"error","message":"Reconnecting... 1/5 (timeout)"}"#;
const COMMAND: &str = r#"{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"ls","status":"completed"}}"#;
const NO_REASON: &str =
    r#"{"type":"step_finish","sessionID":"s","part":{"reason":"unknown","tokens":{}}}"#;
const REPEATED: &str =
    r#"{"type":"text","sessionID":"s","part":{"type":"text","text":"half an answer"}}"#;

#[test_case(Codex, &[RECONNECTING], 19 => false; "often")]
#[test_case(Codex, &[RECONNECTING], 20 => true; "too often")]
#[test_case(Codex, &[RECONNECTING, COMMAND], 40 => false; "with work in between")]
#[test_case(Opencode, &[REPEATED, NO_REASON], 19 => false; "a broken stream")]
#[test_case(Opencode, &[REPEATED, NO_REASON], 20 => true; "a broken stream for ever")]
fn a_program_that_gets_nowhere_is_ended(program: Program, lines: &[&str], times: usize) -> bool {
    let mut listen = |_: Heard<'_>| ControlFlow::Continue(());
    let mut hearing = Hearing::new(program, true, &mut listen);
    for _ in 0..times {
        hearing.hear(format!("{}\n", lines.join("\n")).as_bytes());
    }
    let is_enough = hearing.enough.is_cancelled();
    if is_enough {
        let ended = ended(How::Cancelled, -15);
        let (record, reason, calls) = hearing.finish(&ended);
        let exchange = harness(program).conclude(record, &ended, (&reason, calls), None);
        let End::Failed(failure) = exchange.end else { panic!("{:?}", exchange.end) };
        assert_eq!(failure.kind, FailureKind::Overload);
        assert!(failure.message.contains("20 times in a row"), "{}", failure.message);
    }
    is_enough
}

#[test_case(r#"{"n":9007199254740993}"# => true; "an integer beyond what a double holds")]
#[test_case(r#"{"n":0.1234567890123456}"# => true; "too many decimals")]
#[test_case(r#"{"n":-123456789012345}"# => false; "fifteen digits")]
#[test_case(r#"{"n":0.00000000000000000001}"# => false; "zeros in front")]
#[test_case(r#"{"id":"12345678901234567890","n":1}"# => false; "text")]
#[test_case(r#"{"id":"a\"12345678901234567890","n":[1,2]}"# => false; "text with a quote")]
#[test_case("[1234567890,1234567890]" => false; "two numbers")]
fn a_number_that_a_program_may_have_rounded_is_refused(payload: &str) -> bool {
    let end = result(&format!(r#""is_error":false,"structured_output":{payload}"#));
    matches!(end, End::Failed(failure) if failure.kind == FailureKind::Rejected)
}

/// Has claude end with these members of its result.
fn result(members: &str) -> End {
    let line = format!(r#"{{"type":"result","subtype":"success",{members}}}"#) + "\n";
    concluded(Claude, line.as_bytes(), &ended(How::Exited, 0)).end
}

#[test_case("400" => None; "a request that is wrong")]
#[test_case("529" => Some(Advice::TryLater); "a provider that is busy")]
#[test_case("null" => None; "nobody says who is to blame")]
fn to_wait_is_advised_where_it_helps(status: &str) -> Option<Advice> {
    let end = result(&format!(r#""is_error":true,"result":"no","api_error_status":{status}"#));
    let End::Failed(failure) = end else { panic!("{end:?}") };
    failure.advice()
}

#[test_case(Claude)]
#[test_case(Codex)]
#[test_case(Qwen)]
#[test_case(Gemini)]
#[test_case(Opencode)]
fn the_name_of_a_model_is_never_a_flag(program: Program) {
    let scratch = tempfile::tempdir().unwrap();
    let arguments = |model: &str| {
        let setup = Setup { model: Some(model.to_owned()), ..setup(program) };
        let question = Question::of(program, &request());
        let mut invocation = Invocation::new(&setup, question, None, scratch.path());
        invocation.complete().map(|()| invocation.launch().arguments)
    };
    for flag in ["-", "-c", "--mcp-config=evil.json"] {
        assert!(matches!(arguments(flag), Err(Refused::Model)), "{flag}");
    }
    let named = arguments("some-model").unwrap();
    assert!(named.contains(&OsString::from("--model=some-model")), "{named:?}");
}
