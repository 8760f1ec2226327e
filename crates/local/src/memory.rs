//! What an engine has read, so that nothing is read twice.

use std::ops::ControlFlow;

use toktrie::{SimpleVob, TokenId};

use crate::engine::{Engine, EngineError};

/// How much of a prompt is read before it is asked whether to go on: what engines evaluate together,
/// and less than half a second even on a slow machine.
const PIECE: usize = 64;

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

    /// Forgets all but the beginning of a prompt, and returns how much of it is remembered.
    ///
    /// At least the last token is read anew, because it is what the next one is scored by.
    pub(crate) fn recall(&mut self, prompt: &[TokenId]) -> usize {
        let same = self.tokens.iter().zip(prompt).take_while(|(old, new)| old == new).count();
        let kept = same.min(prompt.len().saturating_sub(1));
        self.engine.truncate(kept);
        self.tokens.truncate(kept);
        kept
    }

    /// Forgets everything: nobody knows what was read by an engine that broke down.
    pub(crate) fn forget(&mut self) {
        self.engine.truncate(0);
        self.tokens.clear();
    }

    /// Reads the rest of a prompt, piece by piece, until `listen` breaks.
    pub(crate) fn read_on(
        &mut self,
        prompt: &[TokenId],
        listen: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError> {
        for piece in prompt.get(self.tokens.len()..).unwrap_or_default().chunks(PIECE) {
            if listen("").is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.read(piece)?;
        }
        Ok(ControlFlow::Continue(()))
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
