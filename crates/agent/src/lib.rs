//! Performs what `airtight-core` decides: providers, tools, hooks, subagents, MCP.

mod clock;
mod download;
mod drive;
mod git;
mod github;
mod harness;
mod hooks;
mod journal;
mod mcp;
mod permission;
mod process;
pub mod provider;
mod recording;
mod sandbox;
mod scratch;
mod spoken;
mod subagent;
mod telemetry;
mod toolbox;
mod tools;
mod workspace;

pub use clock::now;
pub use download::{DownloadError, download};
pub use drive::{Agent, EXTRACTOR, Event, Observer};
pub use git::{Git, GitError};
pub use github::{GITHUB_API_URL, PostError, PullRequest, post_review};
pub use harness::{Deadlines, Harness, Installed, NotInstalled, Project, Setup, Traits, Untrusted};
pub use hooks::{
    CommandEnd, CommandPlace, Guard, Guarding, HOOK_TIMEOUT, Hook, HookEvent, HookFault,
    HookFaults, Hooks, Veto, run_command,
};
pub use journal::{Arrival, Course, Departure, Entry, Journal, Landing};
pub use mcp::{Mcp, McpConfigError, McpServer, McpState, McpStatus, McpTransport};
pub use permission::{
    ApprovalMode, Denied, Permissions, Rule, RuleError, Subject, UnknownMode, Visibility,
};
pub use process::{Environment, GUARD_ARGUMENT, guard_family, hide_process, kill_groups};
pub use recording::Recording;
pub use sandbox::{HELPER_ARGUMENT, Sandbox, SandboxError, enter_and_exec};
pub use spoken::{Piece, Spoken};
pub use subagent::{AGENT_TOOL, Subagents};
pub use telemetry::TELEMETRY_TARGET;
pub use toolbox::{CallContext, Called, Effect, Note, Tool, ToolError, Toolbox, ToolboxBuilder};
pub use tools::{RESULT_LIMIT_BYTES, Standard};
pub use workspace::{PathError, Workspace, WorkspaceError};
