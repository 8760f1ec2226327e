//! The names that the server may be called by.
//!
//! A page of `evil.example` can have that name resolve to 127.0.0.1; the browser then takes this
//! server for the page's own. It still says the name, so a name that is not ours is refused.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::HOST;
use axum::http::uri::Authority;

use crate::problem::Problem;

/// The names that the server may be called by.
#[derive(Debug)]
pub(super) struct Hosts {
    names: Vec<String>,
    /// Addresses are not names, and cannot be made to lead elsewhere: those of this machine count.
    is_loopback: bool,
}

impl Hosts {
    pub(super) fn new(bound: IpAddr, named: &[String]) -> Self {
        let names = named.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        Self { names, is_loopback: bound.is_loopback() }
    }

    /// Returns what the request calls the server, port included, if that is one of its names.
    pub(super) fn admit(&self, request: &Request) -> Result<String, Problem> {
        let mut said = request.headers().get_all(HOST).iter();
        let (first, second) = (said.next(), said.next());
        let header = first.filter(|_| second.is_none()).and_then(|value| value.to_str().ok());
        let authority = header.and_then(|text| text.parse::<Authority>().ok());
        let in_target = request.uri().authority();
        match authority {
            Some(authority)
                if self.knows(authority.host())
                    && in_target.is_none_or(|target| *target == authority) =>
            {
                Ok(authority.as_str().to_ascii_lowercase())
            }
            _ => Err(Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "unknown_host",
                "this server does not go by that name: call it by its address, or start it with \
                 `--allow-host NAME`",
            )),
        }
    }

    /// Claims that an address is among the names: behind a proxy, a client may call the server by another.
    fn names(&self, address: &IpAddr) -> bool {
        self.names.iter().any(|name| name.parse().as_ref() == Ok(address))
    }

    fn knows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        match bare.parse::<IpAddr>() {
            Ok(address) => address.is_loopback() || !self.is_loopback || self.names(&address),
            Err(_) => host == "localhost" || self.names.contains(&host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_anybody_could_point_here_are_unknown() {
        let local = Hosts::new(IpAddr::from([127, 0, 0, 1]), &["Box.Example ".to_owned()]);
        let open = Hosts::new(IpAddr::from([0, 0, 0, 0]), &[]);
        let known = |hosts: &Hosts| {
            [
                "localhost",
                "LOCALHOST",
                "127.0.0.1",
                "[::1]",
                "10.0.0.7",
                "box.example",
                "a.localhost",
            ]
            .map(|name| hosts.knows(name))
        };
        assert_eq!(known(&local), [true, true, true, true, false, true, false]);
        assert_eq!(known(&open), [true, true, true, true, true, false, false]);
        let behind = ["10.0.0.7".to_owned(), "2001:DB8::1".to_owned()];
        let behind = Hosts::new(IpAddr::from([127, 0, 0, 1]), &behind);
        assert_eq!(
            ["10.0.0.7", "[2001:db8::1]", "10.0.0.8"].map(|it| behind.knows(it)),
            [true, true, false]
        );
        assert!(!local.knows("127.0.0.1.evil.example"));
        assert!(!local.knows(""));
    }
}
