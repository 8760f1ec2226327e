//! A month of a watch over five services, in seconds: the clock is an argument, and so is the staff.
//!
//! Services break by chance, sessions report what they see, the third tier restarts what is down, and
//! the watch is cut off at random points and begun again. No event is lost, no restart is made past the
//! limits or twice, and every memory is worth what the closed formula says.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot set itself up has failed"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use airtight_agent::{ApprovalMode, Environment, Permissions};
use airtight_core::redact::Redactor;
use airtight_core::watch::{
    ActionState, AgentResponse, ChainPolicy, CooldownLimits, Escalation, EscalationPolicy,
    EscalationRequest, Event, KeyedMemory, Level, MemoryPolicy, Payload, ServiceCheck,
    ServiceStatus, SessionEnding, Surroundings, Tier,
};
use airtight_store::{
    ActionFilter, EventFilter, Ledger, Location, MemoryFilter, Order, PAGE_LIMIT, Page,
    SessionFilter,
};
use airtight_watch::{
    Assignment, Clock, Estate, NoRun, Notice, Performed, Staff, Teller, Watcher, Who, Witness,
};
use tokio_util::sync::CancellationToken;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const BEGIN_MS: i64 = 1_790_000_000_000;
const SERVICES: [&str; 5] = ["web", "db", "mail", "cache", "dns"];
const ALL: Page = Page { limit: PAGE_LIMIT, after: None, order: Order::OldestFirst };

/// What happens in the world, apart from the watch.
#[derive(Default)]
struct World {
    now_ms: AtomicI64,
    chance: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    broken: BTreeMap<&'static str, bool>,
    /// Every restart that was really made.
    restarts: Vec<(String, i64)>,
    /// Every event that a session which came to its end reported.
    told: Vec<String>,
    /// Every memory that such a session claimed, and when.
    claimed: Vec<(String, i64)>,
}

impl World {
    /// Returns a number below `limit`, the same in every run.
    fn roll(&self, limit: u64) -> u64 {
        let next = self
            .chance
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| {
                Some(
                    it.wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407),
                )
            })
            .unwrap();
        (next >> 33) % limit
    }

    fn now(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }
}

/// A clock that passes as fast as somebody waits for it.
#[derive(Clone)]
struct Passing(Arc<World>);

impl Clock for Passing {
    fn now_ms(&self) -> i64 {
        self.0.now()
    }

    async fn sleep_until(&self, at_ms: i64) {
        self.0.now_ms.fetch_max(at_ms, Ordering::SeqCst);
        tokio::task::yield_now().await;
    }
}

/// Looks at the world and reports it, now and then badly.
struct Crew {
    world: Arc<World>,
    ledger: Ledger,
}

impl Crew {
    fn look(&self) -> Vec<ServiceCheck> {
        let mut state = self.world.state.lock().unwrap();
        let check = |name: &'static str, is_broken: bool| ServiceCheck {
            name: name.to_owned(),
            status: if is_broken { ServiceStatus::Down } else { ServiceStatus::Healthy },
            detail: None,
        };
        SERVICES
            .map(|name| {
                let breaks = self.world.roll(12) == 0;
                let broken = state.broken.entry(name).or_default();
                *broken |= breaks;
                check(name, *broken)
            })
            .to_vec()
    }

    /// Restarts what is down, as far as it may.
    async fn repair(&self, assignment: &Assignment) {
        for name in SERVICES {
            let is_broken = self.world.state.lock().unwrap().broken.get(name) == Some(&true);
            if !is_broken {
                continue;
            }
            let call = format!("{}-{name}", assignment.session);
            let command = format!("docker restart {name}");
            if assignment.guard.admit(&call, &command).await.is_err() {
                continue;
            }
            let is_mended = self.world.roll(4) > 0;
            {
                let mut state = self.world.state.lock().unwrap();
                let now = self.world.now();
                state.restarts.push((name.to_owned(), now));
                if is_mended {
                    state.broken.insert(name, false);
                }
            }
            let came_to = if is_mended { ActionState::Success } else { ActionState::Failure };
            assignment.guard.close(&call, came_to, None).await;
        }
    }

    fn report(&self, tier: Tier, session: &str) -> AgentResponse {
        let checks = self.look();
        let down: Vec<&ServiceCheck> =
            checks.iter().filter(|it| it.status != ServiceStatus::Healthy).collect();
        let event = |check: &&ServiceCheck| {
            let message = format!("{session} saw {} down", check.name);
            Event::of_session(Level::Critical, Some(&check.name), message)
        };
        let events: Vec<Event> = down.iter().map(event).collect();
        // One fact, said by tier 1 about twice a day.
        let remembers = tier == Tier::Observe && self.world.roll(12) == 0;
        let memories = remembers.then(|| KeyedMemory {
            key: "web:timing".to_owned(),
            value: "starts in 30 s".to_owned(),
        });
        let escalation = if down.is_empty() {
            Escalation::NotNeeded
        } else {
            Escalation::Needed(EscalationRequest {
                reason: Some("something is down".to_owned()),
                context: None,
                failed_checks: Vec::new(),
            })
        };
        AgentResponse {
            summary: format!("{} are down", down.len()),
            events,
            memories: memories.into_iter().collect(),
            escalation,
            services_checked: checks,
        }
    }
}

impl Staff for Crew {
    fn who(&self, _tier: Tier) -> Who {
        Who { driver: "simulated".to_owned(), model: "none".to_owned() }
    }

    async fn perform(&self, assignment: Assignment, witness: &mut dyn Witness) -> Performed {
        witness.line("{}");
        self.world.now_ms.fetch_add(60_000, Ordering::SeqCst);
        if assignment.tier == Tier::Remediate {
            self.repair(&assignment).await;
        }
        let response = self.report(assignment.tier, &assignment.session);
        Performed {
            ending: SessionEnding::FINE,
            payload: Payload::Accepted(Box::new(response.clone())),
            said: Vec::new(),
            result: None,
            failure: None,
            turns: Some(1),
            cost: None,
            pending: false,
            account: Box::new(Ending {
                world: Arc::clone(&self.world),
                response,
                inner: NoRun(self.ledger.clone()),
            }),
        }
    }
}

/// Knows what was reported once that is on record.
struct Ending {
    world: Arc<World>,
    response: AgentResponse,
    inner: NoRun,
}

impl airtight_watch::Account for Ending {
    fn settle(
        self: Box<Self>,
        lead: airtight_store::Lead,
        minutes: airtight_store::Minutes,
    ) -> airtight_watch::Settling<'static> {
        Box::pin(async move {
            let at_ms = minutes.at_ms;
            Box::new(self.inner).settle(lead, minutes).await?;
            let mut state = self.world.state.lock().unwrap();
            state.told.extend(self.response.events.into_iter().map(|event| event.message));
            let claims = self.response.memories.into_iter().map(|memory| (memory.value, at_ms));
            state.claimed.extend(claims);
            Ok(())
        })
    }
}

struct Nobody;

impl Teller for Nobody {
    fn tell(&self, _notice: Notice) {}
}

fn estate(folder: &Path) -> Estate {
    let permitted = Permissions::new(ApprovalMode::Yolo);
    Estate {
        interval: Duration::from_hours(1),
        policy: ChainPolicy {
            escalation: EscalationPolicy { most_per_hour: 100, ..EscalationPolicy::default() },
            memory: MemoryPolicy { needs_leave: Vec::new() },
            ..ChainPolicy::default()
        },
        limits: CooldownLimits::default(),
        memory_budget_tokens: 2_000,
        session_limit: Estate::SESSION_LIMIT,
        verify_after: None,
        surroundings: Surroundings::default(),
        services: None,
        tasks: [String::new(), String::new(), String::new()],
        denied: [permitted.clone(), permitted.clone(), permitted],
        logs: folder.join("logs"),
        handoff: None,
        pre_session: None,
        targets: Vec::new(),
        own_files: Vec::new(),
        folder: folder.to_owned(),
        environment: Environment::default(),
        redactor: Redactor::new([]),
        lease: Estate::LEASE,
        look_every: Duration::from_hours(1),
    }
}

/// Watches until `until_ms`, or is cut off in the middle of something after `life`.
async fn watch(world: &Arc<World>, folder: &Path, until_ms: i64, life: Duration) {
    let location = Location::Sqlite(folder.join("ledger.db"));
    let ledger = Ledger::open(&location).await.unwrap();
    let crew = Crew { world: Arc::clone(world), ledger: ledger.clone() };
    let clock = Passing(Arc::clone(world));
    let stop = CancellationToken::new();
    let watcher =
        Watcher::new((ledger.clone(), estate(folder)), crew, clock, Arc::new(Nobody), stop.clone());
    let over = async {
        while world.now() < until_ms {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        done = watcher.run() => panic!("it goes on for ever: {done:?}"),
        () = over => {}
        () = tokio::time::sleep(life) => {}
    }
    drop(watcher);
    // As if the process were gone: nobody would wait for its lease.
    ledger.resign().await.unwrap();
    ledger.close().await;
}

/// CO-53, CO-55: what the claims of a month come to, by the closed formula.
fn worth(claims: &[(String, i64)], now_ms: i64) -> i64 {
    let mut confidence = 0_i64;
    let mut confirmed_at = 0_i64;
    for (_, at_ms) in claims {
        let faded = fade(confidence, confirmed_at, *at_ms);
        confidence = if faded < 300 { 700 } else { (faded + 100).min(1_000) };
        confirmed_at = *at_ms;
    }
    fade(confidence, confirmed_at, now_ms)
}

fn fade(confidence: i64, confirmed_at: i64, now_ms: i64) -> i64 {
    let weeks = (now_ms - confirmed_at - 30 * DAY_MS).max(0) / (7 * DAY_MS);
    (confidence - 100 * weeks).max(0)
}

/// CO-90: at most two restarts of a service within four hours, unless it recovered in between.
fn assert_limits(world: &World, cleared: &BTreeMap<String, Vec<i64>>) {
    let state = world.state.lock().unwrap();
    for name in SERVICES {
        let of_it: Vec<i64> =
            state.restarts.iter().filter(|(it, _)| it == name).map(|(_, at)| *at).collect();
        for three in of_it.windows(3) {
            let (first, last) = (three[0], three[2]);
            let recovered =
                cleared.get(name).is_some_and(|at| at.iter().any(|at| first <= *at && *at <= last));
            assert!(last - first >= 4 * HOUR_MS || recovered, "{name}: {three:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_month_loses_no_event_and_repeats_no_action() {
    let folder = tempfile::tempdir().unwrap();
    let world = Arc::new(World::default());
    world.now_ms.store(BEGIN_MS, Ordering::SeqCst);
    let end_ms = BEGIN_MS + 30 * DAY_MS;
    while world.now() < end_ms {
        let life = Duration::from_millis(20 + world.roll(400));
        watch(&world, folder.path(), end_ms, life).await;
    }
    // Once more, so that whatever was left is settled.
    watch(&world, folder.path(), world.now() + HOUR_MS, Duration::from_secs(30)).await;

    let location = Location::Sqlite(folder.path().join("ledger.db"));
    let ledger = Ledger::open(&location).await.unwrap();
    let events = ledger.watch_events(&EventFilter::default(), ALL).await.unwrap();
    let mut stored: Vec<String> = events
        .iter()
        .filter(|event| event.origin == "structured")
        .map(|event| event.message.clone())
        .collect();
    let mut told = world.state.lock().unwrap().told.clone();
    stored.sort_unstable();
    told.sort_unstable();
    assert!(told.len() > 100, "something happened: {}", told.len());
    // What was cut off between the commit and our own account of it is stored and not counted.
    assert!(told.iter().all(|message| stored.binary_search(message).is_ok()), "an event is lost");
    let mut once = stored.clone();
    once.dedup();
    assert_eq!(stored, once, "an event is there twice");

    let restarts = world.state.lock().unwrap().restarts.clone();
    let actions = ledger.actions(&ActionFilter::default(), ALL).await.unwrap();
    assert!(!restarts.is_empty() && restarts.len() <= actions.len(), "done past the record");
    let sessions = ledger.sessions(&SessionFilter::default(), ALL).await.unwrap();
    assert!(sessions.len() > 500, "{} sessions", sessions.len());
    let running = sessions.iter().filter(|session| session.status == "running").count();
    assert_eq!(running, 0);

    let checks = ledger.service_checks(None, ALL).await.unwrap();
    let mut cleared: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let mut streaks: BTreeMap<String, u32> = BTreeMap::new();
    for check in &checks {
        let streak = streaks.entry(check.service.clone()).or_default();
        *streak = if check.status == "healthy" { *streak + 1 } else { 0 };
        if *streak > 0 && streak.is_multiple_of(2) {
            cleared.entry(check.service.clone()).or_default().push(check.checked_at);
        }
    }
    assert_limits(&world, &cleared);

    let claimed = world.state.lock().unwrap().claimed.clone();
    let memories = ledger.memories(&MemoryFilter::default(), ALL).await.unwrap();
    assert_eq!(memories.len(), 1);
    let now_ms = world.now();
    let stored = fade(memories[0].confidence, memories[0].reinforced_at, now_ms);
    assert_eq!(stored, worth(&claimed, now_ms));
    ledger.close().await;
}
