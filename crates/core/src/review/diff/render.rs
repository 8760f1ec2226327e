//! Writes a diff again, as git would: what is read from it is the same.

use super::{Change, Content, Ending, FileDiff, Hunk, Line, Name, Side, Text};

impl FileDiff<'_> {
    /// Writes the file, with `hunks` in place of its own.
    pub(in crate::review) fn write(&self, hunks: &[Hunk<'_>], out: &mut Vec<u8>) {
        let old = match &self.change {
            Change::Renamed(old) | Change::Copied(old) => old,
            Change::Added | Change::Deleted | Change::Modified => &self.name,
        };
        let mut line = |parts: &[&[u8]]| {
            for part in parts {
                out.extend_from_slice(part);
            }
            out.push(b'\n');
        };
        if self.content == Content::Combined {
            return line(&[b"diff --cc ", &self.name.quoted("")]);
        }
        line(&[b"diff --git ", &old.quoted("a/"), b" ", &self.name.quoted("b/")]);
        for words in self.head() {
            line(&[words.as_bytes()]);
        }
        let moved = match &self.change {
            Change::Renamed(_) => Some("rename"),
            Change::Copied(_) => Some("copy"),
            Change::Added | Change::Deleted | Change::Modified => None,
        };
        if let Some(word) = moved {
            line(&[format!("{word} from ").as_bytes(), &old.quoted("")]);
            line(&[format!("{word} to ").as_bytes(), &self.name.quoted("")]);
        }
        match &self.content {
            Content::Binary => line(&[b"Binary files differ"]),
            Content::Submodule => line(&[b"index 0..0 160000"]),
            Content::Text(_) if !hunks.is_empty() => {
                let side = |is_there: bool, name: &Name, prefix| {
                    if is_there { tabbed(name.quoted(prefix)) } else { b"/dev/null".to_vec() }
                };
                line(&[b"--- ", &side(self.change != Change::Added, old, "a/")]);
                line(&[b"+++ ", &side(self.change != Change::Deleted, &self.name, "b/")]);
                for hunk in hunks {
                    hunk.write(out);
                }
            }
            Content::Text(_) | Content::Combined => {}
        }
    }

    /// Returns the lines about modes.
    fn head(&self) -> Vec<String> {
        match (&self.change, self.old_mode, self.new_mode) {
            (Change::Added, _, mode) => {
                mode.map(|mode| format!("new file mode {mode:o}")).into_iter().collect()
            }
            (Change::Deleted, mode, _) => {
                mode.map(|mode| format!("deleted file mode {mode:o}")).into_iter().collect()
            }
            (Change::Modified | Change::Renamed(_) | Change::Copied(_), old, new) => {
                let old = old.map(|mode| format!("old mode {mode:o}"));
                old.into_iter().chain(new.map(|mode| format!("new mode {mode:o}"))).collect()
            }
        }
    }
}

/// Ends a name that has spaces as git does, so that nobody takes a part of it for the time.
fn tabbed(mut name: Vec<u8>) -> Vec<u8> {
    if name.contains(&b' ') && !name.starts_with(b"\"") {
        name.push(b'\t');
    }
    name
}

impl Hunk<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let count = |other: Side| self.lines.iter().filter(|line| line.side != other).count();
        let (old, new) = (count(Side::Added), count(Side::Removed));
        let head = format!("@@ -{},{old} +{},{new} @@", self.old_start, self.new_start);
        out.extend_from_slice(head.as_bytes());
        if !self.section.is_empty() {
            out.push(b' ');
            out.extend_from_slice(self.section);
        }
        out.push(b'\n');
        self.lines.iter().for_each(|line| line.write(out));
    }
}

impl Line<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(match self.side {
            Side::Context => b' ',
            Side::Added => b'+',
            Side::Removed => b'-',
        });
        match self.text {
            Text::Whole(text) => out.extend_from_slice(text),
            Text::LeftOut(bytes) => out.extend_from_slice(left_out(bytes).as_bytes()),
        }
        out.push(b'\n');
        if self.ending == Ending::File {
            out.extend_from_slice(b"\\ No newline at end of file\n");
        }
    }
}

/// Returns what stands in place of a line that is too long to be shown.
pub(in crate::review) fn left_out(bytes: usize) -> String {
    format!("[a line of {bytes} bytes, which is not shown]")
}
