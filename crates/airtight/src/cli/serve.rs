//! What can be typed after `serve`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;

use super::batch::place;
use super::run::TrustArgs;
use super::runs::LedgerArgs;
use crate::config::Entry;

/// Where the server listens unless another address is typed.
const USUAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7377);

/// The longest name that DNS has.
const HOST_LIMIT_BYTES: usize = 253;

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
    #[arg(long, value_name = "ADDRESS", default_value_t = USUAL, value_parser = address)]
    pub(crate) bind: SocketAddr,

    /// File that holds the token: 16 characters or more
    #[arg(long, value_name = "FILE", conflicts_with = "token_env")]
    pub(crate) token_file: Option<String>,

    /// Variable that holds the token
    #[arg(long, value_name = "NAME")]
    pub(crate) token_env: Option<String>,

    /// Name that the server may be called by, beside addresses and `localhost`; may be repeated
    #[arg(long, value_name = "NAME", value_parser = host)]
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

/// Parses an address with its port; of anything else it says what may have been meant.
fn address(typed: &str) -> Result<SocketAddr, String> {
    let bare = without_scheme(typed);
    let (host, port) = match bare.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()),
        None => match bare.parse::<u16>() {
            Ok(port) => ("", Some(port)),
            Err(_) => (bare, None),
        },
    };
    let ip = match host {
        "" | "localhost" => Some(USUAL.ip()),
        host => host.parse().ok().or_else(|| bare.parse().ok()),
    };
    typed.parse().map_err(|_| match ip {
        Some(ip) => {
            let port = if ip.is_ipv6() { None } else { port };
            let meant = SocketAddr::new(ip, port.unwrap_or(USUAL.port()));
            format!("an address and its port are needed: did you mean `{meant}`?")
        }
        None => format!("an address and its port are needed, such as `{USUAL}`"),
    })
}

/// Parses the name of a host: with a scheme, a port or a path it would never be met.
fn host(typed: &str) -> Result<String, String> {
    if is_host(typed) {
        return Ok(typed.to_owned());
    }
    let bare = without_scheme(typed);
    match bare.rsplit_once(':').map_or(bare, |(host, _)| host).trim() {
        meant if is_host(meant) => {
            Err(format!("a host name alone is needed: did you mean `{meant}`?"))
        }
        _ => Err("a host name alone is needed, such as `runs.example.org`".to_owned()),
    }
}

/// Claims that a browser may call a server so: names in other letters it sends as `xn--…`.
fn is_host(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = (1..=HOST_LIMIT_BYTES).contains(&text.len()) && text.bytes().all(is_letter);
    is_name || text.parse::<IpAddr>().is_ok()
}

/// Returns what stands between the scheme and the path of a URL.
fn without_scheme(typed: &str) -> &str {
    let rest = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("8080" => "127.0.0.1:8080"; "a port")]
    #[test_case(":8080" => "127.0.0.1:8080"; "a port behind a colon")]
    #[test_case("localhost" => "127.0.0.1:7377"; "a name")]
    #[test_case("localhost:8080" => "127.0.0.1:8080"; "a name and a port")]
    #[test_case("0.0.0.0" => "0.0.0.0:7377"; "an address")]
    #[test_case("::1" => "[::1]:7377"; "a longer address")]
    #[test_case("http://127.0.0.1:8080/" => "127.0.0.1:8080"; "a page")]
    #[test_case("127.0.0.1:99999" => "127.0.0.1:7377"; "no port")]
    fn what_is_no_address_is_told_with_the_one_that_was_meant(typed: &str) -> String {
        let said = address(typed).unwrap_err();
        said.split('`').nth(1).unwrap_or_default().to_owned()
    }

    #[test_case("http://x" => "x"; "a scheme")]
    #[test_case("https://runs.example.org/path?q" => "runs.example.org"; "a page")]
    #[test_case("runs.example.org:443" => "runs.example.org"; "a port")]
    #[test_case(" runs.example.org" => "runs.example.org"; "a space")]
    #[test_case("*.example.org" => "runs.example.org"; "several")]
    #[test_case("" => "runs.example.org"; "nothing")]
    #[test_case("bücher.example" => "runs.example.org"; "letters that are never sent")]
    fn what_is_no_host_is_told_with_the_one_that_was_meant(typed: &str) -> String {
        let said = host(typed).unwrap_err();
        said.split('`').nth(1).unwrap_or_default().to_owned()
    }

    #[test]
    fn hosts_are_names_or_addresses() {
        for typed in ["runs.example.org", "RUNS", "xn--bcher-kva.example", "10.0.0.7", "::1"] {
            assert_eq!(host(typed).as_deref(), Ok(typed));
        }
        assert_eq!(address("[::1]:80").map(|it| it.port()), Ok(80));
    }
}
