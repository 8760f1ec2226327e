//! What a repository sets for the programs that work in it.
//!
//! Such files run commands, start servers, move keys and widen permissions, and a program without a
//! terminal asks nobody before it heeds them. So they count only where the user trusts the folder.
//! Instructions (`CLAUDE.md`, `AGENTS.md`) are words for the model, and no settings.

use std::path::{Path, PathBuf};

use airtight_core::transcript::Program;

use crate::permission::ApprovalMode;

/// What the folder that a program works in sets for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Project {
    /// Whatever it sets counts: the user trusts it.
    Trusted,
    /// It sets nothing.
    Plain,
    /// What these files set is left out.
    LeftOut(Vec<PathBuf>),
}

/// What sets something for a program that cannot be told to leave it out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` counts for `{}`, which cannot be told to leave it out", .file.display(), .program.name())]
pub struct Untrusted {
    /// Which program.
    pub program: Program,
    /// What sets something for it.
    pub file: PathBuf,
}

impl Project {
    /// Looks at what `folder`, which nobody trusts, and the folders above it set for `program`. The
    /// user's `home` ends the search: what is there is the user's own.
    pub fn untrusted(
        program: Program,
        approval: ApprovalMode,
        folder: &Path,
        home: Option<&Path>,
    ) -> Result<Self, Untrusted> {
        let folders = folder.ancestors().take_while(|folder| Some(*folder) != home);
        let places = folders.flat_map(|folder| names(program).iter().map(|name| folder.join(name)));
        let files: Vec<PathBuf> = places.filter(|path| path.exists()).collect();
        match files.first() {
            None => Ok(Self::Plain),
            Some(_) if can_leave_out(program, approval) => Ok(Self::LeftOut(files)),
            Some(file) => Err(Untrusted { program, file: file.clone() }),
        }
    }
}

/// Returns what programs look for, in the folder that they work in and above it.
fn names(program: Program) -> &'static [&'static str] {
    match program {
        Program::Claude => &[".claude", ".mcp.json"],
        Program::Codex => &[".codex"],
        // Variables can move the key to another host.
        Program::Qwen => &[".qwen", ".env"],
        Program::Gemini => &[".gemini", ".env"],
        Program::Opencode => &["opencode.json", "opencode.jsonc", ".opencode"],
    }
}

/// Claims that a program can be told to leave a folder's settings out, and does the job all the same.
fn can_leave_out(program: Program, approval: ApprovalMode) -> bool {
    match program {
        Program::Claude | Program::Codex | Program::Opencode => true,
        // In a folder that it does not trust it knows no other mode than these.
        Program::Qwen => matches!(approval, ApprovalMode::Plan | ApprovalMode::Default),
        // It does not start in a folder that it does not trust.
        Program::Gemini => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use test_case::test_case;

    use super::*;

    fn look(program: Program, approval: ApprovalMode, file: &str) -> Result<Project, Untrusted> {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("repository/part");
        fs::create_dir_all(&folder).unwrap();
        // What is the user's own is nobody else's.
        fs::create_dir(home.path().join(file)).unwrap();
        assert_eq!(
            Project::untrusted(program, approval, &folder, Some(home.path())),
            Ok(Project::Plain)
        );
        fs::create_dir(folder.with_file_name(file)).unwrap();
        Project::untrusted(program, approval, &folder, Some(home.path()))
    }

    #[test_case(Program::Claude, ".mcp.json")]
    #[test_case(Program::Codex, ".codex")]
    #[test_case(Program::Qwen, ".qwen")]
    #[test_case(Program::Opencode, "opencode.json")]
    fn what_a_repository_sets_is_left_out(program: Program, file: &str) {
        let found = look(program, ApprovalMode::Default, file);
        assert!(matches!(&found, Ok(Project::LeftOut(files)) if files.len() == 1), "{found:?}");
    }

    #[test_case(Program::Qwen, ApprovalMode::Yolo, ".qwen")]
    #[test_case(Program::Gemini, ApprovalMode::Default, ".env")]
    fn what_cannot_be_left_out_is_named(program: Program, approval: ApprovalMode, file: &str) {
        let refused = look(program, approval, file).unwrap_err();
        assert!(refused.file.ends_with(Path::new("repository").join(file)), "{refused}");
    }
}
