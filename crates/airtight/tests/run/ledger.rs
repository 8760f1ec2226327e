//! Every run is on record, and the ledger can be asked.

mod asking;
mod deaths;
mod deciding;
mod evolving;
mod failing;
mod keeping;
mod keys;

use serde_json::Value;

use crate::stage::{Said, Stage};

/// Asks `airtight` something about the ledger.
fn ask(stage: &Stage, arguments: &[&str]) -> Said {
    stage.bare(arguments).output().unwrap().into()
}

/// Returns the runs on record, the newest first.
fn listed(stage: &Stage) -> Vec<Value> {
    let said = ask(stage, &["runs", "list"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.lines()
}

/// Returns everything about a run.
fn shown(stage: &Stage, id: &str) -> Value {
    let said = ask(stage, &["runs", "show", id, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    serde_json::from_str(&said.stdout).unwrap()
}

/// Returns the name of the newest run.
fn newest(stage: &Stage) -> String {
    listed(stage)[0]["id"].as_str().unwrap().to_owned()
}

/// Returns the bytes of the ledger and of its log.
fn bytes(stage: &Stage) -> Vec<u8> {
    let files = ["ledger.db", "ledger.db-wal"].map(|name| stage.path("data/airtight").join(name));
    files.iter().flat_map(|path| std::fs::read(path).unwrap_or_default()).collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
