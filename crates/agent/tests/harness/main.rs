//! Whole runs on stand-ins for agent CLIs that misbehave as the real ones were seen to, and worse.

// What is left behind is read from `/proc`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod budget;
mod faults;
mod scene;
mod sessions;
