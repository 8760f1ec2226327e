//! The border to what evaluates tokens, so that another engine can stand behind it.

use thiserror::Error;
use toktrie::SimpleVob;

/// Why an engine cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EngineError {
    /// The text is longer than the model can see.
    #[error("the text takes {tokens} tokens, over the model's limit of {limit}")]
    Context {
        /// How many there would be.
        tokens: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The vocabulary has no such token.
    #[error("the model has no token {0}")]
    NoSuchToken(u32),
    /// Scores were asked for before anything was evaluated.
    #[error("nothing was evaluated yet")]
    NothingRead,
}

/// Reads tokens, remembers them and scores what may come next.
pub trait Engine: Send {
    /// Returns how many tokens it remembers.
    fn length(&self) -> usize;

    /// Returns how many tokens it can remember.
    fn capacity(&self) -> usize;

    /// Reads `tokens` behind those that it remembers.
    fn evaluate(&mut self, tokens: &[u32]) -> Result<(), EngineError>;

    /// Scores each token as the next one; those that are not `allowed` may get any score.
    fn scores(&mut self, allowed: Option<&SimpleVob>) -> Result<Vec<f32>, EngineError>;

    /// Forgets all but the first `length` tokens; the next call must evaluate.
    fn truncate(&mut self, length: usize);
}
