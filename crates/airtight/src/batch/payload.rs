//! What a job of the queue holds: everything that a worker needs to know, and no secret.
//!
//! Where the provider is and which key it takes are the worker's own to say: whoever can write to the
//! queue must not be able to send a key elsewhere.

use airtight_core::contract::{Identity, Options, Patterns, Wrap};
use airtight_core::run::{Mode, Policy, RepairRung, TextRung};
use serde::{Deserialize, Serialize};

/// The version of the form; workers refuse others.
const VERSION: u32 = 1;

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
    look_around: bool,
    no_wrap: bool,
    /// As `provider:name`.
    pub(crate) model: String,
    mode: String,
    pub(crate) system: Option<String>,
    reasks: u8,
    strict: bool,
    no_repair: bool,
    max_output_tokens: Option<u32>,
    temperature: Option<f64>,
    max_wall_seconds: Option<f64>,
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
        (mode, policy): (Mode, &Policy),
    ) -> Self {
        Self {
            schema,
            contract: options.identity.name.clone(),
            look_around: options.patterns == Patterns::LookAround,
            no_wrap: options.wrap == Wrap::Refused,
            model,
            mode: mode.name().to_owned(),
            system,
            reasks: policy.reasks,
            strict: policy.text == TextRung::Refused,
            no_repair: policy.repair == RepairRung::Refused,
            max_output_tokens: policy.max_output_tokens,
            temperature: policy.temperature,
            max_wall_seconds: policy.budget.wall.map(|wall| wall.as_secs_f64()),
        }
    }

    /// Returns how the contract is compiled.
    pub(crate) fn options(&self) -> Options {
        Options {
            wrap: if self.no_wrap { Wrap::Refused } else { Wrap::Allowed },
            patterns: if self.look_around { Patterns::LookAround } else { Patterns::Linear },
            identity: Identity { name: self.contract.clone(), version: None },
            ..Options::default()
        }
    }

    /// Returns how the contract is put to the model.
    pub(crate) fn mode(&self) -> Mode {
        Mode::named(&self.mode).unwrap_or_default()
    }

    /// Returns the bounds of each run.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy {
            reasks: self.reasks,
            text: if self.strict { TextRung::Refused } else { TextRung::Allowed },
            repair: if self.no_repair { RepairRung::Refused } else { RepairRung::Allowed },
            max_output_tokens: self.max_output_tokens,
            temperature: self.temperature,
            ..Policy::default()
        };
        let wall = self.max_wall_seconds;
        policy.budget.wall = wall.and_then(|it| std::time::Duration::try_from_secs_f64(it).ok());
        policy
    }
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

    fn payload() -> Payload {
        let policy = Policy { temperature: Some(0.5), reasks: 1, ..Policy::default() };
        let options = Options { wrap: Wrap::Refused, ..Options::default() };
        let kind = Kind::new(
            "{}".to_owned(),
            &options,
            "openai:x".to_owned(),
            None,
            (Mode::Tool, &policy),
        );
        Payload::new(kind, "do it".to_owned())
    }

    #[test]
    fn a_job_says_what_was_asked_for() {
        let text = serde_json::to_string(&payload()).unwrap();
        let read = Payload::read(&text).unwrap();
        assert_eq!(read, payload());
        assert_eq!((read.kind.mode(), read.kind.policy().reasks), (Mode::Tool, 1));
        assert_eq!(read.kind.options().wrap, Wrap::Refused);
    }

    #[test]
    fn a_job_of_another_version_is_told_apart_from_a_bad_one() {
        let newer = Payload::read("{\"version\": 2, \"what\": 1}").unwrap_err();
        assert!(matches!(newer, PayloadError::Version { version: 2 }));
        assert!(matches!(Payload::read("nonsense"), Err(PayloadError::Malformed(_))));
    }
}
