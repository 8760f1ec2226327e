//! `OpenAI` Responses, as in `docs/wire/openai-responses.md`.
//!
//! The provider keeps nothing (`store: false`), so reasoning comes sealed and goes back as it came,
//! before what it led to. Left out of what goes back: reasoning without a seal, which only a
//! provider that stores could find, and reasoning that led to nothing, which is refused. Arguments
//! that are no JSON object go back as `{"_raw": "…"}`. A failed result is marked in words: the
//! format has no other place.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::encode;

/// The member that holds the arguments of a call.
pub(super) const ARGUMENTS: &str = "arguments";

/// The type of an item that holds reasoning.
const REASONING: &str = "reasoning";

/// The seal of such an item.
const ENCRYPTED_CONTENT: &str = "encrypted_content";
