//! The files of the watch itself: no session may write them, for whoever is watched must not make the rules.
//!
//! This is about tools that write files by name. What a command of the shell writes is not seen here: a
//! workspace without these files is the better guard.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

/// The tools that write files: ours, and those of agent CLIs.
const WRITERS: [&str; 7] =
    ["write_file", "edit", "replace", "Write", "Edit", "MultiEdit", "NotebookEdit"];

/// The arguments by which they name them.
const NAMES: [&str; 3] = ["path", "file_path", "notebook_path"];

/// Returns the file of the watch, one of `own`, that a call of `tool` in `folder` would write.
pub(crate) fn own_file<'o>(
    own: &'o [PathBuf],
    folder: &Path,
    tool: &str,
    input: &Value,
) -> Option<&'o Path> {
    if !WRITERS.contains(&tool) {
        return None;
    }
    let named = NAMES.iter().filter_map(|name| input.get(name)?.as_str());
    let written: Vec<PathBuf> = named.map(|path| settled(&folder.join(path))).collect();
    let is_written = |own: &&PathBuf| {
        let own = settled(own);
        written.iter().any(|path| path.starts_with(&own) || is_beside(path, &own))
    };
    own.iter().find(is_written).map(PathBuf::as_path)
}

/// Claims that `path` belongs to the database `own`: its log has its name with an ending.
fn is_beside(path: &Path, own: &Path) -> bool {
    ["-wal", "-shm", "-journal"].iter().any(|ending| {
        let mut name = own.as_os_str().to_owned();
        name.push(ending);
        path.as_os_str() == name
    })
}

/// Returns where a path leads: links followed as far as there is something, and no steps back.
fn settled(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
        if let Ok(real) = plain.canonicalize() {
            plain = real;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_session_must_not_write_the_files_of_the_watch() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).unwrap();
        let own = ["watch.toml", "logs", "ledger.db"].map(|name| folder.path().join(name));
        for (tool, name, path, expected) in [
            ("write_file", "path", "watch.toml", true),
            ("edit", "path", "./sub/../watch.toml", true),
            ("edit", "path", "link/watch.toml", true),
            ("Write", "file_path", "logs/run-1.log", true),
            ("Edit", "file_path", "ledger.db-wal", true),
            ("Write", "file_path", "watch.toml.bak", false),
            ("read_file", "path", "watch.toml", false),
        ] {
            let found = own_file(&own, folder.path(), tool, &json!({ name: path }));
            assert_eq!(found.is_some(), expected, "{tool} {path}");
        }
    }
}
