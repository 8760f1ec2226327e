//! Faults C1 to C9: what programs do that they should not.

use std::time::Duration;

use airtight_agent::GUARD_ARGUMENT;
use airtight_core::run::Outcome;
use airtight_core::transcript::Category;
use airtight_fake::{Deed, Matter, Variables};
use tokio_util::sync::CancellationToken;

use crate::scene::{ACCEPTED, COMMAND, INIT, Scene, Seen, result, say, success, value};

#[tokio::test]
async fn c1_a_result_counts_although_the_program_never_exits() {
    let deeds = [say(INIT), say(&success(r#"{"answer":42}"#)), Deed::Stall];
    let (report, seen) = Scene::new(&deeds).run().await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    let warnings = &seen.records[0].warnings;
    assert!(warnings.iter().any(|it| it.starts_with("exit-forced")), "{warnings:?}");
    assert_eq!(report.cost.map(airtight_core::price::Cost::usd), Some(0.25));
}

/// A program that has answered, and would stay for a minute.
fn lingering() -> Scene {
    let mut scene = Scene::new(&[say(INIT), say(&success(r#"{"answer":42}"#)), Deed::Stall]);
    scene.deadlines.exit = Duration::from_mins(1);
    scene
}

fn is_forced(seen: &Seen) -> bool {
    seen.records.iter().flat_map(|it| &it.warnings).any(|it| it.starts_with("exit-forced"))
}

#[tokio::test]
async fn c1_a_result_counts_although_time_is_up_before_the_program_exits() {
    let mut scene = lingering();
    scene.policy.budget.wall = Some(Duration::from_secs(3));
    let (report, seen) = scene.run().await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    assert!(is_forced(&seen), "{:?}", seen.records);
}

#[tokio::test]
async fn c1_a_result_counts_although_the_run_is_interrupted_before_the_program_exits() {
    let interrupt = CancellationToken::new();
    let seen = Seen { at_result: interrupt.clone(), ..Seen::default() };
    let (report, seen) = lingering().run_seen_by(seen, interrupt).await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    assert!(is_forced(&seen), "{:?}", seen.records);
}

/// The states of all guards that this process started and has not waited for.
fn guards() -> Vec<String> {
    let us = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let stats = processes.filter_map(|it| std::fs::read_to_string(it.path().join("stat")).ok());
    stats
        .filter_map(|stat| {
            let (name, rest) = stat.rsplit_once(") ")?;
            let mut fields = rest.split(' ');
            let (state, parent) = (fields.next()?, fields.next()?);
            // The kernel keeps fifteen characters of a name.
            (name.ends_with("(airtight-sandbo") && parent == us).then(|| state.to_owned())
        })
        .collect()
}

#[tokio::test]
async fn guards_are_dismissed_with_their_programs() {
    let scene = Scene::new(&[say(INIT), say(&success(r#"{"answer":42}"#))]);
    for _ in 0..3 {
        let (report, _) = scene.run().await;
        assert_eq!(report.outcome, Outcome::Met);
    }
    // The last one is waited for when the next is dismissed, and is dead until then.
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while guards().iter().any(|state| state != "Z") {
        assert!(std::time::Instant::now() < until, "{:?}", guards());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (report, _) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Met);
    assert!(guards().len() <= 1, "{:?}", guards());
}

#[test]
fn a_program_that_was_being_started_when_its_keeper_was_killed_is_ended() {
    let mark = format!("{}-test", std::process::id());
    let mut guard = std::process::Command::new(env!("CARGO_BIN_EXE_airtight-sandbox"))
        .args([GUARD_ARGUMENT, &mark])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut program = std::process::Command::new("sleep")
        .arg("300")
        .env("AIRTIGHT_CHILD", &mark)
        .spawn()
        .unwrap();
    // The keeper is gone, and has not told who leads.
    drop(guard.stdin.take());
    assert!(guard.wait().unwrap().success());
    let ended = program.try_wait().unwrap();
    program.kill().unwrap();
    assert!(ended.is_some_and(|status| !status.success()), "{ended:?}");
}

#[tokio::test]
async fn c2_an_exit_without_a_result_is_no_success() {
    for code in [0, 1] {
        let deeds = [say(INIT), Deed::Warn { text: "out of luck".to_owned() }, Deed::Exit { code }];
        let (report, _) = Scene::new(&deeds).run().await;
        let error = report.error.unwrap().to_string();
        assert_eq!(report.outcome, Outcome::Harness);
        assert!(error.contains(&code.to_string()) && error.contains("out of luck"), "{error}");
    }
}

#[tokio::test]
async fn c2_a_bad_exit_after_a_valid_result_is_a_warning() {
    let deeds = [say(INIT), say(&success(r#"{"answer":42}"#)), Deed::Exit { code: 1 }];
    let (report, seen) = Scene::new(&deeds).run().await;
    assert_eq!(report.outcome, Outcome::Met);
    let warnings = &seen.records[0].warnings;
    assert!(warnings.iter().any(|it| it.starts_with("exit-code: 1")), "{warnings:?}");
}

#[tokio::test]
async fn c2_an_error_with_exit_0_is_an_error() {
    let members = r#""subtype":"success","is_error":true,"api_error_status":401,"result":"no key""#;
    let deeds = [say(INIT), say(&result(members)), Deed::Exit { code: 0 }];
    let (report, _) = Scene::new(&deeds).run().await;
    assert_eq!(report.outcome, Outcome::Auth);
}

#[tokio::test]
async fn c3_what_a_program_leaves_running_is_gone_when_the_run_is_over() {
    let grandchild = [
        Deed::LeaveSession,
        Deed::CatchTerm { say: String::new(), exit: None },
        Deed::Note { what: Matter::Pid, path: "grandchild".into() },
        Deed::Stall,
    ];
    let deeds = [
        say(INIT),
        Deed::Start { deeds: grandchild.to_vec(), variables: Variables::Kept },
        Deed::Await { path: "grandchild".into() },
        say(&success(r#"{"answer":42}"#)),
    ];
    let scene = Scene::new(&deeds);
    let (report, _) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Met);
    let pid = std::fs::read_to_string(scene.path("grandchild")).unwrap();
    assert!(!std::path::Path::new("/proc").join(&pid).exists(), "{pid} is still there");
}

#[tokio::test]
async fn c5_silence_says_which_deadline_passed() {
    let mut scene = Scene::new(&[Deed::Stall]);
    scene.deadlines.first_line = Duration::from_millis(200);
    let (report, _) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Harness);
    let error = report.error.unwrap();
    assert!(error.message.contains("it said nothing"), "{error}");
    assert_eq!(error.advice, Some(airtight_core::Advice::WaitLonger));
}

#[tokio::test]
async fn c5_an_accepted_answer_counts_although_no_result_follows() {
    let mut scene = Scene::new(&[say(INIT), say(ACCEPTED), say(COMMAND[1]), Deed::Stall]);
    scene.deadlines.idle = Duration::from_millis(200);
    let (report, seen) = scene.run().await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    let record = &seen.records[0];
    assert_eq!((&record.error, record.error_category), (&None, Some(Category::Timeout)));
}

#[tokio::test]
async fn c5_an_answer_counts_that_is_told_with_an_error_after_the_deadline() {
    let members = r#""subtype":"error_during_execution","is_error":true,"errors":["aborted"]"#;
    let last = result(&format!(r#"{members},"structured_output":{{"answer":42}}"#));
    let tell = Deed::CatchTerm { say: format!("{last}\n"), exit: Some(143) };
    let mut scene = Scene::new(&[tell, say(INIT), Deed::Stall]);
    scene.deadlines.idle = Duration::from_millis(200);
    let (report, seen) = scene.run().await;
    assert_eq!(
        (report.outcome, value(&report).as_deref()),
        (Outcome::Met, Some(r#"{"answer":42}"#))
    );
    assert_eq!(seen.records[0].error.as_deref(), Some("aborted"));
}

#[tokio::test]
async fn c5_a_program_that_tries_again_for_ever_is_ended() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"error":"overloaded"}"#;
    let deeds: Vec<Deed> =
        [INIT].into_iter().chain([retry; 20]).map(say).chain([Deed::Stall]).collect();
    let (report, _) = Scene::new(&deeds).run().await;
    assert_eq!(report.outcome, Outcome::Provider);
    let error = report.error.unwrap().to_string();
    assert!(error.contains("20 times in a row") && error.contains("overloaded"), "{error}");
}

#[tokio::test]
async fn c6_what_is_no_line_of_the_stream_is_kept_counted_and_passed_over() {
    let noise =
        "\u{feff}\u{1b}[1mUpdate available\u{1b}[0m\r\n\n\0\nnull\n[1]\n{\"a\":1}{\"b\":2}\n";
    let deeds =
        [Deed::Say { text: noise.to_owned() }, say(INIT), say(&success(r#"{"answer":42}"#))];
    let (report, seen) = Scene::new(&deeds).run().await;
    assert_eq!(report.outcome, Outcome::Met);
    let lines = seen.records[0].lines;
    assert_eq!((lines.total, lines.blank, lines.raw_messages, seen.raw), (8, 1, 2, 6));
}

#[tokio::test]
async fn c9_lines_of_a_kind_that_is_not_known_are_kept() {
    let deeds =
        [say(INIT), say(r#"{"type":"hologram","version":9}"#), say(&success(r#"{"answer":42}"#))];
    let (report, seen) = Scene::new(&deeds).run().await;
    assert_eq!((report.outcome, report.unknown_events, seen.raw), (Outcome::Met, 1, 1));
}
