//! Who answers: a model, or an agent CLI with a model of its own.

use std::fmt;
use std::path::Path;

use airtight_agent::provider::{Model, Retries};
use airtight_agent::{
    ApprovalMode, Deadlines, Harness, Hook, HookEvent, Installed, NotInstalled, Project, Setup,
    Traits,
};
use airtight_core::run::{Mode, Policy};
use airtight_core::transcript::Program;

use super::equipment;
use super::job;
use super::model;
use crate::config::{Config, Key, Origin};
use crate::env::Environment;
use crate::error::{Error, Outcome};

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Driver {
    /// A model.
    Model(Model),
    /// An agent CLI, and its own name of the model, if one was named.
    Program(Program, Option<String>),
}

impl fmt::Display for Driver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(model) => model.fmt(formatter),
            Self::Program(program, None) => formatter.write_str(program.name()),
            Self::Program(program, Some(model)) => write!(formatter, "{}:{model}", program.name()),
        }
    }
}

impl Driver {
    /// Returns who is to answer: whoever was named by what is stronger, and the program if both were
    /// named in one place; then the model is the program's.
    pub(crate) fn chosen(config: &Config, environment: &Environment) -> Result<Self, Error> {
        let program = config.text(Key::Via).and_then(Program::parse);
        let via = config.strongest(Key::Via).map(|entry| &entry.origin);
        let named = config.strongest(Key::Model).map(|entry| &entry.origin);
        match (program, via, named) {
            (Some(program), Some(via), Some(named)) if via.layer() == named.layer() => {
                let model = config.text(Key::Model).map(str::to_owned);
                refuse_flag(program, model.as_deref())?;
                Ok(Self::Program(program, model))
            }
            (Some(program), Some(via), named) if named.is_none_or(|named| via > named) => {
                Ok(Self::Program(program, None))
            }
            _ => model::chosen(config, environment).map(Self::Model),
        }
    }

    /// Returns the model, unless a program has one of its own.
    pub(crate) fn model(&self) -> Option<&Model> {
        match self {
            Self::Model(model) => Some(model),
            Self::Program(..) => None,
        }
    }

    /// Returns the bounds in force. A program counts its turns itself, and one call of it is one turn
    /// of ours.
    pub(in crate::commands) fn policy(&self, config: &Config) -> Result<Policy, Error> {
        let policy = job::policy(config)?;
        Ok(match self {
            Self::Model(_) => policy,
            Self::Program(..) => Policy { max_turns: None, ..policy },
        })
    }

    /// Returns how the contract is put to it.
    pub(in crate::commands) fn mode(&self, config: &Config) -> Mode {
        match (self, job::mode(config)) {
            (Self::Program(program, _), Mode::Auto) => Traits::of(*program).mode,
            (Self::Model(_) | Self::Program(..), mode) => mode,
        }
    }

    /// Returns how failed requests are sent again; programs send theirs again themselves.
    pub(in crate::commands) fn retries(&self, config: &Config) -> Retries {
        let retries = job::retries(config);
        match self {
            Self::Model(_) => retries,
            Self::Program(..) => Retries { limit: 0, ..retries },
        }
    }
}

/// Refuses a name of a model that the program would take for a flag.
fn refuse_flag(program: Program, model: Option<&str>) -> Result<(), Error> {
    let Some(model) = model.filter(|model| model.starts_with('-')) else { return Ok(()) };
    let name = program.name();
    let message = format!("`{model}` is no model of `{name}`: it would be taken for a flag");
    let hint = "name a model; the program's own flags are passed by `--via-arg`";
    Err(Error::new(Outcome::Usage, message).hint(hint))
}

/// Flags that a program cannot honour, with what to do instead.
const FOREIGN: &[Key] = &[
    Key::BaseUrl,
    Key::Temperature,
    Key::MaxOutputTokens,
    Key::Allow,
    Key::Exclude,
    Key::CoreTools,
    Key::Sandbox,
];

/// Refuses flags that mean nothing to `program`: to leave them out in silence would lie.
pub(in crate::commands) fn refuse_foreign(program: Program, config: &Config) -> Result<(), Error> {
    let name = program.name();
    let typed = |key: &&Key| match config.strongest(**key).map(|entry| &entry.origin) {
        Some(Origin::Flag(flag)) => Some(*flag),
        Some(
            Origin::Environment(_)
            | Origin::Contract(_)
            | Origin::User(_)
            | Origin::Tier(_)
            | Origin::Borrowed(_)
            | Origin::Project(_),
        )
        | None => None,
    };
    if let Some(flag) = FOREIGN.iter().find_map(|key| typed(&key)) {
        let message =
            format!("`{flag}` cannot be honoured by `{name}`, which has settings of its own");
        let hint = "leave it out, or pass the program's own flag by `--via-arg`";
        return Err(Error::new(Outcome::Usage, message).hint(hint));
    }
    if typed(&&Key::MaxTurns).is_some() && !Traits::of(program).has_turn_cap {
        let message = format!("`--max-turns` cannot be kept: `{name}` has no cap on turns");
        return Err(Error::new(Outcome::Usage, message)
            .hint("use `--max-wall-time` or `--max-tool-calls`, which are kept here"));
    }
    let natural = Traits::of(program).mode;
    if natural == Mode::Prompt && config.is_on(Key::Strict) == Some(true) {
        let message = format!("`{name}` answers in plain text, which `--strict` refuses");
        let hint = "leave `--strict` out, or use `--via claude`, `--via codex` or `--via qwen`";
        return Err(Error::new(Outcome::Usage, message).hint(hint));
    }
    let mode = config.text(Key::Mode).and_then(Mode::named).unwrap_or_default();
    if [Mode::Auto, Mode::Prompt, natural].contains(&mode) {
        return Ok(());
    }
    let message = format!("`--mode {}` is no way to ask `{name}`", mode.name());
    let hint = format!("leave it out, or use `--mode {}`", natural.name());
    Err(Error::new(Outcome::Usage, message).hint(hint))
}

/// Says which settings a program does not heed.
pub(super) fn unheeded(program: Program, config: &Config) -> Vec<String> {
    let mut keys = FOREIGN.to_vec();
    keys.push(Key::McpServers);
    if !Traits::of(program).has_turn_cap {
        keys.push(Key::MaxTurns);
    }
    let set = keys.into_iter().filter(|key| config.strongest(*key).is_some());
    let name = program.name();
    set.map(|key| format!("`{}` is not heeded: `{name}` has settings of its own", key.name()))
        .collect()
}

/// Says what to do if the program's provider refuses its key.
pub(in crate::commands) fn login_hint(program: Program) -> String {
    let variable = match program {
        Program::Claude => "ANTHROPIC_API_KEY",
        Program::Codex => "CODEX_API_KEY",
        Program::Qwen => "OPENAI_API_KEY",
        Program::Gemini => "GEMINI_API_KEY",
        Program::Opencode => return "log in: type `opencode auth login`".to_owned(),
    };
    format!("log in: start `{}` by hand once, or set `{variable}`", program.name())
}

/// Finds the program.
pub(crate) fn installed(
    program: Program,
    config: &Config,
    environment: &Environment,
) -> Result<Installed, Error> {
    let given = config.text(Key::HarnessPath).map(|path| environment.resolve(path));
    let search = environment.variable("PATH").unwrap_or_default();
    Installed::find(program, given.as_deref(), search.as_ref()).map_err(|error| {
        let hint = error.hint();
        let named = config.strongest(Key::HarnessPath).map(|entry| &entry.origin);
        let outcome = match (&error, named) {
            (NotInstalled::NoProgram(_), Some(Origin::Flag(_))) => Outcome::Usage,
            (NotInstalled::NoProgram(_), _) => Outcome::Contract,
            (NotInstalled::Missing(_) | NotInstalled::TooOld { .. }, _) => {
                Outcome::Run(airtight_core::run::Outcome::Harness)
            }
        };
        Error::new(outcome, error.to_string()).hint(hint)
    })
}

/// Returns the names of further variables that the program gets; they have values already, or none.
fn besides(config: &Config) -> Result<Vec<String>, Error> {
    let names = config.list(Key::HarnessEnvironment).unwrap_or_default();
    if let Some((name, _)) = names.iter().find_map(|name| name.split_once('=')) {
        let message = format!("`--via-env` names a variable, and sets none: `{name}`");
        let hint = format!("set it before: `{name}=… airtight run … --via-env {name}`");
        return Err(Error::new(Outcome::Usage, message).hint(hint));
    }
    Ok(names)
}

/// Says which variables the program was to get that are not there.
pub(super) fn unset(config: &Config, environment: &Environment) -> Vec<String> {
    let names = config.list(Key::HarnessEnvironment).unwrap_or_default();
    let unset = names.into_iter().filter(|name| environment.variable(name).is_none());
    unset.map(|name| format!("`{name}`, which `--via-env` passes on, is not set")).collect()
}

/// Says what becomes of what a repository sets for the program: it counts if the user trusts it.
fn project(
    program: Program,
    approval: ApprovalMode,
    folder: &Path,
    config: &Config,
    environment: &Environment,
) -> Result<Project, Error> {
    if config.trusts(folder, environment) {
        return Ok(Project::Trusted);
    }
    Project::untrusted(program, approval, folder, environment.home()).map_err(|untrusted| {
        let message = "the folder has settings of its own, and you did not say that you trust it";
        Error::new(Outcome::Contract, message).caused_by(untrusted).hint(trust_hint(folder))
    })
}

fn trust_hint(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "read what is there; then pass `--trust-project`, or add `{folder}` to `trusted_projects` in \
         your own `airtight.toml`"
    )
}

/// Says which settings of the folder are left out.
pub(super) fn left_out(harness: &Harness) -> Option<String> {
    let files = harness.left_out().iter().map(|file| format!("`{}`", file.display()));
    let files = files.collect::<Vec<_>>().join(", ");
    let name = harness.program().name();
    (!files.is_empty()).then(|| {
        format!(
            "`{name}` leaves out what the folder sets for it, in {files}: `--trust-project` lets it \
             count"
        )
    })
}

/// Finds the program, and says how it is to be used.
pub(super) fn harness(
    program: Program,
    model: Option<String>,
    folder: std::path::PathBuf,
    config: &Config,
    environment: &Environment,
) -> Result<Harness, Error> {
    let installed = installed(program, config, environment)?;
    let hooks = equipment::hooks(config)?;
    let is_guard = |hook: &Hook| hook.event == HookEvent::PreToolUse;
    if hooks.iter().any(is_guard) && !Traits::of(program).takes_guards {
        let message = format!("`{}` has no place for `PreToolUse` hooks", program.name());
        let hint = "use `--via claude` or `--via qwen`, or remove the hooks";
        return Err(Error::new(Outcome::Contract, message).hint(hint));
    }
    let approval = equipment::approval(config)?;
    let project = project(program, approval, &folder, config, environment)?;
    let besides = besides(config)?;
    let usual = Deadlines::default();
    Ok(Harness::new(Setup {
        program,
        installed,
        folder,
        project,
        environment: Setup::environment_of(program, environment.all(), &besides),
        model,
        approval,
        max_turns: config.small(Key::MaxTurns),
        reasks: job::policy(config)?.reasks,
        arguments: config.list(Key::HarnessArguments).unwrap_or_default(),
        hooks,
        guard: Environment::program(),
        deadlines: Deadlines {
            first_line: config.duration(Key::HeadTimeout).unwrap_or(usual.first_line),
            idle: config.duration(Key::IdleTimeout).unwrap_or(usual.idle),
            total: config.duration(Key::TotalTimeout).unwrap_or(usual.total),
            exit: usual.exit,
        },
    }))
}
