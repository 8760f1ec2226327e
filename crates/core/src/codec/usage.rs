//! What an answer cost in tokens.

use serde::{Deserialize, Serialize};

/// Tokens used; absent where the provider does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read by the model in all, cached or not.
    pub input_tokens: Option<u64>,
    /// Said by the model in all, thoughts included.
    pub output_tokens: Option<u64>,
    /// Of the input, read from the provider's cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Of the input, written to the provider's cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// Of the output, thoughts.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Replaces what `newer` knows, as cumulative reports of one answer do.
    pub fn replace(&mut self, newer: &Self) {
        let pick = |old: Option<u64>, new: Option<u64>| new.or(old);
        self.input_tokens = pick(self.input_tokens, newer.input_tokens);
        self.output_tokens = pick(self.output_tokens, newer.output_tokens);
        self.cache_read_input_tokens =
            pick(self.cache_read_input_tokens, newer.cache_read_input_tokens);
        self.cache_creation_input_tokens =
            pick(self.cache_creation_input_tokens, newer.cache_creation_input_tokens);
        self.reasoning_tokens = pick(self.reasoning_tokens, newer.reasoning_tokens);
    }

    /// Returns input and output together.
    pub fn total(&self) -> u64 {
        self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0))
    }

    /// Returns what is left without `earlier`, which a cumulative report counts again.
    #[must_use]
    pub fn less(&self, earlier: &Self) -> Self {
        let rest = |all: Option<u64>, part: Option<u64>| {
            all.map(|all| all.saturating_sub(part.unwrap_or(0)))
        };
        Self {
            input_tokens: rest(self.input_tokens, earlier.input_tokens),
            output_tokens: rest(self.output_tokens, earlier.output_tokens),
            cache_read_input_tokens: rest(
                self.cache_read_input_tokens,
                earlier.cache_read_input_tokens,
            ),
            cache_creation_input_tokens: rest(
                self.cache_creation_input_tokens,
                earlier.cache_creation_input_tokens,
            ),
            reasoning_tokens: rest(self.reasoning_tokens, earlier.reasoning_tokens),
        }
    }

    /// Adds what another answer used.
    pub fn add(&mut self, other: &Self) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
        self.cache_read_input_tokens =
            sum(self.cache_read_input_tokens, other.cache_read_input_tokens);
        self.cache_creation_input_tokens =
            sum(self.cache_creation_input_tokens, other.cache_creation_input_tokens);
        self.reasoning_tokens = sum(self.reasoning_tokens, other.reasoning_tokens);
    }
}
