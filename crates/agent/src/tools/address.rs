//! Which addresses may be fetched from: those that anybody could reach.
//!
//! Names are looked up here and the connection is made to the very addresses that were checked, so
//! that a name cannot mean one address when it is checked and another when it is used.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Url, header};

/// A host that may not be fetched from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its address is private, loopback or reserved, and it is not among the hosts allowed so")]
pub(super) struct Private;

/// Looks up names, and refuses those with addresses that only we could reach.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    allowed: Arc<[String]>,
}

impl Guard {
    /// Makes a guard that lets these hosts have any address.
    pub(super) fn new(allowed: &[String]) -> Self {
        Self { allowed: allowed.iter().map(|host| host.to_ascii_lowercase()).collect() }
    }

    fn allows(&self, host: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
    }

    /// Checks a URL whose host is an address, which is never looked up.
    pub(super) fn check(&self, url: &Url) -> Result<(), Private> {
        let host = url.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        match bare.parse::<IpAddr>() {
            Ok(address) if !is_public(address) && !self.allows(bare) => Err(Private),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Returns the addresses of a name if all may be used: one bad apple may be what was meant.
    async fn look_up(&self, host: &str) -> Result<Addrs, Box<dyn std::error::Error + Send + Sync>> {
        let found: Vec<SocketAddr> = tokio::net::lookup_host((host, 0)).await?.collect();
        if !self.allows(host) && !found.iter().all(|address| is_public(address.ip())) {
            return Err(Box::new(Private));
        }
        Ok(Box::new(found.into_iter()))
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move { guard.look_up(name.as_str()).await })
    }
}

/// Returns where a redirection leads.
pub(super) fn redirection(from: &Url, response: &reqwest::Response) -> Option<Url> {
    if !response.status().is_redirection() {
        return None;
    }
    let location = response.headers().get(header::LOCATION)?.to_str().ok()?;
    from.join(location).ok()
}

/// Claims that an address is one of the public internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// After IANA's registry of special-purpose addresses.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !special
}

/// Global unicast alone, and addresses that carry one of version 4 only if that is public.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0..0x200 | 0xdb8, ..] | [0x3fff, 0..0x1000, ..] => false,
        [0x2000..0x4000, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("8.8.8.8" => true)]
    #[test_case("1.1.1.1" => true)]
    #[test_case("0.0.0.0" => false)]
    #[test_case("0.1.2.3" => false)]
    #[test_case("10.1.2.3" => false)]
    #[test_case("100.64.0.1" => false)]
    #[test_case("100.128.0.1" => true)]
    #[test_case("127.0.0.1" => false)]
    #[test_case("127.255.255.254" => false)]
    #[test_case("169.254.169.254" => false; "cloud metadata")]
    #[test_case("172.16.0.1" => false)]
    #[test_case("172.32.0.1" => true)]
    #[test_case("192.0.0.1" => false)]
    #[test_case("192.168.1.1" => false)]
    #[test_case("198.18.0.1" => false)]
    #[test_case("224.0.0.1" => false)]
    #[test_case("255.255.255.255" => false)]
    #[test_case("::" => false)]
    #[test_case("::1" => false)]
    #[test_case("::ffff:127.0.0.1" => false; "mapped loopback")]
    #[test_case("::ffff:8.8.8.8" => true; "mapped public")]
    #[test_case("::127.0.0.1" => false; "compatible loopback")]
    #[test_case("64:ff9b::7f00:1" => false; "translated loopback")]
    #[test_case("64:ff9b::808:808" => true; "translated public")]
    #[test_case("64:ff9b:1::808:808" => false; "translated locally")]
    #[test_case("2002:7f00:1::" => false; "6to4 loopback")]
    #[test_case("2001::1" => false; "teredo")]
    #[test_case("2001:db8::1" => false)]
    #[test_case("2606:4700:4700::1111" => true)]
    #[test_case("fc00::1" => false)]
    #[test_case("fd00:ec2::254" => false; "cloud metadata 6")]
    #[test_case("fe80::1" => false)]
    #[test_case("ff02::1" => false)]
    fn an_address_is_public(address: &str) -> bool {
        is_public(address.parse().unwrap())
    }

    #[test_case("http://127.0.0.1/" => false)]
    #[test_case("http://127.1/" => false; "short")]
    #[test_case("http://2130706433/" => false; "decimal")]
    #[test_case("http://0x7f.0.0.1/" => false; "hex")]
    #[test_case("http://0177.0.0.1/" => false; "octal")]
    #[test_case("http://[::1]/" => false)]
    #[test_case("http://[::ffff:7f00:1]/" => false)]
    #[test_case("http://①②⑦.0.0.1/" => false; "unicode digits")]
    #[test_case("http://93.184.216.34/" => true)]
    #[test_case("http://10.9.8.7/" => true; "allowed by host")]
    #[test_case("http://[fd00::7]/" => true; "allowed by host 6")]
    fn an_address_as_host_is_let_through(url: &str) -> bool {
        let guard = Guard::new(&["10.9.8.7".to_owned(), "fd00::7".to_owned()]);
        guard.check(&Url::parse(url).unwrap()).is_ok()
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_refused_unless_allowed() {
        assert!(Guard::new(&[]).look_up("localhost").await.is_err());
        assert!(Guard::new(&["LOCALHOST".to_owned()]).look_up("localhost").await.is_ok());
    }
}
