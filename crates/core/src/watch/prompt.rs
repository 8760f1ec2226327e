//! The task of each tier, as it is shipped. What an answer looks like is not in it: that is generated from
//! the contract.

use super::tier::Tier;

/// Returns the task of a tier.
pub fn tier_prompt(tier: Tier) -> &'static str {
    match tier {
        Tier::Observe => include_str!("../../../../prompts/tier1-observe.md"),
        Tier::Investigate => include_str!("../../../../prompts/tier2-investigate.md"),
        Tier::Remediate => include_str!("../../../../prompts/tier3-remediate.md"),
    }
}
