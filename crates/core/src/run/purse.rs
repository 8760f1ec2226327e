//! What a run may spend and has spent, its subagents included.
//!
//! Everybody who works for a run pays from purses that hang on that run's: what a subagent spends is
//! taken from its own purse and from all above it in one go. So subagents at work at the same time
//! share what is left, and what one of them used is counted whatever becomes of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Advice;
use crate::codec::{Reply, Usage};
use crate::price::{Cost, Price};

use super::{Account, Bill, Budget, Extractor, Job, Outcome, RunError};

/// What a run may spend and has spent.
#[derive(Debug, Clone)]
pub(super) struct Purse(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    budget: Budget,
    spent: Mutex<Spent>,
    above: Option<Purse>,
}

/// What was spent so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    /// What providers said was used.
    pub(super) usage: Usage,
    pub(super) tool_calls: u32,
    /// Requests that were sent again.
    pub(super) retries: u32,
    pub(super) unknown_events: u64,
    /// What `usage` cost, as far as prices are known.
    counted: Cost,
    completeness: Completeness,
    /// What nobody counted, for budgets alone.
    estimated: Estimate,
    /// Requests that have left and are not settled.
    in_flight: u32,
}

/// Whether it can be known what answers cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Knowledge {
    /// It will be.
    Some,
    /// It cannot.
    None,
}

impl Knowledge {
    pub(super) fn of(job: &Job) -> Self {
        Self::by(job.price, job.account)
    }

    pub(super) fn of_extractor(extractor: &Extractor) -> Self {
        Self::by(extractor.price, extractor.account)
    }

    fn by(price: Option<Price>, account: Account) -> Self {
        match (price, account) {
            (None, Account::Price) => Self::None,
            (Some(_), Account::Price) | (_, Account::Driver) => Self::Some,
        }
    }
}

/// Whether everything that was used has a count and a price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Completeness {
    #[default]
    Whole,
    Partial,
}

/// A guess at what was used beyond what was counted.
#[derive(Debug, Clone, Copy, Default)]
struct Estimate {
    tokens: u64,
    cost: Cost,
}

/// What one request adds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    usage: Usage,
    cost: Cost,
    completeness: Completeness,
    estimated: Estimate,
    unknown_events: u64,
}

impl Entry {
    /// Prices the `bill` of `reply`, unless the driver has told its cost; `guess` is asked what was
    /// used in all where nobody counted.
    pub(super) fn of(
        bill: Bill,
        price: Option<&Price>,
        reply: &Reply,
        guess: impl FnOnce(&Usage) -> Usage,
    ) -> Self {
        let cost = |usage: &Usage| price.map(|price| price.cost(usage)).unwrap_or_default();
        let usage = bill.usage();
        let paid = reply.cost.unwrap_or_else(|| cost(&usage));
        let unknown_events = reply.unknown;
        let entry = Self { usage, cost: paid, unknown_events, ..Self::default() };
        match bill {
            Bill::Free => entry,
            Bill::Exact(_) if price.is_some() || reply.cost.is_some() => entry,
            Bill::Exact(_) => Self { completeness: Completeness::Partial, ..entry },
            Bill::AtLeast(counted) => {
                let whole = guess(&counted);
                let tokens = whole.total().saturating_sub(counted.total());
                if reply.cost.is_some() {
                    // Drivers tell it when a call is over, also when it has failed.
                    return Self { estimated: Estimate { tokens, ..Estimate::default() }, ..entry };
                }
                let cost = cost(&whole).saturating_sub(entry.cost);
                let estimated = Estimate { tokens, cost };
                Self { completeness: Completeness::Partial, estimated, ..entry }
            }
        }
    }
}

impl Spent {
    /// Returns what everything cost, if that is known.
    pub(super) fn cost(&self) -> Option<Cost> {
        let is_known = self.completeness == Completeness::Whole && self.in_flight == 0;
        is_known.then_some(self.counted)
    }

    fn add(&mut self, entry: &Entry) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.usage.add(&entry.usage);
        self.counted += entry.cost;
        self.estimated.tokens = self.estimated.tokens.saturating_add(entry.estimated.tokens);
        self.estimated.cost += entry.estimated.cost;
        self.unknown_events = self.unknown_events.saturating_add(entry.unknown_events);
        if entry.completeness == Completeness::Partial {
            self.completeness = Completeness::Partial;
        }
    }
}

impl Purse {
    /// Opens a purse, which hangs on the one `above`; a budget of money needs to know the cost.
    pub(super) fn open(
        budget: Budget,
        knowledge: Knowledge,
        above: Option<Self>,
    ) -> Result<Self, RunError> {
        let mut spent = Spent::default();
        if knowledge == Knowledge::None {
            spent.completeness = Completeness::Partial;
        }
        let purse = Self(Arc::new(Inside { budget, spent: Mutex::new(spent), above }));
        purse.require_cost(knowledge)?;
        Ok(purse)
    }

    /// Fails if there is a budget of money for something whose cost cannot be known.
    pub(super) fn require_cost(&self, knowledge: Knowledge) -> Result<(), RunError> {
        let has_budget = self.levels().any(|purse| purse.0.budget.cost.is_some());
        if knowledge == Knowledge::None && has_budget {
            let message = "the budget for cost cannot be kept: the price of the model is unknown";
            return Err(RunError::new(Outcome::Config, message).advise(Advice::BudgetTokens));
        }
        Ok(())
    }

    /// Notes that a request leaves; what it uses is unknown until it is settled.
    pub(super) fn sent(&self) {
        for purse in self.levels() {
            let mut spent = purse.lock();
            spent.in_flight = spent.in_flight.saturating_add(1);
        }
    }

    /// Counts one request, here and above.
    pub(super) fn settle(&self, entry: &Entry) {
        self.levels().for_each(|purse| purse.lock().add(entry));
    }

    /// Counts a request that is sent again, here and above.
    pub(super) fn retried(&self) {
        for purse in self.levels() {
            let mut spent = purse.lock();
            spent.retries = spent.retries.saturating_add(1);
        }
    }

    /// Takes up to `wanted` tool calls, as far as this purse and all above reach, and returns how
    /// many that is.
    pub(super) fn take_tool_calls(&self, wanted: u32) -> u32 {
        // Held while those above are asked, so that nobody takes the same call.
        let mut spent = self.lock();
        let left = self.0.budget.tool_calls.map(|most| most.saturating_sub(spent.tool_calls));
        let here = left.map_or(wanted, |left| left.min(wanted));
        let granted = self.0.above.as_ref().map_or(here, |above| above.take_tool_calls(here));
        spent.tool_calls = spent.tool_calls.saturating_add(granted);
        granted
    }

    /// Returns what was spent from this purse.
    pub(super) fn spent(&self) -> Spent {
        *self.lock()
    }

    /// Returns the wall time that may pass.
    pub(super) fn wall(&self) -> Option<Duration> {
        self.0.budget.wall
    }

    /// Takes the time; fails if it is over.
    pub(super) fn pass(&self, since_start: Duration) -> Result<(), RunError> {
        match self.wall() {
            Some(wall) if since_start >= wall => {
                let seconds = wall.as_secs_f64();
                Err(over(format!("the budget of {seconds} s of wall time is spent")))
            }
            _ => Ok(()),
        }
    }

    /// Fails if nothing more may be asked of the model, beside a request that has used so much and is
    /// not settled.
    pub(super) fn allows_model_call(&self, under_way: &Usage) -> Result<(), RunError> {
        self.levels().try_for_each(|purse| purse.has_some_left(under_way))
    }

    /// Returns what is left to pay with, if that is limited.
    pub(super) fn cost_left(&self) -> Option<Cost> {
        let left = |purse: &Self| {
            let Spent { counted, estimated, .. } = purse.spent();
            let most = purse.0.budget.cost?;
            Some(most.saturating_sub(counted).saturating_sub(estimated.cost))
        };
        self.levels().filter_map(left).min()
    }

    fn has_some_left(&self, under_way: &Usage) -> Result<(), RunError> {
        let Spent { usage, counted, estimated, .. } = self.spent();
        let Budget { tokens, cost, .. } = self.0.budget;
        let used = usage.total().saturating_add(estimated.tokens);
        let used = used.saturating_add(under_way.total());
        if let Some(most) = tokens.filter(|most| used >= *most) {
            let guessed = match estimated.tokens {
                0 => String::new(),
                tokens => format!(", {tokens} of them by estimate"),
            };
            return Err(over(format!(
                "the budget of {most} tokens is spent: {used} were used{guessed}"
            )));
        }
        let mut paid = counted;
        paid += estimated.cost;
        if let Some(most) = cost.filter(|most| paid >= *most) {
            let guessed = if estimated.cost == Cost::default() { "" } else { " by estimate" };
            let (most, paid) = (most.usd(), paid.usd());
            return Err(over(format!(
                "the budget of {most} USD is spent: {paid} USD so far{guessed}"
            )));
        }
        Ok(())
    }

    /// Returns the error of a run that wanted more tool calls.
    pub(super) fn no_tool_calls_left(&self) -> RunError {
        let spent = |purse: &Self| {
            let most = purse.0.budget.tool_calls?;
            (purse.spent().tool_calls >= most).then_some(most)
        };
        let most = self.levels().find_map(spent).unwrap_or(0);
        over(format!("the budget of {most} tool calls is spent"))
    }

    /// Returns this purse and all above it.
    fn levels(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |purse| purse.0.above.as_ref())
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.0.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn over(message: String) -> RunError {
    RunError::new(Outcome::Budget, message).advise(Advice::RaiseBudget)
}
