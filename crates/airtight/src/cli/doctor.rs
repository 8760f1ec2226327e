//! What can be typed after `doctor`.

use clap::Args;

use super::run::TrustArgs;
use super::{FolderArgs, Format};

/// Show what is in force and from where, and try what a run needs
///
/// Lists every setting with its origin, tries each provider that has a key or an address, and
/// looks for the sandbox and for agent CLIs. Every problem says what to type.
///
/// To try a provider is to send it one request with its key: to the model in force for 16 tokens at
/// most, to other providers for a model that there is not, which costs nothing. `--offline` sends
/// none.
///
/// An agent CLI without its package beside it is asked for its version, which is kept for a day;
/// `--offline` starts none.
///
/// Ends with 0 if `airtight run` can work, 41 if no key is there or the key is refused, 3 if the
/// provider cannot be reached, 52 if the settings are refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight doctor
  airtight doctor --offline
  airtight doctor --contract blog-writer
  airtight doctor --model openai:gpt-5 --format json")]
pub(crate) struct DoctorArgs {
    /// Model to try in place of the one that is configured
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<String>,

    /// Contract of a role whose settings count, too
    #[arg(long, value_name = "CONTRACT")]
    pub(crate) contract: Option<String>,

    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    /// Try nothing over the network
    #[arg(long)]
    pub(crate) offline: bool,

    /// Choose the form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}
