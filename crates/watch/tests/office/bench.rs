//! A ledger, a clock that passes as fast as somebody waits for it, and who watches by them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use airtight_agent::{ApprovalMode, Environment, Permissions};
use airtight_core::redact::Redactor;
use airtight_core::watch::{
    ChainOutcome, ChainPolicy, CooldownLimits, EscalationPolicy, Surroundings, Tier, Trigger,
};
use airtight_store::{
    Escalation, EscalationFilter, EventFilter, Ledger, Location, Order, Page, SessionFilter,
    Settings,
};
use airtight_watch::{Address, Clock, Estate, Notice, Target, Teller, WatchError, Watcher, Wish};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::crew::{Act, Crew};

pub(crate) const HOUR_MS: i64 = 3_600_000;
const BEGIN_MS: i64 = 1_790_000_000_000;

/// From the oldest.
pub(crate) const ALL: Page = Page { limit: 1_000, after: None, order: Order::OldestFirst };

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) ledger: Ledger,
    pub(crate) estate: Estate,
    now_ms: Arc<AtomicI64>,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::masking([]).await
    }

    /// Makes a bench whose ledger knows these secrets.
    pub(crate) async fn masking<const N: usize>(secrets: [&str; N]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            redactor: Redactor::new(secrets),
            // Short, for tests in which another process holds the ledger; long enough for a busy machine.
            patience: Duration::from_millis(500),
            ..Settings::default()
        };
        let place = Location::Sqlite(folder.path().join("ledger.db"));
        let ledger = Ledger::open_with(&place, settings).await.unwrap();
        let estate = estate(&folder);
        Self { folder, ledger, estate, now_ms: Arc::new(AtomicI64::new(BEGIN_MS)) }
    }

    /// Says what may be escalated from now on.
    pub(crate) fn allow(&mut self, escalation: EscalationPolicy) {
        self.estate.policy = ChainPolicy { escalation, ..ChainPolicy::default() };
    }

    pub(crate) fn now(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, ms: i64) {
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// Returns who watches until `stop`, which it is at `until_ms` at the latest.
    pub(crate) fn watcher(
        &self,
        crew: Crew,
        until_ms: i64,
        stop: CancellationToken,
    ) -> Watcher<Crew, Time> {
        let time = Time { now_ms: Arc::clone(&self.now_ms), until_ms, stop: stop.clone() };
        let estate = (self.ledger.clone(), self.estate.clone());
        Watcher::new(estate, crew, time, Arc::new(Nobody), stop)
    }

    /// Runs one chain.
    pub(crate) async fn once<const N: usize>(
        &self,
        (trigger, tier): (Trigger, Tier),
        acts: [Act; N],
    ) -> ChainOutcome {
        let crew = Crew::new(self.ledger.clone(), acts);
        let watcher = self.watcher(crew, i64::MAX, CancellationToken::new());
        watcher.once(Wish { trigger, tier, request: None }).await.unwrap()
    }

    /// Begins one scheduled chain, and is gone as by `kill -9` when one of its sessions says so.
    pub(crate) async fn die<const N: usize>(&self, acts: [Act; N]) {
        let crew = Crew::new(self.ledger.clone(), acts);
        let gone: Arc<Notify> = Arc::clone(&crew.gone);
        let watcher = self.watcher(crew, i64::MAX, CancellationToken::new());
        let wish = Wish { trigger: Trigger::Scheduled, tier: Tier::Observe, request: None };
        tokio::select! {
            ended = watcher.once(wish) => panic!("{ended:?}"),
            () = gone.notified() => {}
        }
    }

    /// Watches for so long.
    pub(crate) async fn run<const N: usize>(
        &self,
        ms: i64,
        acts: [Act; N],
    ) -> Result<(), WatchError> {
        let crew = Crew::new(self.ledger.clone(), acts);
        self.watcher(crew, self.now() + ms, CancellationToken::new()).run().await
    }

    /// Returns tier and status of each session.
    pub(crate) async fn sessions(&self) -> Vec<(i64, String)> {
        let sessions = self.ledger.sessions(&SessionFilter::default(), ALL).await.unwrap();
        sessions.into_iter().map(|it| (it.tier, it.status)).collect()
    }

    pub(crate) async fn messages(&self) -> Vec<String> {
        let events = self.ledger.watch_events(&EventFilter::default(), ALL).await.unwrap();
        events.into_iter().map(|it| it.message).collect()
    }

    /// Returns the titles of what people were told, or are to be.
    pub(crate) async fn titles(&self) -> Vec<String> {
        let queued = self.ledger.notifications(None, ALL).await.unwrap();
        queued.into_iter().map(|it| it.title).collect()
    }

    pub(crate) async fn escalations(&self) -> Vec<Escalation> {
        self.ledger.escalations(&EscalationFilter::default(), ALL).await.unwrap()
    }

    /// Returns what is on record of when chains are due.
    pub(crate) async fn schedule(&self) -> serde_json::Value {
        let mark = self.ledger.mark("schedule").await.unwrap().unwrap();
        serde_json::from_str(&mark).unwrap()
    }
}

fn estate(folder: &TempDir) -> Estate {
    let permitted = Permissions::new(ApprovalMode::Yolo);
    let address = Address::Command("true".to_owned());
    Estate {
        interval: Duration::from_hours(1),
        policy: ChainPolicy::default(),
        limits: CooldownLimits::default(),
        memory_budget_tokens: 0,
        session_limit: Estate::SESSION_LIMIT,
        verify_after: None,
        surroundings: Surroundings::default(),
        services: None,
        tasks: [String::new(), String::new(), String::new()],
        denied: [permitted.clone(), permitted.clone(), permitted],
        logs: folder.path().join("logs"),
        keep: None,
        handoff: None,
        pre_session: None,
        targets: vec![Target { name: "pager".to_owned(), address }],
        own_files: Vec::new(),
        folder: folder.path().to_owned(),
        environment: Environment::without_secrets(std::env::vars_os()),
        redactor: Redactor::new([]),
        lease: Estate::LEASE,
        look_every: Duration::from_millis(1),
    }
}

/// A clock that passes as fast as somebody waits for it, and ends the watch at its time.
#[derive(Clone)]
pub(crate) struct Time {
    now_ms: Arc<AtomicI64>,
    until_ms: i64,
    stop: CancellationToken,
}

impl Clock for Time {
    fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    async fn sleep_until(&self, at_ms: i64) {
        // Never less than a minute: nobody looks more often.
        let at_ms = at_ms.max(self.now_ms() + 60_000);
        self.now_ms.fetch_max(at_ms, Ordering::SeqCst);
        if self.now_ms() >= self.until_ms {
            self.stop.cancel();
        }
        tokio::task::yield_now().await;
    }
}

struct Nobody;

impl Teller for Nobody {
    fn tell(&self, _notice: Notice) {}
}
