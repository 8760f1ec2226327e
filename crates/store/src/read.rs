//! What is asked of the ledger, on connections that only read.

mod arrivals;
mod conditions;
mod contracts;
mod export;
mod list;
mod lives;
mod progress;
mod settled;
mod spending;

pub use arrivals::Arrivals;
pub(crate) use conditions::Conditions;
pub use contracts::{ContractEntry, KnownContract};
pub use spending::Spending;
