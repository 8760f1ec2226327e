//! What the model is asked, and how its answer is followed.

use crate::codec::Request;
use crate::message::{ToolChoice, ToolSpec};

use super::offer::Offer;
use super::watch::{Calls, Guard};
use super::{Job, Pressure, Run, TERMINAL_TOOL, Watch};

impl Run {
    /// Returns what is sent to the model.
    pub(super) fn request(&self) -> Request {
        let Job { model, system, policy, .. } = &self.job;
        let instructions = self.offer.as_ref().and_then(Offer::instructions);
        let system = match (system, instructions) {
            (Some(system), Some(instructions)) => Some(format!("{system}\n\n{instructions}")),
            (system, instructions) => system.clone().or(instructions.map(str::to_owned)),
        };
        let is_forced = self.pressure == Pressure::Forced || self.turns == self.turn_limit();
        let choice = match self.terminal() {
            Some(tool) if is_forced => ToolChoice::Tool(tool.name.clone()),
            _ => ToolChoice::Auto,
        };
        Request {
            model: model.clone(),
            system,
            messages: self.conversation.messages().to_vec(),
            tools: self.tools().cloned().collect(),
            choice,
            format: self.offer.as_ref().and_then(Offer::format),
            examples: self.offer.as_ref().map(|it| it.examples.clone()).unwrap_or_default(),
            max_output_tokens: policy.max_output_tokens,
            temperature: policy.temperature,
            max_cost: self.purse.cost_left(),
        }
    }

    /// Returns what the model may call, the terminal tool last where it is offered.
    pub fn tools(&self) -> impl Iterator<Item = &ToolSpec> {
        let terminal = self.terminal();
        let is_shadow = move |tool: &&ToolSpec| terminal.is_some() && tool.name == TERMINAL_TOOL;
        self.job.tools.iter().filter(move |tool| !is_shadow(tool)).chain(terminal)
    }

    /// Returns the terminal tool, if the model has it.
    pub(super) fn terminal(&self) -> Option<&ToolSpec> {
        self.offer.as_ref().and_then(Offer::tool)
    }

    /// Starts to follow the answer to the last [`Step::CallModel`](super::Step::CallModel).
    ///
    /// It is blind unless a cancelled answer could be asked for again.
    pub fn watch(&self) -> Watch {
        let Some(Offer { contract, plan: Some(plan), .. }) = &self.offer else {
            return Watch::blind();
        };
        // An answer by an older version may be right although this one rules it out.
        let is_open = !contract.older().is_empty();
        if is_open || !self.may_ask_again() || self.turns >= self.turn_limit() {
            return Watch::blind();
        }
        let is_text = self.terminal().is_none() && !self.job.tools.is_empty();
        let calls = if is_text { Calls::Possible } else { Calls::Impossible };
        let strictness = self.examiner.strictness();
        let guard = Guard { contract: contract.clone(), plan: plan.clone(), strictness, calls };
        match self.terminal() {
            Some(tool) => Watch::over_calls(guard, &tool.name),
            None => Watch::over_text(guard),
        }
    }
}
