//! Disks that are full or fail, files that are damaged, locked or not ours to write: each has a name,
//! and nothing is overwritten.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use airtight_store::{Access, Filter, Ledger, Location, Page, RunState, Settings, StoreError};
use sqlx::{AnyConnection, Connection as _};

use crate::bed::{Bed, begin, keyed, met, new_run, store};
use crate::child::Child;

fn impatient() -> Settings {
    Settings { patience: Duration::from_millis(200), ..Settings::default() }
}

/// What it takes to inject a fault, which not every machine permits.
#[derive(Clone, Copy)]
enum Means {
    Mount,
    Trace,
    BecomeAnother,
}

impl Means {
    fn are_there(self) -> bool {
        match self {
            Self::Mount => Disk::of("1m").is_some(),
            Self::Trace => {
                let traced =
                    Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
                traced.is_ok_and(|status| status.success())
            }
            Self::BecomeAnother => rustix::process::geteuid().is_root(),
        }
    }

    fn what_needs_them(self) -> &'static str {
        match self {
            Self::Mount => "a full disk, because no tmpfs may be mounted",
            Self::Trace => "a disk that fails, because strace is missing or may not trace",
            Self::BecomeAnother => {
                "a file of somebody else, because only root becomes another user"
            }
        }
    }
}

/// Nextest shows what this prints, also when it passes.
#[test]
fn what_is_not_tested_is_said() {
    use std::io::Write as _;
    for means in [Means::Mount, Means::Trace, Means::BecomeAnother] {
        if !means.are_there() {
            writeln!(std::io::stderr(), "NOT TESTED HERE: {}", means.what_needs_them()).unwrap();
        }
    }
}

/// A small disk, taken away at the end.
struct Disk(tempfile::TempDir);

impl Disk {
    fn of(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path());
        let done = mount.output().ok()?;
        done.status.success().then_some(Self(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.0.path()).output());
    }
}

#[tokio::test]
async fn a_full_disk_is_named_and_the_ledger_works_again_when_space_returns() {
    let Some(disk) = Disk::of("4m") else { return };
    let path = disk.0.path().join("ledger.db");
    let ledger = Ledger::open(&Location::Sqlite(path)).await.unwrap();
    let kept = store(&ledger, keyed("before"), met()).await;
    let ballast = disk.0.path().join("ballast");
    fs::write(&ballast, vec![0; 3 << 20]).unwrap();
    let mut run = keyed("big");
    run.job.input = Some(vec![b'x'; 2 << 20]);
    let full = ledger.begin(run.clone()).await;
    assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
    assert!(full.err().unwrap().to_string().contains("free some space"));
    fs::remove_file(ballast).unwrap();
    let token = begin(&ledger, run).await;
    ledger.finish(&token, met()).await.unwrap();
    assert!(ledger.run(kept.id().as_str()).await.unwrap().summary.output_valid);
}

#[tokio::test]
async fn a_failed_sync_stops_acknowledging() {
    if !Means::Trace.are_there() {
        return;
    }
    let bed = Bed::sqlite();
    bed.open().await.close().await;
    let mut command = Command::new("strace");
    let faults = "inject=fsync,fdatasync:error=EIO:when=6+";
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", faults]);
    command.arg(std::env::current_exe().unwrap());
    let mut child = Child::start_with(command, &bed.url);
    let mut acknowledged = Vec::new();
    let mut refusals = Vec::new();
    for n in 0..20 {
        let answer = child.tell(&format!("begin key {n}"));
        match answer.strip_prefix("fresh ") {
            Some(id) => acknowledged.push(id.to_owned()),
            None => refusals.push(answer),
        }
    }
    child.kill();
    assert!(refusals[0].starts_with("error: the disk failed"), "{refusals:?}");
    assert!(
        refusals[1..].iter().all(|refusal| refusal.starts_with("error: nothing is stored any"))
    );
    assert_eq!(acknowledged.len() + refusals.len(), 20, "none after the first refusal");
    let ledger = bed.open().await;
    for id in acknowledged {
        ledger.run(&id).await.unwrap();
    }
}

/// The disk fails whenever it is waited for.
#[tokio::test]
async fn what_is_acknowledged_at_its_end_is_not_waited_for_before_and_is_soon_on_disk() {
    if !Means::Trace.are_there() {
        return;
    }
    let bed = Bed::sqlite();
    let ledger = bed.open().await;
    // The log has begun: that it does must be on the disk in any case.
    store(&ledger, new_run(), met()).await;
    let is_told = |answer: &str| {
        // By whoever waits for it, or behind that.
        let ends = ["the disk failed", "nothing is stored any"];
        ends.iter().any(|end| answer.starts_with(&format!("error: {end}")))
    };
    let start = || {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]);
        command.args(["-e", "inject=fsync,fdatasync:error=EIO"]);
        command.arg(std::env::current_exe().unwrap());
        Child::start_with(command, &bed.url)
    };
    let mut child = start();
    let begun = child.tell("enter");
    let id = begun.strip_prefix("fresh ").expect(&begun);
    assert_eq!(ledger.run(id).await.unwrap().summary.state, RunState::Open);
    let ended = child.tell("finish");
    assert!(is_told(&ended), "{ended}");
    child.kill();

    let mut child = start();
    let refusal = loop {
        let answer = child.tell("enter");
        if !answer.starts_with("fresh ") {
            break answer;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(is_told(&refusal), "{refusal}");
    child.kill();
}

#[tokio::test]
async fn a_ledger_that_may_not_be_written_is_named() {
    if !Means::BecomeAnother.are_there() {
        return;
    }
    let bed = Bed::sqlite();
    let ledger = bed.open().await;
    store(&ledger, new_run(), met()).await;
    ledger.close().await;
    for name in ["", "ledger.db"] {
        let path = bed.folder.path().join(name);
        let mode = if name.is_empty() { "555" } else { "444" };
        assert!(Command::new("chmod").arg(mode).arg(path).status().unwrap().success());
    }
    let program = copy_for_everybody(bed.folder.path());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=nobody", "--clear-groups", "--"]).arg(program);
    let mut child = Child::start_with(command, &bed.url);
    let answer = child.answer();
    assert!(answer.starts_with("cannot open: the ledger may only be read"), "{answer}");
    child.kill();
}

/// Returns a copy of this program that every user may run.
fn copy_for_everybody(folder: &Path) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let copy = folder.join("program");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    copy
}

#[tokio::test]
async fn a_ledger_that_another_holds_is_named() {
    let bed = Bed::sqlite();
    let ledger = Ledger::open_with(&bed.location, impatient()).await.unwrap();
    let mut other = AnyConnection::connect(&bed.url).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let locked = ledger.begin(new_run()).await;
    assert!(matches!(locked, Err(StoreError::Locked)), "{locked:?}");
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    begin(&ledger, new_run()).await;
}

#[tokio::test]
async fn a_ledger_of_a_newer_version_is_not_touched() {
    let bed = Bed::sqlite();
    bed.open().await.close().await;
    bed.meddle("INSERT INTO schema_steps VALUES (9, 'future', '', '9.9', 0)").await;
    let path = bed.location.path().unwrap();
    let before = fs::read(path).unwrap();
    let refused = Ledger::open(&bed.location).await;
    assert!(matches!(refused, Err(StoreError::Newer { found: 9, .. })));
    assert_eq!(fs::read(path).unwrap(), before);
}

#[tokio::test]
async fn the_database_of_another_program_is_not_touched() {
    let bed = Bed::sqlite();
    let path = bed.location.path().unwrap().to_owned();
    let url = format!("sqlite://{}?mode=rwc", path.display());
    sqlx::any::install_default_drivers();
    let mut other = AnyConnection::connect(&url).await.unwrap();
    sqlx::raw_sql("CREATE TABLE theirs (a TEXT)").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    let before = fs::read(&path).unwrap();
    let refused = Ledger::open(&bed.location).await;
    assert!(matches!(refused, Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_schema_that_was_altered_is_named() {
    let bed = Bed::sqlite();
    bed.open().await.close().await;
    bed.meddle("UPDATE schema_steps SET checksum = 'x'").await;
    let refused = Ledger::open(&bed.location).await;
    assert!(matches!(refused, Err(StoreError::Altered { version: 1 })));
}

#[tokio::test]
async fn damage_is_named_and_nothing_is_overwritten() {
    let bed = Bed::sqlite();
    let ledger = bed.open().await;
    for _ in 0..50 {
        store(&ledger, new_run(), met()).await;
    }
    ledger.close().await;
    let path = bed.location.path().unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(path, &bytes).unwrap();
    let damaged = match Ledger::open(&bed.location).await {
        Ok(ledger) => ledger.begin(new_run()).await.err(),
        Err(error) => Some(error),
    };
    assert!(matches!(damaged, Some(StoreError::Corrupt { .. })), "{damaged:?}");
    assert_eq!(fs::read(path).unwrap(), bytes);
    fs::write(path, "no database at all, but long enough to be one. ".repeat(100)).unwrap();
    let foreign = Ledger::open(&bed.location).await.err();
    assert!(matches!(foreign, Some(StoreError::Corrupt { .. })), "{foreign:?}");
}

#[tokio::test]
async fn a_lost_log_is_noticed() {
    let bed = Bed::sqlite();
    let mut child = Child::start(&bed.url);
    assert!(child.tell("begin k").starts_with("fresh"));
    child.kill();
    let wal = bed.folder.path().join("ledger.db-wal");
    let log = fs::read(&wal).unwrap();
    fs::remove_file(&wal).unwrap();
    let lost = Ledger::open(&bed.location).await.err();
    assert!(matches!(lost, Some(StoreError::LogMissing { .. })), "{lost:?}");
    fs::write(&wal, log).unwrap();
    let ledger = bed.open().await;
    assert_eq!(ledger.runs(&Filter::default(), Page::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_reader_makes_and_writes_nothing() {
    let bed = Bed::sqlite();
    let reading = || Settings { access: Access::Read, ..impatient() };
    let absent = Ledger::open_with(&bed.location, reading()).await.err();
    assert!(matches!(absent, Some(StoreError::NotFound { .. })), "{absent:?}");
    assert!(!bed.location.path().unwrap().exists());
    let writer = bed.open().await;
    let token = store(&writer, new_run(), met()).await;
    let reader = Ledger::open_with(&bed.location, reading()).await.unwrap();
    assert_eq!(reader.run(token.id().as_str()).await.unwrap().summary.id, *token.id());
    assert!(matches!(reader.begin(new_run()).await, Err(StoreError::ReadOnly)));
}

#[tokio::test]
async fn a_ledger_is_for_the_eyes_of_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er ü?#%25/ledger.db");
    let ledger = Ledger::open(&Location::Sqlite(path.clone())).await.unwrap();
    begin(&ledger, new_run()).await;
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        let mode = fs::metadata(path.with_file_name(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_named_without_its_password() {
    let secret = "hunter2-hunter2";
    for url in [
        format!("postgres://ada:{secret}@127.0.0.1:1/x"),
        format!(
            "postgres://nobody-known:{secret}@127.0.0.1:{}/x",
            crate::postgres::Server::shared().port()
        ),
    ] {
        let settings = Settings { reconnect: Duration::ZERO, ..impatient() };
        let error = Ledger::open_with(&url.parse().unwrap(), settings).await.err().unwrap();
        assert!(
            matches!(error, StoreError::Unreachable { .. } | StoreError::Login { .. }),
            "{error:?}"
        );
        assert!(!format!("{error:?}").contains(secret));
    }
}
