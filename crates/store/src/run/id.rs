//! Names of runs.

use std::fmt;

use serde::Serialize;

/// The name of a run: a UUID of version 7, so that names sort by time and an index of them grows at
/// its end. The ledger takes any other name, too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Makes the name of a run that begins at `at_ms`, in Unix milliseconds.
    pub fn at(at_ms: i64) -> Self {
        let time = u128::from(at_ms.unsigned_abs()) & 0xffff_ffff_ffff;
        let bits = time << 80
            | (fastrand::u128(..) & !(u128::MAX << 80) & !(0xf << 76) & !(0x3 << 62))
            | (0x7 << 76)
            | (0x2 << 62);
        let hex = format!("{bits:032x}");
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
        Self([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-"))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for RunId {
    fn from(name: String) -> Self {
        Self(name)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_uuids_of_version_seven_and_sort_by_time() {
        let names: Vec<RunId> = (0..100).map(|ms| RunId::at(1_790_000_000_000 + ms)).collect();
        assert!(names.is_sorted());
        for name in names {
            let lengths: Vec<usize> = name.as_str().split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12]);
            assert_eq!(name.as_str().as_bytes()[14], b'7');
            assert!(b"89ab".contains(&name.as_str().as_bytes()[19]));
        }
    }
}
