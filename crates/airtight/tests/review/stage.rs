//! A git repository, a home of its own, and a scripted model.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use airtight_fake::{Fake, Script, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use crate::said::Said;

/// A file as it is on `main`.
pub(crate) const BEFORE: &str = "\
impl Token {
    fn matches(&self, other: &str) -> bool {
        constant_time_eq(&self.0, other)
    }
}
";

/// The same file with a bug on line 3.
pub(crate) const AFTER: &str = "\
impl Token {
    fn matches(&self, other: &str) -> bool {
        self.0 == other
    }
}
";

/// A repository with a branch `main`, and a model that says what the script says.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) fake: Fake,
}

/// An answer with these findings, in the shape that the provider is asked for.
pub(crate) fn found(findings: &Value) -> Turn {
    Turn::text(json!({ "value": findings }).to_string()).usage(100, 20)
}

/// A finding on lines of a file.
pub(crate) fn finding(severity: &str, file: &str, first: i64, last: i64) -> Value {
    json!({
        "severity": severity,
        "file": file,
        "line_start": first,
        "line_end": last,
        "description": format!("The token is compared with == in {file}, which leaks its length."),
        "suggestion": "Compare in constant time: `constant_time_eq`.",
    })
}

/// The one bug of [`AFTER`].
pub(crate) fn leak() -> Value {
    finding("critical", "src/auth.rs", 3, 3)
}

impl Stage {
    /// Makes a repository in which nothing has changed.
    pub(crate) fn new(script: impl Into<Script>) -> Self {
        let stage = Self {
            folder: tempfile::tempdir().unwrap(),
            fake: Fake::start_blocking(script).unwrap(),
        };
        stage.git(["init", "-q", "-b", "main"]);
        let stage = stage.with("src/auth.rs", BEFORE);
        stage.commit();
        stage
    }

    /// Makes a repository in which `src/auth.rs` has changed.
    pub(crate) fn changed(script: impl Into<Script>) -> Self {
        Self::new(script).with("src/auth.rs", AFTER)
    }

    /// Writes a file, and its folders.
    pub(crate) fn with(self, name: impl AsRef<std::path::Path>, content: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Returns where a file is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs git, without any settings of whoever runs the tests.
    pub(crate) fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Vec<u8> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_NAME", "Ada")
            .env("GIT_AUTHOR_EMAIL", "ada@example.org")
            .env("GIT_COMMITTER_NAME", "Ada")
            .env("GIT_COMMITTER_EMAIL", "ada@example.org")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// Commits everything.
    pub(crate) fn commit(&self) {
        self.git(["add", "--all"]);
        self.git(["commit", "-q", "-m", "x"]);
    }

    /// Returns the command, with the scripted model in force.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("airtight"));
        let home = self.folder.path().with_extension("home");
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("AIRTIGHT_RETRY_ATTEMPTS", "0")
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

    /// Runs `airtight review` with `arguments`.
    pub(crate) fn review(&self, arguments: &[&str]) -> Said {
        self.say(&[&["review"], arguments].concat())
    }

    /// Runs `airtight review -` with `diff` on stdin.
    pub(crate) fn piped(&self, diff: &[u8], arguments: &[&str]) -> Said {
        let file = self.folder.path().with_extension("diff");
        std::fs::write(&file, diff).unwrap();
        let mut command = self.command(&[&["review", "-"], arguments].concat());
        let said = command.stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
        std::fs::remove_file(file).unwrap();
        said.into()
    }

    /// Returns what the model was asked, one text for each request.
    pub(crate) fn asked(&self) -> Vec<String> {
        let text = |request: &airtight_fake::Request| {
            let messages = request.body["messages"].as_array().unwrap();
            messages.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        self.fake.requests().iter().map(text).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // It may not be there.
        drop(std::fs::remove_dir_all(self.folder.path().with_extension("home")));
    }
}

/// Returns the one document on stdout.
pub(crate) fn document(said: &Said) -> Value {
    let lines = said.lines();
    assert_eq!(lines.len(), 1, "{said:?}");
    lines[0].clone()
}

/// Returns place and severity of each finding.
pub(crate) fn places(said: &Said) -> Vec<(String, String, i64)> {
    let document = document(said);
    let findings = document["findings"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let place =
        |it: &Value| (text(&it["severity"]), text(&it["file"]), it["line_start"].as_i64().unwrap());
    findings.iter().map(place).collect()
}

/// Returns file and reason of what was not reviewed.
pub(crate) fn gaps(said: &Said) -> Vec<(String, String)> {
    let document = document(said);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let gaps = document["unreviewed"].as_array().unwrap();
    gaps.iter().map(|gap| (text(&gap["file"]), text(&gap["reason"]))).collect()
}
