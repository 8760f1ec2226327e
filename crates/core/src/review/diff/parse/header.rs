//! What stands before the hunks of a file: its names, and what became of it.

use super::super::lines::Cursor;
use super::super::name::unquote;
use super::super::{Change, Name};

/// What a file is called where there is none.
pub(super) const NOWHERE: &[u8] = b"/dev/null";

/// What git puts before names, old and new: as it is set by default, or by `diff.mnemonicPrefix`.
const PREFIXES: [(&[u8], &[u8]); 6] = [
    (b"a/", b"b/"),
    (b"i/", b"w/"),
    (b"c/", b"i/"),
    (b"c/", b"w/"),
    (b"o/", b"w/"),
    (b"1/", b"2/"),
];

/// What a file is called before and after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) old: Option<Vec<u8>>,
    pub(super) new: Option<Vec<u8>>,
}

impl Names {
    /// Reads what stands behind `--- ` and `+++ `.
    pub(super) fn of_sides(old: &[u8], new: &[u8]) -> Self {
        let (old, new) = (side(old), side(new));
        let (old, new) = match (old.as_slice(), new.as_slice()) {
            (NOWHERE, _) => (old, without(new, b"b/")),
            (_, NOWHERE) => (without(old, b"a/"), new),
            _ => unprefix(old, new),
        };
        Self { old: Some(old), new: Some(new) }
    }
}

/// Reads the name on one side: in quotes, or up to a tab, behind which `diff` puts the time.
fn side(text: &[u8]) -> Vec<u8> {
    match unquote(text) {
        Some((name, _)) => name,
        None => text.split(|byte| *byte == b'\t').next().unwrap_or(text).to_vec(),
    }
}

/// Takes off what git puts before names, if it is before both.
fn unprefix(old: Vec<u8>, new: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let both = PREFIXES.iter().find_map(|(before, after)| {
        Some((old.strip_prefix(*before)?.to_vec(), new.strip_prefix(*after)?.to_vec()))
    });
    both.unwrap_or((old, new))
}

fn without(name: Vec<u8>, prefix: &[u8]) -> Vec<u8> {
    name.strip_prefix(prefix).map(<[u8]>::to_vec).unwrap_or(name)
}

/// Reads a name that has nothing before it.
pub(super) fn unprefixed(text: &[u8]) -> Name {
    Name::new(unquote(text).map_or_else(|| text.to_vec(), |(name, _)| name))
}

/// Reads both names behind `diff --git `, which are told apart for sure only if they are in quotes or
/// the same: names may have spaces.
pub(super) fn of_line(text: &[u8]) -> Names {
    let both = quoted_pair(text).or_else(|| same_pair(text));
    let (old, new) = both.map(|(old, new)| unprefix(old, new)).unzip();
    Names { old, new }
}

fn quoted_pair(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if let Some((old, rest)) = unquote(text) {
        let rest = rest.strip_prefix(b" ")?;
        return Some((old, unquote(rest).map_or_else(|| rest.to_vec(), |(new, _)| new)));
    }
    let quote = text.windows(2).position(|pair| pair == b" \"")?;
    let (old, rest) = text.split_at_checked(quote)?;
    let (new, _) = unquote(rest.strip_prefix(b" ")?)?;
    Some((old.to_vec(), new))
}

fn same_pair(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (old, rest) = text.split_at_checked(text.len() / 2)?;
    let new = rest.strip_prefix(b" ")?;
    let (before, after) = unprefix(old.to_vec(), new.to_vec());
    (before == after).then(|| (old.to_vec(), new.to_vec()))
}

/// What the lines between the first and the names say.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) old_mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    /// The mode that stayed.
    pub(super) mode: Option<u32>,
    /// Claims that a file which was there before, and is still, has other content.
    pub(super) has_new_content: bool,
    is_added: bool,
    is_deleted: bool,
    renamed: Names,
    copied: Names,
}

impl Header {
    /// Takes all such lines.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Self {
        let mut header = Self::default();
        while let Some(line) = cursor.header() {
            if !header.take(line) {
                break;
            }
            cursor.advance();
        }
        header
    }

    /// Takes one line; claims that it is of this kind.
    fn take(&mut self, line: &[u8]) -> bool {
        let name = |text: &[u8]| Some(unprefixed(text).as_bytes().to_vec());
        let behind = |start: &str| line.strip_prefix(start.as_bytes());
        if let Some(mode) = behind("old mode ") {
            self.old_mode = octal(mode);
        } else if let Some(mode) = behind("new mode ") {
            self.new_mode = octal(mode);
        } else if let Some(mode) = behind("new file mode ") {
            (self.is_added, self.new_mode) = (true, octal(mode));
        } else if let Some(mode) = behind("deleted file mode ") {
            (self.is_deleted, self.old_mode) = (true, octal(mode));
        } else if let Some(text) = behind("rename from ") {
            self.renamed.old = name(text);
        } else if let Some(text) = behind("rename to ") {
            self.renamed.new = name(text);
        } else if let Some(text) = behind("copy from ") {
            self.copied.old = name(text);
        } else if let Some(text) = behind("copy to ") {
            self.copied.new = name(text);
        } else if let Some(text) = behind("index ") {
            let mut words = text.splitn(2, |byte| *byte == b' ');
            let (blobs, mode) = (words.next().unwrap_or_default(), words.next());
            self.mode = mode.and_then(octal);
            let mut blobs = blobs.split(|byte| *byte == b'.').filter(|hash| !hash.is_empty());
            // A file that is new or gone has its mode elsewhere, and may be empty.
            self.has_new_content = self.mode.is_some() && blobs.next() != blobs.next();
        } else {
            return behind("similarity index ").or(behind("dissimilarity index ")).is_some();
        }
        true
    }

    /// Returns the names: those of a move or a copy are certain, others are what `otherwise` says.
    pub(super) fn names(&self, otherwise: Names) -> Names {
        let pair = |names: &Names| names.old.is_some() && names.new.is_some();
        [&self.renamed, &self.copied]
            .into_iter()
            .find(|names| pair(names))
            .cloned()
            .unwrap_or(otherwise)
    }

    /// Returns what became of the file.
    pub(super) fn change(&self, old: Option<Vec<u8>>, new: Option<Vec<u8>>) -> Change {
        match (old, new) {
            (Some(old), Some(_)) if self.renamed.new.is_some() => Change::Renamed(Name::new(old)),
            (Some(old), Some(_)) if self.copied.new.is_some() => Change::Copied(Name::new(old)),
            (None, _) => Change::Added,
            (_, None) => Change::Deleted,
            _ if self.is_added => Change::Added,
            _ if self.is_deleted => Change::Deleted,
            _ => Change::Modified,
        }
    }
}

fn octal(text: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(text).ok()?, 8).ok()
}
