//! A launch directory, a home of its own, and a scripted model.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use airtight_fake::{Fake, Script, Turn};
use serde_json::json;
use tempfile::TempDir;

pub(crate) use crate::said::Said;

/// A contract that wants a score from 0 to 10.
pub(crate) const REVIEW: &str = r#"{
  "type": "object",
  "properties": {
    "summary": { "type": "string" },
    "score": { "type": "integer", "minimum": 0, "maximum": 10 }
  },
  "required": ["summary", "score"],
  "additionalProperties": false
}"#;

/// The key that must never show.
pub(crate) const KEY: &str = "sk-ant-REDACTED";

/// A launch directory with `review.json`, and a model that says what the script says.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) fake: Fake,
}

/// An answer that conforms, by the terminal tool.
pub(crate) fn good() -> Turn {
    Turn::call("structured_output", json!({ "summary": "fine", "score": 9 })).usage(100, 20)
}

/// An answer that breaks the contract, by the terminal tool.
pub(crate) fn bad() -> Turn {
    Turn::call("structured_output", json!({ "summary": "too much", "score": 11 })).usage(100, 20)
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
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Returns where a file is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the command, with the scripted model in force.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare(arguments);
        command
            .env("AIRTIGHT_MODEL", "anthropic:fake")
            .env("ANTHROPIC_BASE_URL", self.fake.anthropic_base())
            .env("ANTHROPIC_API_KEY", KEY);
        command
    }

    /// Returns the command with nothing in force.
    pub(crate) fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("airtight"));
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            // A real pause before a request is sent again would only slow the test.
            .env("AIRTIGHT_RETRY_ATTEMPTS", "1")
            .current_dir(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `airtight run --json-schema review.json` with `arguments`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.command(&[&["run", "--json-schema", "review.json"], arguments].concat())
            .output()
            .unwrap()
            .into()
    }

    /// Runs it as a stream of JSON.
    pub(crate) fn stream(&self, arguments: &[&str]) -> Said {
        self.run(&[&["--output-format", "stream-json"], arguments].concat())
    }

    /// Starts it as a stream of JSON.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let run = ["run", "--json-schema", "review.json", "--output-format", "stream-json"];
        self.command(&[&run, arguments].concat()).spawn().unwrap()
    }

    /// Waits for a file with the number of a process, and returns the number.
    pub(crate) fn pid(&self, name: &str) -> String {
        loop {
            let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
            match text.strip_suffix('\n') {
                Some(pid) => return pid.to_owned(),
                None => std::thread::yield_now(),
            }
        }
    }

    /// Returns what is in every file below `folder`, bytes that are no text replaced.
    pub(crate) fn contents(&self, folder: &str) -> Vec<String> {
        let mut found = Vec::new();
        collect(&self.path(folder), &mut found);
        found
    }
}

/// Waits until there is no process of this number, or only its remains.
pub(crate) fn await_end(pid: &str) {
    let stat = Path::new("/proc").join(pid).join("stat");
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        std::thread::yield_now();
    }
}

fn collect(folder: &Path, found: &mut Vec<String>) {
    for entry in folder.read_dir().into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.push(String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
        }
    }
}
