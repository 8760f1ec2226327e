//! Commands that flood, hang, fork and hide.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use test_case::test_case;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::{Capture, Ended, Environment, run};

const LONG: Duration = Duration::from_mins(1);

fn sh(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(text);
    command
}

/// Waits until there is no process of this number, or only its remains.
async fn is_gone(pid: &str) {
    let status = Path::new("/proc").join(pid.trim()).join("stat");
    let alive = || std::fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z "));
    while alive() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn output_of_both_kinds_comes_in_the_order_it_was_written() {
    let none = CancellationToken::new();
    let command = sh("echo one; echo two >&2; echo three; exit 3");
    let (ended, capture) = run(command, LONG, &none).await.unwrap();
    let Ended::Exited(status) = ended else { panic!("{ended:?}") };
    assert_eq!((status.code(), capture.into_text().as_str()), (Some(3), "one\ntwo\nthree\n"));
}

#[tokio::test]
async fn there_is_no_input_and_no_terminal() {
    let none = CancellationToken::new();
    let command = sh("cat; (: </dev/tty) 2>/dev/null || echo no terminal");
    let (_, capture) = run(command, LONG, &none).await.unwrap();
    assert_eq!(capture.into_text(), "no terminal\n");
}

#[tokio::test]
async fn a_flood_is_bounded() {
    let none = CancellationToken::new();
    let command = sh("echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last");
    let (_, capture) = run(command, LONG, &none).await.unwrap();
    let text = capture.into_text();
    assert!(text.starts_with("first\n") && text.ends_with("last\n"));
    assert!(text.len() < 100_000, "{}", text.len());
}

#[tokio::test]
async fn a_timeout_ends_the_children_of_children_too() {
    let none = CancellationToken::new();
    // The inner shell ignores the polite signal, and so does what it starts.
    let command = sh("sh -c 'trap \"\" TERM; sleep 600 & echo $! $$; wait'; sleep 600");
    let (ended, capture) = run(command, Duration::from_secs(5), &none).await.unwrap();
    assert_eq!(ended, Ended::TimedOut);
    let text = capture.into_text();
    assert_eq!(text.split_whitespace().count(), 2, "{text}");
    for pid in text.split_whitespace() {
        is_gone(pid).await;
    }
}

#[tokio::test]
async fn what_a_command_leaves_running_is_ended_with_it() {
    let none = CancellationToken::new();
    let (ended, capture) = run(sh("sleep 600 & echo $!"), LONG, &none).await.unwrap();
    assert!(matches!(ended, Ended::Exited(status) if status.success()));
    is_gone(&capture.into_text()).await;
}

#[tokio::test]
async fn a_child_that_leaves_the_group_does_not_hold_the_call() {
    let none = CancellationToken::new();
    let folder = tempfile::tempdir().unwrap();
    let mut command =
        sh("setsid sh -c ': > on; exec sleep 600' & until [ -e on ]; do :; done; echo $!");
    command.current_dir(folder.path());
    let (ended, capture) = run(command, LONG, &none).await.unwrap();
    assert!(matches!(ended, Ended::Exited(status) if status.success()));
    let pid = Pid::from_raw(capture.into_text().trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).expect("it outlives the call, and holds its output");
}

#[tokio::test]
async fn cancelling_lets_a_command_tidy_up() {
    let cancel = CancellationToken::new();
    let folder = tempfile::tempdir().unwrap();
    let mut command = sh("trap 'echo tidy; exit' TERM; : > ready; sleep 600 & wait");
    command.current_dir(folder.path());
    let ready = folder.path().join("ready");
    let cancelling = async {
        while !ready.exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(run(command, LONG, &cancel), cancelling);
    let (ended, capture) = done.unwrap();
    assert_eq!((ended, capture.into_text().as_str()), (Ended::Cancelled, "tidy\n"));
}

#[tokio::test]
async fn a_call_that_is_dropped_takes_its_group_along() {
    let none = CancellationToken::new();
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let mut command = sh("sleep 600 & echo $! > new; mv new pids; wait");
    command.current_dir(folder.path());
    tokio::select! {
        _ = run(command, LONG, &none) => panic!("it ended by itself"),
        () = async { while !pids.exists() { tokio::task::yield_now().await } } => {}
    }
    is_gone(&std::fs::read_to_string(pids).unwrap()).await;
}

#[test]
fn a_capture_keeps_both_ends_and_counts_the_middle() {
    let mut capture = Capture::default();
    for line in 0..100_000 {
        capture.push(format!("{line:07}\n").as_bytes());
    }
    let text = capture.into_text();
    assert!(text.starts_with("0000000\n") && text.ends_with("0099999\n"));
    assert!(text.contains(&format!("[{} bytes left out]", 800_000 - 80 * 1024)), "{text}");
}

#[test_case("OPENAI_API_KEY", "x" => false)]
#[test_case("anthropic_api_key", "x" => false)]
#[test_case("OTEL_EXPORTER_OTLP_HEADERS", "x" => false)]
#[test_case("GITHUB_TOKEN", "x" => false)]
#[test_case("AWS_SECRET_ACCESS_KEY", "x" => false)]
#[test_case("AWS_ACCESS_KEY_ID", "x" => false)]
#[test_case("AWS_SESSION_TOKEN", "x" => false)]
#[test_case("PGPASSWORD", "x" => false)]
#[test_case("MYSQL_PWD", "x" => false)]
#[test_case("DB_PASSWORD", "x" => false)]
#[test_case("GOOGLE_APPLICATION_CREDENTIALS", "/x" => false)]
#[test_case("DATABASE_URL", "postgres://user:pass@host/db" => false)]
#[test_case("INNOCENT", "ghp_0123456789abcdefghijABCDEFGHIJ012345" => false; "a key by its shape")]
#[test_case("PATH", "/bin" => true)]
#[test_case("PWD", "/x" => true)]
#[test_case("HOME", "/home/x" => true)]
#[test_case("KEYBOARD", "de" => true)]
#[test_case("HTTPS_PROXY", "http://user:pass@proxy:1" => true)]
#[test_case("SITE_URL", "https://host/a:b@c" => true)]
fn a_variable_reaches_commands(name: &str, value: &str) -> bool {
    let variable = (OsString::from(name), OsString::from(value));
    Environment::without_secrets([variable]).iter().count() == 1
}
