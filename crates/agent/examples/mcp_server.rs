//! An MCP server with tools that behave and tools that do not, for the tests of the client.
//!
//! `mcp_server` speaks on stdin and stdout; `mcp_server http` serves streamable HTTP on loopback
//! and prints its URL; `mcp_server mute` never says anything; `mcp_server many` has
//! 130 tools. The tools `flood` and `garbage` say what is no message before they answer.

use std::io::Write as _;
use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

/// More than any message may hold.
const FLOOD_BYTES: usize = 20 * 1024 * 1024;

/// Says something between two messages.
fn interject(text: &str) {
    let mut stdout = std::io::stdout().lock();
    drop(stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(b"\n")));
    drop(stdout.flush());
}

struct Server;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        let names = [
            "echo",
            "fail",
            "crash",
            "hang",
            "flood",
            "garbage",
            "read_file",
            "structured_output",
            "odd name!",
        ];
        let tool = |name: String| {
            let mut schema = JsonObject::new();
            schema.insert("type".to_owned(), "object".into());
            Tool::new(name, "A tool for tests", Arc::new(schema))
        };
        if std::env::args().nth(1).as_deref() == Some("many") {
            let many = (0..130).map(|count| tool(format!("tool_{count}")));
            return Ok(ListToolsResult::with_all_items(many.collect()));
        }
        let named = names.map(|name| tool(name.to_owned()));
        Ok(ListToolsResult::with_all_items(named.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let said = vec![ContentBlock::text(format!("{}: {arguments}", request.name))];
        match &*request.name {
            "fail" => Ok(CallToolResult::error(said).into()),
            "crash" => std::process::exit(9),
            "hang" => std::future::pending().await,
            "flood" => {
                interject(&"x".repeat(FLOOD_BYTES));
                Ok(CallToolResult::success(said).into())
            }
            "garbage" => {
                interject(
                    "{\"jsonrpc\": \u{fffd}\n[]\n{\"jsonrpc\": \"2.0\", \"id\": 999, \"result\": {}}",
                );
                Ok(CallToolResult::success(said).into())
            }
            _ => Ok(CallToolResult::success(said).into()),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the test reads the URL")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("mute") => std::future::pending().await,
        Some("http") => {
            let sessions = Arc::new(LocalSessionManager::default());
            let config = StreamableHttpServerConfig::default();
            let service = StreamableHttpService::new(|| Ok(Server), sessions, config);
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
            println!("http://{}/mcp", listener.local_addr()?);
            axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
        }
        _ => {
            Server.serve(rmcp::transport::io::stdio()).await?.waiting().await?;
        }
    }
    Ok(())
}
