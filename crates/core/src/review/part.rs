//! A part of a diff that is reviewed in one run.

use super::diff::{Content, Diff, FileDiff, Hunk};
use super::numbered;
use super::scope::Scope;

/// A part of a diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part<'d> {
    /// Files, or pieces of them.
    pub pieces: Vec<Piece<'d>>,
    /// About how many tokens it takes.
    pub tokens: u64,
}

/// A file, or some of its hunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'d> {
    /// The file, with these hunks alone.
    file: FileDiff<'d>,
    /// About how many tokens it takes.
    pub(super) tokens: u64,
}

impl<'d> Piece<'d> {
    pub(super) fn new(file: &FileDiff<'d>, hunks: Vec<Hunk<'d>>, tokens: u64) -> Self {
        let content = Content::Text(hunks);
        let file =
            FileDiff { name: file.name.clone(), change: file.change.clone(), content, ..*file };
        Self { file, tokens }
    }

    /// Returns the file, with the hunks of this piece.
    pub fn file(&self) -> &FileDiff<'d> {
        &self.file
    }
}

impl Part<'_> {
    /// Returns the names of its files, as they are shown.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> =
            self.pieces.iter().map(|piece| piece.file.name.shown()).collect();
        files.dedup();
        files
    }

    /// Returns it as it is put to a model.
    pub fn numbered(&self) -> String {
        let mut out = String::new();
        for Piece { file, .. } in &self.pieces {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&numbered::head(file));
            file.hunks().iter().for_each(|hunk| numbered::hunk(hunk, &mut out));
        }
        out
    }

    /// Returns it as a diff, from which its scope can be read again.
    pub fn to_diff(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for Piece { file, .. } in &self.pieces {
            file.write(file.hunks(), &mut out);
        }
        out
    }

    /// Returns what may be cited of it.
    pub fn scope(&self) -> Scope {
        Scope::of(self.pieces.iter().map(Piece::file))
    }
}

impl Diff<'_> {
    /// Writes the diff again.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.files.iter().for_each(|file| file.write(file.hunks(), &mut out));
        out
    }
}
