//! The real `qwen` as the driver of a tier, with our door in its hooks.

use airtight_fake::Turn;
use serde_json::json;

use crate::cli::Cli;
use crate::estate::{Estate, Said, report};

fn shell(command: &str) -> Turn {
    let arguments = json!({ "command": command, "description": "act", "is_background": false });
    Turn::call("run_shell_command", arguments)
}

/// CO-7, CO-90, CO-93: qwen gets arguments that it knows, its own hook asks before each command, and the third
/// restart is not made.
#[test]
fn qwen_is_counted_and_refused_the_third_restart() {
    let Some(programs) = Cli::Qwen.folder() else { return };
    let restart = |n: u8| shell(&format!("echo {n}; ESTATE=$PWD docker restart web"));
    let answer = Turn::call("structured_output", report("down", false));
    let turns = [restart(1), restart(2), restart(3), answer];
    let estate = Estate::new(Cli::Qwen.script(turns))
        .set("---\n[tiers.3]\nvia = \"qwen\"\nmodel = \"fake\"\n")
        .break_web();
    let (name, settings) = Cli::Qwen.settings(&estate.fake).unwrap();
    std::fs::create_dir(estate.path(".qwen")).unwrap();
    std::fs::write(estate.path(name), settings).unwrap();
    let arguments = ["--config", "watch.toml", "--tier", "3", "--prompt", "Repair web"];
    let path = format!("{}:{}:/usr/bin:/bin", estate.path("bin").display(), programs.display());
    let mut command = estate.command(&arguments);
    command.env("PATH", path).envs(Cli::Qwen.environment(&estate.fake));
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(estate.docker(), ["restart web", "restart web"]);
    assert_eq!(estate.probe(), "HTTP/1.0 200 OK");
    let services: Vec<_> = estate.actions().into_iter().map(|action| action.service).collect();
    assert_eq!(services, ["web", "web"]);
    let session = estate.sessions().remove(0);
    assert_eq!((session.driver.as_str(), session.status.as_str()), ("qwen", "completed"));
    let told = estate.fake.requests().pop().unwrap().body.to_string();
    assert!(told.contains("cooldown: no restart of web"), "{told}");
}
