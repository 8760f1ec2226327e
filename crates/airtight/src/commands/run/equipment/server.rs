//! MCP servers: those of the settings, and those of `--mcp-config`, which are stronger.

use airtight_agent::{McpServer, McpTransport};
use airtight_core::redact::names_secret;

use crate::config::{Config, Key};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file;

/// Far more than anybody configures.
const LIMIT_BYTES: usize = 1024 * 1024;

/// Reads every server.
pub(super) fn read(
    named: Option<&str>,
    config: &Config,
    environment: &Environment,
) -> Result<Vec<McpServer>, Error> {
    let mut servers = McpServer::read(&config.table(Key::McpServers)).map_err(|error| {
        Error::new(Outcome::Contract, "`mcpServers` cannot be used").caused_by(error)
    })?;
    let Some(path) = named else { return Ok(servers) };
    let refused = || Error::new(Outcome::Contract, format!("`--mcp-config {path}` cannot be used"));
    let bytes = file::read(&environment.resolve(path), LIMIT_BYTES)
        .map_err(|error| refused().caused_by(error))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| refused().with_findings(vec!["it is not UTF-8".to_owned()]))?;
    let stronger = McpServer::parse(&text).map_err(|error| refused().caused_by(error))?;
    servers.retain(|server| stronger.iter().all(|other| other.name != server.name));
    servers.extend(stronger);
    Ok(servers)
}

/// Returns what a server is told that must not show, schemes such as `Bearer` left out.
pub(super) fn secrets(server: &McpServer) -> Vec<&str> {
    match &server.transport {
        McpTransport::Stdio { environment, .. } => {
            let secrets = environment.iter().filter(|(name, _)| names_secret(name));
            secrets.map(|(_, value)| value.trim()).collect()
        }
        McpTransport::Http { headers, .. } => {
            headers.iter().filter_map(|(_, value)| value.split_whitespace().next_back()).collect()
        }
    }
}
