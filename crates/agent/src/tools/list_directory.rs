//! `list_directory`: the names in one folder.

use std::fmt::Write as _;
use std::sync::Arc;

use airtight_core::message::ToolSpec;
use serde_json::{Map, Value, json};

use super::blocking::{Stop, blocking};
use super::files::{Depth, Kind, Onward, walk};
use crate::permission::Subject;
use crate::toolbox::{CallContext, Called, Effect, Tool, ToolError};
use crate::workspace::Workspace;

/// How many names one call shows.
const NAME_LIMIT: usize = 1000;

/// Lists folders.
#[derive(Debug)]
pub(super) struct ListDirectory {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl ListDirectory {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let properties = json!({
            "path": {
                "type": "string", "minLength": 1,
                "description": "The folder, relative to the workspace. Default: the workspace.",
            },
        });
        let description = "Lists a folder of the workspace, without what .gitignore names. \
            Folders end in /, links in @.";
        Self { spec: super::spec("list_directory", description, &properties, &[]), workspace }
    }
}

impl Tool for ListDirectory {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn subject(&self, arguments: &Map<String, Value>) -> Option<Subject> {
        Some(Subject::Path(self.workspace.subject(super::text(arguments, "path", "."))))
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        context: &'a CallContext,
    ) -> Called<'a> {
        Box::pin(async move {
            let path = super::text(arguments, "path", ".").to_owned();
            let workspace = Arc::clone(&self.workspace);
            blocking(context, move |stop| list(&workspace, &path, stop)).await
        })
    }
}

fn list(workspace: &Workspace, path: &str, stop: &Stop) -> Result<String, ToolError> {
    let folder = workspace.folder(path).map_err(super::refused(path))?;
    let mut listing = String::new();
    let mut count = 0_usize;
    walk(workspace, &folder, Depth::One, stop, |found| {
        count += 1;
        if count <= NAME_LIMIT {
            let name = found.relative.file_name().unwrap_or_default().to_string_lossy();
            let mark = match found.kind {
                Kind::Folder => "/",
                Kind::Link => "@",
                Kind::File | Kind::Special => "",
            };
            let _ = writeln!(listing, "{name}{mark}");
        }
        Ok(Onward::Yes)
    })?;
    match count {
        0 => listing.push_str("[nothing here, or nothing that git would see]"),
        1..=NAME_LIMIT => {}
        _ => {
            let _ = write!(listing, "[{} more names left out]", count - NAME_LIMIT);
        }
    }
    Ok(listing)
}
