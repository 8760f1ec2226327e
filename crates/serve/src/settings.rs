//! How the server is set up.

use std::net::SocketAddr;

use crate::token::Token;

/// How the server is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens; port 0 takes any that is free.
    pub bind: SocketAddr,
    /// Who may spend money and change things.
    pub token: Token,
    /// Names that it may be called by, beside those of this machine.
    pub hosts: Vec<String>,
    /// The model that puts alerts in a few sentences; absent, they are told as they are.
    pub alert_model: Option<String>,
    /// How much it takes.
    pub limits: Limits,
}

/// How much the server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
    /// Requests a second, of all together.
    pub requests_per_second: u32,
    /// Wrong tokens a second, of all together, that are answered as such; whoever sends more is told to
    /// slow down. It keeps nobody from guessing, which the length of the token does: to refuse tokens
    /// unseen would let anybody lock out who has the right one.
    pub mistakes_per_second: u32,
}

impl Default for Limits {
    fn default() -> Self {
        // A thousand viewers and a thousand requests under way, twice; and more requests than one
        // machine answers.
        Self { connections: 4096, requests_per_second: 20_000, mistakes_per_second: 5 }
    }
}
