//! `OpenAI` Chat Completions and its compatible servers, as in `docs/wire/openai-chat.md`.
//!
//! Compatible servers differ in what they stream: thoughts as `reasoning_content` or `reasoning`,
//! calls without index or id, arguments as an object. All of it is read. What goes back is what all
//! of them take; arguments that are no JSON object go back as `{"_raw": "…"}`, since servers parse
//! them to fill their templates. A failed result is marked in words: the format has no other place.

mod decode;
mod encode;
mod tool_calls;

pub(super) use decode::Decoder;
pub(super) use encode::encode;

/// The member that holds the arguments of a call.
pub(super) const ARGUMENTS: &str = "arguments";

/// The field in which a server both says and takes back thoughts; as a thought's seal it says that
/// this server is one of those.
const REASONING_CONTENT: &str = "reasoning_content";

/// The field of thoughts that only their provider can read.
const REASONING_DETAILS: &str = "reasoning_details";
