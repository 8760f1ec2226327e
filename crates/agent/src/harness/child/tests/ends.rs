//! How programs end, and what is told of it (C1, C2, C5).

use std::future::ready;

use test_case::test_case;
use tokio::sync::Notify;

use super::super::{Deadline, How};
use super::*;

#[tokio::test]
async fn c1_who_concludes_and_never_exits_is_ended() {
    let mut scene = Scene::new();
    let deadlines = Deadlines { exit: SOON, ..PATIENT };
    let ended = scene.play(&[ignore_term(), say("done\n"), Deed::Stall], &deadlines).await;
    assert_eq!((ended.how, ended.exit_code), (How::ExitForced, Some(-9)));
    assert_eq!((scene.heard(), ended.stdout_bytes), ("done\n", 5));
}

#[tokio::test]
async fn c1_last_words_are_heard() {
    let mut scene = Scene::new();
    let deadlines = Deadlines { exit: SOON, ..PATIENT };
    let tidy = Deed::CatchTerm { say: "tidy\n".to_owned(), exit: Some(143) };
    let ended = scene.play(&[tidy, say("done\n"), Deed::Stall], &deadlines).await;
    assert_eq!((ended.how, ended.exit_code), (How::ExitForced, Some(143)));
    assert_eq!(scene.heard(), "done\ntidy\n");
}

#[test_case(&[exit(0)] => Some(0); "success without a word")]
#[test_case(&[say("done\n"), exit(1)] => Some(1); "a failure after the result")]
#[test_case(&[say("half a line"), exit(130)] => Some(130); "a line without its end")]
#[test_case(&[say("done\n"), Deed::Die { signal: 9 }] => Some(-9); "a signal")]
#[tokio::test]
async fn c2_the_exit_is_told_as_it_was(deeds: &[Deed]) -> Option<i32> {
    let ended = Scene::new().play(deeds, &PATIENT).await;
    assert_eq!((ended.how, ended.warnings), (How::Exited, vec![]));
    ended.exit_code
}

#[test_case(&[Deed::Stall], Deadlines { first_line: SOON, ..PATIENT }, Deadline::FirstLine; "no first line")]
#[test_case(&[Deed::Drip { every_ms: 5 }], Deadlines { first_line: SOON, ..PATIENT }, Deadline::FirstLine; "a drip is no line")]
#[test_case(&[say("on\n"), Deed::Stall], Deadlines { idle: SOON, ..PATIENT }, Deadline::Idle; "silence")]
#[test_case(&[say("on\n"), Deed::Drip { every_ms: 5 }], Deadlines { total: SOON, ..PATIENT }, Deadline::Total; "a drip")]
#[tokio::test]
async fn c5_who_stalls_is_ended_by_its_deadline(
    deeds: &[Deed],
    deadlines: Deadlines,
    deadline: Deadline,
) {
    let ended = Scene::new().play(deeds, &deadlines).await;
    assert_eq!((ended.how, ended.exit_code), (How::TimedOut(deadline), Some(-15)));
    assert!(ended.elapsed >= SOON, "{:?}", ended.elapsed);
}

#[tokio::test]
async fn who_has_exited_at_the_deadline_was_in_time() {
    let scene = Scene::new();
    let deadlines = Deadlines { exit: Duration::ZERO, ..PATIENT };
    let told = scene.path("told");
    let mut listen = |bytes: &[u8]| {
        fs::write(&told, "").unwrap();
        let stat = Path::new("/proc").join(std::str::from_utf8(bytes).unwrap().trim()).join("stat");
        // Nobody else runs meanwhile, so that only whoever looks again sees that it is over.
        while !fs::read_to_string(&stat).unwrap().contains(") Z ") {}
        Heard::Concluded
    };
    let mut launch = scene.launch(&[]);
    launch.program = "/bin/sh".into();
    launch.arguments = vec!["-c".into(), "echo $$; until [ -e told ]; do :; done; exit 3".into()];
    let ended = attend(launch, &deadlines, &mut listen, std::future::pending()).await.unwrap();
    assert_eq!((ended.how, ended.exit_code), (How::Exited, Some(3)));
}

#[tokio::test]
async fn who_is_stopped_is_asked_to_end() {
    let scene = Scene::new();
    let heard = Notify::new();
    let mut listen = |_: &[u8]| {
        heard.notify_one();
        Heard::More
    };
    let tidy = Deed::CatchTerm { say: String::new(), exit: Some(9) };
    let launch = scene.launch(&[tidy, say("on\n"), Deed::Stall]);
    let ended = attend(launch, &PATIENT, &mut listen, heard.notified()).await.unwrap();
    assert_eq!((ended.how, ended.exit_code), (How::Cancelled, Some(9)));
}

#[tokio::test]
async fn who_has_concluded_when_it_is_stopped_is_only_made_to_exit() {
    let scene = Scene::new();
    let heard = Notify::new();
    let mut listen = |_: &[u8]| {
        heard.notify_one();
        Heard::Concluded
    };
    let launch = scene.launch(&[say("done\n"), Deed::Stall]);
    let ended = attend(launch, &PATIENT, &mut listen, heard.notified()).await.unwrap();
    assert_eq!((ended.how, ended.exit_code), (How::ExitForced, Some(-15)));
}

#[tokio::test]
async fn what_was_delivered_between_the_last_look_and_the_stop_counts() {
    let scene = Scene::new();
    let (first, go, delivered) = (Notify::new(), scene.path("go"), scene.path("delivered"));
    let mut heard = Vec::new();
    let mut listen = |bytes: &[u8]| {
        heard.extend_from_slice(bytes);
        first.notify_one();
        if heard.ends_with(b"done\n") { Heard::Concluded } else { Heard::More }
    };
    let stop = async {
        first.notified().await;
        fs::write(&go, "").unwrap();
        // Nobody else runs meanwhile, so that only whoever looks once more hears of it.
        let patience = std::time::Instant::now() + Duration::from_mins(1);
        while !delivered.exists() {
            assert!(std::time::Instant::now() < patience, "nothing was delivered");
        }
    };
    let deeds = [say("on\n"), wait_for("go"), say("done\n"), note("delivered"), Deed::Stall];
    let ended = attend(scene.launch(&deeds), &PATIENT, &mut listen, stop).await.unwrap();
    assert_eq!((ended.how, ended.exit_code), (How::ExitForced, Some(-15)));
    assert_eq!(heard, b"on\ndone\n");
}

#[tokio::test]
async fn who_is_stopped_before_its_start_never_starts() {
    let scene = Scene::new();
    let launch = scene.launch(&[note("pid")]);
    let ended = attend(launch, &PATIENT, &mut |_| Heard::More, ready(())).await.unwrap();
    assert_eq!((ended.how, ended.exit_code, ended.elapsed), (How::Cancelled, None, Duration::ZERO));
    assert!(!scene.path("pid").exists());
}

#[tokio::test]
async fn who_writes_without_end_is_killed() {
    let mut scene = Scene::new();
    let deeds = [say("on\n"), ignore_term(), Deed::Stretch { bytes: 2 << 30 }, Deed::Stall];
    let ended = scene.play(&deeds, &PATIENT).await;
    assert_eq!((ended.how, ended.exit_code), (How::TooMuch, Some(-9)));
    // Of what came while it was being ended, a few pieces may have been read.
    assert!(ended.stdout_bytes < 1 << 30, "{}", ended.stdout_bytes);
}

#[tokio::test]
async fn who_wrote_too_much_and_got_away_is_told_apart() {
    let mut scene = Scene::new();
    let ended = scene.play(&[Deed::Stretch { bytes: 2 << 30 }], &PATIENT).await;
    assert_eq!((ended.how, ended.stdout_bytes), (How::TooMuch, 0));
}
