//! The process's HTTP clients: connections are worth keeping.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, redirect};

use super::{CONNECT, failure};
use crate::provider::{Endpoint, EndpointError};

static FAR: OnceLock<Client> = OnceLock::new();
static NEAR: OnceLock<Client> = OnceLock::new();

/// Where a server is, as far as the way there differs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Elsewhere, through the system's proxies.
    Far,
    /// On this machine, which no proxy can reach.
    NearEncrypted,
    /// On this machine, in plain text: the system's certificates are neither needed nor read,
    /// which takes time and fails where there are none.
    Near,
}

impl Way {
    fn to(endpoint: &Endpoint) -> Self {
        match (endpoint.is_loopback(), endpoint.base_url.scheme()) {
            (true, "http") => Self::Near,
            (true, _) => Self::NearEncrypted,
            (false, _) => Self::Far,
        }
    }
}

/// Returns the process's client for the way to `endpoint`, or one of its own for what is rare.
pub(super) fn shared(endpoint: &Endpoint, connect: Duration) -> Result<Client, EndpointError> {
    let way = Way::to(endpoint);
    let slot = match way {
        Way::Far if connect == CONNECT => &FAR,
        Way::Near if connect == CONNECT => &NEAR,
        Way::Far | Way::Near | Way::NearEncrypted => return build(way, connect),
    };
    if let Some(client) = slot.get() {
        return Ok(client.clone());
    }
    let client = build(way, connect)?;
    Ok(slot.get_or_init(|| client).clone())
}

fn build(way: Way, connect: Duration) -> Result<Client, EndpointError> {
    let builder = Client::builder()
        .user_agent(concat!("airtight/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(connect)
        .tcp_nodelay(true);
    let builder = match way {
        Way::Far => builder,
        Way::NearEncrypted => builder.no_proxy(),
        Way::Near => builder.no_proxy().tls_certs_only([]),
    };
    builder.build().map_err(|error| EndpointError::Client { reason: failure::reason(&error) })
}
