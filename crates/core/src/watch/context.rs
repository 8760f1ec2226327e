//! What a session is told beside its task: where it is, what is remembered, what was handed to it.

use serde::{Deserialize, Serialize};

use super::escalation::WatchMode;
use super::memory::MemoryBlock;
use super::quote::one_line;

/// Where a session is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Whether anything may be changed.
    pub mode: WatchMode,
    /// Where the watch keeps its state.
    pub state_dir: Option<String>,
    /// Where results go.
    pub results_dir: Option<String>,
    /// Where repositories are.
    pub repos_dir: Option<String>,
    /// The models of the tiers 2 and 3.
    pub models: [Option<String>; 2],
    /// The names of the notification targets; their addresses hold keys, and are nobody's business.
    pub targets: Vec<String>,
    /// Sites that a browser may be pointed at.
    pub browser_origins: Vec<String>,
    /// More, in the order in which it is told.
    pub more: Vec<(String, String)>,
}

impl Surroundings {
    /// Returns the names and values, in order; what is not set is left out.
    fn pairs(&self) -> Vec<(String, String)> {
        let mode = match self.mode {
            WatchMode::Live => "false",
            WatchMode::DryRun => "true",
        };
        let [tier2, tier3] = &self.models;
        let list = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
        let named = [
            ("dry_run", Some(mode.to_owned())),
            ("state_dir", self.state_dir.clone()),
            ("results_dir", self.results_dir.clone()),
            ("repos_dir", self.repos_dir.clone()),
            ("tier2_model", tier2.clone()),
            ("tier3_model", tier3.clone()),
            ("notification_targets", list(&self.targets)),
            ("browser_origins", list(&self.browser_origins)),
        ];
        let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        named.chain(self.more.iter().cloned()).collect()
    }

    /// Writes them.
    pub fn block(&self) -> String {
        let line = |(name, value): (String, String)| {
            format!("- {}: {}", one_line(&name), one_line(&value))
        };
        let lines: Vec<String> = self.pairs().into_iter().map(line).collect();
        format!("## Environment\n\n{}", lines.join("\n"))
    }
}

/// Puts together what a session is told: environment, memories, escalation, in this order.
pub fn session_context(
    surroundings: &Surroundings,
    memories: Option<&MemoryBlock>,
    escalation: Option<&str>,
) -> String {
    let blocks = [
        Some(surroundings.block()),
        memories.map(|block| block.text.clone()),
        escalation.map(|block| block.trim().to_owned()),
    ];
    let blocks = blocks.into_iter().flatten().filter(|block| !block.is_empty());
    blocks.collect::<Vec<_>>().join("\n\n")
}
