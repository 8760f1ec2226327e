//! What tokens cost: a dated table, and `None` for what is not in it.
//!
//! A wrong price is worse than none: a model is in the table by its own name or a dated release of
//! it, never because a relative is. The rates are those of the vendors' own APIs in the standard
//! tier; what a reseller or a discount changes is not known here.

mod table;

use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::codec::{Usage, Wire};

pub use table::AS_OF;

/// An amount of money in picodollars, so that a price per token is a whole number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(u64);

/// Digits of a picodollar behind the point.
const DECIMALS: usize = 12;

/// What a model's tokens cost, in picodollars each (dollars per million tokens × 1,000,000).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Input that was neither read from nor written to the cache.
    pub input: u64,
    /// Output, thoughts included.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
    /// What a request costs whose input is long, if that is another price.
    pub long: Option<LongPrice>,
}

/// What the tokens of a request cost whose input is long, in picodollars each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongPrice {
    /// The most input, cached or not, at the usual price.
    pub above_input_tokens: u64,
    /// Input that was neither read from nor written to the cache.
    pub input: u64,
    /// Output, thoughts included.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
}

impl Cost {
    /// Makes an amount of `dollars`; `None` if it is negative, not a number, or beyond what fits
    /// (18 million dollars).
    pub fn from_usd(dollars: f64) -> Option<Self> {
        if !dollars.is_finite() || dollars < 0.0 {
            return None;
        }
        // The decimal text is rounded exactly; a product of floats is not.
        let text = format!("{dollars:.DECIMALS$}");
        text.replace('.', "").trim_start_matches('-').parse().ok().map(Self)
    }

    /// Returns the amount in dollars, to the picodollar below a thousand of them.
    pub fn usd(self) -> f64 {
        const UNIT: u64 = 1_000_000_000_000;
        let text = format!("{}.{:0DECIMALS$}", self.0 / UNIT, self.0 % UNIT);
        text.parse().unwrap_or(f64::INFINITY)
    }

    /// Returns the share of one of `parts`, nothing of none.
    #[must_use]
    pub fn per(self, parts: u64) -> Self {
        Self(self.0.checked_div(parts).unwrap_or_default())
    }

    /// Returns this amount `count` times.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// Returns this amount less `other`, nothing if that is more.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |mut sum, cost| {
            sum += cost;
            sum
        })
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.usd())
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Self::from_usd(dollars).ok_or_else(|| de::Error::custom("not an amount of dollars"))
    }
}

impl Price {
    /// What tokens of a model in this process cost.
    pub const FREE: Self = Self { input: 0, output: 0, cache_read: 0, cache_write: 0, long: None };

    /// Looks `model` up.
    pub fn of(wire: Wire, model: &str) -> Option<Self> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        table::rows(wire)
            .iter()
            .filter(|row| model.strip_prefix(row.family).is_some_and(is_release))
            .max_by_key(|row| row.family.len())
            .map(table::Row::price)
    }

    /// Returns what the `usage` of one request costs.
    pub fn cost(&self, usage: &Usage) -> Cost {
        let all = usage.input_tokens.unwrap_or(0);
        let read = usage.cache_read_input_tokens.unwrap_or(0).min(all);
        let written = usage.cache_creation_input_tokens.unwrap_or(0).min(all - read);
        let (input, output, cache_read, cache_write) = match &self.long {
            Some(long) if all > long.above_input_tokens => {
                (long.input, long.output, long.cache_read, long.cache_write)
            }
            _ => (self.input, self.output, self.cache_read, self.cache_write),
        };
        let parts = [
            (all - read - written, input),
            (read, cache_read),
            (written, cache_write),
            (usage.output_tokens.unwrap_or(0), output),
        ];
        parts.iter().map(|(tokens, price)| Cost(tokens.saturating_mul(*price))).sum()
    }
}

/// Claims that what follows a family's name only says which release of it this is: nothing, a
/// date, a number of three digits or more, `latest` or `preview`. `-1` and `-mini` are others.
fn is_release(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    if rest == "latest" {
        return true;
    }
    let (number, is_long_enough) = match rest.strip_prefix("preview") {
        Some(number) => (number, true),
        None => (rest, rest.split('-').next().is_some_and(|first| first.len() >= 3)),
    };
    is_long_enough && number.chars().all(|c| c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod laws;
