//! `airtight batch`, `airtight worker` and `airtight jobs` against a scripted model.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]

mod budgets;
mod inputs;
mod keys;
mod kills;
mod outages;
#[path = "../../../store/tests/ledger/postgres.rs"]
#[expect(dead_code, reason = "the ledger's own tests use the rest")]
mod postgres;
mod programs;
mod queues;
mod refusals;
mod results;
#[path = "../run/said.rs"]
#[expect(dead_code, reason = "batches print no stream")]
mod said;
mod stage;
mod workers;
