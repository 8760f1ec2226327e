//! `airtight review` against real git, a scripted model and a made-up GitHub.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot set itself up has failed"
)]

mod changes;
#[cfg(feature = "embedded")]
mod embedded;
mod findings;
mod forms;
mod inputs;
mod limits;
mod parts;
mod posting;
#[path = "../run/said.rs"]
#[expect(dead_code, reason = "reviews print no stream")]
mod said;
#[path = "../run/screen.rs"]
#[expect(dead_code, reason = "nobody types here")]
mod screen;
mod settings;
mod stage;
