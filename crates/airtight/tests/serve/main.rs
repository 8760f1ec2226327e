//! `airtight serve` over real sockets, against a scripted model.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]

mod answers;
mod api;
mod asked;
mod chats;
mod crowd;
mod faults;
mod live;
mod login;
mod naughty;
mod pages;
mod probes;
mod stage;
mod starts;
mod streams;
