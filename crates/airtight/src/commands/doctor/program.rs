//! Agent CLIs: where they are, which version, whether somebody is logged in, and what each can honour of
//! what a run may ask. Nothing is started for it.

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
    /// What it can honour, for people.
    pub(super) honours: String,
    /// How a contract is put to it, in the word of `--mode`.
    pub(super) mode: &'static str,
    /// What else it can do: [`abilities`].
    pub(super) abilities: Vec<&'static str>,
    /// What is doubtful about it, although it can be used.
    pub(super) warning: Option<String>,
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
    let traits = Traits::of(name);
    Program {
        name: name.name(),
        login: found.as_ref().and_then(|_| login(name, environment)),
        warning: found.as_ref().and_then(|found| warning(name, found)),
        version: found.as_ref().and_then(|found| found.version.clone()),
        path: found.map(|found| found.path),
        honours: honours(traits),
        mode: traits.mode.name(),
        abilities: abilities(traits),
        problem,
    }
}

/// Says that nobody knows whether a version works that does not stand beside the program.
fn warning(name: Name, found: &Installed) -> Option<String> {
    found.version.is_none().then(|| {
        format!(
            "the version of `{}` is not known, for its package is not beside it: {} is the oldest \
             that is known to work",
            name.name(),
            Installed::oldest(name)
        )
    })
}

/// Says what a program can honour, for people; of a contract our own verdict honours everything.
fn honours(traits: Traits) -> String {
    let way = match traits.mode {
        Mode::Tool => "schema as a tool",
        Mode::Native => "schema as output format",
        Mode::Prompt | Mode::Auto => "schema in words",
    };
    let abilities = abilities(traits).into_iter().map(|ability| match ability {
        "cost" => "cost told",
        "turn_cap" => "turn cap",
        other => other,
    });
    std::iter::once(way).chain(abilities).collect::<Vec<_>>().join(", ")
}

/// Returns what a program can do that others cannot: `cost` (it tells what an answer cost), `resume` (it
/// is asked again in the same session), `turn_cap` (`--max-turns`), `guards` (`PreToolUse` hooks) and
/// `strict` (`--strict`).
fn abilities(traits: Traits) -> Vec<&'static str> {
    let all = [
        (traits.account == Account::Driver, "cost"),
        // So far each of them has a way.
        (true, "resume"),
        (traits.has_turn_cap, "turn_cap"),
        (traits.takes_guards, "guards"),
        (traits.mode != Mode::Prompt, "strict"),
    ];
    all.into_iter().filter(|(has, _)| *has).map(|(_, ability)| ability).collect()
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
