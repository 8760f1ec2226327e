//! `glob`: files by name.

use std::fmt::Write as _;

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking::Stop;
use super::file_tool::{Failure, FileTask, Ground, root};
use super::files::{Depth, Kind, Onward, walk};
use crate::toolbox::{Effect, ToolError};

/// How many paths one call shows.
const PATH_LIMIT: usize = 1000;

/// Finds files by name.
#[derive(Debug, Deserialize)]
pub(super) struct Glob {
    pattern: String,
    #[serde(default = "root")]
    path: String,
}

impl FileTask for Glob {
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = "Finds files in the workspace whose path matches a glob, \
        without what .gitignore names.";
    const EFFECT: Effect = Effect::Reads;
    const REQUIRED: &'static [&'static str] = &["pattern"];

    fn properties() -> Value {
        json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "A glob such as src/**/*.rs, relative to path.",
            },
            "path": {
                "type": "string", "minLength": 1,
                "description": "The folder to look in. Default: the workspace.",
            },
        })
    }

    fn perform(&self, ground: &Ground, stop: &Stop) -> Result<String, Failure> {
        let matcher = matcher(&self.pattern)?;
        let folder = ground.workspace.folder(&self.path)?;
        let mut listing = String::new();
        let mut count = 0_usize;
        walk(&ground.workspace, &folder, Depth::All, stop, |found| {
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
                let _ =
                    write!(listing, "[only the first {PATH_LIMIT} are shown; narrow the pattern]");
            }
        }
        Ok(listing)
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
