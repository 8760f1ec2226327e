//! A launch directory, a home of its own, a scripted model and a real agent CLI.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use airtight_fake::{Fake, Turn};
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::Cli;
use crate::processes::survivors;
pub(crate) use crate::said::Said;

/// A contract that wants an integer, and may have a note.
pub(crate) const CONTRACT: &str = r#"{
  "type": "object",
  "properties": { "answer": { "type": "integer" }, "note": { "type": "string" } },
  "required": ["answer"],
  "additionalProperties": false
}"#;

/// What is asked.
pub(crate) const QUESTION: &str = "What is the answer?";

/// A hook that denies everything but the answer, by our name for it.
pub(crate) const GUARD: &str = "[[hooks.PreToolUse]]\n\
    command = \"grep -q structured_output && exit 0; echo not here >&2; exit 2\"\n";

/// A folder in which one agent CLI runs, and nothing else does.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) fake: Fake,
    pub(crate) cli: Cli,
    programs: PathBuf,
}

impl Stage {
    /// Sets the stage for `cli`, whose model says `turns`; returns nothing, and says so, if it is not
    /// installed.
    pub(crate) fn open(cli: Cli, turns: impl IntoIterator<Item = Turn>) -> Option<Self> {
        let Some(programs) = cli.folder() else {
            crate::installed::say_missing(cli);
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake::start_blocking(cli.script(turns)).unwrap();
        let stage = Self { folder, fake, cli, programs };
        for name in ["work", "tmp"] {
            std::fs::create_dir(stage.path(name)).unwrap();
        }
        match cli.settings(&stage.fake) {
            Some((name, content)) => Some(stage.with(&format!("home/{name}"), &content)),
            None => Some(stage),
        }
    }

    /// Adds a file.
    pub(crate) fn with(self, name: &str, content: &str) -> Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Returns where a file is; the program works in `work`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the command that asks the program by `contract`.
    pub(crate) fn command(&self, contract: &str, arguments: &[&str]) -> Command {
        let mut command = bare(self.folder.path());
        command
            .env("PATH", format!("{}:/usr/bin:/bin", self.programs.display()))
            .envs(self.cli.environment(&self.fake))
            .current_dir(self.path("work"))
            .args(["run", "--via", self.cli.name(), "--model", self.cli.model()])
            .args(["--output-format", "stream-json", "--json-schema", contract])
            .args(arguments);
        command
    }

    /// Asks by [`CONTRACT`], and finds that nothing is left running.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Said {
        self.ask_by(CONTRACT, &[arguments, &[QUESTION]].concat())
    }

    /// Asks by `contract`, and finds that nothing is left running.
    pub(crate) fn ask_by(&self, contract: &str, arguments: &[&str]) -> Said {
        self.end(self.command(contract, arguments).spawn().unwrap())
    }

    /// Starts to ask by [`CONTRACT`].
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(CONTRACT, &[arguments, &[QUESTION]].concat()).spawn().unwrap()
    }

    /// Waits for the end, and finds that nothing is left running.
    pub(crate) fn end(&self, child: Child) -> Said {
        let said = child.wait_with_output().unwrap().into();
        assert_eq!(survivors(self.folder.path()), Vec::<String>::new(), "{said:?}");
        said
    }

    /// Waits until the model is at a gate.
    pub(crate) fn await_gate(&self, name: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let gate = self.fake.gate(name);
        let reached = async { tokio::time::timeout(Duration::from_mins(1), gate.reached()).await };
        runtime.block_on(reached).unwrap();
    }
}

/// Returns the command with everything that it writes below `folder`, and with no program on its path
/// but the system's.
pub(crate) fn bare(folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("airtight"));
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.join("home"))
        .env("TMPDIR", folder.join("tmp"))
        // A real pause before a request is sent again would only slow the test.
        .env("AIRTIGHT_RETRY_ATTEMPTS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Returns what the program was called for, call by call.
pub(crate) fn calls(result: &Value) -> &[Value] {
    result["harness"].as_array().map_or(&[], Vec::as_slice)
}

/// Asserts the exit code and the outcome, and returns the result.
#[track_caller]
pub(crate) fn outcome(said: &Said, code: i32, outcome: &str) -> Value {
    let result = said.result();
    assert_eq!((said.code, result["outcome"].as_str()), (code, Some(outcome)), "{said:?}");
    let has_value = !result["structured_output"].is_null();
    assert_eq!(has_value, outcome == "met", "{said:?}");
    result
}
