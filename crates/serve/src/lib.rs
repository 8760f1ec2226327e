//! `airtight serve`: one address for people and programs.
//!
//! What it protects: nobody spends money or changes anything without the token, and no web page that a
//! browser happens to have open reads or sends anything here. What may be reached from elsewhere needs
//! the token for reading, too.
//!
//! ```text
//! socket ─► limits (connections, head, body, rate) ─► guard (host, origin, token) ─► door
//! ```

mod act;
mod api;
mod body;
mod desk;
mod door;
mod gateway;
mod guard;
mod health;
mod key;
mod live;
mod login;
mod pages;
mod problem;
mod server;
mod settings;
mod token;

pub use desk::{
    Answering, Demand, Desk, Fault, FaultKind, Growth, Judging, Naming, Proposal, Question, Record,
    Reply, Schema, Setting, Unfit, Violation,
};
pub use server::{GRACE, ServeError, Server};
pub use settings::{Limits, Settings};
pub use token::{Token, TokenError};
