//! Where a model is served, and with which key.

use airtight_core::codec::{Auth, Wire};
use airtight_core::lower::Dialect;
use airtight_core::redact::MASK;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use super::{Carried, Vendor};

/// One model at one address. Printing it shows no key and no header.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Whose model it is.
    pub vendor: Vendor,
    /// The format spoken there.
    pub wire: Wire,
    /// What is accepted there of JSON Schema.
    pub dialect: Dialect,
    /// What the format's paths are put behind.
    pub base_url: Url,
    /// The key.
    pub key: Option<SecretString>,
    /// How the key is sent.
    pub carried: Carried,
    /// What the model is called there.
    pub model: String,
    /// More headers for every request; those of the format and the key are stronger.
    pub headers: Vec<(String, SecretString)>,
}

/// Whether others on the way can read what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// Encrypted, or it never leaves this machine.
    Private,
    /// Plain HTTP to another machine. Allowed, because many a model server in a private network
    /// has nothing else, but worth a warning.
    Readable,
}

/// Why an endpoint cannot be used. Never shows a key, nor a URL that may hold one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Nobody said where the server is.
    #[error("a compatible server needs a base URL, and `{variable}` is not set")]
    NoBaseUrl {
        /// The variable that may hold it.
        variable: &'static str,
    },
    /// The base URL is none.
    #[error("the base URL is not a URL: {reason}")]
    BaseUrl {
        /// What the parser says.
        reason: String,
    },
    /// The base URL has another scheme.
    #[error("the base URL must begin with https:// or http://, not `{scheme}:`")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The base URL says more than where.
    #[error("the base URL must not hold {part}; send it as a header")]
    Excess {
        /// What it holds.
        part: &'static str,
    },
    /// The key cannot be sent in a header.
    #[error("the key holds characters that no HTTP header can carry")]
    Key,
    /// A header cannot be sent.
    #[error("the header `{name}` is not a valid HTTP header")]
    Header {
        /// Its name.
        name: String,
    },
    /// The HTTP client cannot be made.
    #[error("no HTTP client: {reason}")]
    Client {
        /// What it says.
        reason: String,
    },
}

impl Endpoint {
    /// Makes an endpoint for `model` of `vendor` behind `base_url`, without a key.
    pub fn new(vendor: Vendor, base_url: &str, model: &str) -> Result<Self, EndpointError> {
        Ok(Self {
            vendor,
            wire: vendor.wire(),
            dialect: vendor.dialect(),
            base_url: parse_base_url(base_url)?,
            key: None,
            carried: Carried::ByFormat,
            model: model.to_owned(),
            headers: Vec::new(),
        })
    }

    /// Returns whether others on the way can read what is sent.
    pub fn privacy(&self) -> Privacy {
        if self.base_url.scheme() == "https" || self.is_loopback() {
            Privacy::Private
        } else {
            Privacy::Readable
        }
    }

    /// Claims that the server is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(&self.base_url)
    }

    /// Returns the address of `path`, which may carry a query.
    ///
    /// People give base URLs with and without the version; `…/v1` and `/v1/messages` share it.
    pub(super) fn url_of(&self, path: &str) -> Url {
        let mut url = self.base_url.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let base = self.base_url.path().trim_end_matches('/').to_owned();
        let path = path.trim_start_matches('/');
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let shared = base.rsplit('/').next().is_some_and(|last| !last.is_empty() && last == first);
        let path = if shared { rest } else { path };
        url.set_path(&format!("{base}/{path}"));
        url.set_query(query);
        url
    }

    /// Returns the headers of every request, the key among them and marked as a secret.
    pub(super) fn header_map(&self) -> Result<HeaderMap, EndpointError> {
        let mut map = HeaderMap::new();
        for (name, value) in &self.headers {
            let refused = || EndpointError::Header { name: name.clone() };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
            map.insert(header, secret(value.expose_secret()).ok_or_else(refused)?);
        }
        if let Some(key) = &self.key {
            let key = key.expose_secret().trim();
            let (name, text) = match (self.carried, self.wire.auth()) {
                (Carried::ByFormat, Auth::Header(name)) => {
                    (HeaderName::from_static(name), key.to_owned())
                }
                (Carried::AsBearer, _) | (Carried::ByFormat, Auth::Bearer) => {
                    (AUTHORIZATION, format!("Bearer {key}"))
                }
            };
            map.insert(name, secret(&text).ok_or(EndpointError::Key)?);
        }
        Ok(map)
    }

    /// Takes the key out of a text that a server wrote: some repeat what they refuse.
    pub(super) fn mask(&self, text: &mut String) {
        let headers = self.headers.iter().map(|(_, value)| value);
        for secret in self.key.iter().chain(headers) {
            let secret = secret.expose_secret().trim();
            if secret.len() >= MASKED_FROM_BYTES && text.contains(secret) {
                *text = text.replace(secret, MASK);
            }
        }
    }
}

/// Claims that an address is of this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address: Option<std::net::IpAddr> = bare.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}

/// Reads a base URL, which says where a server is and no more.
pub fn parse_base_url(text: &str) -> Result<Url, EndpointError> {
    let url = Url::parse(text.trim())
        .map_err(|error| EndpointError::BaseUrl { reason: error.to_string() })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(EndpointError::Scheme { scheme: url.scheme().to_owned() });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointError::Excess { part: "a user name or password" });
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(EndpointError::Excess { part: "a query or fragment" });
    }
    Ok(url)
}

/// Shorter values are words or versions rather than secrets, and would tear holes into messages.
const MASKED_FROM_BYTES: usize = 6;

fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn endpoint(vendor: Vendor, base_url: &str) -> Endpoint {
        Endpoint::new(vendor, base_url, "m").unwrap()
    }

    #[test_case(
        "https://api.anthropic.com",
        "/v1/messages",
        "https://api.anthropic.com/v1/messages"
    )]
    #[test_case(
        "https://api.anthropic.com/v1/",
        "/v1/messages",
        "https://api.anthropic.com/v1/messages"
    )]
    #[test_case("https://h/api/v1", "/chat/completions", "https://h/api/v1/chat/completions")]
    #[test_case("https://h/api/v1", "/v1/responses", "https://h/api/v1/responses")]
    #[test_case(
        "https://h",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        "https://h/v1beta/models/m:streamGenerateContent?alt=sse"
    )]
    fn paths_go_behind_the_base_url(base: &str, path: &str, whole: &str) {
        assert_eq!(endpoint(Vendor::Anthropic, base).url_of(path).as_str(), whole);
    }

    #[test_case("ftp://h" => EndpointError::Scheme { scheme: "ftp".to_owned() })]
    #[test_case("https://user:secret@h" => EndpointError::Excess { part: "a user name or password" })]
    #[test_case("https://h?key=secret" => EndpointError::Excess { part: "a query or fragment" })]
    #[test_case("h/v1" => EndpointError::BaseUrl { reason: "relative URL without a base".to_owned() })]
    fn a_base_url_says_where_and_no_more(base: &str) -> EndpointError {
        Endpoint::new(Vendor::Openai, base, "m").unwrap_err()
    }

    #[test_case("https://h" => Privacy::Private)]
    #[test_case("http://localhost:1" => Privacy::Private)]
    #[test_case("http://127.0.0.9" => Privacy::Private)]
    #[test_case("http://[::1]:1" => Privacy::Private)]
    #[test_case("http://10.0.0.1" => Privacy::Readable)]
    fn plain_http_is_private_on_this_machine_only(base: &str) -> Privacy {
        endpoint(Vendor::Openai, base).privacy()
    }

    #[test_case(Vendor::Anthropic, Carried::ByFormat, "x-api-key", "sk-secret")]
    #[test_case(Vendor::Anthropic, Carried::AsBearer, "authorization", "Bearer sk-secret")]
    #[test_case(Vendor::Openai, Carried::ByFormat, "authorization", "Bearer sk-secret")]
    #[test_case(Vendor::Gemini, Carried::ByFormat, "x-goog-api-key", "sk-secret")]
    fn the_key_goes_where_the_format_wants_it(
        vendor: Vendor,
        carried: Carried,
        name: &str,
        value: &str,
    ) {
        let mut endpoint = endpoint(vendor, "https://h");
        endpoint.key = Some("sk-secret".into());
        endpoint.carried = carried;
        let map = endpoint.header_map().unwrap();
        assert_eq!(map.get(name).unwrap(), value);
        assert!(!format!("{endpoint:?}{map:?}").contains("sk-secret"));
    }

    #[test]
    fn a_key_that_no_header_carries_is_refused_unseen() {
        let mut endpoint = endpoint(Vendor::Openai, "https://h");
        endpoint.key = Some("sk-\nsecret".into());
        assert_eq!(endpoint.header_map().unwrap_err(), EndpointError::Key);
    }

    #[test]
    fn a_key_that_a_server_repeats_is_masked() {
        let mut endpoint = endpoint(Vendor::Openai, "https://h");
        endpoint.key = Some("sk-secret".into());
        let mut text = "Incorrect API key provided: sk-secret.".to_owned();
        endpoint.mask(&mut text);
        assert_eq!(text, "Incorrect API key provided: [masked].");
    }
}
