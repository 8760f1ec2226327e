//! The loop over a real ledger, with a clock and a staff that do as they are told.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]
#![cfg(target_os = "linux")]

mod bench;
mod crew;
mod keep;
mod leave;
mod left;
mod logs;
mod names;
mod outage;
mod ticks;
