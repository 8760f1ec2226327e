//! Steps between versions: what a change asks for, and what was declared.

use semver::{Prerelease, Version};
use serde::Serialize;

use crate::Answer;

/// How far a version moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The promise is the same.
    Patch,
    /// The promise is stronger: what was valid may be no longer, and nothing new is.
    Minor,
    /// The promise is weaker: readers may meet what it ruled out.
    Major,
}

impl Step {
    /// Returns the step that a change asks for; what is not known to be safe is not.
    pub(super) fn asked(old_answers: Answer, consumers: Answer) -> Self {
        match (old_answers, consumers) {
            (_, Answer::No | Answer::Unknown) => Self::Major,
            (Answer::No | Answer::Unknown, Answer::Yes) => Self::Minor,
            (Answer::Yes, Answer::Yes) => Self::Patch,
        }
    }

    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }

    /// Returns the lowest version that is this step after `version`.
    ///
    /// Before 1.0.0 the minor number counts as the major one, and the patch number as the others.
    pub fn after(self, version: &Version) -> Version {
        let Version { major, minor, patch, .. } = *version;
        if !version.pre.is_empty() {
            // The release that it leads up to promises what it likes.
            return Version::new(major, minor, patch);
        }
        let next = |number: u64| number.saturating_add(1);
        match (self, major) {
            (Self::Major, 0) => Version::new(0, next(minor), 0),
            (Self::Major, _) => Version::new(next(major), 0, 0),
            (Self::Minor, 1..) => Version::new(major, next(minor), 0),
            (Self::Minor, 0) | (Self::Patch, _) => Version::new(major, minor, next(patch)),
        }
    }
}

/// What two versions say about the way from one contract to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Declared {
    /// The version is the same.
    Nothing,
    /// At least one of them has no version.
    Missing,
    /// The second version comes before the first.
    Backwards,
    /// It moves this far.
    Step(Step),
    /// The first is a pre-release, which promises nothing.
    FromPrerelease,
}

impl Declared {
    /// Reads what two versions say.
    pub fn between(old: Option<&Version>, new: Option<&Version>) -> Self {
        let (Some(old), Some(new)) = (old, new) else { return Self::Missing };
        let order = new.cmp_precedence(old);
        if order.is_eq() {
            return Self::Nothing;
        }
        if order.is_lt() {
            return Self::Backwards;
        }
        if old.pre != Prerelease::EMPTY {
            return Self::FromPrerelease;
        }
        let step = match (old.major, old.major == new.major, old.minor == new.minor) {
            (_, false, _) | (0, true, false) => Step::Major,
            (1.., true, false) => Step::Minor,
            // Before 1.0.0 there is no number between.
            (0, true, true) => Step::Minor,
            (1.., true, true) => Step::Patch,
        };
        Self::Step(step)
    }

    /// Claims that this is far enough for `asked`.
    pub fn suffices_for(self, asked: Step) -> bool {
        match self {
            Self::Nothing | Self::Missing | Self::Backwards => false,
            Self::Step(step) => step >= asked,
            Self::FromPrerelease => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test_case("1.4.2", Step::Patch, "1.4.3")]
    #[test_case("1.4.2", Step::Minor, "1.5.0")]
    #[test_case("1.4.2", Step::Major, "2.0.0")]
    #[test_case("0.4.2", Step::Patch, "0.4.3"; "patch before one")]
    #[test_case("0.4.2", Step::Minor, "0.4.3"; "minor before one")]
    #[test_case("0.4.2", Step::Major, "0.5.0"; "major before one")]
    #[test_case("2.0.0-rc.1", Step::Major, "2.0.0"; "pre-release")]
    fn the_next_version_is_the_lowest_that_suffices(from: &str, step: Step, expected: &str) {
        let from = version(from);
        let next = step.after(&from);
        assert_eq!(next.to_string(), expected);
        assert!(Declared::between(Some(&from), Some(&next)).suffices_for(step));
    }

    #[test_case("1.4.2", "1.4.2", Declared::Nothing)]
    #[test_case("1.4.2", "1.4.2+build", Declared::Nothing; "build metadata is no step")]
    #[test_case("1.4.2", "1.4.1", Declared::Backwards)]
    #[test_case("2.0.0", "2.0.0-rc.1", Declared::Backwards; "back to a pre-release")]
    #[test_case("1.4.2", "1.4.3", Declared::Step(Step::Patch); "patch")]
    #[test_case("1.4.2", "1.9.0", Declared::Step(Step::Minor); "minor")]
    #[test_case("1.4.2", "3.0.0", Declared::Step(Step::Major); "major")]
    #[test_case("1.4.2", "2.0.0-rc.1", Declared::Step(Step::Major); "to a pre-release")]
    #[test_case("0.4.2", "0.4.3", Declared::Step(Step::Minor); "minor before one")]
    #[test_case("0.4.2", "0.5.0", Declared::Step(Step::Major); "major before one")]
    #[test_case("0.4.2", "1.0.0", Declared::Step(Step::Major); "to one")]
    #[test_case("2.0.0-rc.1", "2.0.0-rc.2", Declared::FromPrerelease; "pre-releases")]
    fn versions_declare_a_step(old: &str, new: &str, expected: Declared) {
        assert_eq!(Declared::between(Some(&version(old)), Some(&version(new))), expected);
    }

    #[test]
    fn without_versions_nothing_is_declared() {
        assert_eq!(Declared::between(None, Some(&version("1.0.0"))), Declared::Missing);
        assert!(!Declared::Missing.suffices_for(Step::Patch));
    }
}
