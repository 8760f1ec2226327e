//! What a program leaves running (C3).

use std::future::pending;
use std::os::unix::process::ExitStatusExt as _;

use test_case::test_case;
use tokio::process::Command;

use super::super::How;
use super::*;

/// Whatever is left of the family that has this variable, by a look at every process there is.
fn survivors(variable: &str) -> Vec<PathBuf> {
    let has_it = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|other| other == variable.as_bytes())
    };
    fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).filter(has_it).collect()
}

/// What a grandchild does to get away; it notes its number as `pid` when it has.
fn fugitive(tricks: &[Deed]) -> Vec<Deed> {
    [tricks, &[note("pid"), Deed::Stall]].concat()
}

/// A grandchild whose parent, in a session of its own, is gone at once.
fn orphan() -> Deed {
    start(
        Variables::Kept,
        &[Deed::LeaveSession, start(Variables::Kept, &fugitive(&[Deed::LeaveSession]))],
    )
}

#[test_case(start(Variables::Kept, &fugitive(&[])); "stdout stays open")]
#[test_case(start(Variables::Kept, &fugitive(&[ignore_term()])); "it ignores the polite signal")]
#[test_case(start(Variables::Kept, &fugitive(&[Deed::LeaveSession])); "it leaves the session")]
#[test_case(start(Variables::Kept, &fugitive(&[Deed::LeaveSession, ignore_term()])); "it does both")]
#[test_case(start(Variables::Cleared, &fugitive(&[])); "it clears its environment")]
#[test_case(orphan(); "its parent is gone, too")]
#[tokio::test]
async fn c3_what_outlives_its_parent_is_ended(escape: Deed) {
    let mut scene = Scene::new();
    // After the first look at kin, and before the next one unless the machine is busy.
    let deeds = [say("on\n"), wait_for("go"), escape, wait_for("pid"), say("done\n")];
    let mut launch = scene.launch(&deeds);
    let variable = format!("SCENE={}", scene.folder.path().display());
    launch.environment = vec![("SCENE".into(), scene.folder.path().into())];
    let ended = scene.attend(launch, &PATIENT).await.unwrap();
    assert_eq!((ended.how, ended.exit_code), (How::Exited, Some(0)));
    assert_eq!(ended.warnings, ["1 process was left running, and ended"]);
    assert_eq!(survivors(&variable), Vec::<PathBuf>::new());
    scene.assert_gone("pid");
}

#[test_case(start(Variables::Cleared, &fugitive(&[Deed::LeaveSession])); "only its parents tell whose it is")]
#[test_case(start(Variables::Cleared, &fugitive(&[Deed::LeaveSession, ignore_term()])); "and it will not go")]
#[test_case(orphan(); "its parent is gone")]
#[tokio::test]
async fn c3_nobody_outlives_a_program_that_is_ended(escape: Deed) {
    let mut scene = Scene::new();
    let deadlines = Deadlines { exit: SOON, ..PATIENT };
    let ended =
        scene.play(&[escape, wait_for("pid"), say("done\n"), Deed::Stall], &deadlines).await;
    assert_eq!((ended.how, ended.exit_code), (How::ExitForced, Some(-15)));
    assert_eq!(ended.warnings, ["1 process was left running, and ended"]);
    scene.assert_gone("pid");
}

#[tokio::test]
async fn what_kin_writes_last_is_heard() {
    let mut scene = Scene::new();
    let tidy = Deed::CatchTerm { say: "tidy\n".to_owned(), exit: Some(0) };
    let escape = start(Variables::Kept, &fugitive(&[Deed::LeaveSession, tidy]));
    scene.play(&[escape, wait_for("pid"), say("done\n")], &PATIENT).await;
    assert_eq!(scene.heard(), "done\ntidy\n");
}

#[tokio::test]
async fn nobody_elses_exit_is_taken() {
    let mut other = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
    let mut scene = Scene::new();
    scene.play(&[orphan(), wait_for("pid")], &PATIENT).await;
    assert_eq!(other.wait().await.unwrap().code(), Some(7));
}

#[tokio::test]
async fn a_dropped_future_takes_everything_along() {
    let scene = Scene::new();
    let escape = start(Variables::Cleared, &fugitive(&[Deed::LeaveSession, ignore_term()]));
    let launch = scene.launch(&[ignore_term(), escape, Deed::Stall]);
    let noted = async {
        while !scene.path("pid").exists() {
            tokio::task::yield_now().await;
        }
    };
    let mut listen = |_: &[u8]| Heard::More;
    tokio::select! {
        _ = attend(launch, &PATIENT, &mut listen, pending()) => panic!("it ended by itself"),
        () = noted => {}
    }
    scene.assert_gone("pid");
}

#[tokio::test]
async fn a_command_that_leaves_something_running_is_not_waited_for_while_orphans_are_adopted() {
    let mut scene = Scene::new();
    scene.play(&[], &PATIENT).await;
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 600 & echo $!"]);
    let none = tokio_util::sync::CancellationToken::new();
    let (ended, said) = crate::process::run(command, LONG, &none).await.unwrap();
    assert!(matches!(ended, crate::process::Ended::Exited(status) if status.success()));
    let pid = said.into_text();
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "{pid} is still there");
}

#[tokio::test]
async fn whoever_ends_the_process_ends_all_kin() {
    let scene = Scene::new();
    // In a process of its own, in which nothing can be started afterwards.
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "harness::child::tests::kin::ends_the_process", "--ignored"])
        .current_dir(scene.folder.path())
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    scene.assert_gone("pid");
}

#[tokio::test]
async fn nothing_outlives_a_process_that_is_killed() {
    let scene = Scene::new();
    // In a process of its own, which kills itself once everybody is there.
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "harness::child::tests::kin::is_killed", "--ignored"])
        .current_dir(scene.folder.path())
        .output()
        .await
        .unwrap();
    assert_eq!(output.status.signal(), Some(9));
    for name in ["pid", "leader", "bare"] {
        let pid = fs::read_to_string(scene.path(name)).unwrap();
        let gone = async {
            while is_alive(&pid) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(LONG, gone).await.unwrap();
    }
}

/// Claims that a process is there that has not ended; nobody may be left to wait for one that has.
fn is_alive(pid: &str) -> bool {
    let state = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    state.is_ok_and(|state| !state.contains(") Z "))
}

#[tokio::test]
#[ignore = "started by another test, in a process of its own"]
async fn is_killed() {
    let folder = std::env::current_dir().unwrap();
    let escape = start(Variables::Kept, &fugitive(&[Deed::LeaveSession, ignore_term()]));
    // Only the session tells whose it is.
    let bare = start(Variables::Cleared, &[note("bare"), ignore_term(), Deed::Stall]);
    let between = start(Variables::Cleared, &[bare, wait_for("bare")]);
    let deeds = [
        note("leader"),
        escape,
        between,
        wait_for("pid"),
        wait_for("bare"),
        say("on\n"),
        Deed::Stall,
    ];
    let helper = standin().parent().unwrap().with_file_name("airtight-sandbox");
    let launch = Launch { guard: Some(helper), ..launch(&folder, &deeds) };
    let mut listen = |_: &[u8]| {
        let me = rustix::process::getpid();
        rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
        Heard::More
    };
    drop(attend(launch, &PATIENT, &mut listen, pending()).await);
}

#[tokio::test]
#[ignore = "started by another test, in a process of its own"]
async fn ends_the_process() {
    let folder = std::env::current_dir().unwrap();
    let escape = start(Variables::Cleared, &fugitive(&[Deed::LeaveSession, ignore_term()]));
    let launch = launch(&folder, &[escape, wait_for("pid"), say("on\n"), Deed::Stall]);
    let mut survives = true;
    let mut listen = |_: &[u8]| {
        let pid = fs::read_to_string(folder.join("pid")).unwrap();
        crate::process::kill_groups();
        survives = Path::new("/proc").join(pid).exists();
        Heard::More
    };
    let ended = attend(launch, &PATIENT, &mut listen, pending()).await.unwrap();
    assert_eq!((ended.how, ended.exit_code), (How::Exited, Some(-9)));
    assert!(!survives);
}
