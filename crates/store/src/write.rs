//! What is written, each in one transaction.

mod begin;
mod decide;
mod finish;
mod progress;
mod prune;

pub(crate) use finish::{claimed, delete_job, requeue};
pub(crate) use progress::Timely;
pub use prune::Pruned;
