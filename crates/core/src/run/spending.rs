//! What a run has spent, against what it may.

use std::time::Duration;

use crate::codec::Usage;
use crate::price::{Cost, Price};

use super::{Budget, Outcome, RunError};

/// What was spent so far.
#[derive(Debug)]
pub(super) struct Spending {
    budget: Budget,
    price: Option<Price>,
    usage: Usage,
    /// Unknown if the price is.
    cost: Option<Cost>,
    pub(super) tool_calls: u32,
}

impl Spending {
    /// Starts to count; a budget of money needs a price.
    pub(super) fn begin(budget: Budget, price: Option<Price>) -> Result<Self, RunError> {
        if budget.cost.is_some() && price.is_none() {
            return Err(RunError {
                outcome: Outcome::Config,
                message: "the budget for cost cannot be kept: the price of the model is unknown"
                    .to_owned(),
                hint: Some("use a budget for tokens, or a model with a known price".to_owned()),
            });
        }
        let cost = price.map(|_| Cost::default());
        Ok(Self { budget, price, usage: Usage::default(), cost, tool_calls: 0 })
    }

    /// Counts one request; its price may depend on its own size.
    pub(super) fn request(&mut self, usage: &Usage) {
        self.charge(usage, self.price);
    }

    /// Counts what requests of others used; how long each of them was is not known.
    pub(super) fn others(&mut self, usage: &Usage) {
        self.charge(usage, self.price.map(|price| Price { long: None, ..price }));
    }

    fn charge(&mut self, usage: &Usage, price: Option<Price>) {
        self.usage.add(usage);
        if let (Some(sum), Some(price)) = (&mut self.cost, price) {
            *sum += price.cost(usage);
        }
    }

    /// Returns all tokens used so far.
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns what everything cost so far, if it is known.
    pub(super) fn cost(&self) -> Option<Cost> {
        self.cost
    }

    /// Returns how many more tool calls may be run.
    pub(super) fn tool_calls_left(&self) -> usize {
        let left = self.budget.tool_calls.map(|most| most.saturating_sub(self.tool_calls));
        left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX))
    }

    /// Counts tool calls, before they are run.
    pub(super) fn tick(&mut self, calls: usize) {
        let calls = u32::try_from(calls).unwrap_or(u32::MAX);
        self.tool_calls = self.tool_calls.saturating_add(calls);
    }

    /// Returns what remains, the wall time excepted.
    pub(super) fn left(&self) -> Budget {
        let Budget { wall, tool_calls, tokens, cost } = self.budget;
        let spent = self.cost().unwrap_or_default();
        let money = |most: Cost| Cost::from_usd((most.usd() - spent.usd()).max(0.0));
        Budget {
            wall,
            tool_calls: tool_calls.map(|most| most.saturating_sub(self.tool_calls)),
            tokens: tokens.map(|most| most.saturating_sub(self.tokens())),
            cost: cost.and_then(money),
        }
    }

    fn tokens(&self) -> u64 {
        let Usage { input_tokens, output_tokens, .. } = self.usage;
        input_tokens.unwrap_or(0).saturating_add(output_tokens.unwrap_or(0))
    }

    /// Returns the wall time that may pass.
    pub(super) fn wall(&self) -> Option<Duration> {
        self.budget.wall
    }

    /// Takes the time; fails if it is over.
    pub(super) fn pass(&self, since_start: Duration) -> Result<(), RunError> {
        match self.budget.wall {
            Some(wall) if since_start >= wall => {
                let seconds = wall.as_secs_f64();
                Err(over(format!("the budget of {seconds} s of wall time is spent")))
            }
            _ => Ok(()),
        }
    }

    /// Fails if nothing more may be asked of the model.
    pub(super) fn allows_model_call(&self) -> Result<(), RunError> {
        let tokens = self.tokens();
        if let Some(most) = self.budget.tokens.filter(|most| tokens >= *most) {
            return Err(over(format!("the budget of {most} tokens is spent: {tokens} were used")));
        }
        if let Some((most, cost)) =
            self.budget.cost.zip(self.cost()).filter(|(most, cost)| cost >= most)
        {
            let (most, cost) = (most.usd(), cost.usd());
            return Err(over(format!("the budget of {most} USD is spent: {cost} USD so far")));
        }
        Ok(())
    }

    /// Returns the error of a run that wanted more tool calls.
    pub(super) fn no_tool_calls_left(&self) -> RunError {
        let most = self.budget.tool_calls.unwrap_or(0);
        over(format!("the budget of {most} tool calls is spent"))
    }
}

fn over(message: String) -> RunError {
    RunError {
        outcome: Outcome::Budget,
        message,
        hint: Some("raise the budget, or give the model less to do".to_owned()),
    }
}
