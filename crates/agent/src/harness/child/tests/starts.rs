//! Programs that cannot be started, and too many at once (C6, C8).

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use futures_util::future::join_all;
use test_case::test_case;

use super::super::{How, seat};
use super::*;

/// Makes a file that holds `bytes`.
fn file(scene: &Scene, bytes: &[u8], mode: u32) -> PathBuf {
    let path = scene.path("program");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

async fn refusal(scene: &mut Scene, program: &Path) -> StartError {
    let mut launch = scene.launch(&[]);
    launch.program = program.to_owned();
    scene.attend(launch, &PATIENT).await.unwrap_err()
}

#[tokio::test]
async fn c6_a_program_that_is_not_there_is_missing() {
    let mut scene = Scene::new();
    for program in ["no-such-program", "./no-such-program", "/dev/null/program"] {
        let error = refusal(&mut scene, Path::new(program)).await;
        assert!(matches!(error, StartError::Missing(_)), "{error:?}");
    }
}

#[tokio::test]
async fn c6_a_file_that_may_not_be_run_is_not_executable() {
    let mut scene = Scene::new();
    let program = file(&scene, b"#!/bin/sh\n", 0o644);
    let folder = scene.folder.path().to_owned();
    for program in [program, folder] {
        let error = refusal(&mut scene, &program).await;
        assert!(matches!(error, StartError::NotExecutable(_)), "{error:?}");
    }
}

/// A program for a machine that nobody has: the M32 of AT&T.
const FOREIGN: &[u8] = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x01\0\x01\0\0\0";

#[test_case(FOREIGN; "another machine")]
#[test_case(b""; "nothing")]
#[test_case(b"echo not run by any shell\n"; "no program at all")]
#[tokio::test]
async fn c6_what_is_for_no_machine_or_another_has_the_wrong_format(bytes: &[u8]) {
    let mut scene = Scene::new();
    let program = file(&scene, bytes, 0o755);
    let error = refusal(&mut scene, &program).await;
    assert!(matches!(error, StartError::WrongFormat(_)), "{error:?}");
}

#[tokio::test]
async fn c6_a_script_without_its_interpreter_is_told_apart() {
    let mut scene = Scene::new();
    let program = file(&scene, b"#!/no/such/interpreter\n", 0o755);
    let error = refusal(&mut scene, &program).await;
    assert!(matches!(error, StartError::NoInterpreter(_)), "{error:?}");
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_not_a_missing_program() {
    let mut scene = Scene::new();
    let mut launch = scene.launch(&[]);
    launch.folder = scene.path("gone");
    let error = scene.attend(launch, &PATIENT).await.unwrap_err();
    assert!(matches!(error, StartError::NoFolder(_)), "{error:?}");
}

#[tokio::test]
async fn what_the_system_refuses_is_told_with_its_reason() {
    let mut scene = Scene::new();
    let mut launch = scene.launch(&[]);
    launch.arguments = vec!["x".repeat(200_000).into()];
    let error = scene.attend(launch, &PATIENT).await.unwrap_err();
    let StartError::Other(_, reason) = &error else { panic!("{error:?}") };
    assert_eq!(reason.kind(), io::ErrorKind::ArgumentListTooLong);
}

#[tokio::test]
async fn c8_forty_at_once_take_turns() {
    let scene = Scene::new();
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let one = async || {
        let launch = scene.launch(&[say("on\n"), Deed::Pause { ms: 300 }]);
        let mut listen = |_: &[u8]| {
            most.fetch_max(running.fetch_add(1, Relaxed) + 1, Relaxed);
            Heard::More
        };
        let ended = attend(launch, &PATIENT, &mut listen, std::future::pending()).await.unwrap();
        running.fetch_sub(1, Relaxed);
        ended
    };
    let ended = join_all((0..40).map(|_| one())).await;
    assert!(ended.iter().all(|ended| (ended.how, ended.exit_code) == (How::Exited, Some(0))));
    let most = most.into_inner();
    assert!((1..=seat::all()).contains(&most), "{most} of {}", seat::all());
}

#[tokio::test]
async fn who_waits_for_a_seat_can_be_stopped() {
    let scene = Scene::new();
    let seats = join_all((0..seat::all()).map(|_| seat::take(None))).await;
    let launch = scene.launch(&[note("pid")]);
    let stop = tokio::task::yield_now();
    let ended = attend(launch, &PATIENT, &mut |_| Heard::More, stop).await.unwrap();
    assert_eq!((ended.how, ended.elapsed), (How::Cancelled, Duration::ZERO));
    assert!(!scene.path("pid").exists());
    drop(seats);
}
