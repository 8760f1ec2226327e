//! The work queue: jobs that wait for a worker, in the same database as the runs.
//!
//! A claim is a short transaction of its own; nothing is open or held while a model answers. What
//! protects a job is its lease and the token of its claim, which the finishing transaction checks.

mod bucket;
mod claim;
mod enqueue;
mod job;
mod lease;
mod manage;

pub use bucket::Bucket;
pub use job::{
    Again, Claim, ClaimedJob, Enqueued, JobFilter, JobState, NewJob, QueueCounts, StoredJob, Worker,
};
pub use lease::Lease;
