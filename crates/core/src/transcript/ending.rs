//! How a program came to its end, in words that do not depend on the program.

use super::{Category, Program, Record};

/// How a program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It says that it is done, and nothing went wrong. Whether it answered is another question.
    Done,
    /// It gave up on a model that spoke instead of calling the tool for the answer.
    Prose,
    /// It gave up on a model whose answers it rejected.
    Rejected,
    /// It used up its turns.
    TurnCap,
    /// It used up its time, its tool calls or its money.
    Budget,
    /// Something went wrong, of this kind.
    Failed(Category),
    /// It never said that it is done.
    Unfinished,
}

/// What qwen says of a model that spoke instead; there is no other mark.
const PROSE: &str = "plain text instead of calling";

/// What qwen says of a model that made the same rejected call again and again.
const LOOP: &str = "Loop detection";

impl Record {
    /// Says how the program came to its end: by its own words, where they are missing by its exit.
    pub fn ending(&self) -> Ending {
        let is_about = |words: &str| self.error.as_ref().is_some_and(|it| it.contains(words));
        match (self.program, self.subtype.as_deref(), self.exit_code) {
            (_, Some("error_max_turns"), _) => Ending::TurnCap,
            (_, Some("error_max_structured_output_retries"), _) => Ending::Rejected,
            (_, Some("error_max_budget_usd"), _) => Ending::Budget,
            (Some(Program::Qwen | Program::Gemini), _, Some(53)) => Ending::TurnCap,
            (Some(Program::Qwen), _, Some(55)) => Ending::Budget,
            (Some(Program::Qwen), ..) if is_about(PROSE) => Ending::Prose,
            (Some(Program::Qwen), ..) if is_about(LOOP) => Ending::Rejected,
            _ => match (&self.error, self.num_results) {
                (Some(_), _) => Ending::Failed(self.error_category.unwrap_or(Category::Api)),
                (None, 0) => Ending::Unfinished,
                (None, _) => Ending::Done,
            },
        }
    }
}
