//! The embedded model: a real answer with no key, no server and no network.
//!
//! [`Weights`] are read from a GGUF file, which brings its own tokenizer and chat template. An
//! [`Engine`] evaluates tokens; [`Embedded`] holds them to the grammar of a contract, so that an
//! answer conforms by construction where the grammar can follow the schema. The verdict stays with
//! `airtight-core`: nothing here accepts an answer.

mod chat;
mod closing;
mod completion;
mod constraint;
mod embedded;
mod engine;
mod gguf;
mod kernel;
mod llama;
mod matrix;
mod memory;
mod models;
mod place;
mod prompt;
mod quant;
mod repetition;
mod respond;
mod sampling;
mod tokenizer;
mod weights;
mod writer;

#[cfg(test)]
mod trial;

pub use chat::{Role, Turn};
pub use completion::{Completion, Stop, Timings};
pub use constraint::ConstraintError;
pub use embedded::{Closing, Embedded, EmbeddedError, Question};
pub use engine::{Engine, EngineError};
pub use gguf::{Header, HeaderError, TensorInfo, Value};
pub use llama::Llama;
pub use models::{
    Condition, KNOWN, Lock, Models, NameError, Package, PipError, Progress, PullError, Watch,
    WeightsName,
};
pub use prompt::conversation;
pub use sampling::Sampling;
pub use tokenizer::Tokenizer;
pub use weights::{Weights, WeightsError};
