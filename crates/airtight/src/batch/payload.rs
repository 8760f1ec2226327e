//! What a job of the queue holds: everything that a worker needs to know, and no secret.
//!
//! Where the provider is and which key it takes are the worker's own to say: whoever can write to the
//! queue must not be able to send a key elsewhere.

use std::time::Duration;

use airtight_core::contract::{Identity, Options, Patterns, Wrap};
use airtight_core::price::Cost;
use airtight_core::run::{Budget, Mode, Policy, RepairRung, Terminal, TextRung};
use serde::{Deserialize, Serialize};

/// The version of the form; workers refuse others.
const VERSION: u32 = 2;

/// The words for rungs that may be left out.
const TEXT: &str = "text";
const REPAIR: &str = "repair";

/// What a job holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Payload {
    version: u32,
    pub(crate) kind: Kind,
    pub(crate) prompt: String,
}

/// What all jobs of a batch share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    /// The contract as it was written.
    pub(crate) schema: String,
    pub(crate) contract: Option<String>,
    contract_version: Option<String>,
    look_around: bool,
    no_wrap: bool,
    /// As `provider:name`.
    pub(crate) model: String,
    mode: String,
    pub(crate) system: Option<String>,
    reasks: u8,
    /// What counts besides the tool and native output as they stand, by the words of the settings.
    rungs: Vec<String>,
    no_terminal: bool,
    max_turns: Option<u32>,
    max_output_tokens: Option<u32>,
    temperature: Option<f64>,
    max_wall_seconds: Option<f64>,
    max_tool_calls: Option<u32>,
    max_tokens_total: Option<u64>,
    max_cost_usd: Option<f64>,
    /// How long the ledger keeps its runs; for good if absent.
    keep_seconds: Option<u64>,
}

/// How the runs of a batch are performed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner<'a> {
    pub(crate) mode: Mode,
    pub(crate) policy: &'a Policy,
    pub(crate) terminal: Terminal,
    /// How long the ledger keeps them.
    pub(crate) keep: Option<Duration>,
}

/// Why a job cannot be understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PayloadError {
    /// It is of another version.
    #[error("the job has form {version}, and this worker knows {VERSION}: update it")]
    Version {
        /// Its version.
        version: u32,
    },
    /// It is no job of ours.
    #[error("the job cannot be read")]
    Malformed(#[source] serde_json::Error),
}

/// The part of a job that every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Kind {
    /// Puts together what all jobs of a batch share.
    pub(crate) fn new(
        schema: String,
        options: &Options,
        model: String,
        system: Option<String>,
        Manner { mode, policy, terminal, keep }: Manner<'_>,
    ) -> Self {
        let Budget { wall, tool_calls, tokens, cost } = policy.budget;
        Self {
            schema,
            contract: options.identity.name.clone(),
            contract_version: options.identity.version.as_ref().map(ToString::to_string),
            look_around: options.patterns == Patterns::LookAround,
            no_wrap: options.wrap == Wrap::Refused,
            model,
            mode: mode.name().to_owned(),
            system,
            reasks: policy.reasks,
            rungs: rungs(policy),
            no_terminal: terminal == Terminal::Denied,
            max_turns: policy.max_turns,
            max_output_tokens: policy.max_output_tokens,
            temperature: policy.temperature,
            max_wall_seconds: wall.map(|wall| wall.as_secs_f64()),
            max_tool_calls: tool_calls,
            max_tokens_total: tokens,
            max_cost_usd: cost.map(Cost::usd),
            keep_seconds: keep.map(|keep| keep.as_secs()),
        }
    }

    /// Returns how the contract is compiled.
    pub(crate) fn options(&self) -> Options {
        let version = self.contract_version.as_deref().and_then(|it| it.parse().ok());
        Options {
            wrap: if self.no_wrap { Wrap::Refused } else { Wrap::Allowed },
            patterns: if self.look_around { Patterns::LookAround } else { Patterns::Linear },
            identity: Identity { name: self.contract.clone(), version },
            ..Options::default()
        }
    }

    /// Returns how the contract is put to the model.
    pub(crate) fn mode(&self) -> Mode {
        Mode::named(&self.mode).unwrap_or_default()
    }

    /// Returns whether the terminal tool may be offered.
    pub(crate) fn terminal(&self) -> Terminal {
        if self.no_terminal { Terminal::Denied } else { Terminal::Offered }
    }

    /// Returns how long the ledger keeps its runs.
    pub(crate) fn keep(&self) -> Option<Duration> {
        self.keep_seconds.map(Duration::from_secs)
    }

    /// Returns the bounds of each run.
    pub(crate) fn policy(&self) -> Policy {
        let counts = |rung: &str| self.rungs.iter().any(|known| known == rung);
        let wall = self.max_wall_seconds;
        Policy {
            reasks: self.reasks,
            text: if counts(TEXT) { TextRung::Allowed } else { TextRung::Refused },
            repair: if counts(REPAIR) { RepairRung::Allowed } else { RepairRung::Refused },
            max_turns: self.max_turns,
            max_output_tokens: self.max_output_tokens,
            temperature: self.temperature,
            budget: Budget {
                wall: wall.and_then(|it| Duration::try_from_secs_f64(it).ok()),
                tool_calls: self.max_tool_calls,
                tokens: self.max_tokens_total,
                cost: self.max_cost_usd.and_then(Cost::from_usd),
            },
        }
    }
}

fn rungs(policy: &Policy) -> Vec<String> {
    let text = (policy.text == TextRung::Allowed).then_some(TEXT);
    let repair = (policy.repair == RepairRung::Allowed).then_some(REPAIR);
    text.into_iter().chain(repair).map(str::to_owned).collect()
}

impl Payload {
    /// Makes the job of one input.
    pub(crate) fn new(kind: Kind, prompt: String) -> Self {
        Self { version: VERSION, kind, prompt }
    }

    /// Reads a job.
    pub(crate) fn read(text: &str) -> Result<Self, PayloadError> {
        let Versioned { version } = serde_json::from_str(text).map_err(PayloadError::Malformed)?;
        if version != VERSION {
            return Err(PayloadError::Version { version });
        }
        serde_json::from_str(text).map_err(PayloadError::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let budget = Budget {
            wall: Some(Duration::from_millis(1500)),
            tool_calls: Some(3),
            tokens: Some(4000),
            cost: Cost::from_usd(0.25),
        };
        Policy {
            reasks: 1,
            text: TextRung::Refused,
            repair: RepairRung::Refused,
            max_turns: Some(7),
            max_output_tokens: Some(50),
            temperature: Some(0.5),
            budget,
        }
    }

    fn options() -> Options {
        let version = "1.2.3".parse().ok();
        let identity = Identity { name: Some("review".to_owned()), version };
        Options {
            wrap: Wrap::Refused,
            patterns: Patterns::LookAround,
            identity,
            ..Options::default()
        }
    }

    fn payload() -> Payload {
        let manner = Manner {
            mode: Mode::Tool,
            policy: &policy(),
            terminal: Terminal::Denied,
            keep: Some(Duration::from_hours(24)),
        };
        let model = "openai:x".to_owned();
        let kind = Kind::new("{}".to_owned(), &options(), model, None, manner);
        Payload::new(kind, "do it".to_owned())
    }

    #[test]
    fn a_job_says_what_was_asked_for() {
        let text = serde_json::to_string(&payload()).unwrap();
        let read = Payload::read(&text).unwrap();
        assert_eq!(read, payload());
        let Payload { kind, .. } = read;
        assert_eq!(format!("{:?}", kind.policy()), format!("{:?}", policy()));
        assert_eq!(format!("{:?}", kind.options()), format!("{:?}", options()));
        assert_eq!((kind.mode(), kind.terminal()), (Mode::Tool, Terminal::Denied));
        assert_eq!(kind.keep(), Some(Duration::from_hours(24)));
    }

    #[test]
    fn a_job_of_another_version_is_told_apart_from_a_bad_one() {
        let newer = Payload::read("{\"version\": 3, \"what\": 1}").unwrap_err();
        assert!(matches!(newer, PayloadError::Version { version: 3 }));
        assert!(matches!(Payload::read("nonsense"), Err(PayloadError::Malformed(_))));
    }
}
