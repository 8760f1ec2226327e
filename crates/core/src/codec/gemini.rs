//! Gemini `streamGenerateContent`, as in `docs/wire/gemini.md`.
//!
//! Thought signatures go back where they came from: on a call, on a thought, or as an empty part
//! behind the text. Left out of what goes back: thoughts without one. Arguments come whole, as JSON
//! in the event, and are kept as they are written there; those that are no JSON object go back as
//! `{"_raw": "…"}`, since `args` must be one. A failed result goes back under `error`, others under
//! `output`.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::encode;

/// The member that holds the arguments of a call.
pub(super) const ARGUMENTS: &str = "args";

/// The provider's seal on a part.
const SIGNATURE: &str = "thoughtSignature";
