//! A launch directory, a home of its own, and a scripted model.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use airtight_fake::{Fake, Script, Turn};
use airtight_store::{Attempt, Ledger, Location, RunId};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use crate::said::Said;

/// A contract that wants a score from 0 to 10.
const REVIEW: &str = r#"{
  "type": "object",
  "properties": {
    "summary": { "type": "string" },
    "score": { "type": "integer", "minimum": 0, "maximum": 10 }
  },
  "required": ["summary", "score"],
  "additionalProperties": false
}"#;

/// A launch directory with `review.json`, and a model that says what the script says.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) fake: Fake,
}

/// An answer that conforms.
pub(crate) fn good() -> Turn {
    Turn::text(r#"{"summary":"fine","score":9}"#).usage(100, 20)
}

/// An answer that breaks the contract.
pub(crate) fn bad() -> Turn {
    Turn::text(r#"{"summary":"too much","score":11}"#).usage(100, 20)
}

/// Lines of inputs, each with a text of its own.
pub(crate) fn lines(count: usize) -> String {
    let line = |number| json!({ "text": format!("ticket {number}") }).to_string();
    let mut lines: Vec<String> = (1..=count).map(line).collect();
    lines.push(String::new());
    lines.join("\n")
}

impl Stage {
    pub(crate) fn new(script: impl Into<Script>) -> Self {
        let stage = Self {
            folder: tempfile::tempdir().unwrap(),
            fake: Fake::start_blocking(script).unwrap(),
        };
        stage.with("review.json", REVIEW)
    }

    /// Adds a file to the launch directory.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    /// Returns where a file is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the command, with the scripted model in force.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("airtight"));
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("AIRTIGHT_RETRY_ATTEMPTS", "1")
            .env("AIRTIGHT_MODEL", "anthropic:fake")
            .env("ANTHROPIC_BASE_URL", self.fake.anthropic_base())
            .env("ANTHROPIC_API_KEY", "key-of-the-test")
            .current_dir(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command.
    pub(crate) fn say(&self, arguments: &[&str]) -> Said {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs `airtight batch review.json in.jsonl -o out.jsonl` with `arguments`.
    pub(crate) fn batch(&self, arguments: &[&str]) -> Said {
        self.say(&[&BATCH, arguments].concat())
    }

    /// Starts it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(&[&BATCH, arguments].concat()).spawn().unwrap()
    }

    /// Returns the lines of a file of results.
    pub(crate) fn results(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the positions in `out.jsonl`, as they stand.
    pub(crate) fn positions(&self) -> Vec<u64> {
        self.results("out.jsonl").iter().map(|line| line["position"].as_u64().unwrap()).collect()
    }

    /// Returns the attempts of the run in a line of results.
    pub(crate) fn attempts(&self, line: &Value) -> Vec<Attempt> {
        let place = Location::Sqlite(self.path("data/airtight/ledger.db"));
        let id = RunId::from(line["run_id"].as_str().unwrap().to_owned());
        block_on(async {
            let ledger = Ledger::open(&place).await.unwrap();
            let attempts = ledger.attempts(&id).await.unwrap();
            ledger.close().await;
            attempts
        })
    }
}

const BATCH: [&str; 5] = ["batch", "review.json", "in.jsonl", "-o", "out.jsonl"];

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(std::time::Duration::from_mins(1), future).await.expect("in time")
    })
}
