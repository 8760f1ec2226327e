//! The command as people and programs meet it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod check;
mod completions;
mod diff;
mod folder;
mod generate;
mod hostile;
mod models;
mod rolling;
mod transcript;
mod validate;
