//! `airtight watch` over a small estate: services on loopback that break and heal, a scripted model,
//! and the real `claude` and `qwen`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot set itself up has failed"
)]
#![cfg(target_os = "linux")]

mod chains;
mod claude;
#[path = "../via/cli.rs"]
#[expect(dead_code, reason = "the tests of agent CLIs use the rest")]
mod cli;
mod deciding;
mod estate;
mod hostile;
mod kills;
mod leading;
mod legacy;
mod notices;
mod program;
mod qwen;
#[path = "../run/said.rs"]
#[expect(dead_code, reason = "a watch has no result")]
mod said;
mod services;
mod summaries;
