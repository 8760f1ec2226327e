//! What is asked of the ledger, on connections that only read.

mod conditions;
mod export;
mod list;
mod lives;
mod progress;

pub(crate) use conditions::Conditions;
