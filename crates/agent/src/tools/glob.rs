//! `glob`: files by name.

use std::fmt::Write as _;
use std::sync::Arc;

use airtight_core::message::ToolSpec;
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::blocking::{Stop, blocking};
use super::files::{Depth, Kind, Onward, walk};
use crate::permission::Subject;
use crate::toolbox::{CallContext, Called, Effect, Tool, ToolError};
use crate::workspace::Workspace;

/// How many paths one call shows.
const PATH_LIMIT: usize = 1000;

/// Finds files by name.
#[derive(Debug)]
pub(super) struct Glob {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

#[derive(Deserialize)]
struct Arguments {
    pattern: String,
    path: Option<String>,
}

impl Glob {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let properties = json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "A glob such as src/**/*.rs, relative to path.",
            },
            "path": {
                "type": "string", "minLength": 1,
                "description": "The folder to look in. Default: the workspace.",
            },
        });
        let description = "Finds files in the workspace whose path matches a glob, without what \
            .gitignore names.";
        Self { spec: super::spec("glob", description, &properties, &["pattern"]), workspace }
    }
}

impl Tool for Glob {
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
            let Arguments { pattern, path } = super::read(arguments)?;
            let matcher = matcher(&pattern)?;
            let path = path.unwrap_or_else(|| ".".to_owned());
            let workspace = Arc::clone(&self.workspace);
            blocking(context, move |stop| find(&workspace, &path, &matcher, stop)).await
        })
    }
}

/// Reads a glob in which `*` stays within one name.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, ToolError> {
    GlobBuilder::new(pattern.trim_start_matches("./"))
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError(format!("{pattern:?} is not a glob: {}", error.kind())))
}

fn find(
    workspace: &Workspace,
    path: &str,
    matcher: &GlobMatcher,
    stop: &Stop,
) -> Result<String, ToolError> {
    let folder = workspace.folder(path).map_err(super::refused(path))?;
    let mut listing = String::new();
    let mut count = 0_usize;
    walk(workspace, &folder, Depth::All, stop, |found| {
        let below = found.relative.strip_prefix(&folder.relative).unwrap_or(&found.relative);
        if found.kind == Kind::Folder || !matcher.is_match(below) {
            return Ok(Onward::Yes);
        }
        count += 1;
        if count > PATH_LIMIT {
            return Ok(Onward::No);
        }
        let _ = writeln!(listing, "{}", found.relative.display());
        Ok(Onward::Yes)
    })?;
    match count {
        0 => listing.push_str("[no file matches]"),
        1..=PATH_LIMIT => {}
        _ => {
            let _ = write!(listing, "[only the first {PATH_LIMIT} are shown; narrow the pattern]");
        }
    }
    Ok(listing)
}
