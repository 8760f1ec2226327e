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
mod failures;
mod hooks;
mod interrupts;
mod library;
mod output;
mod prompts;
mod settings;
mod stage;
#[cfg(feature = "otlp")]
mod telemetry;
mod tools;
