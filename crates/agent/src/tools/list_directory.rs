//! `list_directory`: the names in one folder.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking::Stop;
use super::file_tool::{Failure, FileTask, Ground, root};
use super::files::{Depth, Kind, Onward, walk};
use crate::toolbox::Effect;

/// How many names one call shows.
const NAME_LIMIT: usize = 1000;

/// Lists a folder.
#[derive(Debug, Deserialize)]
pub(super) struct ListDirectory {
    #[serde(default = "root")]
    path: String,
}

impl FileTask for ListDirectory {
    const NAME: &'static str = "list_directory";
    const DESCRIPTION: &'static str = "Lists a folder of the workspace, without what .gitignore \
        names. Folders end in /, links in @.";
    const EFFECT: Effect = Effect::Reads;
    const REQUIRED: &'static [&'static str] = &[];

    fn properties() -> Value {
        json!({
            "path": {
                "type": "string", "minLength": 1,
                "description": "The folder, relative to the workspace. Default: the workspace.",
            },
        })
    }

    fn perform(&self, ground: &Ground, stop: &Stop) -> Result<String, Failure> {
        let folder = ground.workspace.folder(&self.path)?;
        let mut listing = String::new();
        let mut count = 0_usize;
        walk(&ground.workspace, &folder, Depth::One, stop, |found| {
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
}
