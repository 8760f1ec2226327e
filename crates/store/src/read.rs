//! What is asked of the ledger, on connections that only read.

mod conditions;
mod contracts;
mod export;
mod list;
mod lives;
mod progress;
mod spending;

pub(crate) use conditions::Conditions;
pub use contracts::{ContractEntry, KnownContract};
pub use spending::Spending;
