//! What the Rust peers of `bench/throughput.py` share: the command line, the load, the report.
//!
//! `PROGRAM BASE_URL RUNS IN_FLIGHT SCHEMA ANSWER [stream]` prints `{"ns": …, "right": …}`: how long
//! all runs took after a first one, and how many returned the expected answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

/// Whatever a measurement can fail with.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is asked of a peer.
pub struct Load {
    /// Where the server is.
    pub base_url: String,
    /// How many runs there are.
    pub runs: usize,
    /// How many of them at a time.
    pub in_flight: usize,
    /// The body of each request.
    pub body: Value,
    /// The answer that each run should return.
    pub answer: Value,
}

impl Load {
    /// Reads the command line.
    pub fn from_arguments() -> Result<Self, Failure> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [base_url, runs, in_flight, schema, answer, rest @ ..] = arguments.as_slice() else {
            return Err("usage: PROGRAM BASE_URL RUNS IN_FLIGHT SCHEMA ANSWER [stream]".into());
        };
        let schema: Value = serde_json::from_slice(&std::fs::read(schema)?)?;
        let format = json!({"name": "triage", "schema": schema, "strict": true});
        let mut body = json!({
            "model": "fake",
            "messages": [{"role": "user", "content": "Sort this report: the parser hangs."}],
            "response_format": {"type": "json_schema", "json_schema": format},
        });
        if rest.first().is_some_and(|word| word == "stream") {
            body["stream"] = json!(true);
        }
        Ok(Self {
            base_url: base_url.clone(),
            runs: runs.parse()?,
            in_flight: in_flight.parse()?,
            body,
            answer: serde_json::from_slice(&std::fs::read(answer)?)?,
        })
    }

    /// Does all runs and prints the report; a run claims that it returned what was expected.
    pub async fn perform<F>(
        self,
        run: impl Fn(Arc<Self>) -> F + Clone + Send + 'static,
    ) -> Result<(), Failure>
    where
        F: Future<Output = Result<bool, Failure>> + Send + 'static,
    {
        let load = Arc::new(self);
        let (next, right) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        run(load.clone()).await?;
        let start = Instant::now();
        let workers: Vec<_> = (0..load.in_flight)
            .map(|_| {
                let (load, next, right, run) =
                    (load.clone(), next.clone(), right.clone(), run.clone());
                tokio::spawn(async move {
                    while next.fetch_add(1, Ordering::Relaxed) < load.runs {
                        if run(load.clone()).await? {
                            right.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    Ok::<(), Failure>(())
                })
            })
            .collect();
        for worker in workers {
            worker.await??;
        }
        println!(
            "{}",
            json!({"ns": start.elapsed().as_nanos(), "right": right.load(Ordering::Relaxed)})
        );
        Ok(())
    }
}
