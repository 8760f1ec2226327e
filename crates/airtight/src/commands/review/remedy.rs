//! What to do about a review that is not complete.
//!
//! It protects one rule: a hint helps. Where nothing is kept, nobody is told that only the rest is
//! asked for, and `--ignore` is advised only for what belongs to a file.

use airtight_core::review::{LeftOut, Trouble, Why};
use airtight_store::{Level, Repeat};

use crate::cli::ReviewArgs;

/// For whatever belongs to a file.
const LEAVE_OUT: &str = "leave files out on purpose by `--ignore PATTERN`";

/// What is asked for if the command is typed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// Only what is missing: the rest is in the ledger.
    Missing,
    /// Everything, because of `--fresh`; the rest is in the ledger all the same.
    Fresh,
    /// Everything: what is not kept whole cannot be read again.
    Everything,
}

impl Again {
    /// Decides by what was typed, and by how much the ledger keeps, if there is one.
    pub(super) fn of(args: &ReviewArgs, level: Option<Level>) -> Self {
        match level {
            Some(Level::Full) if args.fresh => Self::Fresh,
            Some(Level::Full) => Self::Missing,
            Some(Level::Masked | Level::Metadata) | None => Self::Everything,
        }
    }

    /// Returns what becomes of parts that have their result.
    pub(super) fn repeat(self) -> Repeat {
        match self {
            Self::Missing => Repeat::Failed,
            Self::Fresh | Self::Everything => Repeat::Always,
        }
    }

    /// Returns what to type for parts without an answer.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Missing => "type the same command again: only what is missing is asked for",
            Self::Fresh => {
                "type the command again without `--fresh`: only what is missing is asked for"
            }
            Self::Everything => {
                "type the same command again: everything is asked for again, because nothing of this review is kept whole"
            }
        }
    }

    /// Returns what to type after what stopped the review is set right, if that saves anything.
    pub(super) fn hint_to_go_on(self) -> Option<&'static str> {
        match self {
            Self::Missing => Some("type the same command again: what is done is in the ledger"),
            Self::Fresh => {
                Some("type the command again without `--fresh`: what is done is in the ledger")
            }
            Self::Everything => None,
        }
    }
}

/// Returns what to do about what is in no part and should be, each advice once.
pub(super) fn hints(left_out: &[LeftOut]) -> Vec<&'static str> {
    let mut hints = Vec::new();
    for it in left_out.iter().filter(|it| it.why.is_loss()) {
        let by_pattern = it.file.as_ref().map(|_| LEAVE_OUT);
        for hint in cure(it.why).into_iter().chain(by_pattern) {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
    }
    hints
}

/// Returns how there would be something to read, if that is known.
fn cure(why: Why) -> Option<&'static str> {
    match why {
        Why::Unread { trouble, .. } => Some(match trouble {
            Trouble::NoName
            | Trouble::NoNumbers
            | Trouble::CutHunk
            | Trouble::Excess
            | Trouble::NoHunks
            | Trouble::NoFile => {
                "the diff is damaged where it cannot be read: make it again, with `git diff`"
            }
            Trouble::Unmerged => "resolve the conflicts first: `git status` lists them",
            Trouble::Binary => {
                "leave files that are no text out where the diff is made: `diff --exclude PATTERN`"
            }
            Trouble::OneSide => "`diff -N` shows files that are on one side only",
        }),
        Why::Hidden => Some("`git diff --text` shows what `.gitattributes` may hide"),
        Why::Binary
        | Why::Submodule
        | Why::Deleted
        | Why::Unchanged
        | Why::Combined
        | Why::LongLine(_)
        | Why::LongRemoved(_)
        | Why::LongContext(_)
        | Why::LongName(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(file: Option<&str>, why: Why) -> LeftOut {
        LeftOut { file: file.map(str::to_owned), line: None, why }
    }

    #[test]
    fn a_pattern_is_advised_only_for_what_belongs_to_a_file() {
        let unread = |trouble| Why::Unread { line: 1, trouble };
        let damaged = "the diff is damaged where it cannot be read: make it again, with `git diff`";
        assert_eq!(hints(&[left_out(None, unread(Trouble::NoFile))]), [damaged]);
        let cut = left_out(Some("a.rs"), unread(Trouble::CutHunk));
        let long = left_out(Some("b.rs"), Why::LongLine(9));
        assert_eq!(hints(std::slice::from_ref(&long)), [LEAVE_OUT]);
        assert_eq!(hints(&[cut, long]), [damaged, LEAVE_OUT]);
    }

    #[test]
    fn what_is_no_loss_needs_no_advice() {
        assert!(hints(&[left_out(Some("a.png"), Why::Binary)]).is_empty());
    }
}
