//! A scripted model server on loopback, for tests and benches only.
//!
//! It speaks Anthropic Messages, `OpenAI` Responses, `OpenAI` Chat Completions and Gemini
//! `generateContent` on their real paths. What it says is a [`Script`] of neutral [`Turn`]s; each
//! is written in the format of the request that gets it, event by event as the vendor streams it.
//! Faults, gates and a log of every request make what a client does observable without sleeps.
//!
//! Beside the server there is a stand-in for agent CLIs: a program that does the [`Deed`]s of a script,
//! bad ones above all.
//!
//! It knows nothing of `airtight-core`: a mistake in the codecs cannot hide behind the same
//! mistake here.
//!
//! ```
//! use airtight_fake::{Fake, Script, Turn};
//! use serde_json::json;
//!
//! # fn main() -> std::io::Result<()> {
//! let fake = Fake::start_blocking(Script::new([
//!     Turn::status(429).header("retry-after", "1"),
//!     Turn::call("read_file", json!({"path": "README.md"})).usage(10, 5),
//!     Turn::text("Done.").gate(1, "almost"),
//! ]))?;
//! assert!(fake.anthropic_base().starts_with("http://127.0.0.1:"));
//! assert!(fake.requests().is_empty());
//! # Ok(())
//! # }
//! ```

mod answer;
mod check;
mod control;
mod endpoint;
mod gate;
mod log;
mod pace;
mod render;
mod script;
mod server;
mod standin;
mod turn;
mod vendor_error;
mod weave;
mod when;

pub use endpoint::Wire;
pub use gate::Gate;
pub use log::{Cancel, Ending, Exchange, Request};
pub use script::{Checks, Script};
pub use server::{Fake, Memory, Options};
pub use standin::{Deed, Matter, Sink, Variables, perform};
pub use turn::{Act, Call, Piece, Point, Raw, Repeat, Reply, Say, Stop, Turn, Usage};
pub use when::When;
