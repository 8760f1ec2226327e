//! How the server is set up.

use std::net::SocketAddr;

use serde::Serialize;
use utoipa::ToSchema;

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
    /// How much it takes.
    pub limits: Limits,
    /// What is in force, for people to see: nothing secret.
    pub shown: Vec<Setting>,
}

/// One setting that is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// Its value, as people may see it.
    pub value: String,
    /// Where it was said.
    pub origin: String,
    /// Where weaker values were said.
    pub overruled: Vec<String>,
}

/// How much the server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
    /// Requests a second, of all together.
    pub requests_per_second: u32,
    /// Wrong tokens a second, of all together: nobody types faster, and guessing must not pay.
    pub mistakes_per_second: u32,
}

impl Default for Limits {
    fn default() -> Self {
        // A thousand viewers and a thousand requests under way, twice; and more requests than one
        // machine answers.
        Self { connections: 4096, requests_per_second: 20_000, mistakes_per_second: 5 }
    }
}
