//! Programs that are not there, too old, or no programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use test_case::test_case;

use crate::cli::Cli;
use crate::stage::{CONTRACT, QUESTION, Said, bare, outcome};

fn ask(folder: &Path, cli: Cli, arguments: &[&str]) -> Said {
    let mut command = bare(folder);
    command.current_dir(folder).args(["run", "--via", cli.name(), "--json-schema", CONTRACT]);
    command.args(["--output-format", "stream-json"]).args(arguments).arg(QUESTION);
    command.output().unwrap().into()
}

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
#[test_case(Cli::Opencode)]
fn a_program_that_is_missing_is_named_with_what_installs_it(cli: Cli) {
    let folder = tempfile::tempdir().unwrap();
    let said = ask(folder.path(), cli, &[]);
    let result = outcome(&said, 3, "harness");
    let error = result["error"].to_string();
    assert!(error.contains(&format!("`{}`", cli.name())), "{error}");
    assert!(error.contains(&format!("npm install --global {}", cli.package())), "{error}");
}

#[test_case(Cli::Claude, &["--via-path", "nowhere"], "--via-path"; "a path to nothing")]
#[test_case(Cli::Claude, &["--via-env", "NAME=value"], "NAME=… airtight run"; "a variable with a value")]
#[test_case(Cli::Qwen, &["--model=--mcp-config=evil.json"], "--via-arg"; "a flag for a model")]
#[test_case(Cli::Gemini, &["--strict"], "leave `--strict` out"; "strict without a place for the contract")]
#[test_case(Cli::Opencode, &["--strict"], "leave `--strict` out"; "strict for opencode")]
fn what_makes_no_sense_is_refused_with_what_to_type(cli: Cli, arguments: &[&str], hint: &str) {
    let folder = tempfile::tempdir().unwrap();
    // A program that is there, so that nothing else is wrong.
    let program = folder.path().join(cli.name());
    fs::write(&program, "#!/bin/sh\ntouch started\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let there = ["--via-path", program.to_str().unwrap()];
    let named = arguments.contains(&"--via-path");
    let arguments = if named { arguments.to_vec() } else { [&there, arguments].concat() };
    let said = ask(folder.path(), cli, &arguments);
    let result = outcome(&said, 2, "usage");
    assert!(result["error"].to_string().contains(hint), "{said:?}");
    assert!(!folder.path().join("started").exists());
}

/// Linux takes no argument over 128 KiB, and claude takes the contract no other way.
#[test]
fn a_contract_that_is_too_long_is_refused_with_what_to_type() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("claude");
    fs::write(&program, "#!/bin/sh\ntouch started\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let contract = json!({
        "type": "object",
        "properties": { "answer": { "type": "integer", "description": "x".repeat(140_000) } },
        "required": ["answer"],
    });
    fs::write(folder.path().join("long.json"), contract.to_string()).unwrap();
    fs::create_dir(folder.path().join("tmp")).unwrap();
    let mut command = bare(folder.path());
    command.current_dir(folder.path()).args(["run", "--via", "claude", "--via-path", "claude"]);
    command.args(["--json-schema", "@long.json", "--output-format", "stream-json", QUESTION]);
    let said: Said = command.output().unwrap().into();
    let result = outcome(&said, 52, "config");
    assert!(result["error"].to_string().contains("--mode prompt"), "{said:?}");
    assert!(!folder.path().join("started").exists());
}

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
#[test_case(Cli::Opencode)]
fn a_program_that_is_too_old_is_not_started(cli: Cli) {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("node_modules").join(cli.package());
    fs::create_dir_all(package.join("bin")).unwrap();
    let description = json!({ "name": cli.package(), "version": "0.0.9" });
    fs::write(package.join("package.json"), description.to_string()).unwrap();
    let program = package.join("bin").join(cli.name());
    fs::write(&program, "#!/bin/sh\ntouch started\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let said = ask(folder.path(), cli, &["--via-path", program.to_str().unwrap()]);
    let result = outcome(&said, 3, "harness");
    assert!(result["error"].to_string().contains("0.0.9"), "{said:?}");
    assert!(!folder.path().join("started").exists());
}
