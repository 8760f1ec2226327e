//! What is wrong with a declaration.

use semver::Version;

/// Why what is declared about an older version cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CarryError {
    /// It names no versions.
    #[error("`{0}` is no range of versions such as `1.x` or `>=1.2, <2`")]
    NoRange(String),
    /// The contract itself is in the range.
    #[error("`{range}` includes {version}, the version of the contract itself")]
    Own {
        /// The range.
        range: String,
        /// The version of the contract.
        version: Version,
    },
    /// The older contract is not in the range.
    #[error("the older contract is version {version}, which `{range}` does not include")]
    Outside {
        /// The range.
        range: String,
        /// The version of the older contract.
        version: Version,
    },
    /// It is no pointer to a part of an answer.
    #[error("`{0}` is no pointer to a part of an answer, such as `/level` or `/findings/*/level`")]
    NoPointer(String),
    /// The older contract knows no such place.
    #[error("`{0}` is nothing that the older contract declares")]
    NotInOld(String),
    /// The contract knows no such place.
    #[error("`{0}` is nothing that the contract declares")]
    NotInNew(String),
    /// One pointer has more `*` than the other.
    #[error("`{from}` and `{to}` do not go through the same arrays")]
    OtherArrays {
        /// Where it was.
        from: String,
        /// Where it is to be.
        to: String,
    },
    /// No answer of the older version says that there.
    #[error("`{at}` is never `{word}` in answers by the older contract")]
    NeverSaid {
        /// The place.
        at: String,
        /// What is replaced there.
        word: String,
    },
    /// The contract refuses what is declared to be said there.
    #[error("the contract refuses {value} at `{at}`")]
    Refused {
        /// The place.
        at: String,
        /// What is to be said there.
        value: String,
    },
    /// Something is declared twice.
    #[error("`{0}` is declared twice, or is within what is")]
    Twice(String),
}
