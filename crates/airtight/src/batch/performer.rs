//! Performs runs of one kind, each to its one final result.

use std::sync::Arc;
use std::time::Duration;

use airtight_agent::Agent;
use airtight_agent::provider::Provider;
use airtight_core::batch::Prices;
use airtight_core::codec::{QUESTION_TOO_LONG, Usage};
use airtight_core::contract::Contract;
use airtight_core::price::Cost;
use airtight_core::redact::Redactor;
use airtight_core::run::{Job, Mode, Outcome, Policy, Report, Run, RunError, Terminal};
use airtight_core::{Check, Source};
use airtight_store::{
    Again, Claim, ContractRow, Driver, Ledger, NewRun, Repeat, Retention, Run as StoredRun,
    StoreError,
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use super::result::Settled;
use super::stop::Stop;
use super::ticket::Ticket;
use super::witness::{Telling, Witness};
use crate::ledger::{Entered, Recorder, enter};
use crate::output::Init;

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
    pub(crate) prices: Prices,
    /// As the ledger knows the contract and the driver.
    pub(crate) row: ContractRow,
    pub(crate) driver: Driver,
    /// Who is asked as people write it, and where agent CLIs are started.
    pub(crate) name: String,
    pub(crate) folder: String,
    pub(crate) retention: Retention,
    pub(crate) redactor: Redactor,
}

impl Shared {
    /// Returns how large that part of a request is which all have in common.
    fn fixed_bytes(&self) -> usize {
        self.row.schema.len() + self.system.as_ref().map_or(0, String::len)
    }
}

/// Performs runs of one kind.
pub(crate) struct Performer {
    pub(crate) shared: Shared,
    /// Where runs are recorded, if they are: without it no run is known, and none is postponed.
    pub(crate) ledger: Option<Ledger>,
    pub(crate) gate: Arc<Gate>,
}

/// One run to be performed.
#[derive(Debug, Default)]
pub(crate) struct Errand {
    pub(crate) key: String,
    pub(crate) repeat: Repeat,
    pub(crate) prompt: String,
    /// The document that the job is about, if it is kept beside the prompt.
    pub(crate) input: Option<Vec<u8>>,
    /// What else an answer must pass.
    pub(crate) check: Option<Arc<dyn Check>>,
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
        let Some(ledger) = &self.ledger else { return self.fulfil(errand, None, interrupt).await };
        loop {
            let entered = match self.enter(ledger, errand).await {
                // The key is somebody's word that the text is the same, and it is not.
                Err(error @ StoreError::OtherJob { .. }) => {
                    return disown(ledger, errand, &error).await;
                }
                entered => entered.map_err(Stop::of_store)?,
            };
            match entered {
                Entered::Finished(run) => return known(ledger, *run, errand).await,
                Entered::Fresh(recorder) => {
                    match self.fulfil(errand, Some(recorder), interrupt).await {
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

    async fn enter(&self, ledger: &Ledger, errand: &Errand) -> Result<Entered, StoreError> {
        let shared = &self.shared;
        let new = NewRun {
            key: Some(errand.key.clone()),
            repeat: errand.repeat,
            contract: shared.row.clone(),
            job: airtight_store::Job {
                prompt: errand.prompt.clone(),
                system: shared.system.clone(),
                input: errand.input.clone(),
            },
            driver: shared.driver.clone(),
            retention: shared.retention,
            batch: errand.batch.clone(),
            position: errand.position,
            claim: errand.claim.clone(),
            ..NewRun::default()
        };
        enter(ledger, new, shared.prices, shared.redactor.clone()).await
    }

    async fn fulfil(
        &self,
        errand: &Errand,
        recorder: Option<Arc<Recorder>>,
        interrupt: &CancellationToken,
    ) -> Result<Settled, Stop> {
        let bytes = (errand.prompt.len() + self.shared.fixed_bytes()) as u64;
        let gate = Arc::clone(&self.gate);
        let ticket = Ticket::new(gate, recorder.clone(), bytes, interrupt.child_token());
        let ticket = Arc::new(ticket);
        let mut earlier = (Usage::default(), Some(Cost::default()));
        let Shared { agent, contract, name, folder, redactor, .. } = &self.shared;
        let telling = Telling::of(&agent.provider);
        let mut witness = Witness::new(Arc::clone(&ticket), telling, redactor);
        witness.begin(|id| Init::of(id, name, folder, contract));
        let recorder = recorder.as_deref();
        loop {
            let run = match Run::new(self.job(errand)) {
                Ok(run) => run,
                Err(error) => return postpone(Stop::Unfit(error), recorder, errand).await,
            };
            let driven = agent.drive(run, &mut witness, ticket.interrupt());
            let mut report = match recorder.filter(|_| telling == Telling::AsItHappens) {
                Some(recorder) => recorder.during(Box::pin(driven)).await,
                None => driven.await,
            };
            add(&mut report, &earlier);
            match self.fate(&report, &ticket, interrupt) {
                Fate::Stop(stop) => return postpone(stop, recorder, errand).await,
                Fate::Again => earlier = (report.usage, report.cost),
                Fate::Final => {
                    if let Some(recorder) = recorder {
                        let finished = recorder.finish(&report, errand.claim.clone()).await;
                        finished.map_err(Stop::of_store)?;
                    }
                    let id = recorder.map(|recorder| recorder.id().clone());
                    return Ok(Settled::now(id, &report, redactor));
                }
            }
        }
    }

    fn job(&self, errand: &Errand) -> Job {
        let shared = &self.shared;
        Job {
            contract: Some(Arc::clone(&shared.contract)),
            dialect: shared.agent.provider.dialect(),
            model: shared.agent.provider.model().to_owned(),
            mode: shared.mode,
            system: shared.system.clone(),
            prompt: errand.prompt.clone(),
            tools: Vec::new(),
            terminal: shared.terminal,
            policy: shared.policy.clone(),
            price: shared.prices.model,
            account: shared.agent.provider.account(),
            source: Some(Source::new(&errand.prompt)),
            check: errand.check.clone(),
            extractor: shared.agent.extractor.as_ref().map(Provider::extractor),
        }
    }

    /// Decides what a report means: a result is what the model, or this one input, is to blame for.
    fn fate(&self, report: &Report, ticket: &Ticket, interrupt: &CancellationToken) -> Fate {
        let error = || {
            let error = report.error.clone();
            error.unwrap_or_else(|| RunError::new(report.outcome, report.outcome.name()))
        };
        match report.outcome {
            Outcome::Config if is_too_long(ticket) => Fate::Final,
            Outcome::Auth | Outcome::Config | Outcome::Sandbox => {
                let is_key = report.outcome == Outcome::Auth;
                let stop = if is_key { Stop::Refused(error()) } else { Stop::Unfit(error()) };
                self.gate.close(stop.clone());
                Fate::Stop(stop)
            }
            // The machine or the program is to blame, and either may be well again by the next command.
            Outcome::Harness if ticket.is_started() => Fate::Stop(Stop::Broken(error())),
            Outcome::Harness => Fate::Stop(Stop::NotStarted(error())),
            Outcome::Provider => match ticket.failure() {
                Some((failure, _)) if failure.kind.is_retryable() && self.gate.is_troubled() => {
                    Fate::Again
                }
                Some((failure, whose)) => {
                    Stop::of_failure(&failure, whose).map_or(Fate::Final, Fate::Stop)
                }
                None => Fate::Final,
            },
            Outcome::Interrupted if interrupt.is_cancelled() => Fate::Stop(Stop::Interrupted),
            Outcome::Interrupted => {
                let stop = ticket.stop().or_else(|| self.gate.closed().cloned());
                Fate::Stop(stop.unwrap_or(Stop::Interrupted))
            }
            Outcome::Met
            | Outcome::NoAnswer
            | Outcome::AttemptsExhausted
            | Outcome::Refused
            | Outcome::Truncated
            | Outcome::Degenerate
            | Outcome::Loop
            | Outcome::TurnCap
            | Outcome::Budget => Fate::Final,
        }
    }
}

/// Claims that the question of this one input is longer than the agent CLI takes.
fn is_too_long(ticket: &Ticket) -> bool {
    let failure = ticket.failure();
    failure.is_some_and(|(failure, _)| failure.code.as_deref() == Some(QUESTION_TOO_LONG))
}

/// Takes the result that the key has already.
async fn known(ledger: &Ledger, run: StoredRun, errand: &Errand) -> Result<Settled, Stop> {
    if let Some(claim) = &errand.claim {
        match ledger.complete(claim).await {
            Ok(()) | Err(StoreError::Fenced) => {}
            Err(error) => return Err(Stop::Store(error)),
        }
    }
    Ok(Settled::before(run))
}

/// Leaves an input without a result whose key has that of another text.
async fn disown(ledger: &Ledger, errand: &Errand, why: &StoreError) -> Result<Settled, Stop> {
    if let Some(claim) = &errand.claim {
        match ledger.release(claim, Again::WhenAsked, &why.to_string()).await {
            Ok(()) | Err(StoreError::Fenced) => {}
            Err(error) => return Err(Stop::Store(error)),
        }
    }
    Ok(Settled::unusable(why.to_string()))
}

/// Leaves a run to the next process, if it is on record.
async fn postpone(
    stop: Stop,
    recorder: Option<&Recorder>,
    errand: &Errand,
) -> Result<Settled, Stop> {
    if let Some(recorder) = recorder {
        let is_unfit = matches!(stop, Stop::Unfit(_));
        let again = if is_unfit { Again::WhenAsked } else { Again::default() };
        let postponed = recorder.postpone(again, stop.told(), errand.claim.clone()).await;
        postponed.map_err(Stop::of_store)?;
    }
    Err(stop)
}

/// Adds what the same run used before it was begun again.
fn add(report: &mut Report, earlier: &(Usage, Option<Cost>)) {
    let (usage, cost) = earlier;
    report.usage.add(usage);
    report.cost = report.cost.zip(*cost).map(|(cost, earlier)| [cost, earlier].into_iter().sum());
}
