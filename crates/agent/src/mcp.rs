//! Tools of MCP servers, over stdio or streamable HTTP.
//!
//! The rule it protects: a server that is missing, dies or hangs costs its tools, never the run.
//! Servers start side by side within a time limit; what they offer is bounded; a call that gets
//! no answer in time is a failed call that the model reads about. Programs get the environment
//! without its secrets, besides what their configuration names, and go with all their children.

mod config;
mod gauge;
mod tool;

use std::collections::HashMap;
use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService, ServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::process::{Environment, Group};
use crate::toolbox::Tool;
use gauge::Gauge;
use tool::McpTool;

pub use config::{McpConfigError, McpServer, McpState, McpTransport};

/// How long a server may take from its start to the list of its tools: `npx` may install first.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server may take to leave.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// More tools than any model can choose from; what lies beyond is left out and said.
const TOOLS_LIMIT: usize = 128;

/// The connection to a server.
type Connection = RunningService<RoleClient, ClientConfig>;

/// What became of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpStatus {
    /// The name in the configuration.
    pub name: String,
    /// Why it has no tools, if it is not connected.
    pub failure: Option<String>,
    /// What deserves a word although it is connected.
    pub note: Option<String>,
}

/// The connected servers of a run.
#[derive(Debug, Default)]
pub struct Mcp {
    lines: Vec<Line>,
    statuses: Vec<McpStatus>,
    tools: Vec<(String, Arc<dyn Tool>)>,
}

/// One connected server.
#[derive(Debug)]
struct Line {
    connection: Arc<Connection>,
    /// The processes that were started for it.
    group: Option<Group>,
}

/// Why a server has no tools.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("it did not start within {} s", START_TIMEOUT.as_secs())]
    Timeout,
    #[error("it cannot be started: {0}")]
    Spawn(#[source] std::io::Error),
    #[error("header `{0}` is not valid")]
    Header(String),
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("it does not speak the protocol: {0}")]
    Handshake(String),
    #[error("its tools cannot be listed: {0}")]
    List(#[source] rmcp::ServiceError),
}

impl Mcp {
    /// Starts or reaches every server, side by side; programs see `environment` and their own.
    pub async fn connect(servers: Vec<McpServer>, environment: &Environment) -> Self {
        let mut starting = JoinSet::new();
        let enabled = servers.into_iter().filter(|server| server.state == McpState::Enabled);
        for (order, server) in enabled.enumerate() {
            let environment = environment.clone();
            starting.spawn(async move {
                let starting = start(&server, &environment);
                let started = tokio::time::timeout(START_TIMEOUT, starting).await;
                (order, server, started.unwrap_or(Err(StartError::Timeout)))
            });
        }
        let mut started = starting.join_all().await;
        // Statuses come in the order of the configuration, however fast the servers were.
        started.sort_by_key(|(order, ..)| *order);
        let mut mcp = Self::default();
        for (_, server, result) in started {
            mcp.add(&server, result);
        }
        mcp
    }

    fn add(&mut self, server: &McpServer, started: Result<Started, StartError>) {
        let (failure, note) = match started {
            Ok(Started { connection, group, offered, oversized }) => {
                let connection = Arc::new(connection);
                let left_out = offered.len().saturating_sub(TOOLS_LIMIT);
                for remote in offered.into_iter().take(TOOLS_LIMIT) {
                    let line = (Arc::clone(&connection), oversized.clone());
                    let tool = McpTool::new(server, line, remote);
                    self.tools.push((server.name.clone(), Arc::new(tool)));
                }
                self.lines.push(Line { connection, group });
                let note = || format!("{left_out} tools over the limit are left out");
                (None, (left_out > 0).then(note))
            }
            Err(error) => (Some(error.to_string()), None),
        };
        self.statuses.push(McpStatus { name: server.name.clone(), failure, note });
    }

    /// Returns what became of each server, in the order of the configuration.
    pub fn statuses(&self) -> &[McpStatus] {
        &self.statuses
    }

    /// Returns the tools, each with the name of its server.
    pub fn tools(&self) -> impl Iterator<Item = (&str, Arc<dyn Tool>)> {
        self.tools.iter().map(|(server, tool)| (server.as_str(), Arc::clone(tool)))
    }

    /// Ends every connection and every process that was started for one.
    pub async fn close(self) {
        drop(self.tools);
        let mut closing = JoinSet::new();
        for line in self.lines {
            closing.spawn(line.close());
        }
        closing.join_all().await;
    }
}

impl Line {
    /// Says goodbye, then ends what is still there.
    async fn close(self) {
        let Self { connection, group } = self;
        if let Ok(mut connection) = Arc::try_unwrap(connection) {
            drop(connection.close_with_timeout(STOP_TIMEOUT).await);
        }
        let Some(mut group) = group else { return };
        // A server whose stdin is closed leaves by itself.
        if tokio::time::timeout(STOP_TIMEOUT, group.wait()).await.is_ok_and(|it| it.is_ok()) {
            group.kill_rest().await;
        } else if let Err(error) = group.end().await {
            tracing::warn!(%error, "an MCP server cannot be ended");
        }
    }
}

/// A connection, the processes behind it and what the server offers.
struct Started {
    connection: Connection,
    group: Option<Group>,
    offered: Vec<rmcp::model::Tool>,
    /// Changes when the server says more at once than is read.
    oversized: watch::Receiver<()>,
}

async fn start(server: &McpServer, environment: &Environment) -> Result<Started, StartError> {
    let us = ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("airtight", env!("CARGO_PKG_VERSION")),
    );
    let (group, oversized, connection) = match &server.transport {
        McpTransport::Stdio { .. } => {
            let (group, (said, told)) = spawn(&server.transport, environment)?;
            let (said, oversized) = Gauge::new(said);
            (Some(group), oversized, us.serve((said, told)).await)
        }
        McpTransport::Http { url, headers } => {
            let (_, never) = watch::channel(());
            (None, never, us.serve(http(url, headers)?).await)
        }
    };
    let connection = connection.map_err(|error| refused(&error))?;
    let offered = connection.list_all_tools().await.map_err(StartError::List)?;
    Ok(Started { connection, group, offered, oversized })
}

/// Says why there is no connection: a server that is not there speaks no protocol at all.
fn refused(error: &ClientInitializeError) -> StartError {
    let ClientInitializeError::TransportError { error: transport, .. } = error else {
        return StartError::Handshake(error.to_string());
    };
    match transport.error.downcast_ref() {
        Some(StreamableHttpError::<reqwest::Error>::Client(error)) if error.is_connect() => {
            StartError::Unreachable(last_cause(error))
        }
        _ => StartError::Handshake(transport.error.to_string()),
    }
}

/// Returns the cause that people know: "Connection refused", "certificate expired".
fn last_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// What a program says and what it is told.
type Pipes = (ChildStdout, ChildStdin);

fn spawn(transport: &McpTransport, inherited: &Environment) -> Result<(Group, Pipes), StartError> {
    let McpTransport::Stdio { command, args, environment, folder } = transport else {
        return Err(StartError::Handshake("it is not a program".to_owned()));
    };
    let mut program = Command::new(command);
    program.args(args).env_clear().envs(inherited.iter()).envs(environment);
    if let Some(folder) = folder {
        program.current_dir(folder);
    }
    // What a server logs is its own business: on our stderr it would look like ours.
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut group = Group::spawn(program).map_err(StartError::Spawn)?;
    match (group.stdout(), group.stdin()) {
        (Some(stdout), Some(stdin)) => Ok((group, (stdout, stdin))),
        _ => Err(StartError::Handshake("it has no pipes".to_owned())),
    }
}

fn http(
    url: &str,
    headers: &[(String, String)],
) -> Result<StreamableHttpClientTransport<reqwest::Client>, StartError> {
    let headers = headers
        .iter()
        .map(|(name, value)| {
            let bad = || StartError::Header(name.clone());
            let mut secret = HeaderValue::from_str(value).map_err(|_| bad())?;
            secret.set_sensitive(true);
            Ok((HeaderName::try_from(name.as_str()).map_err(|_| bad())?, secret))
        })
        .collect::<Result<HashMap<_, _>, StartError>>()?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    Ok(StreamableHttpClientTransport::from_config(config))
}
