//! What clients see of the server, over real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper that cannot go on fails its test"
)]

mod ask;
mod checks;
mod choice;
mod faults;
mod gates;
mod hearing;
mod program;
mod wires;
