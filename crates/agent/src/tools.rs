//! The tools that every run can have.

mod address;
mod blocking;
mod edit;
mod file_tool;
mod files;
mod glob;
mod grep;
mod html;
mod list_directory;
mod preview;
mod read_file;
mod run_shell_command;
mod web_fetch;
mod write_file;

use std::sync::Arc;

use airtight_core::message::{Enforcement, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::permission::Permissions;
use crate::process::Environment;
use crate::sandbox::Sandbox;
use crate::toolbox::{Tool, ToolError};
use crate::workspace::Workspace;

use edit::Edit;
use file_tool::{FileTool, Ground};
use glob::Glob;
use grep::Grep;
use list_directory::ListDirectory;
use read_file::ReadFile;
use run_shell_command::RunShellCommand;
use web_fetch::WebFetch;
use write_file::WriteFile;

pub use preview::RESULT_LIMIT_BYTES;
pub(crate) use preview::preview;

/// What the tools work with.
#[derive(Debug)]
pub struct Standard {
    /// Where files are.
    pub workspace: Arc<Workspace>,
    /// Who may call what; tools that touch many files or URLs in one call ask for each.
    pub permissions: Arc<Permissions>,
    /// What commands see.
    pub environment: Environment,
    /// What holds commands.
    pub sandbox: Option<Sandbox>,
    /// Hosts that may be fetched from although their addresses are private.
    pub private_hosts: Vec<String>,
}

impl Standard {
    /// Makes the tools, in the order in which the model is told of them.
    pub fn into_tools(self) -> Vec<Arc<dyn Tool>> {
        let Self { workspace, permissions, environment, sandbox, private_hosts } = self;
        let ground =
            Ground { workspace: Arc::clone(&workspace), permissions: Arc::clone(&permissions) };
        vec![
            FileTool::<ReadFile>::on(&ground),
            FileTool::<ListDirectory>::on(&ground),
            FileTool::<Glob>::on(&ground),
            FileTool::<Grep>::on(&ground),
            FileTool::<WriteFile>::on(&ground),
            FileTool::<Edit>::on(&ground),
            Arc::new(RunShellCommand::new(workspace, environment, sandbox)),
            Arc::new(WebFetch::new(permissions, &private_hosts)),
        ]
    }
}

/// Makes what the model is told of a tool; `properties` are those of its parameters.
fn spec(name: &str, description: &str, properties: &Value, required: &[&str]) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: Arc::new(serde_json::json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })),
        enforcement: Enforcement::Hint,
    }
}

/// Reads arguments that the schema accepted.
fn read<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(arguments.clone()))
        .map_err(|error| ToolError(format!("the arguments cannot be read: {error}")))
}

/// Returns a string argument, or a default.
fn text<'a>(arguments: &'a Map<String, Value>, key: &str, default: &'a str) -> &'a str {
    arguments.get(key).and_then(Value::as_str).unwrap_or(default)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod trial;
