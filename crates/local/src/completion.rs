//! What came of a question.

use std::time::Duration;

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It is complete.
    Complete,
    /// The budget ended it: it is complete, or was led to its end. It conforms, and may be shorter
    /// than the model wanted.
    Closed,
    /// It went in circles and was led to its end, or out of them and then completed.
    Circles,
    /// It is not complete, and the budget is used up or no token can be chosen. Under a contract,
    /// this happens only where no way out is known or may be written, or where the scores are no numbers.
    Cut,
    /// The listener did not want any more.
    Cancelled,
}

/// How long the parts of an answer took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Reading the prompt.
    pub prompt: Duration,
    /// Writing the answer, all in all.
    pub answer: Duration,
    /// Thereof following the grammar and planning the way out.
    pub grammar: Duration,
}

/// An answer, and what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What the model said.
    pub text: String,
    /// Why it ended.
    pub stop: Stop,
    /// The tokens of the prompt.
    pub prompt_tokens: usize,
    /// Thereof those that were remembered from before.
    pub reused_tokens: usize,
    /// The tokens that the model chose.
    pub sampled_tokens: usize,
    /// The tokens that the grammar left no choice about.
    pub forced_tokens: usize,
    /// The tokens that ended what the model would have gone on with.
    pub closing_tokens: usize,
    /// How long it took.
    pub timings: Timings,
}

impl Completion {
    /// Returns how many tokens the answer has.
    pub fn answer_tokens(&self) -> usize {
        self.sampled_tokens + self.forced_tokens + self.closing_tokens
    }
}
