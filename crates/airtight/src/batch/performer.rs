//! Performs runs of one kind, each to its one final result.

use std::sync::Arc;
use std::time::Duration;

use airtight_agent::Agent;
use airtight_agent::provider::Provider;
use airtight_core::Source;
use airtight_core::codec::Usage;
use airtight_core::contract::Contract;
use airtight_core::price::{Cost, Price};
use airtight_core::redact::Redactor;
use airtight_core::run::{Job, Mode, Outcome, Policy, Report, Run, RunError, Terminal};
use airtight_store::{
    Claim, ContractRow, Driver, Ledger, NewRun, Repeat, Retention, Run as StoredRun, StoreError,
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use super::result::Settled;
use super::stop::Stop;
use super::ticket::{Ticket, Witness};
use crate::ledger::{Entered, Recorder, enter};

/// How long to wait for another who is at the same run before looking again.
const BUSY_PAUSE: Duration = Duration::from_millis(500);

/// What all runs of one kind share.
pub(crate) struct Shared {
    pub(crate) agent: Agent,
    pub(crate) contract: Arc<Contract>,
    pub(crate) mode: Mode,
    pub(crate) system: Option<String>,
    pub(crate) terminal: Terminal,
    pub(crate) policy: Policy,
    pub(crate) price: Option<Price>,
    /// As the ledger knows the contract and the driver.
    pub(crate) row: ContractRow,
    pub(crate) driver: Driver,
    pub(crate) retention: Retention,
    pub(crate) redactor: Redactor,
}

/// Performs runs of one kind.
pub(crate) struct Performer {
    pub(crate) shared: Shared,
    pub(crate) ledger: Ledger,
    pub(crate) gate: Arc<Gate>,
}

/// One run to be performed.
#[derive(Debug, Default)]
pub(crate) struct Errand {
    pub(crate) key: String,
    pub(crate) repeat: Repeat,
    pub(crate) prompt: String,
    pub(crate) batch: Option<String>,
    pub(crate) position: Option<i64>,
    /// The job of the queue that its end completes.
    pub(crate) claim: Option<Claim>,
}

/// What a report means to the batch.
enum Fate {
    /// It is the result.
    Final,
    /// Only the provider is to blame: the same again.
    Again,
    /// Nothing can go on.
    Stop(Stop),
}

impl Performer {
    /// Performs an errand to its end. What `interrupt` or a closed gate stops is postponed.
    pub(crate) async fn perform(
        &self,
        errand: &Errand,
        interrupt: &CancellationToken,
    ) -> Result<Settled, Stop> {
        loop {
            let entered = self.enter(errand).await.map_err(lost_or_failed)?;
            match entered {
                Entered::Finished(run) => return self.known(*run, errand).await,
                Entered::Fresh(recorder) => {
                    match self.fulfil(errand, recorder, interrupt).await {
                        // Whoever took it over has the result, or will.
                        Err(Stop::Lost) if errand.claim.is_none() => {}
                        settled => return settled,
                    }
                }
                Entered::Busy { .. } => tokio::select! {
                    () = interrupt.cancelled() => return Err(Stop::Interrupted),
                    () = sleep(BUSY_PAUSE) => {}
                },
            }
        }
    }

    async fn enter(&self, errand: &Errand) -> Result<Entered, StoreError> {
        let shared = &self.shared;
        let new = NewRun {
            key: Some(errand.key.clone()),
            repeat: errand.repeat,
            contract: shared.row.clone(),
            job: airtight_store::Job {
                prompt: errand.prompt.clone(),
                system: shared.system.clone(),
                input: None,
            },
            driver: shared.driver.clone(),
            retention: shared.retention,
            batch: errand.batch.clone(),
            position: errand.position,
            claim: errand.claim.clone(),
            ..NewRun::default()
        };
        enter(&self.ledger, new, shared.price, shared.redactor.clone()).await
    }

    /// Takes the result that the key has already.
    async fn known(&self, run: StoredRun, errand: &Errand) -> Result<Settled, Stop> {
        if let Some(claim) = &errand.claim {
            match self.ledger.complete(claim).await {
                Ok(()) | Err(StoreError::Fenced) => {}
                Err(error) => return Err(Stop::Store(error)),
            }
        }
        Ok(Settled::before(run))
    }

    async fn fulfil(
        &self,
        errand: &Errand,
        recorder: Arc<Recorder>,
        interrupt: &CancellationToken,
    ) -> Result<Settled, Stop> {
        let schema = self.shared.row.schema.len();
        let bytes = (errand.prompt.len() + schema) as u64;
        let gate = Arc::clone(&self.gate);
        let ticket = Ticket::new(gate, Arc::clone(&recorder), bytes, interrupt.child_token());
        let ticket = Arc::new(ticket);
        let mut earlier = (Usage::default(), Some(Cost::default()));
        loop {
            let run = match Run::new(self.job(&errand.prompt)) {
                Ok(run) => run,
                Err(error) => return self.postpone(Stop::Refused(error), &recorder, errand).await,
            };
            let mut witness = Witness(Arc::clone(&ticket));
            let mut report = self.shared.agent.drive(run, &mut witness, ticket.interrupt()).await;
            add(&mut report, &earlier);
            match self.fate(&report, &ticket, interrupt) {
                Fate::Stop(stop) => return self.postpone(stop, &recorder, errand).await,
                Fate::Again => earlier = (report.usage, report.cost),
                Fate::Final => {
                    let finished = recorder.finish(&report, errand.claim.clone()).await;
                    finished.map_err(lost_or_failed)?;
                    let id = recorder.id().clone();
                    return Ok(Settled::now(id, &report, &self.shared.redactor));
                }
            }
        }
    }

    fn job(&self, prompt: &str) -> Job {
        let shared = &self.shared;
        Job {
            contract: Some(Arc::clone(&shared.contract)),
            dialect: shared.agent.provider.dialect(),
            model: shared.agent.provider.model().to_owned(),
            mode: shared.mode,
            system: shared.system.clone(),
            prompt: prompt.to_owned(),
            tools: Vec::new(),
            terminal: shared.terminal,
            policy: shared.policy.clone(),
            price: shared.price,
            account: shared.agent.provider.account(),
            source: Some(Source::new(prompt)),
            extractor: shared.agent.extractor.as_ref().map(Provider::extractor),
        }
    }

    /// Decides what a report means: a result is what the model, or this one input, is to blame for.
    fn fate(&self, report: &Report, ticket: &Ticket, interrupt: &CancellationToken) -> Fate {
        match report.outcome {
            Outcome::Auth | Outcome::Config | Outcome::Sandbox => {
                let error = report.error.clone();
                let error = error.unwrap_or_else(|| RunError::new(report.outcome, "refused"));
                self.gate.close(Stop::Refused(error.clone()));
                Fate::Stop(Stop::Refused(error))
            }
            Outcome::Provider => match ticket.failure() {
                Some(failure) if failure.kind.is_retryable() && self.gate.is_troubled() => {
                    Fate::Again
                }
                Some(failure) => Stop::of_failure(&failure).map_or(Fate::Final, Fate::Stop),
                None => Fate::Final,
            },
            Outcome::Interrupted => match self.gate.closed() {
                _ if interrupt.is_cancelled() => Fate::Stop(Stop::Interrupted),
                Some(stop) => Fate::Stop(stop.clone()),
                None => Fate::Stop(Stop::Interrupted),
            },
            Outcome::Met
            | Outcome::NoAnswer
            | Outcome::AttemptsExhausted
            | Outcome::Refused
            | Outcome::Truncated
            | Outcome::Degenerate
            | Outcome::Loop
            | Outcome::Harness
            | Outcome::TurnCap
            | Outcome::Budget => Fate::Final,
        }
    }

    /// Leaves a run to the next process.
    async fn postpone(
        &self,
        stop: Stop,
        recorder: &Recorder,
        errand: &Errand,
    ) -> Result<Settled, Stop> {
        let postponed = recorder.postpone(Duration::ZERO, stop.told(), errand.claim.clone()).await;
        postponed.map_err(lost_or_failed)?;
        Err(stop)
    }
}

/// Adds what the same run used before it was begun again.
fn add(report: &mut Report, earlier: &(Usage, Option<Cost>)) {
    let (usage, cost) = earlier;
    report.usage.add(usage);
    report.cost = report.cost.zip(*cost).map(|(cost, earlier)| [cost, earlier].into_iter().sum());
}

fn lost_or_failed(error: StoreError) -> Stop {
    if matches!(error, StoreError::Fenced) { Stop::Lost } else { Stop::Store(error) }
}
