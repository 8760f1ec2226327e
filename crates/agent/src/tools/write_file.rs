//! `write_file`: a whole file at once.

use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking::Stop;
use super::file_tool::{Failure, FileTask, Ground};
use crate::toolbox::Effect;
use crate::workspace::Written;

/// The longest file that is written, in characters: no model says as much in one answer.
const CONTENT_LIMIT_CHARS: u32 = 4 * 1024 * 1024;

/// Writes a file.
#[derive(Debug, Deserialize)]
pub(super) struct WriteFile {
    path: String,
    content: String,
}

impl FileTask for WriteFile {
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = "Writes a whole file in the workspace, replacing what was \
        there. To change a part of a file, use edit.";
    const EFFECT: Effect = Effect::Edits;
    const REQUIRED: &'static [&'static str] = &["path", "content"];

    fn properties() -> Value {
        json!({
            "path": {
                "type": "string", "minLength": 1,
                "description": "The file, relative to the workspace. Its folders are made.",
            },
            "content": {
                "type": "string", "maxLength": CONTENT_LIMIT_CHARS,
                "description": "All that the file will hold.",
            },
        })
    }

    fn perform(&self, ground: &Ground, _: &Stop) -> Result<String, Failure> {
        let (written, place) = ground.workspace.write(&self.path, self.content.as_bytes())?;
        let verb = match written {
            Written::Created => "Created",
            Written::Replaced => "Replaced",
        };
        Ok(format!("{verb} {} ({} bytes).", place.shown(), self.content.len()))
    }
}
