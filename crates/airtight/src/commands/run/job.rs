//! From settings to the bounds of a run.

use airtight_agent::provider::Retries;
use airtight_core::price::Cost;
use airtight_core::run::{Budget, Mode, Policy, TextRung};

use crate::config::{Config, Key};
use crate::error::{Error, Outcome};

/// Returns the bounds in force.
pub(super) fn policy(config: &Config) -> Result<Policy, Error> {
    let usual = Policy::default();
    let dollars = config.decimal(Key::MaxCost);
    let cost = dollars.and_then(Cost::from_usd);
    if dollars.is_some() && cost.is_none() {
        return Err(Error::new(Outcome::Contract, "`policy.max_cost` is no amount of money"));
    }
    let is_strict = config.is_on(Key::Strict) == Some(true);
    Ok(Policy {
        reasks: config
            .small(Key::Reasks)
            .and_then(|count| u8::try_from(count).ok())
            .unwrap_or(usual.reasks),
        text: if is_strict { TextRung::Refused } else { TextRung::Allowed },
        max_turns: config.small(Key::MaxTurns),
        max_output_tokens: config.small(Key::MaxOutputTokens),
        temperature: config.decimal(Key::Temperature),
        budget: Budget {
            wall: config.duration(Key::MaxWallTime),
            tool_calls: config.small(Key::MaxToolCalls),
            tokens: config.whole(Key::MaxTokensTotal),
            cost,
        },
    })
}

/// Returns how the contract is put to the model.
pub(super) fn mode(config: &Config) -> Mode {
    config.text(Key::Mode).and_then(Mode::named).unwrap_or_default()
}

/// Returns how failed requests are sent again.
pub(in crate::commands) fn retries(config: &Config) -> Retries {
    let usual = Retries::default();
    Retries {
        limit: config.small(Key::RetryAttempts).unwrap_or(usual.limit),
        first: usual.first,
        cap: config.duration(Key::RetryMaxDelay).unwrap_or(usual.cap),
        asked_cap: config.duration(Key::RetryMaxDelay).unwrap_or(usual.asked_cap),
    }
}
