//! `airtight run --via` with the real agent CLIs against a scripted model.
//!
//! `scripts/setup clis` installs the programs, and `.config/nextest.toml` has these tests see loopback
//! alone. What is not installed is not tested: `installed` says so.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]
#![cfg(target_os = "linux")]

mod answers;
mod claude;
mod cli;
mod codex;
mod failures;
mod gemini;
mod installed;
mod opencode;
mod processes;
mod qwen;
#[path = "../run/said.rs"]
mod said;
mod stage;
mod stops;
mod trust;
mod unfit;
