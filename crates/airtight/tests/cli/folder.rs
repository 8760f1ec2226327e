//! A launch directory with files in it.

use std::path::PathBuf;

use assert_cmd::Command;
use tempfile::TempDir;

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

/// A launch directory that is removed in the end.
pub(crate) struct Folder(TempDir);

/// What a command said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    /// Makes a folder with `review.json` in it.
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.with("review.json", REVIEW)
    }

    /// Adds a file.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Returns where a file is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the command here, with nothing on stdin.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.run_with(arguments, "")
    }

    /// Runs the command here.
    pub(crate) fn run_with(&self, arguments: &[&str], stdin: impl Into<Vec<u8>>) -> Said {
        let output = Command::cargo_bin("airtight")
            .unwrap()
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env_remove("CLICOLOR_FORCE")
            // A command that blocks is a failure of its own.
            .timeout(std::time::Duration::from_mins(1))
            .args(arguments)
            .write_stdin(stdin)
            .output()
            .unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
