//! The standard `mcpServers` object that agent programs share.
//!
//! Members that other programs put there are theirs and left alone.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// How long a call may take unless the configuration says otherwise.
const CALL_TIMEOUT: Duration = Duration::from_mins(1);

/// A server to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The name in the configuration.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// How long a call may take.
    pub timeout: Duration,
    /// Whether it is used.
    pub state: McpState,
}

/// Whether a server is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum McpState {
    /// It is.
    #[default]
    Enabled,
    /// It is configured, and left alone.
    Disabled,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// It is a program that speaks on stdin and stdout.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What its environment has besides ours, secrets included.
        environment: BTreeMap<String, String>,
        /// Where it runs.
        folder: Option<PathBuf>,
    },
    /// It is a service that speaks streamable HTTP.
    Http {
        /// Where it is.
        url: String,
        /// Headers, which may hold secrets.
        headers: Vec<(String, String)>,
    },
}

impl fmt::Debug for McpTransport {
    /// Shows neither environment nor headers, which hold secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, .. } => {
                formatter.debug_struct("Stdio").field("command", command).finish_non_exhaustive()
            }
            Self::Http { url, .. } => {
                formatter.debug_struct("Http").field("url", url).finish_non_exhaustive()
            }
        }
    }
}

/// Why an `mcpServers` object cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpConfigError {
    /// The text is no JSON.
    #[error("it is not JSON: line {line}, column {column}")]
    NotJson {
        /// The line of the mistake.
        line: usize,
        /// Its column.
        column: usize,
    },
    /// There is no `mcpServers` object.
    #[error("it has no object `mcpServers`")]
    NoServers,
    /// A server's entry is not understood.
    #[error(
        "server `{0}` needs a `command` or a `url`, with `args`, `env` and `headers` of strings"
    )]
    BadServer(String),
    /// A server's timeout is no time.
    #[error("the `timeout` of server `{0}` must be a whole number of milliseconds, from 1")]
    BadTimeout(String),
    /// A transport that the protocol gave up.
    #[error(
        "server `{0}` uses the old `sse` transport; only stdio and streamable HTTP are supported"
    )]
    OldTransport(String),
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(rename = "httpUrl")]
    http_url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    timeout: Option<Value>,
    #[serde(default)]
    disabled: bool,
}

impl McpServer {
    /// Reads a JSON document with an `mcpServers` object.
    pub fn parse(text: &str) -> Result<Vec<Self>, McpConfigError> {
        let document: Value = serde_json::from_str(text).map_err(|error| {
            McpConfigError::NotJson { line: error.line(), column: error.column() }
        })?;
        Self::read(document.get("mcpServers").ok_or(McpConfigError::NoServers)?)
    }

    /// Reads the object itself.
    pub fn read(servers: &Value) -> Result<Vec<Self>, McpConfigError> {
        let servers = servers.as_object().ok_or(McpConfigError::NoServers)?;
        servers.iter().map(|(name, entry)| Self::of(name, entry)).collect()
    }

    fn of(name: &str, entry: &Value) -> Result<Self, McpConfigError> {
        let bad = || McpConfigError::BadServer(name.to_owned());
        let entry = Entry::deserialize(entry).map_err(|_| bad())?;
        if entry.kind.as_deref() == Some("sse") {
            return Err(McpConfigError::OldTransport(name.to_owned()));
        }
        let transport = match (entry.command, entry.http_url.or(entry.url)) {
            (Some(command), None) => McpTransport::Stdio {
                command,
                args: entry.args,
                environment: entry.env,
                folder: entry.cwd,
            },
            (None, Some(url)) => {
                McpTransport::Http { url, headers: entry.headers.into_iter().collect() }
            }
            (Some(_), Some(_)) | (None, None) => return Err(bad()),
        };
        let timeout = match entry.timeout {
            Some(timeout) => {
                milliseconds(&timeout).ok_or_else(|| McpConfigError::BadTimeout(name.to_owned()))?
            }
            None => CALL_TIMEOUT,
        };
        let state = if entry.disabled { McpState::Disabled } else { McpState::Enabled };
        Ok(Self { name: name.to_owned(), transport, timeout, state })
    }
}

fn milliseconds(timeout: &Value) -> Option<Duration> {
    timeout.as_u64().filter(|count| *count > 0).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_transports_are_read_and_foreign_members_left_alone() {
        let text = r#"{"mcpServers": {
            "files": {"command": "serve", "args": ["."], "env": {"A": "b"}, "trust": true},
            "web": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"x-key": "k"},
                    "timeout": 1500}}, "other": 1}"#;
        let stdio = McpTransport::Stdio {
            command: "serve".to_owned(),
            args: vec![".".to_owned()],
            environment: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
            folder: None,
        };
        let http = McpTransport::Http {
            url: "http://127.0.0.1:1/mcp".to_owned(),
            headers: vec![("x-key".to_owned(), "k".to_owned())],
        };
        let server = |name: &str, transport, timeout| McpServer {
            name: name.to_owned(),
            transport,
            timeout,
            state: McpState::Enabled,
        };
        assert_eq!(
            McpServer::parse(text),
            Ok(vec![
                server("files", stdio, CALL_TIMEOUT),
                server("web", http, Duration::from_millis(1500)),
            ])
        );
    }

    #[test]
    fn what_cannot_be_used_is_named_without_its_content() {
        for (text, error) in [
            ("{", McpConfigError::NotJson { line: 1, column: 1 }),
            ("{}", McpConfigError::NoServers),
            (r#"{"mcpServers": []}"#, McpConfigError::NoServers),
            (r#"{"mcpServers": {"a": {}}}"#, McpConfigError::BadServer("a".to_owned())),
            (r#"{"mcpServers": {"a": {"command": 1}}}"#, McpConfigError::BadServer("a".to_owned())),
            (
                r#"{"mcpServers": {"a": {"command": "x", "timeout": -1}}}"#,
                McpConfigError::BadTimeout("a".to_owned()),
            ),
            (
                r#"{"mcpServers": {"a": {"type": "sse", "url": "http://x"}}}"#,
                McpConfigError::OldTransport("a".to_owned()),
            ),
        ] {
            assert_eq!(McpServer::parse(text), Err(error));
        }
    }

    #[test]
    fn debug_shows_neither_environment_nor_headers() {
        let text = r#"{"mcpServers": {"a": {"command": "c", "env": {"K": "hunter2"}},
            "b": {"url": "http://x", "headers": {"K": "hunter2"}}}}"#;
        assert!(!format!("{:?}", McpServer::parse(text)).contains("hunter2"));
    }
}
