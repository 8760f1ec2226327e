//! A run against a scripted server, with everything that was seen of it.

use std::sync::Arc;
use std::time::Duration;

use airtight_agent::provider::{Endpoint, ModelName, Provider, Retries, Timeouts, Vendor};
use airtight_agent::{Agent, Event, Hooks, Observer, Toolbox};
use airtight_core::Contract;
use airtight_core::price::Price;
use airtight_core::run::{EventKind, Job, Mode, Policy, Report, Run, Terminal};
use airtight_fake::{Fake, Script};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What no message may ever show.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// A price at which no two kinds of token cost the same.
pub(crate) const PRICE: Price =
    Price { input: 2, output: 3, cache_read: 5, cache_write: 7, long: None };

/// A server, and an agent that talks to it.
pub(crate) struct Rig {
    pub(crate) fake: Fake,
    pub(crate) agent: Agent,
    pub(crate) job: Job,
}

/// A run under way.
pub(crate) struct Running {
    pub(crate) interrupt: CancellationToken,
    events: mpsc::UnboundedReceiver<Event>,
    report: JoinHandle<Report>,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) report: Report,
    pub(crate) events: Vec<Event>,
}

struct Sender(mpsc::UnboundedSender<Event>);

impl Observer for Sender {
    fn event(&mut self, event: &Event) {
        let _heard = self.0.send(event.clone());
    }
}

pub(crate) fn contract() -> Arc<Contract> {
    let schema = json!({
        "type": "object",
        "properties": { "ok": { "type": "boolean" }, "why": { "type": "string" } },
        "required": ["ok", "why"],
        "additionalProperties": false
    });
    Arc::new(Contract::compile(schema).unwrap())
}

pub(crate) fn base_url(vendor: Vendor, fake: &Fake) -> String {
    match vendor {
        Vendor::Anthropic => fake.anthropic_base(),
        Vendor::Openai | Vendor::OpenaiChat | Vendor::OpenaiCompatible => fake.openai_base(),
        Vendor::Gemini => fake.gemini_base(),
    }
}

pub(crate) fn endpoint(vendor: Vendor, fake: &Fake) -> Endpoint {
    let model = ModelName { vendor, name: "model-1".to_owned() };
    model.endpoint(Some(&base_url(vendor, fake)), |_| Some(KEY.to_owned())).unwrap()
}

impl Rig {
    /// Starts a server for `vendor` with a contract asked of the terminal tool.
    pub(crate) async fn new(vendor: Vendor, script: impl Into<Script>) -> Self {
        let fake = Fake::start(script).await.unwrap();
        let endpoint = endpoint(vendor, &fake);
        let timeouts = Timeouts { idle: Duration::from_secs(20), ..Timeouts::default() };
        let job = Job {
            contract: Some(contract()),
            dialect: endpoint.dialect,
            model: endpoint.model.clone(),
            mode: Mode::Tool,
            system: None,
            prompt: "Is it all right?".to_owned(),
            tools: Vec::new(),
            terminal: Terminal::Offered,
            policy: Policy::default(),
            price: None,
            account: airtight_core::run::Account::default(),
            source: None,
            check: None,
            extractor: None,
        };
        let provider = Provider::new(endpoint, timeouts).unwrap();
        let mut agent = Agent::new(provider, Toolbox::default(), Hooks::default());
        agent.retries = Retries { first: Duration::from_millis(1), ..Retries::default() };
        Self { fake, agent, job }
    }

    /// Gives up on a server that is silent for so long.
    pub(crate) fn idle(mut self, idle: Duration) -> Self {
        let endpoint = self.agent.provider.endpoint().unwrap().clone();
        let timeouts = Timeouts { head: idle, idle, ..Timeouts::default() };
        self.agent.provider = Provider::new(endpoint, timeouts).unwrap();
        self
    }

    pub(crate) fn mode(mut self, mode: Mode) -> Self {
        self.job.mode = mode;
        self
    }

    /// Starts the run and returns the server, which outlives it.
    pub(crate) fn start(self) -> (Fake, Running) {
        let Self { fake, agent, job } = self;
        let (sender, events) = mpsc::unbounded_channel();
        let interrupt = CancellationToken::new();
        let token = interrupt.clone();
        let report = tokio::spawn(async move {
            let run = Run::new(job).unwrap();
            agent.drive(run, &mut Sender(sender), token).await
        });
        (fake, Running { interrupt, events, report })
    }

    /// Performs the run to its end.
    pub(crate) async fn finish(self) -> (Fake, Finished) {
        let (fake, running) = self.start();
        (fake, running.finish().await)
    }
}

impl Running {
    /// Waits for an event.
    pub(crate) async fn until(&mut self, is_awaited: impl Fn(&EventKind) -> bool) {
        while let Some(event) = self.events.recv().await {
            if is_awaited(&event.kind) {
                return;
            }
        }
        panic!("the run ended before the event came");
    }

    /// Waits for the end, and checks what holds for every run.
    pub(crate) async fn finish(mut self) -> Finished {
        let report = self.report.await.unwrap();
        let mut events = Vec::new();
        while let Some(event) = self.events.recv().await {
            events.push(event);
        }
        let first = events.first().map_or(0, |event| event.seq);
        let expected: Vec<u64> = (first..).take(events.len()).collect();
        assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), expected);
        let ends = events.iter().filter(|event| matches!(event.kind, EventKind::Ended(_)));
        assert_eq!(ends.count(), 1, "exactly one end");
        assert!(matches!(events.last().unwrap().kind, EventKind::Ended(_)), "the end is last");
        assert!(!format!("{report:?}{events:?}").contains(KEY), "the key is never shown");
        Finished { report, events }
    }
}

impl Finished {
    /// Returns the accepted value as JSON.
    pub(crate) fn value(&self) -> Option<serde_json::Value> {
        self.report.value.as_ref().map(airtight_core::Document::to_value)
    }

    pub(crate) fn error(&self) -> &str {
        self.report.error.as_ref().map_or("", |error| error.message.as_str())
    }
}
