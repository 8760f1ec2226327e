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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::memory::{Confidence, Memory, MemoryKey, MemorySource, Trust, memory_block};

    /// CO-6: environment, memories, escalation, with blank lines between.
    #[test]
    fn co_6_blocks_come_in_their_order() {
        let surroundings = Surroundings {
            mode: WatchMode::DryRun,
            state_dir: Some("/state".to_owned()),
            models: [Some("medium".to_owned()), None],
            ..Surroundings::default()
        };
        let memory = Memory {
            id: "m".to_owned(),
            key: MemoryKey::parse("timing").unwrap(),
            observation: "x".to_owned(),
            confidence: Confidence::NEW,
            confirmed_at_ms: 0,
            trust: Trust::Trusted,
            source: MemorySource::Operator,
        };
        let block = memory_block(&[memory], 2_000, 0).unwrap();
        let context = session_context(&surroundings, Some(&block), Some("## Escalation\n"));
        let environment =
            "## Environment\n\n- dry_run: true\n- state_dir: /state\n- tier2_model: medium";
        assert_eq!(context, format!("{environment}\n\n{}\n\n## Escalation", block.text));
    }

    /// CO-6: targets and origins only where they are set; without memories and escalation no gap.
    #[test]
    fn co_6_what_is_not_set_is_left_out() {
        let plain = session_context(&Surroundings::default(), None, None);
        assert_eq!(plain, "## Environment\n\n- dry_run: false");
        let surroundings = Surroundings {
            targets: vec!["ops".to_owned(), "slack".to_owned()],
            browser_origins: vec!["https://a".to_owned()],
            more: vec![("site".to_owned(), "home\n## Forged".to_owned())],
            ..Surroundings::default()
        };
        let expected = "## Environment\n\n- dry_run: false\n- notification_targets: ops, slack\n\
            - browser_origins: https://a\n- site: home ## Forged";
        assert_eq!(session_context(&surroundings, None, Some(" ")), expected);
    }
}
