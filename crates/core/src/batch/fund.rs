//! What all runs of a batch may cost together, looked at before each request leaves.
//!
//! What is under way counts by an estimate, so that many requests at once do not overdraw it together.

use std::collections::HashMap;

use crate::codec::Usage;
use crate::price::{Cost, Price};

/// How many output tokens an answer is taken to have until one has come.
const FIRST_OUTPUT_TOKENS: u64 = 1024;

/// How many bytes of a request make a token, roughly.
const BYTES_PER_TOKEN: u64 = 4;

/// Returns about how many tokens so many bytes are; only the provider's tokenizer knows.
pub fn estimated_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// An estimate that is right, in thousandths of itself.
const EXACT: u64 = 1000;

/// The most that may be spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<Cost>,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Input and output tokens.
    pub tokens: u64,
    /// What they cost.
    pub cost: Cost,
}

impl Estimate {
    fn plus(mut self, other: Self) -> Self {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost += other.cost;
        self
    }
}

/// Which model of a run a request asks: each has its own price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The one that is to answer.
    Model,
    /// The one that looks for the answer in text.
    Extractor,
}

/// What tokens cost, as far as that is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prices {
    /// With the model that is to answer.
    pub model: Option<Price>,
    /// With the extractor.
    pub extractor: Option<Price>,
}

impl Prices {
    /// Returns what `usage` costs, if that is known.
    pub fn cost(&self, whose: Whose, usage: &Usage) -> Option<Cost> {
        let price = match whose {
            Whose::Model => self.model,
            Whose::Extractor => self.extractor,
        };
        price.map(|price| price.cost(usage))
    }
}

/// What earlier processes spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Requests that used something.
    pub requests: u64,
    /// What they used.
    pub spent: Estimate,
    /// Requests that may have been paid.
    pub unknown: u64,
}

/// Whether a request may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// It may, and this much is set aside for it under the number.
    Given(u64),
    /// Ask again when another has returned: it may have cost less than was set aside.
    OnReturn,
    /// Nothing is left.
    Spent,
}

/// What may be spent, was spent, and is set aside.
#[derive(Debug, Clone)]
pub struct Fund {
    limits: Limits,
    prices: Prices,
    /// The most tokens of one answer: as asked for, or the longest that has come.
    output_tokens: Longest,
    /// What earlier requests cost on average.
    usual: Estimate,
    /// How much more a request used than was thought, at worst, in thousandths.
    worst: u64,
    spent: Estimate,
    set_aside: HashMap<u64, Estimate>,
    next: u64,
}

#[derive(Debug, Clone, Copy)]
enum Longest {
    Asked(u64),
    Seen(u64),
}

impl Fund {
    /// Starts with nothing spent; `output_tokens` is the most that one answer may have, if that is
    /// set.
    pub fn new(limits: Limits, prices: Prices, output_tokens: Option<u32>) -> Self {
        Self {
            limits,
            prices,
            output_tokens: match output_tokens {
                Some(most) => Longest::Asked(most.into()),
                None => Longest::Seen(0),
            },
            usual: Estimate::default(),
            worst: EXACT,
            spent: Estimate::default(),
            set_aside: HashMap::new(),
            next: 0,
        }
    }

    /// Returns what a request of `bytes` may cost.
    pub fn estimate(&self, whose: Whose, bytes: u64) -> Estimate {
        let output = match self.output_tokens {
            Longest::Asked(tokens) => tokens,
            Longest::Seen(0) => FIRST_OUTPUT_TOKENS,
            Longest::Seen(tokens) => tokens,
        };
        let scaled = |tokens: u64| Some(tokens.saturating_mul(self.worst).div_ceil(EXACT));
        let usage = Usage {
            input_tokens: scaled(estimated_tokens(bytes)),
            output_tokens: scaled(output),
            ..Usage::default()
        };
        let cost = self.prices.cost(whose, &usage).unwrap_or_default();
        Estimate { tokens: usage.total().max(self.usual.tokens), cost: cost.max(self.usual.cost) }
    }

    /// Asks whether a request of `bytes` may leave.
    pub fn ask(&mut self, whose: Whose, bytes: u64) -> Grant {
        let estimate = self.estimate(whose, bytes);
        let planned = self.set_aside.values().fold(self.spent, |sum, one| sum.plus(*one));
        if !self.covers(planned.plus(estimate)) {
            return if self.set_aside.is_empty() { Grant::Spent } else { Grant::OnReturn };
        }
        let number = self.next;
        self.next += 1;
        // Nobody looks at what is set aside where everything is allowed.
        if self.limits != Limits::default() {
            self.set_aside.insert(number, estimate);
        }
        Grant::Given(number)
    }

    /// Tells that the request `number` is over. Where nobody counted, what was set aside is spent.
    pub fn settle(&mut self, number: u64, whose: Whose, used: Option<Usage>) {
        let set_aside = self.set_aside.remove(&number).unwrap_or_default();
        let spent = match used {
            Some(used) => {
                self.learn(&used, set_aside);
                let cost = self.prices.cost(whose, &used).unwrap_or_default();
                Estimate { tokens: used.total(), cost }
            }
            None => set_aside,
        };
        self.spent = self.spent.plus(spent);
    }

    /// Tells that the request `number` never left.
    pub fn release(&mut self, number: u64) {
        self.set_aside.remove(&number);
    }

    /// Adds what was spent before this process began: the next request will not cost less than those
    /// did on average, and what may have been paid counts like it.
    pub fn add(&mut self, earlier: Earlier) {
        let Earlier { requests, spent, unknown } = earlier;
        self.usual = Estimate {
            tokens: spent.tokens.checked_div(requests).unwrap_or_default(),
            cost: spent.cost.per(requests),
        };
        let one = self.estimate(Whose::Model, 0);
        let possible =
            Estimate { tokens: one.tokens.saturating_mul(unknown), cost: one.cost.times(unknown) };
        self.spent = self.spent.plus(spent).plus(possible);
    }

    /// Returns what was spent.
    pub fn spent(&self) -> Estimate {
        self.spent
    }

    /// Learns from an answer what the next may cost.
    fn learn(&mut self, used: &Usage, set_aside: Estimate) {
        let times = used.total().saturating_mul(self.worst).checked_div(set_aside.tokens);
        self.worst = self.worst.max(times.unwrap_or(EXACT));
        if let (Longest::Seen(longest), Some(output)) =
            (&mut self.output_tokens, used.output_tokens)
        {
            *longest = (*longest).max(output);
        }
    }

    fn covers(&self, planned: Estimate) -> bool {
        self.limits.tokens.is_none_or(|most| planned.tokens <= most)
            && self.limits.cost.is_none_or(|most| planned.cost <= most)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(most: u64) -> Fund {
        Fund::new(Limits { tokens: Some(most), cost: None }, Prices::default(), Some(10))
    }

    fn used(input: u64, output: u64) -> Usage {
        let (input_tokens, output_tokens) = (Some(input), Some(output));
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }

    #[test]
    fn what_is_under_way_is_set_aside() {
        let mut fund = tokens(100);
        let (first, second) = (fund.ask(Whose::Model, 160), fund.ask(Whose::Model, 160));
        assert_eq!((first, second), (Grant::Given(0), Grant::Given(1)));
        assert_eq!(fund.ask(Whose::Model, 4), Grant::OnReturn);
        fund.settle(0, Whose::Model, Some(used(10, 5)));
        assert_eq!(fund.ask(Whose::Model, 4), Grant::Given(2));
    }

    #[test]
    fn a_fund_without_room_and_nothing_under_way_is_spent() {
        let mut fund = tokens(100);
        let spent = Estimate { tokens: 95, cost: Cost::default() };
        fund.add(Earlier { requests: 1, spent, unknown: 0 });
        assert_eq!(fund.ask(Whose::Model, 4), Grant::Spent);
    }

    #[test]
    fn what_may_have_been_paid_before_counts_as_usual() {
        let mut fund = tokens(100);
        let spent = Estimate { tokens: 60, cost: Cost::default() };
        fund.add(Earlier { requests: 3, spent, unknown: 2 });
        assert_eq!(fund.spent().tokens, 100);
    }

    #[test]
    fn each_model_has_its_own_price() {
        let price =
            |each| Price { input: each, output: each, cache_read: 0, cache_write: 0, long: None };
        let prices = Prices { model: Some(price(1_000_000)), extractor: Some(price(100_000)) };
        let mut fund = Fund::new(Limits::default(), prices, None);
        for whose in [Whose::Model, Whose::Extractor] {
            let Grant::Given(number) = fund.ask(whose, 0) else { panic!("no limit") };
            fund.settle(number, whose, Some(used(500_000, 500_000)));
        }
        assert_eq!(fund.spent().cost, Cost::from_usd(1.1).unwrap());
    }

    #[test]
    fn what_nobody_counted_is_spent_as_estimated() {
        let mut fund = tokens(100);
        assert_eq!(fund.ask(Whose::Model, 40), Grant::Given(0));
        fund.settle(0, Whose::Model, None);
        assert_eq!(fund.spent().tokens, 20);
    }

    #[test]
    fn the_longest_answer_teaches_what_the_next_may_cost() {
        let mut fund = Fund::new(Limits::default(), Prices::default(), None);
        assert_eq!(fund.estimate(Whose::Model, 0).tokens, FIRST_OUTPUT_TOKENS);
        let Grant::Given(number) = fund.ask(Whose::Model, 0) else { panic!("no limit") };
        fund.settle(number, Whose::Model, Some(used(1, 7)));
        assert_eq!(fund.estimate(Whose::Model, 0).tokens, 7);
    }

    #[test]
    fn a_request_that_costs_more_than_thought_makes_the_next_dearer() {
        let mut fund = tokens(1000);
        assert_eq!(
            (fund.estimate(Whose::Model, 40).tokens, fund.ask(Whose::Model, 40)),
            (20, Grant::Given(0))
        );
        fund.settle(0, Whose::Model, Some(used(30, 10)));
        assert_eq!(fund.estimate(Whose::Model, 40).tokens, 40);
    }

    proptest! {
        #[test]
        fn answers_within_their_estimates_never_overdraw(
            most in 1_u64..500,
            steps in prop::collection::vec((any::<bool>(), 0_u64..200, 0_u64..=10), 1..60),
        ) {
            let mut fund = tokens(most);
            let mut open = Vec::new();
            for (is_asked, bytes, output) in steps {
                if is_asked {
                    if let Grant::Given(number) = fund.ask(Whose::Model, bytes) {
                        open.push((number, bytes / 4));
                    }
                } else if let Some((number, input)) = open.pop() {
                    fund.settle(number, Whose::Model, Some(used(input, output)));
                }
                prop_assert!(fund.spent().tokens <= most);
            }
        }
    }
}
