//! What a job of the queue holds: everything that a worker needs to know, and no secret.
//!
//! Where the provider is and which key it takes are the worker's own to say: whoever can write to the
//! queue must not be able to send a key elsewhere.

use std::time::Duration;

use airtight_agent::provider::Model;
use airtight_core::contract::{Identity, Options, Patterns, WorkedExample, Wrap};
use airtight_core::price::Cost;
use airtight_core::run::{Budget, Mode, Policy, RepairRung, Terminal, TextRung};
use serde::{Deserialize, Serialize};

/// The version of the form; workers refuse newer ones.
const VERSION: u32 = 3;

/// The oldest form that workers still take: what was added since is absent in it, and was in its batches.
const OLDEST: u32 = 2;

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
    /// Who looks for answers in text, as `provider:name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) extractor: Option<String>,
    /// Worked examples besides those in the contract.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) examples: Vec<Example>,
    /// The contract, as people call it, if nothing may go on without its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) critical: Option<String>,
}

/// A worked example that was added to the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example {
    pub(crate) input: String,
    /// The answer: JSON.
    pub(crate) output: String,
}

impl From<&WorkedExample> for Example {
    fn from(example: &WorkedExample) -> Self {
        Self { input: example.input.clone(), output: example.output.to_string() }
    }
}

/// How the runs of a batch are performed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner<'a> {
    pub(crate) mode: Mode,
    pub(crate) policy: &'a Policy,
    pub(crate) terminal: Terminal,
    /// How long the ledger keeps them.
    pub(crate) keep: Option<Duration>,
    /// Who looks for answers in text, if anybody.
    pub(crate) extractor: Option<&'a Model>,
    /// Worked examples besides those in the contract.
    pub(crate) examples: &'a [WorkedExample],
    /// The contract, as people call it, if nothing may go on without its answer.
    pub(crate) critical: Option<&'a str>,
}

/// Why a job cannot be understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PayloadError {
    /// It is of another version.
    #[error("the job has form {version}, and this worker knows {OLDEST} to {VERSION}: update it")]
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
        manner: Manner<'_>,
    ) -> Self {
        let Manner { mode, policy, terminal, keep, extractor, examples, critical } = manner;
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
            extractor: extractor.map(ToString::to_string),
            examples: examples.iter().map(Example::from).collect(),
            critical: critical.map(str::to_owned),
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
    /// Makes the job of one input, in the oldest form that can say it: while machines are updated one by one,
    /// workers that know no other do what they can.
    pub(crate) fn new(kind: Kind, prompt: String) -> Self {
        let is_older =
            kind.extractor.is_none() && kind.examples.is_empty() && kind.critical.is_none();
        Self { version: if is_older { OLDEST } else { VERSION }, kind, prompt }
    }

    /// Reads a job.
    pub(crate) fn read(text: &str) -> Result<Self, PayloadError> {
        let Versioned { version } = serde_json::from_str(text).map_err(PayloadError::Malformed)?;
        if !(OLDEST..=VERSION).contains(&version) {
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
        let example =
            WorkedExample { input: "one".to_owned(), output: serde_json::json!({ "n": 1 }) };
        let extractor = Model::parse("anthropic:small").unwrap();
        let manner = Manner {
            mode: Mode::Tool,
            policy: &policy(),
            terminal: Terminal::Denied,
            keep: Some(Duration::from_hours(24)),
            extractor: Some(&extractor),
            examples: &[example],
            critical: Some("review"),
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
        assert_eq!(kind.extractor.as_deref(), Some("anthropic:small"));
        let example = Example { input: "one".to_owned(), output: r#"{"n":1}"#.to_owned() };
        assert_eq!(kind.examples, [example]);
        assert_eq!(kind.critical.as_deref(), Some("review"));
    }

    #[test]
    fn a_job_of_the_version_before_is_still_done_and_made_where_it_is_enough() {
        let mut older = serde_json::to_value(payload()).unwrap();
        older["version"] = 2.into();
        let kind = older["kind"].as_object_mut().unwrap();
        kind.retain(|name, _| !["extractor", "examples", "critical"].contains(&name.as_str()));
        let read = Payload::read(&older.to_string()).unwrap();
        let Kind { extractor, examples, critical, .. } = &read.kind;
        assert_eq!((extractor, examples.as_slice(), critical), (&None, &[][..], &None));
        let made = Payload::new(read.kind, read.prompt);
        assert_eq!(serde_json::to_value(made).unwrap(), older);
    }

    #[test]
    fn a_job_of_another_version_is_told_apart_from_a_bad_one() {
        let newer = Payload::read("{\"version\": 4, \"what\": 1}").unwrap_err();
        assert!(matches!(newer, PayloadError::Version { version: 4 }));
        assert!(matches!(Payload::read("nonsense"), Err(PayloadError::Malformed(_))));
    }
}
