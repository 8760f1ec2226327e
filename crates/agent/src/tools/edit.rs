//! `edit`: one exact text for another.

use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking::Stop;
use super::file_tool::{Failure, FileTask, Ground};
use crate::toolbox::Effect;

/// The longest file that is edited; longer ones are data, not text that somebody keeps.
const FILE_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// Edits a file.
#[derive(Debug, Deserialize)]
pub(super) struct Edit {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

impl FileTask for Edit {
    const NAME: &'static str = "edit";
    const DESCRIPTION: &'static str = "Replaces one exact piece of text in a file of the \
        workspace. The text must occur exactly once unless replace_all is true. Line ends of the \
        file are kept.";
    const EFFECT: Effect = Effect::Edits;
    const REQUIRED: &'static [&'static str] = &["path", "old_string", "new_string"];

    fn properties() -> Value {
        json!({
            "path": {
                "type": "string", "minLength": 1,
                "description": "The file, relative to the workspace.",
            },
            "old_string": {
                "type": "string", "minLength": 1,
                "description": "The text to replace, exactly as in the file, with enough around \
                    it to occur only once.",
            },
            "new_string": { "type": "string", "description": "What to put there." },
            "replace_all": {
                "type": "boolean",
                "description": "Whether to replace every occurrence. Default: false.",
            },
        })
    }

    fn perform(&self, ground: &Ground, _: &Stop) -> Result<String, Failure> {
        let path = &self.path;
        let found = ground.workspace.read_whole(path, FILE_LIMIT_BYTES)?;
        let existing = found.ok_or_else(|| {
            let limit = FILE_LIMIT_BYTES;
            Failure::told(format!("{path:?} is too large to edit: more than {limit} bytes"))
        })?;
        let text = std::str::from_utf8(&existing.bytes).map_err(|_| {
            Failure::told(format!("{path:?} is not UTF-8 text and cannot be edited"))
        })?;
        let (edited, count) = replace(text, self)
            .map_err(|why| Failure::told(format!("{path:?} was not changed: {why}")))?;
        existing.replace(edited.as_bytes())?;
        let times = if count == 1 { String::new() } else { format!(" ({count} places)") };
        Ok(format!("Edited {}{times}.", existing.shown()))
    }
}

/// Why a text was not replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Unedited {
    #[error("old_string and new_string are the same")]
    Same,
    #[error("old_string does not occur in it; read the file and copy the text exactly")]
    Absent,
    #[error("old_string occurs {0} times; add text around it, or set replace_all")]
    Ambiguous(usize),
}

/// Replaces, and says how often.
fn replace(text: &str, asked: &Edit) -> Result<(String, usize), Unedited> {
    let line_ends = LineEnds::of(text);
    let old = line_ends.apply(&asked.old_string);
    let new = line_ends.apply(&asked.new_string);
    if old == new {
        return Err(Unedited::Same);
    }
    match (occurrences(text, &old), asked.replace_all) {
        (0, _) => Err(Unedited::Absent),
        (1, _) | (_, true) => Ok((text.replace(&old, &new), text.matches(&old).count())),
        (count, false) => Err(Unedited::Ambiguous(count)),
    }
}

/// Counts occurrences, overlapping ones too: of those, no one is the one that was meant.
fn occurrences(text: &str, wanted: &str) -> usize {
    let step = wanted.chars().next().map_or(1, char::len_utf8);
    let mut count = 0;
    let mut rest = text;
    while let Some(at) = rest.find(wanted) {
        count += 1;
        rest = rest.get(at + step..).unwrap_or_default();
    }
    count
}

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    /// All with CR LF.
    Windows,
    /// Some or all with LF; texts are taken as they are.
    Exact,
}

impl LineEnds {
    fn of(text: &str) -> Self {
        let all = text.matches('\n').count();
        if all > 0 && text.matches("\r\n").count() == all { Self::Windows } else { Self::Exact }
    }

    /// Spells a text of the model's as the file does: models write LF.
    fn apply(self, text: &str) -> String {
        match self {
            Self::Windows => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            Self::Exact => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn edit(
        text: &str,
        old: &str,
        new: &str,
        replace_all: bool,
    ) -> Result<(String, usize), Unedited> {
        let (old_string, new_string) = (old.to_owned(), new.to_owned());
        replace(text, &Edit { path: "f".to_owned(), old_string, new_string, replace_all })
    }

    #[test_case("a b c", "b", "x", false => Ok(("a x c".to_owned(), 1)); "a unique text is replaced")]
    #[test_case("a b b", "b", "x", false => Err(Unedited::Ambiguous(2)); "two are ambiguous")]
    #[test_case("aaa", "aa", "x", false => Err(Unedited::Ambiguous(2)); "overlapping ones are ambiguous")]
    #[test_case("a b b", "b", "x", true => Ok(("a x x".to_owned(), 2)); "all are replaced if asked")]
    #[test_case("a", "b", "x", true => Err(Unedited::Absent); "absent is absent")]
    #[test_case("a", "a", "a", false => Err(Unedited::Same); "no change is refused")]
    #[test_case("é b", "é", "e", false => Ok(("e b".to_owned(), 1)); "more than ascii")]
    #[test_case("a\r\nb\r\n", "a\nb", "x\ny", false => Ok(("x\r\ny\r\n".to_owned(), 1)); "windows line ends are kept")]
    #[test_case("a\r\nb\r\n", "a\r\nb", "x\r\ny", false => Ok(("x\r\ny\r\n".to_owned(), 1)); "and not doubled")]
    #[test_case("a\r\nb\n", "a\nb", "x", false => Err(Unedited::Absent); "mixed line ends are exact")]
    #[test_case("a\nb", "a\nb", "x\r\ny", false => Ok(("x\r\ny".to_owned(), 1)); "unix files take what is said")]
    #[test_case("$1", "$1", "${0}\\", false => Ok(("${0}\\".to_owned(), 1)); "nothing is a pattern")]
    fn an_edit(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize), Unedited> {
        edit(text, old, new, all)
    }
}
