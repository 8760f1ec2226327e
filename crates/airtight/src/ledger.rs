//! The record of runs: where it is kept, and how a run gets into it.
//!
//! ```text
//! enter ─► Recorder ─► (the driver asks the model; each request is a row before it leaves) ─► finish
//!   ├► Finished: the idempotency key has its answer      └ events are kept as they are told
//!   └► Busy: another process is at it
//! ```
//!
//! The rule it protects: what was acknowledged is on disk, and a ledger that fails costs the record,
//! never the answer.

mod books;
mod ending;
mod failure;
mod kept;
mod recorder;

pub(crate) use books::{Books, shown};
pub(crate) use failure::unstored;
pub(crate) use kept::Kept;
pub(crate) use recorder::{Entered, Recorder, enter};
