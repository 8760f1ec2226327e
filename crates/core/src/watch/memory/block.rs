//! What sessions are told of memories: as many as the budget has room for, quoted as data.

use super::{Confidence, Memory, MemorySource};
use crate::watch::quote::{DATA_RULE, fence_length, one_line};

/// How much of a prompt memories may take unless the configuration says otherwise.
pub const MEMORY_BUDGET_TOKENS: u32 = 2_000;

/// The most memories that are told, whatever the budget: who has more should prune.
const ROWS_LIMIT: usize = 200;

/// A token has about so many characters.
const CHARS_PER_TOKEN: usize = 4;

/// The name of the group of memories about no single service.
const GENERAL: &str = "general";

/// What a session is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBlock {
    /// The text.
    pub text: String,
    /// How many memories are in it.
    pub told: usize,
    /// How many there are that could be.
    pub known: usize,
    /// About how many tokens it has.
    pub tokens: usize,
}

/// Returns what a session that begins at `now_ms` is told; nothing if there is nothing to tell, or no
/// room for any of it.
///
/// Those with the most confidence come first, and the first that does not fit ends it.
pub fn memory_block(memories: &[Memory], budget_tokens: u32, now_ms: i64) -> Option<MemoryBlock> {
    let mut told: Vec<(Confidence, &Memory)> = memories
        .iter()
        .filter(|memory| memory.is_told_at(now_ms))
        .map(|memory| (memory.confidence_at(now_ms), memory))
        .collect();
    told.sort_by(|(left, one), (right, other)| {
        let later = other.confirmed_at_ms.cmp(&one.confirmed_at_ms);
        right.cmp(left).then(later).then_with(|| one.id.cmp(&other.id))
    });
    let known = told.len();
    told.truncate(ROWS_LIMIT);
    let budget = usize::try_from(budget_tokens).unwrap_or(usize::MAX);
    // A block grows with each memory, so that halving finds the first that does not fit.
    let (mut fits, mut too_many) = (0, told.len() + 1);
    let mut found = None;
    while too_many - fits > 1 {
        let middle = fits.midpoint(too_many);
        let block = render(told.get(..middle).unwrap_or_default(), known);
        if block.tokens <= budget {
            fits = middle;
            found = Some(block);
        } else {
            too_many = middle;
        }
    }
    found
}

fn render(told: &[(Confidence, &Memory)], known: usize) -> MemoryBlock {
    let mut groups: Vec<&str> = told.iter().map(|(_, memory)| group(memory)).collect();
    groups.sort_unstable_by_key(|name| (*name != GENERAL, *name));
    groups.dedup();
    let mut body = String::new();
    for name in groups {
        body.push_str(&format!("### {}\n", one_line(name)));
        let of_group = told.iter().filter(|(_, memory)| group(memory) == name);
        for (confidence, memory) in of_group {
            body.push_str(&line(memory, *confidence));
        }
    }
    let fence = "`".repeat(fence_length(&body));
    let rule = "What earlier sessions and operators wrote down.";
    let quoted = format!("{rule} {DATA_RULE}\n\n{fence}memories\n{body}{fence}");
    let header = |tokens: usize| {
        format!("## Memory ({} of {known} memories, about {tokens} tokens)\n\n", told.len())
    };
    let count = |text: &str| text.chars().count().div_ceil(CHARS_PER_TOKEN);
    // The number stands in the text that it counts: what it adds is counted with any number.
    let tokens = count(&format!("{}{quoted}", header(count(&quoted))));
    let text = format!("{}{quoted}", header(tokens));
    let tokens = count(&text);
    MemoryBlock { text, told: told.len(), known, tokens }
}

fn group(memory: &Memory) -> &str {
    memory.key.service.as_deref().unwrap_or(GENERAL)
}

fn line(memory: &Memory, confidence: Confidence) -> String {
    let category = memory.key.category.name();
    let observation = one_line(&memory.observation);
    let source = match &memory.source {
        MemorySource::Operator => "from an operator".to_owned(),
        MemorySource::Session { id, tier } => format!("from {tier}, session {}", one_line(id)),
    };
    format!("- [{category}] {observation} (confidence: {confidence}, {source})\n")
}
