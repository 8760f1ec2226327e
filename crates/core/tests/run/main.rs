//! The run machine, driven by hand: replies in, steps and events out.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests"
)]

mod background;
mod bounds;
mod call_ids;
mod cancel;
mod checks;
mod degenerate;
mod dispatch;
mod extraction;
mod laws;
mod reading;
mod requests;
mod spending;
mod support;
