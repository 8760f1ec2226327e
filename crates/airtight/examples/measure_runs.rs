//! Times many runs in one process, for `bench/throughput.py`.
//!
//! `measure_runs BASE_URL RUNS IN_FLIGHT SCHEMA ANSWER` prints `{"ns": …, "right": …}`: how long all
//! runs took after a first one, and how many returned the expected answer. A run that fails is told
//! on stderr.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use airtight::{Contract, Runner};
use serde_json::{Value, json};

/// The same words as in `bench/peers` and `bench/measure_runs.py`.
const PROMPT: &str = "Sort this report: the parser hangs.";

/// What all workers share.
struct Load {
    runner: Runner,
    contract: Contract,
    answer: Value,
    runs: usize,
    begun: AtomicUsize,
    right: AtomicUsize,
}

impl Load {
    /// Does runs one after the other until all have begun.
    #[expect(clippy::print_stderr, reason = "a run that fails must be heard of")]
    async fn work(self: Arc<Self>) {
        while self.begun.fetch_add(1, Ordering::Relaxed) < self.runs {
            match self.runner.run(&self.contract, PROMPT).await {
                Ok(answer) if answer.value == self.answer => {
                    self.right.fetch_add(1, Ordering::Relaxed);
                }
                Ok(answer) => eprintln!("another answer: {}", answer.document.to_compact()),
                Err(failure) => eprintln!("{failure}"),
            }
        }
    }
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the time is what this program is for")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [base_url, runs, in_flight, schema, answer] = arguments.as_slice() else {
        return Err("usage: measure_runs BASE_URL RUNS IN_FLIGHT SCHEMA ANSWER".into());
    };
    let load = Arc::new(Load {
        runner: Runner::new("openai-chat:fake").key("x").base_url(base_url),
        contract: Contract::compile(serde_json::from_slice(&std::fs::read(schema)?)?)?,
        answer: serde_json::from_slice(&std::fs::read(answer)?)?,
        runs: runs.parse()?,
        begun: AtomicUsize::new(0),
        right: AtomicUsize::new(0),
    });
    let in_flight: usize = in_flight.parse()?;
    load.runner.run(&load.contract, PROMPT).await?;
    let start = Instant::now();
    let workers: Vec<_> = (0..in_flight).map(|_| tokio::spawn(Arc::clone(&load).work())).collect();
    for worker in workers {
        worker.await?;
    }
    let ns = u64::try_from(start.elapsed().as_nanos())?;
    println!("{}", json!({ "ns": ns, "right": load.right.load(Ordering::Relaxed) }));
    Ok(())
}
