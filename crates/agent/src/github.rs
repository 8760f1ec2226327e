//! Posts a review to a pull request on GitHub.
//!
//! A review that was posted twice annoys everybody, and GitHub has no key to tell. So a request is
//! repeated only if it never left; one that may have arrived is told, and left to a person.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, Url, redirect};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::provider::{EndpointError, is_loopback, parse_base_url};

/// Where GitHub's API is.
pub const GITHUB_API_URL: &str = "https://api.github.com";

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the whole request may take: a review of many comments takes GitHub seconds.
const TOTAL: Duration = Duration::from_mins(1);
/// How often a connection that could not be made is tried again, and after which first pause.
const RETRIES: u32 = 2;
const PAUSE: Duration = Duration::from_secs(1);
/// How much of an answer is read; reviews are told back whole.
const ANSWER_LIMIT_BYTES: usize = 8 * 1024 * 1024;
/// How many characters of GitHub's own words are told.
const WORDS_LIMIT_CHARS: usize = 600;

/// The pull request that a review is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Whose repository it is.
    pub owner: String,
    /// The repository.
    pub repository: String,
    /// The number.
    pub number: u64,
}

impl PullRequest {
    /// Reads `OWNER/REPO#NUMBER`.
    pub fn parse(text: &str) -> Option<Self> {
        let (repository, number) = text.trim().split_once('#')?;
        let (owner, repository) = repository.split_once('/')?;
        let number = number.parse().ok().filter(|number| *number > 0)?;
        let is_name = |name: &str| {
            let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !name.is_empty() && name.bytes().all(is_fine) && !matches!(name, "." | "..")
        };
        let (owner, repository) = (owner.to_owned(), repository.to_owned());
        (is_name(&owner) && is_name(&repository)).then_some(Self { owner, repository, number })
    }
}

/// Why a review was not posted, or may not have been.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// The address of the API is none.
    #[error("the address of the API cannot be used")]
    Address(#[source] EndpointError),
    /// Others on the way could read the token.
    #[error("the token would go to {host} over plain http")]
    Readable {
        /// Where.
        host: String,
    },
    /// The token cannot be sent.
    #[error("the token holds characters that no HTTP header can carry")]
    Token,
    /// There is no connection: nothing was posted.
    #[error("no connection to {host}: {reason}")]
    Unreachable {
        /// Where.
        host: String,
        /// What the system says.
        reason: String,
    },
    /// The connection broke: the review may have been posted.
    #[error("the connection to {host} broke: {reason}")]
    Lost {
        /// Where.
        host: String,
        /// What the system says.
        reason: String,
    },
    /// GitHub took too long: the review may have been posted.
    #[error("{host} did not answer within {} s", TOTAL.as_secs())]
    Silent {
        /// Where.
        host: String,
    },
    /// GitHub said no.
    #[error("GitHub answered {status}: {words}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it says.
        words: String,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
}

/// Posts `payload` as a review; returns where it can be read, if GitHub says so.
pub async fn post_review(
    api_url: &str,
    pull: &PullRequest,
    token: &SecretString,
    payload: &Value,
) -> Result<Option<String>, PostError> {
    let base = parse_base_url(api_url).map_err(PostError::Address)?;
    if base.scheme() == "http" && !is_loopback(&base) {
        let host = base.host_str().unwrap_or_default().to_owned();
        return Err(PostError::Readable { host });
    }
    let mut url = base.clone();
    let PullRequest { owner, repository, number } = pull;
    let path = base.path().trim_end_matches('/');
    url.set_path(&format!("{path}/repos/{owner}/{repository}/pulls/{number}/reviews"));
    let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret().trim()))
        .map_err(|_| PostError::Token)?;
    bearer.set_sensitive(true);
    let client = client(&url)?;
    let host = base.host_str().unwrap_or_default().to_owned();
    let posting = post(&client, &url, &bearer, payload, &host);
    let response = match timeout(TOTAL, posting).await {
        Ok(response) => response?,
        Err(_) => return Err(PostError::Silent { host }),
    };
    let status = response.status();
    let retry_after = asked_pause(&response);
    let body = timeout(TOTAL, read(response)).await.unwrap_or_default();
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    if status.is_success() {
        return Ok(answer.get("html_url").and_then(Value::as_str).map(str::to_owned));
    }
    let words = words(&answer, token);
    Err(PostError::Refused { status: status.as_u16(), words, retry_after })
}

/// Sends the request, again only if it never left.
async fn post(
    client: &Client,
    url: &Url,
    bearer: &HeaderValue,
    payload: &Value,
    host: &str,
) -> Result<Response, PostError> {
    let mut tries = 0;
    loop {
        let request = client
            .post(url.clone())
            .header(AUTHORIZATION, bearer.clone())
            .header(ACCEPT, "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28")
            .json(payload);
        let error = match request.send().await {
            Ok(response) => return Ok(response),
            Err(error) => error.without_url(),
        };
        let (host, reason) = (host.to_owned(), reason(&error));
        if !error.is_connect() {
            return Err(PostError::Lost { host, reason });
        }
        if tries == RETRIES {
            return Err(PostError::Unreachable { host, reason });
        }
        sleep(PAUSE * 2_u32.pow(tries)).await;
        tries += 1;
    }
}

fn client(url: &Url) -> Result<Client, PostError> {
    let builder = Client::builder()
        .user_agent(concat!("airtight/", env!("CARGO_PKG_VERSION")))
        // A token must not follow to another address.
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT);
    // On this machine no proxy is in between, and plain text needs no certificates.
    let builder = match (is_loopback(url), url.scheme()) {
        (true, "http") => builder.no_proxy().tls_certs_only([]),
        (true, _) => builder.no_proxy(),
        (false, _) => builder,
    };
    let unusable = |error: reqwest::Error| EndpointError::Client { reason: reason(&error) };
    builder.build().map_err(|error| PostError::Address(unusable(error)))
}

async fn read(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend_from_slice(&bytes);
        if body.len() > ANSWER_LIMIT_BYTES {
            return Vec::new();
        }
    }
    body
}

fn asked_pause(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

/// Returns what GitHub says is wrong, without the token.
fn words(answer: &Value, token: &SecretString) -> String {
    let message = answer.get("message").and_then(Value::as_str).unwrap_or("(without a reason)");
    let errors = answer.get("errors").and_then(Value::as_array).into_iter().flatten();
    let errors = errors.map(|error| match error.as_str() {
        Some(text) => text.to_owned(),
        None => error.to_string(),
    });
    let all: Vec<String> = std::iter::once(message.to_owned()).chain(errors).collect();
    let all = all.join("; ").replace(token.expose_secret().trim(), airtight_core::redact::MASK);
    airtight_core::excerpt(&all, WORDS_LIMIT_CHARS, "…").into_owned()
}

/// Returns the last cause, the one that people know.
fn reason(error: &reqwest::Error) -> String {
    let mut cause = std::error::Error::source(error);
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_requests_are_named_as_people_name_them() {
        let pull = PullRequest::parse("ada/engine.rs#42").unwrap();
        assert_eq!(
            (pull.owner.as_str(), pull.repository.as_str(), pull.number),
            ("ada", "engine.rs", 42)
        );
        for wrong in
            ["", "ada", "ada/x", "ada/x#", "ada/x#0", "ada/../y#1", "a b/x#1", "/x#1", "ada/..#1"]
        {
            assert_eq!(PullRequest::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_github_says_never_holds_the_token() {
        let token = SecretString::from("ghp_s3cret".to_owned());
        let answer = serde_json::json!({ "message": "Bad: ghp_s3cret", "errors": ["Line must be part of the diff", { "code": "x" }] });
        assert_eq!(
            words(&answer, &token),
            "Bad: [masked]; Line must be part of the diff; {\"code\":\"x\"}"
        );
        assert_eq!(words(&Value::Null, &token), "(without a reason)");
    }
}
