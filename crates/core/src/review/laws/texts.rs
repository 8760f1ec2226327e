//! Diffs made by hand, and as they come out of generators.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::review::diff::{Change, Name};

/// A file of a diff, as a test makes it up.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub(super) name: Name,
    pub(super) change: Change,
    pub(super) hunks: Vec<Vec<(u8, Vec<u8>)>>,
    /// What each hunk is said to be in.
    pub(super) section: Vec<u8>,
    pub(super) last_break: bool,
}

impl Made {
    /// Writes the file as git does.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let old = match &self.change {
            Change::Renamed(old) | Change::Copied(old) => old,
            Change::Added | Change::Deleted | Change::Modified => &self.name,
        };
        let (old, new) = (quoted(old, "a/"), quoted(&self.name, "b/"));
        out.extend_from_slice(format!("diff --git {old} {new}\n").as_bytes());
        match &self.change {
            Change::Added => out.extend_from_slice(b"new file mode 100644\n"),
            Change::Deleted => out.extend_from_slice(b"deleted file mode 100755\n"),
            Change::Renamed(from) => {
                let (from, to) = (quoted(from, ""), quoted(&self.name, ""));
                let lines = format!("similarity index 90%\nrename from {from}\nrename to {to}\n");
                out.extend_from_slice(lines.as_bytes());
            }
            Change::Modified | Change::Copied(_) => {}
        }
        out.extend_from_slice(b"index 83db48f..bf269f4\n");
        if self.hunks.is_empty() {
            return;
        }
        let side =
            |is_there, name: &str| if is_there { name.to_owned() } else { "/dev/null".into() };
        let (old, new) =
            (side(self.change != Change::Added, &old), side(self.change != Change::Deleted, &new));
        out.extend_from_slice(format!("--- {old}\t\n+++ {new}\t\n").as_bytes());
        let (mut old_at, mut new_at) = (1, 1);
        for (position, hunk) in self.hunks.iter().enumerate() {
            let count = |other: u8| hunk.iter().filter(|(mark, _)| *mark != other).count();
            let (old, new) = (count(b'+'), count(b'-'));
            out.extend_from_slice(format!("@@ -{old_at},{old} +{new_at},{new} @@ ").as_bytes());
            out.extend_from_slice(&self.section);
            out.push(b'\n');
            for (mark, text) in hunk {
                out.push(*mark);
                out.extend_from_slice(text);
                out.push(b'\n');
            }
            if !self.last_break && position + 1 == self.hunks.len() && !hunk.is_empty() {
                out.extend_from_slice(b"\\ No newline at end of file\n");
            }
            (old_at, new_at) = (old_at + old + 10, new_at + new + 10);
        }
    }
}

/// Quotes a name as git does, whether it must be or not.
fn quoted(name: &Name, prefix: &str) -> String {
    let bytes: Vec<String> = name.as_bytes().iter().map(|byte| format!("\\{byte:03o}")).collect();
    format!("\"{prefix}{}\"", bytes.concat())
}

pub(super) fn diff(files: &[Made]) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files {
        file.write(&mut out);
    }
    out
}

fn name() -> impl Strategy<Value = Name> {
    let plain = "[a-z]{1,6}(/[a-z ]{1,6}){0,2}".prop_map(|text| Name::new(text.into_bytes()));
    let odd = vec(any::<u8>(), 1..12).prop_map(Name::new);
    prop_oneof![4 => plain, 1 => odd].prop_filter("a name", |name| name.as_bytes() != b"/dev/null")
}

fn line() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let mark = prop_oneof![Just(b' '), Just(b'+'), Just(b'-')];
    let text = prop_oneof![
        4 => "[ -~\t]{0,40}".prop_map(String::into_bytes),
        1 => "\\PC{0,10}\r".prop_map(String::into_bytes),
        1 => vec(any::<u8>().prop_filter("no line break", |byte| *byte != b'\n'), 0..20),
        1 => "\\PC{100,400}".prop_map(String::into_bytes),
        1 => Just(b"-- a/x".to_vec()),
        1 => Just(b"@@ -1,9 +1,9 @@".to_vec()),
        1 => Just(b"diff --git a/x b/x".to_vec()),
    ];
    (mark, text)
}

fn section() -> impl Strategy<Value = Vec<u8>> {
    let wide = "\\PC{1,200}".prop_map(String::into_bytes);
    prop_oneof![2 => Just(b"fn x()".to_vec()), 1 => Just(Vec::new()), 1 => wide]
}

/// Generates files; few of them are large.
pub(super) fn files() -> impl Strategy<Value = Vec<Made>> {
    let change = prop_oneof![
        3 => Just(Change::Modified),
        1 => Just(Change::Added),
        1 => Just(Change::Deleted),
        1 => name().prop_map(Change::Renamed),
    ];
    let hunks = vec(vec(line(), 1..30), 0..4);
    let file = (name(), change, hunks, section(), any::<bool>()).prop_map(
        |(name, change, hunks, section, last_break)| Made {
            name,
            change,
            hunks,
            section,
            last_break,
        },
    );
    vec(file, 0..5)
}
