//! What is asked of the ledger, on connections that only read.

mod catalogue;
mod conditions;
mod contracts;
mod export;
mod list;
mod lives;
mod progress;
mod spending;

pub use catalogue::ContractEntry;
pub(crate) use conditions::Conditions;
pub use contracts::KnownContract;
pub use spending::Spending;
