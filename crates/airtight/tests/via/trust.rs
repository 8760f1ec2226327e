//! What a repository sets for a program counts only if its user trusts it.

use test_case::test_case;

use crate::cli::Cli;
use crate::stage::{Stage, outcome};

/// Returns a file of a repository that has the program leave a mark where `mark` says.
fn trap(cli: Cli, mark: &str) -> (&'static str, String) {
    let hook = format!(
        r#"{{"hooks":{{"SessionStart":[{{"hooks":[{{"type":"command","command":"touch {mark}"}}]}}]}}}}"#
    );
    match cli {
        Cli::Claude => (".claude/settings.json", hook),
        Cli::Qwen => (".qwen/settings.json", hook),
        Cli::Gemini => (".gemini/settings.json", hook),
        Cli::Codex => {
            let command = format!(r#"command = "/bin/touch"{}args = ["{mark}"]"#, '\n');
            (".codex/config.toml", format!("[mcp_servers.trap]\n{command}\n"))
        }
        Cli::Opencode => {
            let server = format!(r#"{{"type":"local","command":["/bin/touch","{mark}"]}}"#);
            ("opencode.json", format!(r#"{{"mcp":{{"trap":{server}}}}}"#))
        }
    }
}

/// Opens a stage in a repository with a trap.
fn open(cli: Cli) -> Option<(Stage, &'static str)> {
    let stage = Stage::open(cli, [cli.answer(r#"{"answer":42}"#).forever()])?;
    let (name, content) = trap(cli, stage.path("mark").to_str().unwrap());
    Some((stage.with(&format!("work/{name}"), &content), name))
}

#[test_case(Cli::Claude, "default")]
#[test_case(Cli::Codex, "default")]
#[test_case(Cli::Codex, "auto-edit")]
#[test_case(Cli::Qwen, "default")]
pub(crate) fn what_a_repository_sets_counts_only_if_it_is_trusted(cli: Cli, mode: &str) {
    let Some((stage, name)) = open(cli) else { return };
    let said = stage.ask(&["--approval-mode", mode]);
    outcome(&said, 0, "met");
    assert!(!stage.path("mark").exists(), "{said:?}");
    let folder = name.split('/').next().unwrap();
    assert!(said.stderr.contains(folder) && said.stderr.contains("--trust-project"), "{said:?}");
    // Codex reads them only where it may write, unless it trusts the folder itself.
    if (cli, mode) != (Cli::Codex, "default") {
        let said = stage.ask(&["--approval-mode", mode, "--trust-project"]);
        outcome(&said, 0, "met");
        assert!(stage.path("mark").exists(), "{said:?}");
    }
}

#[test_case(Cli::Gemini, "default")]
#[test_case(Cli::Qwen, "yolo")]
fn a_program_that_cannot_leave_it_out_is_not_started(cli: Cli, mode: &str) {
    let Some((stage, name)) = open(cli) else { return };
    let said = stage.ask(&["--approval-mode", mode]);
    let result = outcome(&said, 52, "config");
    let error = result["error"].to_string();
    let folder = name.split('/').next().unwrap();
    assert!(error.contains(folder) && error.contains("--trust-project"), "{error}");
    assert!(stage.fake.requests().is_empty());
    outcome(&stage.ask(&["--approval-mode", mode, "--trust-project"]), 0, "met");
}
