//! Agent CLIs: where they are, which version, whether somebody is logged in, and what each can honour of
//! what a run may ask. Only one that has no package beside it is started, to say its version.

use std::ffi::OsStr;
use std::path::PathBuf;

use airtight_agent::{Installed, NotInstalled, Setup, Traits};
use airtight_core::redact::names_secret;
use airtight_core::run::{Account, Mode};
use airtight_core::transcript::Program as Name;
use futures_util::future::join_all;
use serde::Serialize;

use super::login::login;
use super::provider::Network;
use super::versions::{Mark, Versions};
use crate::env::Environment;

/// An agent CLI, if it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) path: Option<PathBuf>,
    /// Its version: as it stands beside it, else as it says itself.
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

impl Program {
    /// Claims that it could do a job now.
    pub(super) fn is_ready(&self) -> bool {
        self.path.is_some() && self.login.is_some() && self.problem.is_none()
    }
}

/// What was found of a program.
struct Found {
    name: Name,
    installed: Result<Installed, NotInstalled>,
    /// What it said just now, if it was asked.
    said: Option<(Mark, String)>,
}

/// Looks for every program.
pub(super) async fn find(environment: &Environment, network: Network) -> Vec<Program> {
    let versions = Versions::load(environment, airtight_agent::now());
    let all = join_all(Name::ALL.map(|name| look(name, environment, &versions, network))).await;
    versions.keep(all.iter().filter_map(|found| found.said.clone()).collect());
    all.into_iter().map(|found| examine(found, environment)).collect()
}

/// Looks for a program, and asks it for its version if that is not known.
async fn look(
    name: Name,
    environment: &Environment,
    versions: &Versions,
    network: Network,
) -> Found {
    let search = environment.variable("PATH").unwrap_or_default();
    let mut installed = Installed::find(name, None, search.as_ref());
    let mut said = None;
    if let Ok(found) = &mut installed
        && found.version.is_none()
    {
        let mark = Mark::of(&found.path);
        found.version = mark.as_ref().and_then(|mark| versions.of(mark));
        if found.version.is_none() && network == Network::Used {
            // What nobody has looked at yet needs no key to say its version.
            let variables = environment.all().filter(|(name, _)| !is_key(name));
            let variables = Setup::environment_of(name, variables, &[]);
            found.version = found.ask_version(variables, Environment::program()).await;
            said = mark.zip(found.version.clone());
        }
    }
    Found { name, installed, said }
}

fn is_key(name: &OsStr) -> bool {
    names_secret(&name.to_string_lossy())
}

fn examine(found: Found, environment: &Environment) -> Program {
    let Found { name, installed, .. } = found;
    let problem = match &installed {
        Err(error @ NotInstalled::TooOld { .. }) => Some(error.to_string()),
        Ok(_) | Err(_) => None,
    };
    let found = installed.ok();
    let traits = Traits::of(name);
    Program {
        name: name.name(),
        login: found.as_ref().and_then(|_| login(name, &[], environment)),
        warning: found.as_ref().and_then(|found| warning(name, found.version.as_deref())),
        version: found.as_ref().and_then(|found| found.version.clone()),
        path: found.map(|found| found.path),
        honours: honours(traits),
        mode: traits.mode.name(),
        abilities: abilities(traits),
        problem,
    }
}

/// Says what nobody knows of a program: its version, or whether so old a one works. A run does not ask,
/// so it refuses neither.
fn warning(name: Name, version: Option<&str>) -> Option<String> {
    let (program, oldest) = (name.name(), Installed::oldest(name));
    match version {
        None => Some(format!(
            "the version of `{program}` is not known: its package is not beside it, and it does not \
             say it; {oldest} is the oldest that is known to work"
        )),
        Some(version) if Installed::is_too_old(name, version) => Some(format!(
            "`{program}` says that it is {version}: {oldest} is the oldest that is known to work"
        )),
        Some(_) => None,
    }
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
