//! Runs performed against the scripted server: what goes over the wire, and what comes of faults.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a helper that cannot go on fails its test"
)]

mod extraction;
mod faults;
mod interrupts;
mod journal;
mod objections;
mod rig;
mod streams;
mod subagents;
mod tools;
mod wires;
