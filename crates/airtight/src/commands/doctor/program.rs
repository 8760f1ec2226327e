//! Agent CLIs: where they are, which version, whether somebody is logged in, and what of a contract each
//! can honour. Nothing is started for it.

use std::path::PathBuf;

use airtight_agent::{Installed, Traits};
use airtight_core::run::{Account, Mode};
use airtight_core::transcript::Program as Name;
use serde::Serialize;

use crate::env::Environment;

/// An agent CLI, if it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) path: Option<PathBuf>,
    /// Its version, if that stands beside it.
    pub(super) version: Option<String>,
    /// Where it would get its key from: a variable or a file; absent if there is none.
    pub(super) login: Option<String>,
    /// How a contract is put to it, and whether it tells what an answer costs.
    pub(super) honours: String,
    /// Why it cannot be used, although something was found.
    pub(super) problem: Option<String>,
}

/// Looks for every program.
pub(super) fn find(environment: &Environment) -> Vec<Program> {
    Name::ALL.into_iter().map(|name| examine(name, environment)).collect()
}

fn examine(name: Name, environment: &Environment) -> Program {
    let search = environment.variable("PATH").unwrap_or_default();
    let found = Installed::find(name, None, search.as_ref());
    let problem = match &found {
        Err(error @ airtight_agent::NotInstalled::TooOld { .. }) => Some(error.to_string()),
        Ok(_) | Err(_) => None,
    };
    let found = found.ok();
    Program {
        name: name.name(),
        login: found.as_ref().and_then(|_| login(name, environment)),
        version: found.as_ref().and_then(|found| found.version.clone()),
        path: found.map(|found| found.path),
        honours: honours(name),
        problem,
    }
}

/// Says what of a contract a program can honour; our own verdict honours all of it.
fn honours(name: Name) -> String {
    let traits = Traits::of(name);
    let way = match traits.mode {
        Mode::Tool => "schema as a tool",
        Mode::Native => "schema as output format",
        Mode::Prompt | Mode::Auto => "schema in words",
    };
    match traits.account {
        Account::Driver => format!("{way}, cost told"),
        Account::Price => way.to_owned(),
    }
}

/// Finds where a program would get its key from.
fn login(name: Name, environment: &Environment) -> Option<String> {
    let (variables, folder, home, file): (&[&str], &str, &str, &str) = match name {
        Name::Claude => (
            &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
            "CLAUDE_CONFIG_DIR",
            "~/.claude",
            ".credentials.json",
        ),
        Name::Codex => {
            (&["CODEX_API_KEY", "OPENAI_API_KEY"], "CODEX_HOME", "~/.codex", "auth.json")
        }
        Name::Qwen => (&["OPENAI_API_KEY"], "QWEN_HOME", "~/.qwen", "oauth_creds.json"),
        Name::Gemini => {
            (&["GEMINI_API_KEY", "GOOGLE_API_KEY"], "", "~/.gemini", "oauth_creds.json")
        }
        Name::Opencode => (&[], "", "~/.local/share/opencode", "auth.json"),
    };
    let set = variables.iter().find(|variable| environment.variable(variable).is_some());
    if let Some(variable) = set {
        return Some(format!("${variable}"));
    }
    let folder = environment.variable(folder).unwrap_or(home);
    let path = environment.resolve(folder).join(file);
    path.is_file().then(|| path.display().to_string())
}
