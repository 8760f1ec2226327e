//! A provider-neutral request, answered with the deltas that any provider sends.

use std::ops::ControlFlow;

use airtight_core::codec::{Delta, Request, Stop as End, Usage};
use airtight_core::message::{self, Block, Message, ToolChoice, ToolSpec};
use serde_json::Value;

use crate::chat::{Role, Turn};
use crate::completion::{Completion, Stop};
use crate::embedded::{Closing, Embedded, EmbeddedError, Question};
use crate::prompt;
use crate::sampling::Sampling;

/// How many tokens an answer may take if the request does not say.
const DEFAULT_BUDGET: usize = 1024;

/// What the answer is held to.
enum Shape<'a> {
    Text,
    /// The whole answer is of this schema.
    Format(&'a Value),
    /// The answer is a call of this tool.
    Call(&'a ToolSpec),
}

impl Embedded {
    /// Answers `request`; `listen` hears each delta and may break off. While the prompt is read it
    /// hears nothing, which only asks whether to go on. `seed` is where chance begins if the
    /// request has a temperature.
    ///
    /// A small model cannot choose between tools: only one that is forced, or the only one, is
    /// called. Where not even the shortest answer fits the limit of the request, it stops there.
    pub fn respond(
        &mut self,
        request: &Request,
        seed: u64,
        listen: &mut dyn FnMut(Option<Delta>) -> ControlFlow<()>,
    ) -> Result<(), EmbeddedError> {
        let shape = Shape::of(request)?;
        let turns = turns(request, shape.schema());
        let question = Question {
            turns: &turns,
            schema: shape.schema(),
            sampling: sampling(request.temperature, seed),
            budget: request.max_output_tokens.map_or(DEFAULT_BUDGET, |tokens| tokens as usize),
            closing: Closing::Ends,
        };
        let started = Delta::Started { id: None, model: Some(request.model.clone()) };
        let opening = std::iter::once(started).chain(shape.call());
        if opening.into_iter().any(|delta| listen(Some(delta)).is_break()) {
            return Ok(());
        }
        let completion = self
            .answer(question, &mut |text| listen((!text.is_empty()).then(|| shape.delta(text))));
        let completion = match completion {
            // The limit cuts the answer before its first word.
            Err(EmbeddedError::Budget { .. }) => {
                let _ = listen(Some(Delta::Stopped(End::MaxTokens)));
                return Ok(());
            }
            completion => completion?,
        };
        if completion.stop != Stop::Cancelled
            && listen(Some(Delta::Usage(usage(&completion)))).is_continue()
        {
            let _ = listen(Some(Delta::Stopped(shape.end(completion.stop))));
        }
        Ok(())
    }
}

impl<'a> Shape<'a> {
    fn of(request: &'a Request) -> Result<Self, EmbeddedError> {
        if let Some(format) = &request.format {
            return Ok(Self::Format(&format.schema));
        }
        let named = |name: &String| request.tools.iter().find(|tool| tool.name == *name);
        match (&request.choice, request.tools.as_slice()) {
            (ToolChoice::Tool(name), _) => {
                named(name).map(Self::Call).ok_or(EmbeddedError::Tools(request.tools.len()))
            }
            (ToolChoice::Auto, []) => Ok(Self::Text),
            (ToolChoice::Auto, [only]) => Ok(Self::Call(only)),
            (ToolChoice::Auto, tools) => Err(EmbeddedError::Tools(tools.len())),
        }
    }

    fn schema(&self) -> Option<&'a Value> {
        match self {
            Self::Text => None,
            Self::Format(schema) => Some(schema),
            Self::Call(tool) => Some(&tool.parameters),
        }
    }

    /// Returns the beginning of the call, if the answer is one.
    fn call(&self) -> Option<Delta> {
        let Self::Call(tool) = self else { return None };
        let (id, name) = ("call_0".to_owned(), tool.name.clone());
        Some(Delta::CallStarted { index: 0, id, name, signature: None })
    }

    fn delta(&self, text: &str) -> Delta {
        match self {
            Self::Text | Self::Format(_) => Delta::Text(text.to_owned()),
            Self::Call(_) => Delta::CallArguments { index: 0, text: text.to_owned() },
        }
    }

    /// Returns the provider's word for the end. What was led to its end is told as such, though it is
    /// whole.
    fn end(&self, stop: Stop) -> End {
        match (stop, self) {
            (Stop::Cut | Stop::Closed | Stop::Cancelled, _) => End::MaxTokens,
            (Stop::Circles, _) => End::Other("circles".to_owned()),
            (Stop::Complete, Self::Call(_)) => End::ToolUse,
            (Stop::Complete, Self::Text | Self::Format(_)) => End::EndTurn,
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "temperatures are small numbers")]
fn sampling(temperature: Option<f64>, seed: u64) -> Sampling {
    match temperature {
        Some(temperature) if temperature > 0.0 => {
            Sampling::Random { temperature: temperature as f32, seed }
        }
        _ => Sampling::Greedy,
    }
}

fn usage(completion: &Completion) -> Usage {
    Usage {
        input_tokens: Some(completion.prompt_tokens as u64),
        output_tokens: Some(completion.answer_tokens() as u64),
        cache_read_input_tokens: Some(completion.reused_tokens as u64),
        ..Usage::default()
    }
}

fn turns(request: &Request, schema: Option<&Value>) -> Vec<Turn> {
    let system = request.system.clone();
    let opening = schema.map_or_else(
        || system.clone().map(|text| Turn { role: Role::System, text }).into_iter().collect(),
        |schema| prompt::opening(schema, &request.examples, system.as_deref()),
    );
    opening.into_iter().chain(request.messages.iter().map(turn)).collect()
}

fn turn(message: &Message) -> Turn {
    let role = match message.role {
        message::Role::User => Role::User,
        message::Role::Assistant => Role::Assistant,
    };
    let said = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Call(call) => Some(&call.arguments),
        Block::Result(result) => Some(&result.content),
        Block::Thinking(_) | Block::Opaque(_) | Block::Session(_) => None,
    });
    Turn { role, text: said.collect::<Vec<_>>().join("\n") }
}

#[cfg(test)]
mod tests;
