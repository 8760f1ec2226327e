//! What can be typed after `serve`.

use std::net::SocketAddr;

use clap::Args;

use super::batch::place;
use super::run::TrustArgs;
use super::runs::LedgerArgs;
use crate::config::Entry;

/// Serve answers by contracts to programs that speak `OpenAI` or Anthropic
///
/// `/v1/chat/completions`, `/v1/responses` and `/v1/messages` have a model answer by the schema of the
/// request, or by the contract that `model` names. Only a value that satisfies it is sent. Every request
/// is a run in the ledger.
///
/// Programs on this machine may read. Whatever changes something or spends money needs the token:
/// `Authorization: Bearer TOKEN`. Without `--token-file` and `--token-env` there is one in the user's
/// data folder, made at the first start. An address that others can reach is served only with a token
/// that you named, and then reading needs it, too.
///
/// Requests from pages of other sites, and to names that are not the server's, are refused.
///
/// Ends with 0 if it was told to by SIGTERM or Ctrl-C: requests under way have 5 seconds. Ends with 3 if
/// nobody can listen there, 4 if the ledger cannot be used, 41 if there is no key for the model of the
/// alerts, 52 if settings are refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight serve
  airtight serve --bind 127.0.0.1:8080 --database runs.db
  airtight serve --bind 0.0.0.0:7377 --token-file token.txt --allow-host runs.example.org")]
pub(crate) struct ServeArgs {
    /// Address to listen on; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7377")]
    pub(crate) bind: SocketAddr,

    /// File that holds the token: 16 characters or more
    #[arg(long, value_name = "FILE", conflicts_with = "token_env")]
    pub(crate) token_file: Option<String>,

    /// Variable that holds the token
    #[arg(long, value_name = "NAME")]
    pub(crate) token_env: Option<String>,

    /// Name that the server may be called by, beside addresses and `localhost`; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,

    /// Model that puts the alerts of the webhook in a few sentences; without it they are told as they are
    #[arg(long, value_name = "MODEL")]
    pub(crate) alert_model: Option<String>,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,

    /// Say nothing on stderr unless something fails
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

impl ServeArgs {
    /// Returns the settings among the flags.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        place(&self.ledger).collect()
    }
}
