//! What a session's claims do to what is known: confirm, contradict, add.
//!
//! A session counts once: what it says twice confirms once, and what it says side by side does not
//! contradict itself. Claims that wait for leave contradict nothing until they have it.

use serde::{Deserialize, Serialize};

use super::{Confidence, Memory, MemoryKey, MemorySource, Trust, plain_observation};
use crate::excerpt;
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::tier::Tier;

/// The most characters of an observation: a memory is a fact, not a report.
pub const OBSERVATION_LIMIT_CHARS: usize = 1_000;

/// The most memories that one session may write: most should write none.
pub const SESSION_CLAIMS_LIMIT: usize = 16;

/// The most claims that are looked at: each refusal is an event of its own.
const LOOKED_AT_LIMIT: usize = 4 * SESSION_CLAIMS_LIMIT;

/// How much of a refused claim is told.
const TOLD_CHARS: usize = 120;

/// Something that a session wants later sessions to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryClaim {
    /// What it is about.
    pub key: MemoryKey,
    /// What was observed.
    pub observation: String,
}

/// Whose new memories are told at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPolicy {
    /// The tiers whose new memories wait for leave.
    pub needs_leave: Vec<Tier>,
}

impl Default for MemoryPolicy {
    /// Those that read logs and sites to find out why: whoever writes there would write memories.
    fn default() -> Self {
        Self { needs_leave: vec![Tier::Investigate, Tier::Remediate] }
    }
}

impl MemoryPolicy {
    fn trust(&self, source: &MemorySource) -> Trust {
        match source {
            MemorySource::Session { tier, .. } if self.needs_leave.contains(tier) => Trust::Pending,
            MemorySource::Session { .. } | MemorySource::Operator => Trust::Trusted,
        }
    }
}

/// A memory that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMemory {
    /// What it is about.
    pub key: MemoryKey,
    /// What was observed.
    pub observation: String,
    /// What it is worth.
    pub confidence: Confidence,
    /// Since when.
    pub confirmed_at_ms: i64,
    /// Whether it is told.
    pub trust: Trust,
    /// Who wrote it down.
    pub source: MemorySource,
}

/// What is to be changed in what is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MemoryChange {
    /// Store this.
    Insert(NewMemory),
    /// The same was observed again.
    Confirm {
        /// Which.
        id: String,
        /// What it is worth.
        confidence: Confidence,
        /// Since when.
        confirmed_at_ms: i64,
    },
    /// Something else was observed; the time of its last confirmation stays.
    Weaken {
        /// Which.
        id: String,
        /// What it was worth at its last confirmation, less what this takes.
        confidence: Confidence,
    },
    /// Somebody decided whether it is told.
    Trust {
        /// Which.
        id: String,
        /// What was decided.
        trust: Trust,
    },
}

/// What came of a session's claims.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    /// What is to be changed.
    pub changes: Vec<MemoryChange>,
    /// What was refused, and why.
    pub events: Vec<Event>,
}

/// Returns what `claims` of one `source` do to `memories`.
pub fn learn(
    memories: &[Memory],
    claims: &[MemoryClaim],
    source: &MemorySource,
    policy: &MemoryPolicy,
    now_ms: i64,
) -> Learned {
    let mut learned = Learned::default();
    let claims = learned.admit(memories, claims);
    let trust = policy.trust(source);
    let mut contradicted: Vec<&MemoryKey> = Vec::new();
    for claim in &claims {
        if let Some(memory) = same(memories, claim, now_ms) {
            if trust == Trust::Trusted && memory.trust == Trust::Pending {
                // Whoever needs no leave says it, too: it waits for none any more.
                learned.changes.push(leave(memory));
                contradicted.push(&claim.key);
            }
            learned.changes.push(confirm(memory, now_ms));
            continue;
        }
        contradicted.push(&claim.key);
        learned.changes.push(MemoryChange::Insert(NewMemory {
            key: claim.key.clone(),
            observation: claim.observation.trim().to_owned(),
            confidence: Confidence::NEW,
            confirmed_at_ms: now_ms,
            trust,
            source: source.clone(),
        }));
    }
    if trust == Trust::Trusted {
        let is_said = |memory: &Memory| claims.iter().any(|claim| says(memory, claim));
        let others = memories.iter().filter(|memory| {
            memory.is_told_at(now_ms) && contradicted.contains(&&memory.key) && !is_said(memory)
        });
        learned.changes.extend(others.map(weaken));
    }
    learned
}

/// Returns the memory that a claim repeats; one that is told comes first.
fn same<'m>(memories: &'m [Memory], claim: &MemoryClaim, now_ms: i64) -> Option<&'m Memory> {
    let of_trust = |trust: Trust| {
        let is_it = |it: &&Memory| it.trust == trust && it.is_active_at(now_ms) && says(it, claim);
        memories.iter().find(is_it)
    };
    of_trust(Trust::Trusted).or_else(|| of_trust(Trust::Pending))
}

fn leave(memory: &Memory) -> MemoryChange {
    MemoryChange::Trust { id: memory.id.clone(), trust: Trust::Trusted }
}

fn says(memory: &Memory, claim: &MemoryClaim) -> bool {
    memory.key == claim.key && memory.says(&claim.observation)
}

fn confirm(memory: &Memory, now_ms: i64) -> MemoryChange {
    MemoryChange::Confirm {
        id: memory.id.clone(),
        confidence: memory.confidence_at(now_ms).reinforced(),
        confirmed_at_ms: now_ms,
    }
}

fn weaken(memory: &Memory) -> MemoryChange {
    MemoryChange::Weaken { id: memory.id.clone(), confidence: memory.confidence.contradicted() }
}

/// Returns what leave for a memory changes: it is told, and contradicts what it could not before.
///
/// Nothing if it does not wait.
pub fn approve(memories: &[Memory], id: &str, now_ms: i64) -> Vec<MemoryChange> {
    let waiting = |memory: &&Memory| memory.id == id && memory.trust == Trust::Pending;
    let Some(approved) = memories.iter().find(waiting) else {
        return Vec::new();
    };
    let others = memories.iter().filter(|memory| {
        memory.is_told_at(now_ms)
            && memory.key == approved.key
            && !memory.says(&approved.observation)
    });
    std::iter::once(leave(approved)).chain(others.map(weaken)).collect()
}

impl Learned {
    /// Returns the claims that count, each once; the others are told.
    fn admit<'c>(
        &mut self,
        memories: &[Memory],
        claims: &'c [MemoryClaim],
    ) -> Vec<&'c MemoryClaim> {
        let mut admitted: Vec<&MemoryClaim> = Vec::new();
        let mut over = claims.len().saturating_sub(LOOKED_AT_LIMIT);
        for claim in claims.iter().take(LOOKED_AT_LIMIT) {
            let plain = plain_observation(&claim.observation);
            let is_repeated = admitted
                .iter()
                .any(|it| it.key == claim.key && plain_observation(&it.observation) == plain);
            let rejected = |it: &Memory| it.trust == Trust::Rejected && says(it, claim);
            if is_repeated {
                continue;
            }
            if plain.is_empty() {
                self.refuse(claim, Level::Warning, "it says nothing");
            } else if claim.observation.chars().count() > OBSERVATION_LIMIT_CHARS {
                self.refuse(claim, Level::Warning, "it has over 1,000 characters");
            } else if memories.iter().any(rejected) {
                self.refuse(claim, Level::Info, "an operator rejected the same before");
            } else if admitted.len() >= SESSION_CLAIMS_LIMIT {
                over += 1;
            } else {
                admitted.push(claim);
            }
        }
        if over > 0 {
            let message =
                format!("{over} memories are not kept: a session may write {SESSION_CLAIMS_LIMIT}");
            self.events.push(Event::of_watch(Level::Warning, message));
        }
        admitted
    }

    fn refuse(&mut self, claim: &MemoryClaim, level: Level, why: &str) {
        let told = excerpt(claim.observation.trim(), TOLD_CHARS, "…");
        let message = format!("a memory of `{}` is not kept: {why}: {told}", claim.key);
        let service = claim.key.service.clone();
        self.events.push(Event { service, ..Event::of_watch(level, message) });
    }
}
