//! The embedded model: weights, tokenizer, template and grammars together.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use thiserror::Error;

use crate::chat::{Template, Turn};
use crate::closing::Exits;
use crate::completion::{Completion, Stop};
use crate::constraint::{Constraint, ConstraintError, Grammars};
use crate::engine::{Engine, EngineError};
use crate::llama::Llama;
use crate::memory::Memory;
use crate::sampling::Sampling;
use crate::tokenizer::Tokenizer;
use crate::weights::{Weights, WeightsError};
use crate::writer::{Voice, Writer};

/// How many grammars are kept for contracts that come again.
const GRAMMAR_LIMIT: usize = 16;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum EmbeddedError {
    /// The weights cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The contract's grammar cannot be followed.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
    /// The model cannot go on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The model was offered a choice that it is too small for.
    #[error("the embedded model cannot choose between {0} tools")]
    Tools(usize),
    /// Even the shortest answer does not fit.
    #[error("the shortest answer takes {needed} tokens, over the limit of {limit}")]
    Budget {
        /// What the shortest answer takes.
        needed: usize,
        /// How much is allowed.
        limit: usize,
    },
}

impl EmbeddedError {
    /// Claims that the machine is at fault, and neither the weights nor the question.
    pub fn is_machine(&self) -> bool {
        matches!(self, Self::Weights(error) if error.is_machine())
    }

    /// Claims that the prompt leaves the model no room for an answer.
    pub fn is_too_long(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Context { .. }))
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The conversation so far; its last turn is the user's.
    pub turns: &'a [Turn],
    /// What the answer is held to, in the dialect `llguidance`; plain text if absent.
    pub schema: Option<&'a Value>,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// How many tokens the answer may take.
    pub budget: usize,
    /// What may be written without the model if the answer must end.
    pub closing: Closing,
}

/// What may be written without the model, so that an answer under a contract is complete within
/// its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// The ends of what the model has begun: strings and containers. Where that is not enough, the
    /// answer is cut: what nobody said must not pass for an answer.
    Ends,
    /// Whatever it takes.
    Anything,
}

/// A model in this process.
pub struct Embedded {
    memory: Memory,
    tokenizer: Arc<Tokenizer>,
    template: Template,
    exits: Exits,
    grammars: Grammars,
    compiled: Vec<(Value, Constraint)>,
}

impl Embedded {
    /// Loads a model from a GGUF file, to be run by so many threads.
    pub fn open(path: &Path, threads: usize) -> Result<Self, EmbeddedError> {
        let mut weights = Weights::open(path)?;
        let tokenizer = Tokenizer::of(weights.header())?;
        let template = Template::of(weights.header(), &tokenizer)?;
        let engine = Llama::load(&mut weights, threads)?;
        Self::new(Box::new(engine), tokenizer, template)
    }

    fn new(
        engine: Box<dyn Engine>,
        tokenizer: Tokenizer,
        template: Template,
    ) -> Result<Self, EmbeddedError> {
        let tokenizer = Arc::new(tokenizer);
        let grammars = Grammars::new(&tokenizer.environment()?)?;
        Ok(Self {
            memory: Memory::new(engine),
            exits: Exits::of(&tokenizer),
            grammars,
            tokenizer,
            template,
            compiled: Vec::new(),
        })
    }

    /// Returns what the grammar of a schema does not follow.
    pub fn warnings(&mut self, schema: &Value) -> Result<Vec<String>, ConstraintError> {
        Ok(self.grammar(schema)?.warnings().to_vec())
    }

    /// Answers a question; `listen` hears the text as it grows and may break off, also while the
    /// prompt is read, when it hears empty text.
    ///
    /// The turns that begin like those of the question before are not evaluated again.
    pub fn answer(
        &mut self,
        question: Question<'_>,
        listen: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Completion, EmbeddedError> {
        let constraint = question.schema.map(|schema| self.grammar(schema)).transpose()?;
        let prompt = self.template.write(&self.tokenizer, question.turns);
        let capacity = self.memory.capacity();
        let room = capacity.saturating_sub(prompt.len());
        let too_long = |answer: usize| {
            let tokens = prompt.len().saturating_add(answer);
            EmbeddedError::from(EngineError::Context { tokens, limit: capacity })
        };
        if room == 0 {
            return Err(too_long(1));
        }
        let voice = Voice {
            tokenizer: &self.tokenizer,
            exits: &self.exits,
            constraint,
            sampling: question.sampling,
            budget: question.budget.min(room),
            closing: question.closing,
        };
        let mut writer = match Writer::new(voice) {
            // There is not as much room as is allowed.
            Err(EmbeddedError::Budget { needed, limit }) if limit < question.budget => {
                return Err(too_long(needed));
            }
            writer => writer?,
        };
        let started = Instant::now();
        let reused = self.memory.recall(&prompt);
        let heard = self.memory.read_on(&prompt, listen)?;
        let read = started.elapsed();
        let stop = match heard {
            ControlFlow::Continue(()) => writer.write(&mut self.memory, listen)?,
            ControlFlow::Break(()) => Stop::Cancelled,
        };
        let mut completion = writer.finish(stop);
        completion.prompt_tokens = prompt.len();
        completion.reused_tokens = reused;
        completion.timings.prompt = read;
        Ok(completion)
    }

    /// Forgets what it has read. Whoever finds a model in a state that nobody knows can use it again.
    pub fn forget(&mut self) {
        self.memory.forget();
    }

    /// Returns the grammar of a schema, at its beginning.
    fn grammar(&mut self, schema: &Value) -> Result<Constraint, ConstraintError> {
        if let Some((_, constraint)) = self.compiled.iter().find(|(known, _)| known == schema) {
            return Ok(constraint.clone());
        }
        let constraint = self.grammars.compile(schema)?;
        if self.compiled.len() >= GRAMMAR_LIMIT {
            self.compiled.remove(0);
        }
        self.compiled.push((schema.clone(), constraint.clone()));
        Ok(constraint)
    }
}

#[cfg(test)]
mod tests;
