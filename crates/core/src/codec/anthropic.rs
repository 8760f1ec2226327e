//! Anthropic Messages, as in `docs/wire/anthropic.md`.
//!
//! Left out of what goes back: thoughts without a seal and text without words, which the provider
//! refuses, and blocks of other providers. Arguments that are no JSON object go back as
//! `{"_raw": "…"}`, since `input` must be one.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::encode;

/// The member that holds the arguments of a call.
pub(super) const ARGUMENTS: &str = "input";

/// The type of a thought that the provider keeps to itself.
const REDACTED: &str = "redacted_thinking";
