//! What an agent CLI is told of its tier: tools and denied commands in its own words, by its own options, and
//! the hook by which it asks before it calls a tool.
//!
//! The hook is asked about every tool, for nobody knows what the tools of others do, and denies whatever it
//! cannot ask. What the options deny is denied there, too.

use std::path::Path;

use airtight_core::transcript::Program;
use airtight_core::watch::{Tier, TierTool, default_tools};
use airtight_watch::{DOOR_ARGUMENT, SHELL};
use serde_json::{Value, json};

use crate::error::{Error, Outcome};

/// Returns the arguments that allow `tools` to `program` and deny it the commands of `deny`.
pub(super) fn arguments(
    program: Program,
    tools: &[String],
    deny: &[String],
) -> Result<Vec<String>, Error> {
    let (allowed, denied) = match program {
        Program::Claude => {
            let names = claude_names(tools);
            let rules: Vec<String> = deny.iter().map(|command| claude_rule(command)).collect();
            (format!("--allowedTools={}", names.join(",")), ("--disallowedTools", rules))
        }
        Program::Qwen => {
            let names = qwen_names(tools);
            // It takes every comma for the end of a rule.
            let rules = deny.iter().filter(|command| !command.contains(','));
            let rules = rules.map(|command| format!("{SHELL}({command})")).collect();
            (format!("--allowed-tools={}", names.join(",")), ("--exclude-tools", rules))
        }
        Program::Codex | Program::Gemini | Program::Opencode => return Err(refused(program)),
    };
    let (option, rules) = denied;
    let denied = (!rules.is_empty()).then(|| format!("{option}={}", rules.join(",")));
    Ok(std::iter::once(allowed).chain(denied).collect())
}

fn refused(program: Program) -> Error {
    let name = program.name();
    let message = format!("`{name}` cannot drive a tier: it asks nobody before it runs a command");
    Error::new(Outcome::Contract, message)
        .hint("use `via = \"claude\"` or `via = \"qwen\"`, or leave `via` out and name a model")
}

/// Returns the hook that has `asking` ask at `door`. Exit code 2 denies, and no other does.
pub(super) fn hook(asking: &Path, door: &Path) -> Value {
    let command = format!("{} {DOOR_ARGUMENT} {} || exit 2", quoted(asking), quoted(door));
    json!({ "PreToolUse": [{ "command": command, "timeout": "60s" }] })
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

/// Returns our names of tools that may be given by claude's.
pub(super) fn own_names(tools: &[String]) -> Vec<String> {
    names(tools, TierTool::own_names)
}

/// Returns the names that a program has for tools; what is no name of claude's stays as it is.
fn names(tools: &[String], of: fn(TierTool) -> &'static [&'static str]) -> Vec<String> {
    let known = default_tools(Tier::Remediate);
    let translate = |name: &String| -> Vec<String> {
        match known.iter().find(|tool| tool.claude_name() == name) {
            Some(tool) => of(*tool).iter().map(|name| (*name).to_owned()).collect(),
            None => vec![name.clone()],
        }
    };
    tools.iter().flat_map(translate).collect()
}

/// Returns qwen's names of tools that may be given by claude's or ours. Of ours, one is another there.
fn qwen_names(tools: &[String]) -> Vec<String> {
    let own = |name: String| if name == "grep" { "grep_search".to_owned() } else { name };
    names(tools, TierTool::qwen_names).into_iter().map(own).collect()
}

/// Returns claude's names of tools that may be given by ours.
fn claude_names(tools: &[String]) -> Vec<String> {
    let known = default_tools(Tier::Remediate);
    let translate = |name: &String| {
        let tool = known.iter().find(|tool| tool.own_names().contains(&name.as_str()));
        tool.map_or(name.clone(), |tool| tool.claude_name().to_owned())
    };
    let mut names: Vec<String> = tools.iter().map(translate).collect();
    names.dedup();
    names
}

/// Returns a denied command as claude writes it: what begins so, with anything behind.
fn claude_rule(command: &str) -> String {
    match command.strip_suffix(" *").filter(|begin| !begin.contains('*')) {
        Some(begin) => format!("Bash({begin}:*)"),
        None => format!("Bash({command})"),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn told(program: Program, tools: &[&str], deny: &[&str]) -> Vec<String> {
        let owned =
            |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        arguments(program, &owned(tools), &owned(deny)).unwrap()
    }

    /// CO-7: each program has its own options, and its own names of tools.
    #[test]
    fn co_7_each_program_is_told_in_its_own_words() {
        let (tools, deny) = (["Bash", "Read", "mcp__x"], ["docker restart *", "a, b"]);
        assert_eq!(
            told(Program::Claude, &tools, &deny),
            [
                "--allowedTools=Bash,Read,mcp__x",
                "--disallowedTools=Bash(docker restart:*),Bash(a, b)"
            ]
        );
        assert_eq!(
            told(Program::Qwen, &tools, &deny),
            [
                "--allowed-tools=run_shell_command,read_file,list_directory,mcp__x",
                "--exclude-tools=run_shell_command(docker restart *)"
            ]
        );
        assert_eq!(told(Program::Qwen, &["grep"], &[]), ["--allowed-tools=grep_search"]);
    }

    /// CO-93: a program that asks nobody drives no tier.
    #[test]
    fn co_93_a_program_that_asks_nobody_drives_no_tier() {
        for program in [Program::Codex, Program::Gemini, Program::Opencode] {
            let error = arguments(program, &[], &[]).unwrap_err();
            assert_eq!(error.kind, Outcome::Contract);
            assert!(error.hints[0].contains("via = \"claude\""), "{:?}", error.hints);
        }
    }

    /// CO-93: only exit code 2 denies, so whatever goes wrong must end with it.
    #[test]
    fn co_93_a_hook_whose_program_is_gone_denies() {
        for (asking, code) in [("/nowhere/airtight (deleted)", 2), ("false", 2), ("true", 0)] {
            let hook = hook(Path::new(asking), Path::new("/it's a door"));
            let command = hook["PreToolUse"][0]["command"].as_str().unwrap();
            let mut shell = Command::new("sh");
            let ended = shell.args(["-c", command]).stderr(Stdio::null()).status().unwrap();
            assert_eq!(ended.code(), Some(code), "{command}");
        }
        assert_eq!(hook(Path::new("a"), Path::new("b"))["PreToolUse"][0]["matcher"], Value::Null);
    }
}
