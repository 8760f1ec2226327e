//! Reads a diff: git's, or what `diff -u` prints.

mod header;
mod hunk;

use super::lines::{Cursor, bare};
use super::{
    Change, Content, DIFF_LIMIT_BYTES, DIFF_LIMIT_LINES, Diff, DiffError, FileDiff, Name, Trouble,
    Unread,
};
use header::{Header, NOWHERE, Names};

/// The mode of a submodule.
const SUBMODULE: u32 = 0o160_000;

/// Reads a diff.
pub fn parse(bytes: &[u8]) -> Result<Diff<'_>, DiffError> {
    if bytes.len() > DIFF_LIMIT_BYTES {
        return Err(DiffError::TooLarge { size: bytes.len() });
    }
    let count = memchr::memchr_iter(b'\n', bytes).count();
    if count > DIFF_LIMIT_LINES {
        return Err(DiffError::TooLong { count });
    }
    let mut parser = Parser { cursor: Cursor::new(bytes), diff: Diff::default() };
    while let Some(line) = parser.cursor.header() {
        parser.entry(line);
    }
    let mut diff = parser.diff;
    diff.edits_attributes = diff.files.iter().any(|file| is_attributes(&file.name));
    Ok(diff)
}

struct Parser<'d> {
    cursor: Cursor<'d>,
    diff: Diff<'d>,
}

impl<'d> Parser<'d> {
    /// Reads whatever begins with `line`, which is the next.
    fn entry(&mut self, line: &'d [u8]) {
        let combined = [b"diff --cc ".as_slice(), b"diff --combined "];
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            self.git_file(names);
        } else if let Some(name) = combined.iter().find_map(|start| line.strip_prefix(*start)) {
            self.combined_file(name);
        } else if self.is_plain_file(0) {
            self.plain_file();
        } else if let Some(name) = line.strip_prefix(b"* Unmerged path ") {
            self.unread(Some(&header::unprefixed(name)), Trouble::Unmerged);
        } else if line.starts_with(b"Only in ") {
            self.unread(None, Trouble::OneSide);
        } else if is_binary(line) {
            self.unread(None, Trouble::Binary);
        } else if line.starts_with(b"@@ ") || line.starts_with(b"@@@ ") {
            self.unread(None, Trouble::NoFile);
        } else {
            self.diff.other_lines += usize::from(!line.trim_ascii().is_empty());
            self.cursor.advance();
        }
    }

    /// Lists the next line as one that cannot be read, and leaves it behind.
    fn unread(&mut self, name: Option<&Name>, trouble: Trouble) {
        let (line, file) = (self.cursor.number(), name.map(Name::shown));
        self.diff.unread.push(Unread { line, file, trouble });
        self.cursor.advance();
    }

    fn git_file(&mut self, names: &'d [u8]) {
        let first = self.cursor.number();
        self.cursor.advance();
        let header = Header::read(&mut self.cursor);
        let is_binary = self.skip_binary();
        let sides = self.names();
        let is_changed = header.has_new_content || sides.is_some();
        let names = header.names(sides.unwrap_or_else(|| header::of_line(names)));
        let (old, new) = (names.old.filter(|it| it != NOWHERE), names.new);
        let new = new.filter(|it| it != NOWHERE);
        let Some(name) = new.clone().or_else(|| old.clone()).map(Name::new) else {
            let trouble = Trouble::NoName;
            self.diff.unread.push(Unread { line: first, file: None, trouble });
            return;
        };
        let change = header.change(old, new);
        let unread = self.diff.unread.len();
        let hunks = self.hunks(&name);
        let is_submodule =
            [header.old_mode, header.new_mode, header.mode].contains(&Some(SUBMODULE));
        let is_text = !is_binary && !is_submodule;
        if is_text && is_changed && hunks.is_empty() && self.diff.unread.len() == unread {
            let file = Some(name.shown());
            self.diff.unread.push(Unread { line: first, file, trouble: Trouble::NoHunks });
        }
        let content = match (is_binary, is_submodule) {
            (true, _) => Content::Binary,
            (false, true) => Content::Submodule,
            (false, false) => Content::Text(hunks),
        };
        let (old_mode, new_mode) = (header.old_mode, header.new_mode);
        self.diff.files.push(FileDiff { name, change, old_mode, new_mode, content });
    }

    /// Takes the two lines with the names, if they are next.
    fn names(&mut self) -> Option<Names> {
        let old = self.cursor.header()?.strip_prefix(b"--- ")?;
        let new = bare(self.cursor.ahead(1)?).strip_prefix(b"+++ ")?;
        self.cursor.advance();
        self.cursor.advance();
        Some(Names::of_sides(old, new))
    }

    /// Leaves the words for binary content behind, if they are next.
    fn skip_binary(&mut self) -> bool {
        let Some(line) = self.cursor.header() else { return false };
        if is_binary(line) {
            self.cursor.advance();
            return true;
        }
        if line != b"GIT binary patch" {
            return false;
        }
        // Blocks of letters without spaces, each behind its size and before a blank line.
        while let Some(line) = self.cursor.header() {
            let is_size = line.starts_with(b"literal ") || line.starts_with(b"delta ");
            let is_block = line == b"GIT binary patch" || is_size || !line.contains(&b' ');
            if !is_block {
                break;
            }
            self.cursor.advance();
        }
        true
    }

    /// Claims that the lines so far ahead are the head of a file that `diff -u` shows.
    fn is_plain_file(&self, ahead: usize) -> bool {
        let begins = |behind, start: &[u8]| {
            self.cursor.ahead(ahead + behind).is_some_and(|line| line.starts_with(start))
        };
        begins(0, b"--- ") && begins(1, b"+++ ") && begins(2, b"@@ ")
    }

    fn plain_file(&mut self) {
        let Some(Names { old, new }) = self.names() else { return self.cursor.advance() };
        let (old, new) = (old.filter(|it| it != NOWHERE), new.filter(|it| it != NOWHERE));
        let change = match (&old, &new) {
            (None, _) => Change::Added,
            (_, None) => Change::Deleted,
            (Some(_), Some(_)) => Change::Modified,
        };
        let Some(name) = new.or(old).map(Name::new) else {
            return self.unread(None, Trouble::NoName);
        };
        let content = Content::Text(self.hunks(&name));
        let (old_mode, new_mode) = (None, None);
        self.diff.files.push(FileDiff { name, change, old_mode, new_mode, content });
    }

    fn combined_file(&mut self, name: &[u8]) {
        let name = header::unprefixed(name);
        self.cursor.advance();
        // All of it up to the next file: its lines have a mark for each version.
        let begins = |line: &[u8]| line.starts_with(b"diff --") || line.starts_with(b"* Unmerged ");
        while self.cursor.header().is_some_and(|line| !begins(line)) {
            self.cursor.advance();
        }
        let (change, content) = (Change::Modified, Content::Combined);
        let (old_mode, new_mode) = (None, None);
        self.diff.files.push(FileDiff { name, change, old_mode, new_mode, content });
    }
}

fn is_attributes(name: &Name) -> bool {
    name.as_bytes().rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes")
}

fn is_binary(line: &[u8]) -> bool {
    line.starts_with(b"Binary files ") && line.ends_with(b" differ")
}
