//! Edits: every change made to what was said, on record.

use serde::Serialize;

use crate::json::Pointer;

/// One change between what was said and what was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// What was done.
    pub kind: EditKind,
    /// Byte offset in the text that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// Where in the value, for changes to a parsed value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<Pointer>,
}

/// Ways to change a text or value without inventing anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// A comma between two items or members was added.
    MissingComma,
    /// A comment was dropped.
    Comment,
    /// Single or typographic quotes became double quotes.
    Quotes,
    /// A bare key was quoted.
    UnquotedKey,
    /// A Python or JavaScript constant became JSON.
    Constant,
    /// A control character or quote inside a string was escaped.
    Escape,
    /// Closing brackets missing at the very end were added.
    MissingCloser,
    /// Text around the value was left out: prose, fences, think blocks.
    Surroundings,
    /// A value written as JSON inside a JSON string was taken out.
    Unquoted,
    /// A single-key wrapper was taken off.
    Unwrapped,
    /// A repeated member with the same value was dropped.
    DuplicateMember,
    /// A string became a boolean.
    StringToBoolean,
    /// A string became a number.
    StringToNumber,
    /// A number or boolean became a string.
    ScalarToString,
    /// A string became the array or object that it spelt.
    StringToContainer,
    /// The case of an enum member was corrected.
    EnumCase,
    /// White space around an enum member or constant was dropped.
    Trimmed,
}
