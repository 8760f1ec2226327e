//! What may be cited: the files and the lines that a reviewer was shown.
//!
//! A finding is about a file of the diff, and about lines of one hunk in its new version, or about no
//! line (−1). Anything else is a violation, which is told with what would be right: small models slip,
//! and one more try is cheaper than a comment that no forge accepts.

use std::ops::RangeInclusive;

use super::diff::{FileDiff, parse};
use super::finding::{NO_LINE, integer};
use crate::json::{Document, Kind, Node, Pointer};
use crate::nearest::nearest;
use crate::verdict::{Check, Objection};

/// How many files or places are listed for the model.
const LISTED: usize = 12;

/// The keyword of what does not fit the diff.
pub const KEYWORD: &str = "diff";

/// What may be cited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    files: Vec<Place>,
}

/// A file, and the lines that are shown of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    file: String,
    lines: Vec<RangeInclusive<u32>>,
}

impl Scope {
    /// Returns what may be cited of `files`.
    pub fn of<'f, 'd: 'f>(files: impl Iterator<Item = &'f FileDiff<'d>>) -> Self {
        let mut scope = Self::default();
        for file in files {
            let lines = file.hunks().iter().filter_map(super::diff::Hunk::new_lines);
            let shown = file.name.shown();
            match scope.files.iter_mut().find(|place| place.file == shown) {
                Some(place) => place.lines.extend(lines),
                None => scope.files.push(Place { file: shown, lines: lines.collect() }),
            }
        }
        scope
    }

    /// Reads it from a diff; absent if that is none.
    pub fn read(diff: &[u8]) -> Option<Self> {
        let diff = parse(diff).ok()?;
        (!diff.files.is_empty()).then(|| Self::of(diff.files.iter()))
    }

    /// Claims that these lines of a file may be cited.
    pub fn contains(&self, file: &str, first: u32, last: u32) -> bool {
        let place = self.files.iter().find(|place| place.file == file);
        place.is_some_and(|place| place.contains(first, last))
    }

    fn judge(&self, finding: Node<'_>, pointer: &Pointer, objections: &mut Vec<Objection>) {
        let Some(file) = finding.member("file").and_then(Node::as_str) else { return };
        let Some(place) = self.files.iter().find(|place| place.file == file) else {
            objections.push(self.no_such_file(file, pointer.key("file")));
            return;
        };
        let line = |name: &str| integer(finding.member(name)?);
        let (Some(first), Some(last)) = (line("line_start"), line("line_end")) else { return };
        if (first, last) == (NO_LINE, NO_LINE) {
            return;
        }
        let numbers = u32::try_from(first).ok().zip(u32::try_from(last).ok());
        if !numbers.is_some_and(|(first, last)| place.contains(first, last)) {
            objections.push(place.no_such_lines(first, last, pointer.key("line_start")));
        }
    }

    fn no_such_file(&self, file: &str, pointer: Pointer) -> Objection {
        let names = self.files.iter().map(|place| place.file.as_str());
        let near = nearest(file, names.clone()).or_else(|| names.clone().find(|it| ends(file, it)));
        let near = near.map(|near| format!(" (nearest: `{near}`)")).unwrap_or_default();
        let listed = list(names.map(|name| format!("`{name}`")));
        let masked = format!("names no file of the diff; its files are {listed}");
        let file = crate::excerpt(file, 200, "…");
        Objection { pointer, message: format!("`{file}` {masked}{near}"), masked }
    }
}

/// Claims that one path is the other with something before it.
fn ends(said: &str, name: &str) -> bool {
    said.ends_with(&format!("/{name}")) || name.ends_with(&format!("/{said}"))
}

impl Place {
    fn contains(&self, first: u32, last: u32) -> bool {
        first <= last
            && self.lines.iter().any(|lines| lines.contains(&first) && lines.contains(&last))
    }

    fn no_such_lines(&self, first: i64, last: i64, pointer: Pointer) -> Objection {
        let shown = |lines: &RangeInclusive<u32>| format!("{} to {}", lines.start(), lines.end());
        let places = match self.lines.as_slice() {
            [] => "no line of it is shown".to_owned(),
            lines => format!("its lines in the diff are {}", list(lines.iter().map(shown))),
        };
        let masked = format!(
            "not within one hunk of `{}`: {places}; cite the numbers that stand before the lines, write \
             -1 for both if the issue is about no line, or leave it out if it is not there",
            self.file
        );
        Objection { pointer, message: format!("lines {first} to {last} are {masked}"), masked }
    }
}

fn list(all: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = all.collect();
    let more = all.len().saturating_sub(LISTED);
    all.truncate(LISTED);
    let listed = all.join(", ");
    if more == 0 { listed } else { format!("{listed} and {more} more") }
}

impl Check for Scope {
    fn keyword(&self) -> &'static str {
        KEYWORD
    }

    fn objections(&self, value: &Document) -> Vec<Objection> {
        let mut objections = Vec::new();
        if value.root().kind() == Kind::Array {
            for (position, finding) in value.root().items().enumerate() {
                self.judge(finding, &Pointer::root().index(position), &mut objections);
            }
        }
        objections
    }
}
