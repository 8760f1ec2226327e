//! Lives of a watch: each a process of its own, this test binary again, which is killed at random points.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use airtight_agent::{ApprovalMode, Environment, Permissions};
use airtight_core::redact::Redactor;
use airtight_core::watch::{
    ChainPolicy, CooldownLimits, EscalationPolicy, MemoryChange, MemoryPolicy, Surroundings, Tier,
    Trust, approve,
};
use airtight_store::{Ledger, Location, Memory, MemoryFilter, Minutes, Order, PAGE_LIMIT, Page};
use airtight_watch::{Address, Estate, Notice, Target, Teller, Watcher};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::chance::Chance;
use crate::crew::{Crew, DEADLY_LIVES, Fate};
use crate::memories::{BUDGET_TOKENS, OLD};
use crate::record::Ledgered;
use crate::world::{BEGIN_MS, DAY_MS, END_MS, Line, Passing, World};

/// Tells a process which month it lives.
const FOLDER: &str = "AIRTIGHT_TEST_MONTH";

/// The lives after which an operator decides about a memory, and what.
const DECISIONS: [(usize, bool); 4] = [(20, true), (30, false), (40, true), (50, true)];

/// A folder in memory. A month is thousands of commits, and each waits for its disk where there is one. What a
/// process wrote before `kill -9` stays in either: only a machine that fails tells them apart, and none does here.
const MEMORY: &str = "/dev/shm";

/// The signal of `kill -9`.
const KILLED: i32 = 9;

pub(crate) struct Month {
    folder: TempDir,
}

impl Month {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir());
        Self { folder: folder.unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn world(&self) -> World {
        World::open(self.folder.path())
    }

    /// Writes down what was known before.
    pub(crate) fn begin(&self) {
        let old = |(place, it): (usize, &(Option<&str>, &str, &str, i64, i64))| Memory {
            number: 0,
            id: format!("old-{place}"),
            service: it.0.map(str::to_owned),
            category: it.1.to_owned(),
            observation: it.2.to_owned(),
            confidence: it.3,
            reinforced_at: BEGIN_MS - it.4 * DAY_MS,
            trust: Trust::Trusted,
            tier: None,
            session: None,
            created_at: BEGIN_MS - it.4 * DAY_MS,
        };
        let memories = OLD.iter().enumerate().map(old).collect();
        block_on(async {
            let ledger = open(self.folder.path()).await;
            let lead = ledger.lead(Duration::from_mins(1)).await.unwrap().unwrap();
            let minutes = Minutes { at_ms: BEGIN_MS, memories, ..Minutes::default() };
            ledger.minute(lead, minutes).await.unwrap();
            ledger.resign().await.unwrap();
            ledger.close().await;
        });
    }

    /// Lives the month to its end, in many lives.
    pub(crate) fn live(&self) {
        let chance = Chance::new(7);
        for life in 1.. {
            let mut process = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "life::program", "--ignored", "--nocapture"])
                .env(FOLDER, self.folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            if life < DEADLY_LIVES && life % 4 == 0 {
                // At any point at all, also in the middle of a write: within what a life takes.
                std::thread::sleep(Duration::from_millis(20 + chance.below(200)));
                process.kill().unwrap();
            }
            let ended = process.wait_with_output().unwrap();
            if ended.status.success() {
                return;
            }
            let complaint = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.signal(), Some(KILLED), "life {life}: {complaint}");
            if let Some((_, trusted)) = DECISIONS.iter().find(|(after, _)| *after == life) {
                self.decide(*trusted);
            }
        }
    }

    /// Gives leave to the oldest memory that waits for it, or does not.
    fn decide(&self, trusted: bool) {
        let world = self.world();
        block_on(async {
            let ledger = open(self.folder.path()).await;
            let rows = ledger.memories(&MemoryFilter::default(), ALL).await.unwrap();
            let waiting = rows.iter().find(|it| it.trust == Trust::Pending);
            let Some(waiting) = waiting else { return ledger.close().await };
            let (id, observation) = (waiting.id.clone(), waiting.observation.clone());
            let memories: Vec<_> =
                rows.into_iter().filter_map(airtight_store::Memory::known).collect();
            let changes = if trusted {
                approve(&memories, &id, world.now())
            } else {
                vec![MemoryChange::Trust { id, trust: Trust::Rejected }]
            };
            let updates = changes.iter().filter_map(airtight_store::MemoryUpdate::of).collect();
            ledger.judge_memories(updates).await.unwrap();
            ledger.close().await;
            world.write(&Line::Decided { observation, trusted, at_ms: world.now() });
        });
    }

    pub(crate) fn record(&self) -> Ledgered {
        block_on(Ledgered::read(self.folder.path()))
    }
}

const ALL: Page = Page { limit: PAGE_LIMIT, after: None, order: Order::OldestFirst };

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Runtime::new().unwrap().block_on(future)
}

async fn open(folder: &Path) -> Ledger {
    Ledger::open(&Location::Sqlite(folder.join("ledger.db"))).await.unwrap()
}

struct Nobody;

impl Teller for Nobody {
    fn tell(&self, _notice: Notice) {}
}

fn estate(folder: &Path) -> Estate {
    let permitted = Permissions::new(ApprovalMode::Yolo);
    let target = |name: &str, command: &str| Target {
        name: name.to_owned(),
        address: Address::Command(command.to_owned()),
    };
    Estate {
        interval: Duration::from_hours(1),
        policy: ChainPolicy {
            escalation: EscalationPolicy::default(),
            memory: MemoryPolicy { needs_leave: vec![Tier::Remediate] },
            ..ChainPolicy::default()
        },
        limits: CooldownLimits::default(),
        memory_budget_tokens: BUDGET_TOKENS,
        session_limit: Estate::SESSION_LIMIT,
        verify_after: Some(Duration::from_mins(10)),
        surroundings: Surroundings::default(),
        services: None,
        tasks: [String::new(), String::new(), String::new()],
        denied: [permitted.clone(), permitted.clone(), permitted],
        logs: folder.join("logs"),
        keep: None,
        handoff: None,
        pre_session: None,
        targets: vec![target("good", "cat >> told.jsonl"), target("bad", "echo no >&2; exit 1")],
        own_files: Vec::new(),
        folder: folder.to_owned(),
        environment: Environment::without_secrets(std::env::vars_os()),
        redactor: Redactor::new([]),
        lease: Estate::LEASE,
        look_every: Duration::from_hours(1),
    }
}

/// One life. Not a test: it watches until the month is over, or somebody ends it.
#[test]
#[ignore = "a program that another test runs"]
fn program() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let world = Arc::new(World::open(&folder));
    world.write(&Line::Life);
    let life = world.lives() + 1;
    block_on(async {
        let ledger = open(&folder).await;
        let chance = Arc::new(Chance::new(life as u64));
        let fate = Fate { chance: Arc::clone(&chance), is_deadly: life < DEADLY_LIVES };
        let crew = Crew { world: Arc::clone(&world), ledger: ledger.clone(), chance, fate };
        let stop = CancellationToken::new();
        let watcher = Watcher::new(
            (ledger.clone(), estate(&folder)),
            crew,
            Passing(Arc::clone(&world)),
            Arc::new(Nobody),
            stop.clone(),
        );
        let over = async {
            while world.now() < END_MS {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            stop.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            done = watcher.run() => done.unwrap(),
            () = over => {}
        }
        ledger.close().await;
    });
}
