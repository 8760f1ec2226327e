//! What one request used, as far as anybody knows.

use crate::codec::{ProviderFailure, Reply, Request, Usage};

/// How many bytes a token has, where nobody counted: what English and JSON come to.
const BYTES_PER_TOKEN: usize = 4;

/// What one request used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bill {
    /// Nothing: it was turned away before a model said anything.
    Free,
    /// Exactly this.
    Exact(Usage),
    /// This, and nobody knows how much more.
    AtLeast(Usage),
}

impl Bill {
    /// Reads what an answer used, whole or not.
    ///
    /// Counts grow while an answer is said, so they are final only once the model has stopped.
    pub fn of_answer(reply: &Reply) -> Self {
        let Usage { input_tokens, output_tokens, .. } = reply.usage;
        match (&reply.stop, input_tokens, output_tokens) {
            (Some(_), Some(_), Some(_)) => Self::Exact(reply.usage),
            _ => Self::AtLeast(reply.usage),
        }
    }

    /// Reads what a failed request used, from what was said before it failed.
    pub fn of_failure(partial: &Reply, failure: &ProviderFailure) -> Self {
        if failure.is_refusal() && *partial == Reply::default() {
            return Self::Free;
        }
        Self::of_answer(partial)
    }

    /// Returns what the provider said was used.
    pub fn usage(self) -> Usage {
        match self {
            Self::Free => Usage::default(),
            Self::Exact(usage) | Self::AtLeast(usage) => usage,
        }
    }
}

/// Estimates what `request` and as much of its answer as came used, where `counted` does not say.
pub(super) fn estimate(request: &Request, reply: &Reply, counted: &Usage) -> Usage {
    let said = tokens_in(reply.text_bytes());
    Usage {
        input_tokens: counted.input_tokens.or_else(|| Some(tokens_in(request.text_bytes()))),
        output_tokens: Some(counted.output_tokens.unwrap_or(0).max(said)),
        ..*counted
    }
}

/// Returns about how many tokens so many bytes of text are.
pub(crate) fn tokens_in(bytes: usize) -> u64 {
    u64::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(u64::MAX)
}
