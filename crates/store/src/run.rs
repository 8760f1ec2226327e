//! Runs: what is asked of the ledger when one begins and ends, and what it tells about one.

mod attempt;
mod begin;
mod contract;
mod event;
mod finish;
mod id;
mod record;
mod token;

pub use attempt::{Attempt, AttemptEnd, AttemptState, NewAttempt};
pub use begin::{Acknowledged, Begun, Driver, Job, NewRun, Repeat};
pub use contract::ContractRow;
pub use event::{BoundedEvent, EventBounds, EventPage, NewEvent, StoredEvent};
pub use finish::{Finish, Postponed};
pub use id::RunId;
pub use record::{Review, Run, RunState, RunSummary};
pub use token::RunToken;
pub(crate) use token::fresh;
