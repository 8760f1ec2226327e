//! `write_file`: a whole file at once.

use std::sync::Arc;

use airtight_core::message::ToolSpec;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::blocking::blocking;
use crate::permission::Subject;
use crate::toolbox::{CallContext, Called, Effect, Tool};
use crate::workspace::{Workspace, Written};

/// The longest file that is written, in characters: no model says as much in one answer.
const CONTENT_LIMIT_CHARS: u32 = 4 * 1024 * 1024;

/// Writes files.
#[derive(Debug)]
pub(super) struct WriteFile {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    content: String,
}

impl WriteFile {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let properties = json!({
            "path": {
                "type": "string", "minLength": 1,
                "description": "The file, relative to the workspace. Its folders are made.",
            },
            "content": {
                "type": "string", "maxLength": CONTENT_LIMIT_CHARS,
                "description": "All that the file will hold.",
            },
        });
        let description = "Writes a whole file in the workspace, replacing what was there. To \
            change a part of a file, use edit.";
        let spec = super::spec("write_file", description, &properties, &["path", "content"]);
        Self { spec, workspace }
    }
}

impl Tool for WriteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Edits
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
            let Arguments { path, content } = super::read(arguments)?;
            let workspace = Arc::clone(&self.workspace);
            blocking(context, move |stop| {
                stop.check()?;
                let (written, place) =
                    workspace.write(&path, content.as_bytes()).map_err(super::refused(&path))?;
                let verb = match written {
                    Written::Created => "Created",
                    Written::Replaced => "Replaced",
                };
                Ok(format!("{verb} {} ({} bytes).", place.shown(), content.len()))
            })
            .await
        })
    }
}
