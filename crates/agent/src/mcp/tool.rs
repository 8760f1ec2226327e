//! One tool of a server.

use std::sync::Arc;
use std::time::Duration;

use airtight_core::excerpt;
use airtight_core::message::{Enforcement, ToolSpec};
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::gauge::MESSAGE_LIMIT_BYTES;
use super::{Connection, McpServer};
use crate::toolbox::{CallContext, Called, Effect, Tool, ToolError};

/// Descriptions are paid for on every turn.
const DESCRIPTION_LIMIT_CHARS: usize = 4_096;

/// A tool of an MCP server.
#[derive(Debug)]
pub(super) struct McpTool {
    spec: ToolSpec,
    remote_name: String,
    server: String,
    timeout: Duration,
    connection: Arc<Connection>,
    /// Changes when the server says more at once than is read.
    oversized: watch::Receiver<()>,
}

impl McpTool {
    /// Takes what the server says of it.
    pub(super) fn new(
        server: &McpServer,
        (connection, oversized): (Arc<Connection>, watch::Receiver<()>),
        remote: rmcp::model::Tool,
    ) -> Self {
        let description = remote.description.as_deref().or(remote.title.as_deref());
        let description = excerpt(description.unwrap_or_default(), DESCRIPTION_LIMIT_CHARS, "…");
        let spec = ToolSpec {
            name: remote.name.clone().into_owned(),
            description: description.into_owned(),
            parameters: Arc::new(Value::Object((*remote.input_schema).clone())),
            enforcement: Enforcement::Hint,
        };
        Self {
            spec,
            remote_name: remote.name.into_owned(),
            server: server.name.clone(),
            timeout: server.timeout,
            connection,
            oversized,
        }
    }

    async fn ask(&self, arguments: &Map<String, Value>) -> Result<String, ToolError> {
        let request =
            CallToolRequestParams::new(self.remote_name.clone()).with_arguments(arguments.clone());
        let server = &self.server;
        let mut oversized = self.oversized.clone();
        oversized.mark_unchanged();
        let answered = tokio::time::timeout(self.timeout, self.connection.call_tool(request));
        let answered = tokio::select! {
            answered = answered => answered,
            // Nobody can tell whose answer it was, so none is waited for.
            Ok(()) = oversized.changed() => return Err(ToolError(format!(
                "MCP server `{server}` sent a message over the limit of {MESSAGE_LIMIT_BYTES} bytes, \
                 which was not read; ask for less"
            ))),
        };
        match answered {
            Ok(Ok(result)) => read(&result),
            Ok(Err(error)) => Err(ToolError(format!("MCP server `{server}` failed: {error}"))),
            Err(_) => Err(ToolError(format!(
                "MCP server `{server}` gave no answer within {} ms",
                self.timeout.as_millis()
            ))),
        }
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Its annotations are hints of a stranger: it may do anything.
    fn effect(&self) -> Effect {
        Effect::Executes
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        context: &'a CallContext,
    ) -> Called<'a> {
        Box::pin(async move {
            tokio::select! {
                answer = self.ask(arguments) => answer,
                () = context.cancel.cancelled() => Err(ToolError("cancelled".to_owned())),
            }
        })
    }
}

/// Returns what the model is told.
fn read(result: &CallToolResult) -> Result<String, ToolError> {
    let mut pieces: Vec<String> = result.content.iter().map(read_block).collect();
    if let (true, Some(structured)) = (pieces.is_empty(), &result.structured_content) {
        pieces.push(structured.to_string());
    }
    let text = pieces.join("\n");
    if result.is_error == Some(true) { Err(ToolError(text)) } else { Ok(text) }
}

fn read_block(block: &ContentBlock) -> String {
    if let ContentBlock::Text(text) = block {
        return text.text.clone();
    }
    // Pictures and sound are out of scope; the model learns that there was something.
    let kind = serde_json::to_value(block)
        .ok()
        .and_then(|value| value.get("type").and_then(Value::as_str).map(str::to_owned));
    format!("[{} left out]", kind.as_deref().unwrap_or("content"))
}
