//! The real `claude` as the driver of a tier, with our door in its hooks.

use airtight_core::watch::ActionState;
use airtight_fake::Turn;
use serde_json::json;

use crate::cli::Cli;
use crate::estate::{Estate, report};

fn bash(command: &str) -> Turn {
    Turn::call("Bash", json!({ "command": command, "description": "act" }))
}

fn structured(report: serde_json::Value) -> Turn {
    Turn::call("StructuredOutput", report)
}

/// Returns an estate whose third tier is driven by claude; nothing if it is not installed.
fn estate(turns: Vec<Turn>) -> Option<(Estate, String)> {
    let programs = Cli::Claude.folder()?;
    let estate = Estate::new(Cli::Claude.script(turns))
        .set("---\n[tiers.3]\nvia = \"claude\"\nmodel = \"haiku\"\n")
        .with("stubborn-nothing", "")
        .break_web();
    let path = format!("{}:{}:/usr/bin:/bin", estate.path("bin").display(), programs.display());
    Some((estate, path))
}

fn repair(estate: &Estate, path: &str) -> crate::said::Said {
    let arguments = ["--config", "watch.toml", "--tier", "3", "--prompt", "Repair web"];
    let mut command = estate.command(&arguments);
    command.env("PATH", path).env("CLAUDE_CODE_MAX_RETRIES", "1").env("IS_SANDBOX", "1");
    command.output().unwrap().into()
}

/// CO-7, CO-93: claude gets its arguments, its own hook asks before each command, and what it does is on
/// record first.
#[test]
fn claude_repairs_a_service_and_is_counted() {
    let turns = vec![bash("ESTATE=$PWD docker restart web"), structured(report("healthy", false))];
    let Some((estate, path)) = estate(turns) else { return };
    let said = repair(&estate, &path);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(estate.docker(), ["restart web"]);
    assert_eq!(estate.probe(), "HTTP/1.0 200 OK");
    let actions = estate.actions();
    assert_eq!((actions.len(), actions[0].service.as_str()), (1, "web"), "{actions:?}");
    assert_eq!(actions[0].state, ActionState::Success);
    let session = estate.sessions().remove(0);
    assert_eq!((session.driver.as_str(), session.status.as_str()), ("claude", "completed"));
}

/// CO-90: the third restart is not made by claude either.
#[test]
fn claude_is_refused_the_third_restart() {
    let restart = |n: u8| bash(&format!("echo {n}; ESTATE=$PWD docker restart web"));
    let turns = vec![restart(1), restart(2), restart(3), structured(report("down", false))];
    let Some((estate, path)) = estate(turns) else { return };
    let said = repair(&estate, &path);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(estate.docker(), ["restart web", "restart web"]);
    let told = estate.fake.requests().pop().unwrap().body.to_string();
    assert!(told.contains("cooldown: no restart of web"), "{told}");
}
