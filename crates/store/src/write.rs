//! What is written, each in one transaction.

mod begin;
mod decide;
mod draft;
mod finish;
mod progress;
mod prune;
mod script;
mod sheaf;

pub use draft::DRAFT_LIMIT_BYTES;
pub(crate) use finish::{claimed, delete_job, requeue};
pub(crate) use progress::Timely;
pub use prune::Pruned;
pub(crate) use script::Script;
pub(crate) use sheaf::{Cell, Sheaf};
