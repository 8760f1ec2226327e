//! What the model may use: tools, servers and hooks, and who may object.

mod hook;
mod server;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use airtight_agent::{
    AGENT_TOOL, ApprovalMode, Effect, Environment as CommandEnvironment, Hook, Hooks, Mcp,
    McpServer, Note, Permissions, Rule, Sandbox, Standard, Subagents, Tool, Toolbox, Visibility,
    Workspace,
};
use airtight_core::nearest;
use airtight_core::run::{self, Terminal};

use crate::config::{Config, Key};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::output;

/// What is asked for beside the settings.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::commands) struct Wanted<'a> {
    /// The folder that tools are confined to; absent, the launch directory.
    pub(in crate::commands) workspace: Option<&'a Path>,
    /// A file with more MCP servers.
    pub(in crate::commands) mcp_config: Option<&'a str>,
}

/// What the model may use, before anything is started.
pub(in crate::commands) struct Equipment {
    workspace: Arc<Workspace>,
    permissions: Arc<Permissions>,
    /// Absent if the model is asked once, without tools.
    tools: Option<Tools>,
    hooks: Vec<Hook>,
    /// What commands, servers and hooks see of ours.
    environment: CommandEnvironment,
}

/// Whether the model has tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Offered {
    /// It has.
    Tools,
    /// It is asked for the answer alone.
    None,
}

struct Tools {
    standard: Vec<Arc<dyn Tool>>,
    servers: Vec<McpServer>,
}

/// What the model may use, started.
pub(in crate::commands) struct Unpacked {
    pub(in crate::commands) toolbox: Toolbox,
    pub(in crate::commands) hooks: Hooks,
    pub(in crate::commands) subagents: Option<Subagents>,
    pub(in crate::commands) mcp: Mcp,
    pub(super) workspace: PathBuf,
    pub(super) permission_mode: &'static str,
    pub(in crate::commands) terminal: Terminal,
}

impl Equipment {
    /// Reads what is asked for, and refuses what cannot be had.
    pub(in crate::commands) fn plan(
        wanted: Wanted<'_>,
        config: &Config,
        environment: &Environment,
        offered: Offered,
    ) -> Result<Self, Error> {
        let folder = match wanted.workspace {
            Some(folder) => environment.launch_directory().join(folder),
            None => environment.launch_directory().to_owned(),
        };
        let workspace = Workspace::open(&folder).map_err(|error| {
            Error::new(Outcome::Contract, "the workspace cannot be used").caused_by(error)
        })?;
        let mut equipment = Self {
            workspace: Arc::new(workspace),
            permissions: Arc::new(permissions(config)?),
            tools: None,
            hooks: hooks(config)?,
            environment: CommandEnvironment::without_secrets(environment.all()),
        };
        if offered == Offered::Tools {
            let standard = equipment.standard(sandbox(config)?);
            require_core_tools(config, &standard)?;
            let servers = server::read(wanted.mcp_config, config, environment)?;
            equipment.tools = Some(Tools { standard, servers });
        }
        Ok(equipment)
    }

    /// Returns the folder that everything is confined to.
    pub(in crate::commands) fn folder(&self) -> &Path {
        self.workspace.root()
    }

    fn standard(&self, sandbox: Option<Sandbox>) -> Vec<Arc<dyn Tool>> {
        let standard = Standard {
            workspace: Arc::clone(&self.workspace),
            permissions: Arc::clone(&self.permissions),
            environment: self.environment.clone(),
            sandbox,
            private_hosts: Vec::new(),
        };
        standard.into_tools()
    }

    /// Returns what servers are told that must not show: secret variables, and every header.
    pub(in crate::commands) fn secrets(&self) -> Vec<&str> {
        let servers = self.tools.iter().flat_map(|tools| &tools.servers);
        servers.flat_map(server::secrets).collect()
    }

    /// Starts what has to be started.
    pub(in crate::commands) async fn unpack(self, session_id: &str) -> Unpacked {
        let root = self.workspace.root().to_owned();
        let permissions = self.permissions;
        let is_shown = |tool| permissions.visibility(tool, Effect::Reads) == Visibility::Shown;
        let subagents = self.tools.is_some() && is_shown(AGENT_TOOL);
        let mut builder = Toolbox::builder().permissions(Arc::clone(&permissions));
        let mut mcp = Mcp::default();
        if let Some(tools) = self.tools {
            builder = builder.tools(tools.standard);
            mcp = Mcp::connect(tools.servers, &self.environment).await;
            builder =
                mcp.tools().fold(builder, |builder, (server, tool)| builder.mcp(server, tool));
        }
        Unpacked {
            toolbox: builder.build(),
            hooks: Hooks::new(self.hooks, session_id, root.clone(), self.environment),
            subagents: subagents.then(Subagents::default),
            mcp,
            workspace: root,
            permission_mode: permissions.mode().name(),
            terminal: permissions.terminal(),
        }
    }
}

impl Unpacked {
    /// Returns what became of each server.
    pub(super) fn servers(&self) -> Vec<output::McpServer> {
        let server = |status: &airtight_agent::McpStatus| output::McpServer {
            name: status.name.clone(),
            status: if status.failure.is_some() { "failed" } else { "connected" }.to_owned(),
        };
        self.mcp.statuses().iter().map(server).collect()
    }

    /// Returns what deserves a warning.
    pub(in crate::commands) fn notes(&self) -> Vec<String> {
        let servers = self.mcp.statuses().iter().filter_map(|status| {
            let why = status.failure.as_ref().or(status.note.as_ref())?;
            Some(format!("MCP server `{}`: {why}", status.name))
        });
        let note = |note: &Note| match note {
            Note::Duplicate(name) => format!("there are two tools `{name}`; the later is left out"),
            Note::UnmatchedRule(rule) => format!("the rule `{rule}` names no tool"),
        };
        // Subagents are a tool, but not one of the box.
        let is_ours = |note: &&Note| **note != Note::UnmatchedRule(AGENT_TOOL.to_owned());
        servers.chain(self.toolbox.notes().iter().filter(is_ours).map(note)).collect()
    }
}

/// Returns the sandbox if it is asked for; less is never given.
fn sandbox(config: &Config) -> Result<Option<Sandbox>, Error> {
    if config.is_on(Key::Sandbox) != Some(true) {
        return Ok(None);
    }
    let refused = |message: &str| Error::new(Outcome::Run(run::Outcome::Sandbox), message);
    let helper =
        Environment::program().ok_or_else(|| refused("the sandbox cannot find its helper"))?;
    match Sandbox::new(helper, &Environment::temporary_folder()) {
        Ok(sandbox) => Ok(Some(sandbox)),
        Err(error) => Err(refused("the sandbox cannot be enforced")
            .caused_by(error)
            .hint("leave `--sandbox` out, and do not allow `run_shell_command`")),
    }
}

/// Returns the hooks in force.
pub(super) fn hooks(config: &Config) -> Result<Vec<Hook>, Error> {
    hook::read(&config.table(Key::Hooks))
}

/// Returns what tools may do without asking.
pub(super) fn approval(config: &Config) -> Result<ApprovalMode, Error> {
    match config.text(Key::ApprovalMode) {
        Some(name) => ApprovalMode::from_str(name)
            .map_err(|error| Error::new(Outcome::Contract, error.to_string())),
        None => Ok(ApprovalMode::default()),
    }
}

pub(in crate::commands) fn permissions(config: &Config) -> Result<Permissions, Error> {
    let mut permissions = Permissions::new(approval(config)?)
        .allow(rules(config, Key::Allow)?)
        .exclude(rules(config, Key::Exclude)?);
    if config.list(Key::CoreTools).is_some() {
        permissions = permissions.core_tools(rules(config, Key::CoreTools)?);
    }
    Ok(permissions)
}

/// Refuses a name among the only tools that is none of them: the model would have less than was
/// meant. Tools of servers are not known before those have started.
fn require_core_tools(config: &Config, standard: &[Arc<dyn Tool>]) -> Result<(), Error> {
    let ours = standard.iter().map(|tool| tool.spec().name.as_str());
    let known: Vec<&str> = ours.chain([AGENT_TOOL, run::TERMINAL_TOOL]).collect();
    let Some(origin) = config.strongest(Key::CoreTools).map(|entry| &entry.origin) else {
        return Ok(());
    };
    for rule in rules(config, Key::CoreTools)? {
        let rule_text = rule.to_string();
        let name = rule_text.split('(').next().unwrap_or_default();
        let may_be_theirs = name.starts_with("mcp__") || name.contains('*');
        if may_be_theirs || known.iter().any(|tool| rule.covers(tool)) {
            continue;
        }
        let error = Error::new(Outcome::Contract, format!("{origin}: there is no tool `{name}`"));
        return Err(match nearest(name, known.iter().copied()) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error.hint(format!("there are {}", known.join(", "))),
        });
    }
    Ok(())
}

fn rules(config: &Config, key: Key) -> Result<Vec<Rule>, Error> {
    let rules = config.list(key).unwrap_or_default();
    let read = |text: &String| {
        Rule::from_str(text).map_err(|error| {
            Error::new(Outcome::Contract, format!("`{}` cannot be read", key.name()))
                .caused_by(error)
        })
    };
    rules.iter().map(read).collect()
}
