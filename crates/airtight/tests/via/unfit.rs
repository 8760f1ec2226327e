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
