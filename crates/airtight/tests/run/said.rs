//! What a command said.

use std::process::Output;

use serde_json::Value;

/// What a command said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Said {
    /// Returns each line of stdout as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the one result, which must come last.
    pub(crate) fn result(&self) -> Value {
        let lines = self.lines();
        let results = lines.iter().filter(|line| line["type"] == "result").count();
        assert_eq!(results, 1, "{}", self.stdout);
        let last = lines.last().unwrap();
        assert_eq!(last["type"], "result");
        assert_eq!(last["exit_code"], self.code);
        last.clone()
    }
}
