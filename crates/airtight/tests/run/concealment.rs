//! What commands cannot learn of the process that starts them.

use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

use airtight_fake::Turn;
use serde_json::json;

use crate::stage::{Said, Stage, good};

/// Returns the command without the rights by which root reads what it likes.
fn without_privileges(command: &Command) -> Command {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return again(Command::new(command.get_program()), command);
    }
    let mut weak = Command::new("setpriv");
    weak.arg("--bounding-set=-sys_ptrace,-perfmon,-sys_admin").arg(command.get_program());
    again(weak, command)
}

/// Gives `fresh` the arguments and surroundings of `command`.
fn again(mut fresh: Command, command: &Command) -> Command {
    let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    fresh.env_clear().envs(variables).args(command.get_args());
    fresh.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
    fresh
}

#[test]
fn a_command_cannot_read_our_environment() {
    let look = json!({ "command": "cat /proc/$PPID/environ" });
    let stage = Stage::new([Turn::call("run_shell_command", look), good()]);
    let run = ["run", "--json-schema", "review.json", "--output-format", "stream-json"];
    let command = stage.command(&[&run[..], &["--approval-mode", "yolo", "Review"]].concat());
    let said: Said = without_privileges(&command).output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let told = said.lines().into_iter().find(|line| line["type"] == "user").unwrap();
    let result = told["message"]["content"][0]["content"].as_str().unwrap();
    assert!(result.contains("Permission denied"), "{result}");
    assert!(!result.contains("ANTHROPIC_API_KEY"), "{result}");
}
