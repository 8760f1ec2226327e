//! From settings to the bounds of a run.

use airtight_agent::provider::Retries;
use airtight_core::price::Cost;
use airtight_core::run::{Budget, Mode, Policy, RepairRung, TextRung};

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
    let (text, repair) = rungs(config);
    Ok(Policy {
        reasks: config
            .small(Key::Reasks)
            .and_then(|count| u8::try_from(count).ok())
            .unwrap_or(usual.reasks),
        text,
        repair,
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

/// Claims that nothing but the tool or native output counts, as it stands; whoever lists rungs in a
/// stronger place says otherwise.
pub(super) fn is_strict(config: &Config) -> bool {
    let origin = |key| config.strongest(key).map(|entry| &entry.origin);
    let is_overruled = match (origin(Key::Strict), origin(Key::Rungs)) {
        (Some(strict), Some(rungs)) => strict.layer() != rungs.layer() && strict < rungs,
        (_, None) | (None, _) => false,
    };
    config.is_on(Key::Strict) == Some(true) && !is_overruled
}

fn rungs(config: &Config) -> (TextRung, RepairRung) {
    if is_strict(config) {
        return (TextRung::Refused, RepairRung::Refused);
    }
    let Some(listed) = config.list(Key::Rungs) else { return Default::default() };
    let counts = |rung: &str| listed.iter().any(|listed| listed == rung);
    (
        if counts("text") { TextRung::Allowed } else { TextRung::Refused },
        if counts("repair") { RepairRung::Allowed } else { RepairRung::Refused },
    )
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
