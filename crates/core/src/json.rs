//! JSON as it was said: exact, bounded and flat.
//!
//! A [`Document`] is the text and a tape of its nodes. Numbers keep their digits, duplicate keys
//! are noticed, nothing recurses (so no depth can overflow the stack, also on drop), and
//! `jsonschema` judges the tape directly through `probe`. `serde_json::Value` is used for
//! schemas only, where all of that has been checked before.

mod document;
mod duplicates;
mod error;
mod escape;
mod keys;
pub(crate) mod meter;
mod number;
mod parse;
mod path;
mod places;
mod pointer;
pub(crate) mod probe;
mod python;
mod scan;
mod string;
pub(crate) mod unique;
mod word;

pub use document::{Document, Items, Kind, Members, Node};
pub use duplicates::Duplicate;
pub(crate) use error::as_text;
pub use error::{ParseError, ParseErrorKind};
pub(crate) use escape::{decode_escape, unescaped};
pub use number::Number;
pub(crate) use parse::Failure;
pub use parse::Limits;
pub(crate) use path::Path;
pub use pointer::Pointer;
pub(crate) use scan::{StringEnd, number_end, string_end};
pub(crate) use word::find;
