//! `airtight run` and `airtight doctor` against a scripted model.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot set itself up has failed"
)]

#[cfg(target_os = "linux")]
mod concealment;
mod conflicts;
mod doctor;
#[cfg(feature = "embedded")]
mod embedded;
mod errors;
mod extraction;
mod failures;
mod hooks;
mod interrupts;
mod ledger;
mod library;
mod loopback;
mod mcp;
mod mishaps;
mod output;
mod prompts;
mod proxies;
mod roles;
mod roots;
mod said;
mod screen;
mod secrets;
mod settings;
#[cfg(feature = "embedded")]
mod shop;
mod stage;
#[cfg(feature = "otlp")]
mod telemetry;
mod terminal;
mod tools;
mod wall_time;
#[cfg(feature = "embedded")]
mod weights;
