//! A small estate: services on loopback that a file breaks, a `docker` that mends them, and a scripted
//! model that looks after them.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use airtight_fake::{Fake, Script, Turn};
use airtight_store::{
    Action, ActionFilter, EventFilter, Ledger, Location, Notification, Order, Page, Service,
    Session, SessionFilter, WatchEvent,
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use crate::said::Said;

/// What the model must never show.
pub(crate) const KEY: &str = "key-of-the-test-estate";

/// From the oldest.
pub(crate) const ALL: Page = Page { limit: 1000, after: None, order: Order::OldestFirst };

/// An estate with the service `web`.
pub(crate) struct Estate {
    folder: TempDir,
    pub(crate) fake: Fake,
    port: u16,
}

/// Answers, and mends nothing: whoever restarts a service does.
const DOCKER: &str = r#"#!/bin/sh
echo "$@" >> "$ESTATE/docker.log"
test -e "$ESTATE/stubborn-$2" && { echo "cannot restart $2" >&2; exit 1; }
rm -f "$ESTATE/broken-$2"
echo "$2"
"#;

/// Prints the first line of what a service answers.
const PROBE: &str = r"#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/$1 || exit 1
printf 'GET / HTTP/1.0\r\n\r\n' >&3
head -n 1 <&3
";

impl Estate {
    pub(crate) fn new(script: impl Into<Script>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake::start_blocking(script).unwrap();
        let port = serve(folder.path().join("broken-web"));
        let estate = Self { folder, fake, port };
        std::fs::create_dir(estate.path("bin")).unwrap();
        for (name, text) in [("docker", DOCKER), ("probe", PROBE)] {
            let path = estate.path("bin").join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        estate
            .with("services.md", "- web: an HTTP service; `probe PORT` shows its answer\n")
            .set("")
    }

    /// Adds a file.
    pub(crate) fn with(self, name: &str, content: &str) -> Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    /// Writes `watch.toml`; `more` stands before its tables.
    pub(crate) fn set(self, more: &str) -> Self {
        let (top, tables) = more.split_once("---").unwrap_or((more, ""));
        let file = format!(
            "services = \"services.md\"\nlogs = \"logs\"\n{top}\n\
             [tiers.1]\nmodel = \"anthropic:fake\"\n{tables}"
        );
        self.with("watch.toml", &file)
    }

    /// Returns where a file is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Breaks the service, or lets it be broken for good.
    pub(crate) fn break_web(self) -> Self {
        self.with("broken-web", "")
    }

    /// Returns the first line that the service answers.
    pub(crate) fn probe(&self) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text.lines().next().unwrap().to_owned()
    }

    /// Returns the command by which a session looks at the service.
    pub(crate) fn probing(&self) -> String {
        format!("probe {}", self.port)
    }

    /// Returns what was done to services, one line each.
    pub(crate) fn docker(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("docker.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the command `airtight watch …`.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("airtight"));
        command
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("AIRTIGHT_RETRY_ATTEMPTS", "1")
            .env("ANTHROPIC_BASE_URL", self.fake.anthropic_base())
            .env("ANTHROPIC_API_KEY", KEY)
            .env("ESTATE", self.folder.path())
            .current_dir(self.folder.path())
            .arg("watch")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `airtight watch` with `arguments`.
    pub(crate) fn say(&self, arguments: &[&str]) -> Said {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs one chain.
    pub(crate) fn once(&self, arguments: &[&str]) -> Said {
        self.say(&[&["--config", "watch.toml", "--once"], arguments].concat())
    }

    /// Starts the watch.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(&[&["--config", "watch.toml"], arguments].concat()).spawn().unwrap()
    }

    /// Asks the ledger.
    pub(crate) fn asked<T>(&self, ask: impl AsyncFnOnce(&Ledger) -> T) -> T {
        let place = Location::Sqlite(self.path("data/airtight/ledger.db"));
        block_on(async {
            let ledger = Ledger::open(&place).await.unwrap();
            let asked = ask(&ledger).await;
            ledger.close().await;
            asked
        })
    }

    pub(crate) fn sessions(&self) -> Vec<Session> {
        self.asked(async |ledger| ledger.sessions(&SessionFilter::default(), ALL).await.unwrap())
    }

    pub(crate) fn events(&self) -> Vec<WatchEvent> {
        self.asked(async |ledger| ledger.watch_events(&EventFilter::default(), ALL).await.unwrap())
    }

    pub(crate) fn actions(&self) -> Vec<Action> {
        self.asked(async |ledger| ledger.actions(&ActionFilter::default(), ALL).await.unwrap())
    }

    pub(crate) fn services(&self) -> Vec<Service> {
        self.asked(async |ledger| ledger.services().await.unwrap())
    }

    pub(crate) fn notifications(&self) -> Vec<Notification> {
        self.asked(async |ledger| ledger.notifications(None, ALL).await.unwrap())
    }

    /// Returns tier and status of each session.
    pub(crate) fn statuses(&self) -> Vec<(i64, String)> {
        self.sessions().into_iter().map(|session| (session.tier, session.status)).collect()
    }
}

/// Serves one service until the process ends: 200, and 503 while `broken` exists.
fn serve(broken: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut buffer = [0; 1024];
            let _asked = stream.read(&mut buffer).is_ok();
            let status = if Path::exists(&broken) { "503 Broken" } else { "200 OK" };
            let answer = format!("HTTP/1.0 {status}\r\ncontent-length: 0\r\n\r\n");
            let _answered = stream.write_all(answer.as_bytes()).is_ok();
        }
    }));
    port
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(std::time::Duration::from_mins(1), future).await.expect("in time")
    })
}

/// A report: how `web` is, and whether the next tier must take over.
pub(crate) fn report(status: &str, escalate: bool) -> Value {
    let level = if status == "healthy" { "info" } else { "critical" };
    let mut escalation = json!({ "needed": escalate });
    if escalate {
        escalation["reason"] = "web answers 503".into();
    }
    json!({
        "summary": format!("web is {status}"),
        "events": [{ "level": level, "service": "web", "message": format!("web is {status}") }],
        "escalation": escalation,
        "services_checked": [{ "name": "web", "status": status, "detail": "probe" }],
    })
}

/// The answer of a session.
pub(crate) fn answer(report: Value) -> Turn {
    Turn::call("structured_output", report).usage(100, 20)
}

/// A command of a session.
pub(crate) fn shell(command: &str) -> Turn {
    Turn::call("run_shell_command", json!({ "command": command })).usage(50, 10)
}

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}
