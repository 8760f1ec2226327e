//! Many runs at the same time: every one gets its own answer, and none leaves anything behind.

// What is left behind is read from `/proc`.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper that cannot go on fails its test"
)]

use std::sync::Arc;
use std::time::Duration;

use airtight_agent::provider::{ModelName, Provider, Timeouts};
use airtight_agent::{Agent, Event, Hooks, Observer, Toolbox};
use airtight_core::Contract;
use airtight_core::run::{Job, Mode, Outcome, Policy, Report, Run, Terminal};
use airtight_fake::{Fake, Script, Turn};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const RUNS: usize = 1_000;
const IN_FLIGHT: usize = 100;

/// How much memory a thousand runs may cost when as many were there before them. An allocator keeps up
/// to half of it for itself; runs that leave more than 32 KiB behind, such as a connection with its
/// buffers, are over it.
const GROWTH_LIMIT_BYTES: u64 = 32 * 1024 * 1024;

/// How long files may stay open on a machine that does many other things.
const PATIENCE: Duration = Duration::from_mins(2);

struct Nobody;

impl Observer for Nobody {
    fn event(&mut self, _event: &Event) {}
}

/// Prompts are all of one length, so that none contains another.
fn prompt(number: usize) -> String {
    format!("job {number:04}")
}

fn agent(fake: &Fake) -> Agent {
    let model = ModelName::parse("anthropic:model-1").unwrap();
    let endpoint = model.endpoint(Some(&fake.anthropic_base()), |_| Some("key".to_owned()));
    let provider = Provider::new(endpoint.unwrap(), Timeouts::default()).unwrap();
    Agent::new(provider, Toolbox::default(), Hooks::default())
}

fn job(agent: &Agent, contract: &Arc<Contract>, number: usize) -> Job {
    Job {
        contract: Some(Arc::clone(contract)),
        dialect: agent.provider.dialect(),
        model: agent.provider.model().to_owned(),
        mode: Mode::Tool,
        system: None,
        prompt: prompt(number),
        tools: Vec::new(),
        terminal: Terminal::Offered,
        policy: Policy::default(),
        price: None,
        account: airtight_core::run::Account::default(),
        source: None,
        check: None,
        extractor: None,
    }
}

async fn one(agent: Arc<Agent>, job: Job, places: Arc<Semaphore>) -> Report {
    let _place = places.acquire().await.unwrap();
    let run = Run::new(job).unwrap();
    agent.drive(run, &mut Nobody, CancellationToken::new()).await
}

/// Has all runs on a server of their own, and returns those that did not get their answer.
async fn lost() -> Vec<(usize, Outcome)> {
    let turns = (0..RUNS).map(|number| {
        let answer = json!({ "number": number, "text": "x".repeat(64) });
        Turn::call("structured_output", answer).when_contains(prompt(number))
    });
    let fake = Fake::start(Script::new(turns)).await.unwrap();
    let schema = json!({
        "type": "object",
        "properties": { "number": { "type": "integer" }, "text": { "type": "string" } },
        "required": ["number", "text"]
    });
    let contract = Arc::new(Contract::compile(schema).unwrap());
    let agent = Arc::new(agent(&fake));
    let places = Arc::new(Semaphore::new(IN_FLIGHT));
    let mut runs = JoinSet::new();
    for number in 0..RUNS {
        let run = one(Arc::clone(&agent), job(&agent, &contract, number), Arc::clone(&places));
        runs.spawn(async move { (number, run.await) });
    }
    let mut lost = Vec::new();
    while let Some(joined) = runs.join_next().await {
        let (number, report) = joined.unwrap();
        let value = report.value.map(|value| value.to_value()["number"].clone());
        if report.outcome != Outcome::Met || value != Some(json!(number)) {
            lost.push((number, report.outcome));
        }
    }
    assert_eq!(fake.remaining(), 0);
    lost
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Returns how much of our memory is resident.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kibibytes: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
    kibibytes * 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_runs_lose_no_result_and_leave_nothing_behind() {
    let files = open_files();
    // Fills every cache and pool there is, to the same mark.
    assert_eq!(lost().await, []);
    let resident = resident_bytes();
    assert_eq!(lost().await, []);
    let growth = resident_bytes().saturating_sub(resident);
    assert!(growth < GROWTH_LIMIT_BYTES, "{growth} bytes");
    // The server is gone; connections end as soon as they are told.
    let closed = async {
        while open_files() > files {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, closed).await.unwrap();
}
