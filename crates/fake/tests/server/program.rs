//! The program reads a script file, says where it serves, and writes the log.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::{env, fs};

use airtight_fake::Script;
use serde_json::{Value, json};

const SCRIPT: &str = include_str!("../../script.example.json");

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_airtight-fake"))
}

fn refused(script: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    fs::write(&path, script).unwrap();
    program().arg("--script").arg(path).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn the_example_script_says_every_kind_of_thing() {
    let script: Script = serde_json::from_str(SCRIPT).unwrap();
    let again: Script = serde_json::from_value(json!(script)).unwrap();
    assert_eq!(again, script);
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    for kind in
        ["text", "thinking", "call", "refusal", "say", "status", "raw", "gate", "pause", "cut"]
    {
        assert!(SCRIPT.contains(&format!("\"{kind}\"")), "{kind}");
        assert!(readme.contains(&format!("`{kind}`")), "{kind}");
    }
}

#[tokio::test]
async fn the_program_serves_its_script_and_writes_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let (script, log) = (folder.path().join("script.json"), folder.path().join("log.ndjson"));
    let turn = json!({"reply": {"type": "say", "pieces": [{"type": "text", "text": "Hello"}]}});
    fs::write(&script, json!({"turns": [turn]}).to_string()).unwrap();
    let mut running = Running(
        program()
            .args(["--script".as_ref(), script.as_os_str()])
            .args(["--log".as_ref(), log.as_os_str()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let bases: Value = serde_json::from_str(&line).unwrap();
    let url = format!("{}/chat/completions", bases["openai"].as_str().unwrap());
    let asked = json!({"model": "gpt", "messages": [{"role": "user", "content": "Hi"}]});
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer: Value = client.post(url).json(&asked).send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["choices"][0]["message"]["content"], "Hello");

    let mut text = String::new();
    fs::File::open(&log).unwrap().read_to_string(&mut text).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[0]["request"]["body"], asked);
    assert_eq!(
        lines[1],
        json!({"type": "end", "request": 0, "ending": {"type": "complete", "chunks": 1}})
    );
}

#[test]
fn a_file_that_is_no_script_is_refused_with_its_place() {
    let output = refused("{\"turns\": [{\"replay\": 1}]}");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("is no script: unknown field `replay`"), "{told}");
    assert!(told.contains("line 1 column"), "{told}");
}
