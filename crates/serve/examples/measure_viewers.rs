//! How long it takes from an event of a run to each of many viewers: the write to the ledger included.
//!
//! `bench/run --only viewers`, or by itself: `measure_viewers [VIEWERS] [EVENTS] [STALLED]`.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a measurement prints, and ends if it cannot measure"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airtight_serve::{
    Answering, Desk, Fault, FaultKind, Growth, Judging, Limits, Naming, Proposal, Question, Server,
    Setting, Settings, Token, Unfit,
};
use airtight_store::{
    Begun, ContractRow, Finish, Ledger, Location, NewEvent, NewRun, Run, RunToken,
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Nobody is asked anything here.
struct NoDesk;

impl Desk for NoDesk {
    fn models(&self) -> Naming {
        Box::pin(async { Vec::new() })
    }

    fn answer(&self, _: Question, _: Option<Arc<Growth>>) -> Answering {
        Box::pin(async { Err(Fault::new(FaultKind::Setup, "nobody answers here")) })
    }

    fn settings(&self) -> Vec<Setting> {
        Vec::new()
    }

    fn judge(&self, _: Run, _: ContractRow, _: Proposal) -> Judging {
        Box::pin(async { Err(Unfit::Contract) })
    }
}

#[tokio::main]
async fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let viewers = numbers.next().unwrap_or(1_000);
    let events = numbers.next().unwrap_or(200);
    let stalled = numbers.next().unwrap_or(100);
    let folder = tempfile::tempdir().expect("a folder");
    let place = Location::Sqlite(folder.path().join("ledger.db"));
    let ledger = Ledger::open(&place).await.expect("a ledger");
    // A handle of its own, as a run of another process has it.
    let writer = Ledger::open(&place).await.expect("a ledger");
    let settings = Settings {
        bind: SocketAddr::from(([127, 0, 0, 1], 0)),
        token: Token::new("token-of-the-measurement").expect("a token"),
        hosts: Vec::new(),
        alert_model: None,
        limits: Limits::default(),
    };
    let server = Server::bind(settings, ledger, Arc::new(NoDesk)).await.expect("a server");
    let address = server.address();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server.run(stop.clone()));
    let Ok(Begun::Fresh(run)) = writer.begin(NewRun::default()).await else { return };
    let begun = Instant::now();
    let mut readers = JoinSet::new();
    for _ in 0..viewers {
        readers.spawn(latencies(connect(address, &run).await, begun));
    }
    let mut idle = Vec::new();
    for _ in 0..stalled {
        idle.push(connect(address, &run).await);
    }
    let before = resident();
    for _ in 0..events {
        let body =
            format!("{{\"us\":{},\"text\":\"{}\"}}", begun.elapsed().as_micros(), "x".repeat(500));
        let event = NewEvent { kind: "assistant".to_owned(), body };
        writer.append(&run, vec![event]).await.expect("on record");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let end = Finish { outcome: "met".to_owned(), ..Finish::default() };
    writer.finish(&run, end).await.expect("on record");
    let mut all: Vec<u64> = Vec::new();
    while let Some(heard) = readers.join_next().await {
        all.extend(heard.expect("a viewer"));
    }
    all.sort_unstable();
    let at = |share: usize| {
        let place = (all.len() * share / 1000).min(all.len().saturating_sub(1));
        all.get(place).copied().unwrap_or(0)
    };
    let figures = json!({
        "delivered": all.len(), "p50_us": at(500), "p99_us": at(990), "most_us": at(1000),
        "before_kib": before, "after_kib": resident(),
    });
    println!("{figures}");
    drop(idle);
    stop.cancel();
    drop(serving.await);
}

async fn connect(address: SocketAddr, run: &RunToken) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let request =
        format!("GET /api/v1/runs/{}/events HTTP/1.0\r\nHost: {address}\r\n\r\n", run.id());
    stream.write_all(request.as_bytes()).await.expect("a request");
    stream
}

/// Reads to the end, and returns how long each event took, in microseconds.
async fn latencies(stream: TcpStream, begun: Instant) -> Vec<u64> {
    let mut lines = BufReader::new(stream).lines();
    let mut heard = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        let sent = line.split_once("\"us\":").and_then(|(_, rest)| rest.split(',').next());
        if let Some(sent) = sent.and_then(|text| text.parse::<u128>().ok()) {
            let took = begun.elapsed().as_micros().saturating_sub(sent);
            heard.push(u64::try_from(took).unwrap_or(u64::MAX));
        }
    }
    heard
}

/// Returns the memory of this process, clients included, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
