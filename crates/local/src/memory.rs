//! What an engine has read, so that nothing is read twice.

use toktrie::{SimpleVob, TokenId};

use crate::engine::{Engine, EngineError};

/// An engine and the tokens that it remembers.
pub(crate) struct Memory {
    engine: Box<dyn Engine>,
    tokens: Vec<TokenId>,
}

impl Memory {
    pub(crate) fn new(engine: Box<dyn Engine>) -> Self {
        Self { engine, tokens: Vec::new() }
    }

    /// Returns how many tokens there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.engine.capacity()
    }

    /// Reads a prompt from its start, and returns how much of it was still remembered.
    ///
    /// At least the last token is read anew, because it is what the next one is scored by.
    pub(crate) fn begin(&mut self, prompt: &[TokenId]) -> Result<usize, EngineError> {
        let same = self.tokens.iter().zip(prompt).take_while(|(old, new)| old == new).count();
        let kept = same.min(prompt.len().saturating_sub(1));
        self.engine.truncate(kept);
        self.tokens.truncate(kept);
        self.read(prompt.get(kept..).unwrap_or_default())?;
        Ok(kept)
    }

    /// Reads more tokens.
    pub(crate) fn read(&mut self, tokens: &[TokenId]) -> Result<(), EngineError> {
        if tokens.is_empty() {
            return Ok(());
        }
        self.engine.evaluate(tokens)?;
        self.tokens.extend_from_slice(tokens);
        Ok(())
    }

    /// Scores what may come next.
    pub(crate) fn scores(&mut self, allowed: Option<&SimpleVob>) -> Result<Vec<f32>, EngineError> {
        self.engine.scores(allowed)
    }
}
