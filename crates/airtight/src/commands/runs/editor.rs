//! A text in the user's own editor.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::process::Command;

use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file;
use crate::input::ANSWER_LIMIT_BYTES;
use crate::output::uuid;
use crate::printer::{Span, Tone, note};

/// The longest answer to a question.
const LINE_LIMIT_BYTES: u64 = 1024;

/// How often an editor is opened without anybody to ask: a script that has not made a value of it by then
/// never will.
const UNATTENDED_TRIES: u32 = 3;

/// What came back from an editor.
pub(super) enum Edited {
    Changed(Vec<u8>),
    Same,
}

/// Opens `text` in `$VISUAL` or `$EDITOR` and waits for its end.
pub(super) fn edit(text: &[u8], environment: &Environment) -> Result<Edited, Error> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| environment.variable(name));
    let editor = named.ok_or_else(|| {
        Error::new(Outcome::Usage, "there is no editor: neither `VISUAL` nor `EDITOR` is set")
            .hint("name one: `EDITOR=vi airtight runs accept …`")
            .hint("or pass the value: `--value @FILE`")
    })?;
    let folder = Environment::temporary_folder().join(format!("airtight-{}", uuid()));
    let path = folder.join("value.json");
    let edited = open(editor, text, &folder, &path);
    // A payload must not lie about; whether it could be removed changes nothing.
    drop(std::fs::remove_dir_all(&folder));
    let edited = edited?;
    Ok(if edited == text { Edited::Same } else { Edited::Changed(edited) })
}

fn open(editor: &str, text: &[u8], folder: &Path, path: &Path) -> Result<Vec<u8>, Error> {
    private_folder(folder)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text)?;
    // As git does: the variable may hold arguments.
    let status = Command::new("/bin/sh")
        .args(["-c", &format!("{editor} \"$1\""), "editor"])
        .arg(path)
        .status()
        .map_err(|error| unusable(editor).caused_by(error))?;
    if !status.success() {
        return Err(unusable(editor).with_findings(vec![status.to_string()]));
    }
    file::read(path, ANSWER_LIMIT_BYTES).map_err(|error| unusable(editor).caused_by(error))
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn unusable(editor: &str) -> Error {
    Error::new(Outcome::Machine, format!("the editor failed, nothing was accepted: `{editor}`"))
        .hint("pass the value without it: `--value @FILE`")
}

/// Asks whether to go on after so many tries; without anybody to ask, an editor that changes the text has
/// a few.
pub(super) fn asks_again(tries: u32) -> Result<bool, Error> {
    if !io::stdin().is_terminal() {
        return Ok(tries < UNATTENDED_TRIES);
    }
    note(&[Span::new(Tone::Strong, "edit it again? [Y/n]")]);
    let mut line = String::new();
    io::stdin().lock().take(LINE_LIMIT_BYTES).read_line(&mut line)?;
    Ok(!line.trim().to_lowercase().starts_with('n'))
}
