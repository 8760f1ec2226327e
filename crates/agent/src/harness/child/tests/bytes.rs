//! What goes in and what comes out (C4, C6, C7, C9).

use super::super::How;
use super::*;

/// More than any pipe holds.
const PROMPT_BYTES: usize = 5_000_000;

#[tokio::test]
async fn c4_floods_and_prompts_that_nobody_reads_block_nothing() {
    let mut scene = Scene::new();
    let flood = |sink| Deed::Flood { sink, bytes: 10_000_000 };
    let warn = |text: &str| Deed::Warn { text: text.to_owned() };
    let deeds =
        [warn("first"), flood(Sink::Stderr), flood(Sink::Stdout), warn("last"), say("done\n")];
    let mut launch = scene.launch(&deeds);
    launch.input = vec![b'x'; PROMPT_BYTES];
    let ended = scene.attend(launch, &PATIENT).await.unwrap();
    assert_eq!(
        (ended.how, ended.exit_code, ended.stdout_bytes),
        (How::Exited, Some(0), 10_000_005)
    );
    assert_eq!(scene.heard.len(), 10_000_005);
    assert!(ended.stderr.starts_with("first") && ended.stderr.ends_with("last"));
    assert_eq!(ended.stderr.chars().count(), 8_192);
    assert_eq!(ended.warnings, [""; 0]);
}

#[tokio::test]
async fn c6_c9_every_byte_is_heard_as_it_was_written() {
    let mut scene = Scene::new();
    let odd = b"\xef\xbb\xbf\x1b[1mUpdate available!\x1b[0m\r\n{\"a\":1}{\"b\":2}\r\n\0\n\n\
        null\n[1]\n7\n\xff\xfe\n{\"type\":\"never heard of\"}\n\xe2\x80\xa8no end";
    let deeds = [Deed::Bytes { bytes: odd.to_vec() }, exit(0)];
    let ended = scene.play(&deeds, &PATIENT).await;
    assert_eq!(scene.heard, odd);
    assert_eq!((ended.how, ended.stdout_bytes), (How::Exited, odd.len() as u64));
}

#[tokio::test]
async fn c7_stdin_holds_the_input_and_ends() {
    for input in [vec![], b"a prompt\n".to_vec(), vec![b'x'; PROMPT_BYTES]] {
        let mut scene = Scene::new();
        let read = Deed::Note { what: Matter::Input, path: "input".into() };
        let mut launch = scene.launch(&[read]);
        launch.input = input.clone();
        let ended = scene.attend(launch, &PATIENT).await.unwrap();
        assert_eq!((ended.how, ended.exit_code), (How::Exited, Some(0)));
        assert!(fs::read(scene.path("input")).unwrap() == input);
    }
}

#[tokio::test]
async fn c7_the_environment_is_what_was_given_and_a_mark() {
    let mut scene = Scene::new();
    let mut launch =
        scene.launch(&[Deed::Note { what: Matter::Environment, path: "environment".into() }]);
    launch.environment = vec![("HOME".into(), "/x".into()), ("PATH".into(), OsString::new())];
    scene.attend(launch, &PATIENT).await.unwrap();
    let environment = fs::read_to_string(scene.path("environment")).unwrap();
    let names: Vec<&str> =
        environment.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert_eq!(names, ["AIRTIGHT_CHILD", "HOME", "PATH"]);
    assert!(environment.ends_with("HOME=/x\nPATH=\n"), "{environment}");
}

#[test]
fn a_launch_shows_nothing_that_may_be_secret() {
    let mut launch = Scene::new().launch(&[]);
    (launch.program, launch.folder) = ("claude".into(), "/work".into());
    launch.environment = vec![("SOME_API_KEY".into(), "hunter2-hunter2".into())];
    assert_eq!(format!("{launch:?}"), r#"Launch { program: "claude", folder: "/work", .. }"#);
}

#[tokio::test]
async fn stderr_holds_no_secrets() {
    let mut scene = Scene::new();
    let (given, shaped) = ("hunter2-hunter2", format!("sk-{}", "x1".repeat(12)));
    let text = format!("bad key {given}, try {shaped}\n");
    let mut launch = scene.launch(&[Deed::Warn { text }]);
    launch.environment = vec![("SOME_API_KEY".into(), given.into())];
    let ended = scene.attend(launch, &PATIENT).await.unwrap();
    assert_eq!(ended.stderr, "bad key [masked], try [masked]\n");
}
