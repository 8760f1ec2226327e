//! Who is told, and how: a webhook or a command.
//!
//! A target that fails never blocks the watch: each has its time, and what became of it is on record.
//! The addresses of webhooks are secrets, since whoever knows one can write to it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use airtight_agent::{CommandEnd, CommandPlace, Environment, run_command};
use reqwest::{Client, Url, redirect};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

/// How long a webhook may take: those who take notifications answer in a second.
const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a command may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// How much of what a command complains is kept.
const COMPLAINT_LIMIT_CHARS: usize = 300;

/// What a target takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Category, title and body as members of an object.
    Json,
    /// What Slack takes, and those who take the same.
    Slack,
}

/// Where notifications go.
#[derive(Debug, Clone)]
pub enum Address {
    /// A URL that takes JSON by POST.
    Webhook {
        /// Where it is.
        url: SecretString,
        /// What it takes.
        form: Form,
    },
    /// A command for the shell, which gets the object on stdin.
    Command(String),
}

/// Somebody who is told.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Where notifications go.
    pub address: Address,
}

/// Why a target did not take a notification.
#[derive(Debug, thiserror::Error)]
pub enum Undelivered {
    /// The address is no URL.
    #[error("its address is no http or https URL")]
    NoUrl,
    /// Nobody answers, or the answer does not come in time.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// It answers, and refuses.
    #[error("it answers with HTTP {0}")]
    Refused(u16),
    /// The command ended so.
    #[error("its command failed: {0}")]
    Failed(String),
    /// The command did not end in time.
    #[error("its command did not end within {} s", COMMAND_TIMEOUT.as_secs())]
    Hung,
}

/// Delivers notifications.
#[derive(Clone)]
pub struct Courier {
    /// Where commands run.
    folder: PathBuf,
    /// What commands see of the environment.
    environment: Environment,
}

impl fmt::Debug for Courier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Courier").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Courier {
    /// Makes a courier whose commands run in `folder`.
    pub fn new(folder: PathBuf, environment: Environment) -> Self {
        Self { folder, environment }
    }

    /// Delivers `payload`; returns once the target has taken it, or cannot.
    pub async fn deliver(&self, address: &Address, payload: &Value) -> Result<(), Undelivered> {
        match address {
            Address::Webhook { url, .. } => post(url, payload).await,
            Address::Command(command) => self.run(command, payload).await,
        }
    }

    async fn run(&self, command: &str, payload: &Value) -> Result<(), Undelivered> {
        let place = CommandPlace { folder: &self.folder, environment: &self.environment };
        match run_command(command, &payload.to_string(), COMMAND_TIMEOUT, place).await {
            CommandEnd::Exited { code: Some(0), .. } => Ok(()),
            CommandEnd::Exited { code, stderr } => {
                let code = code.map_or("a signal".to_owned(), |code| format!("exit {code}"));
                let words = airtight_core::excerpt(&stderr, COMPLAINT_LIMIT_CHARS, "…");
                Err(Undelivered::Failed(format!("{code} {words}").trim().to_owned()))
            }
            CommandEnd::TimedOut => Err(Undelivered::Hung),
            CommandEnd::NotStarted => Err(Undelivered::Failed("it cannot be started".to_owned())),
        }
    }
}

async fn post(url: &SecretString, payload: &Value) -> Result<(), Undelivered> {
    let url = Url::parse(url.expose_secret()).map_err(|_| Undelivered::NoUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Undelivered::NoUrl);
    }
    let answer = client(&url)?.post(url).json(payload).send().await.map_err(unreachable)?;
    let status = answer.status();
    if status.is_success() { Ok(()) } else { Err(Undelivered::Refused(status.as_u16())) }
}

fn client(url: &Url) -> Result<Client, Undelivered> {
    let builder = Client::builder()
        .user_agent(concat!("airtight/", env!("CARGO_PKG_VERSION")))
        // What is told is for the address that was configured, and for no other.
        .redirect(redirect::Policy::none())
        .timeout(WEBHOOK_TIMEOUT);
    let builder = match (is_loopback(url), url.scheme()) {
        // No proxy reaches this machine, and plain text needs no certificates.
        (true, "http") => builder.no_proxy().tls_certs_only([]),
        (true, _) => builder.no_proxy(),
        (false, _) => builder,
    };
    builder.build().map_err(unreachable)
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Says what happened, without the address.
fn unreachable(error: reqwest::Error) -> Undelivered {
    let is_late = error.is_timeout();
    let mut words = vec![error.without_url().to_string()];
    if is_late {
        words = vec![format!("no answer within {} s", WEBHOOK_TIMEOUT.as_secs())];
    }
    Undelivered::Unreachable(words.concat())
}

#[cfg(test)]
mod tests;
