//! The staff of a watch: each session is a run by the contract `agent-response`, with the tools, the
//! driver and the limits of its tier.

use std::sync::Arc;

use airtight_agent::{Agent, Subagents};
use airtight_core::batch::Prices;
use airtight_core::contract::Contract;
use airtight_core::redact::Redactor;
use airtight_core::run::{self, Job, Mode, Outcome as RunOutcome, Report, Run};
use airtight_core::watch::{
    AgentResponse, ExitClaim, Legacy, Payload, Retold, SessionEnding, Tier, with_response_format,
    without_response_format,
};
use airtight_store::{Lead, Ledger, Minutes, NewRun, Retention, RunId};
use airtight_watch::{Account, Assignment, Performed, Settling, Staff, Who, Witness};
use tokio_util::sync::CancellationToken;

use super::bench::{self, Base, Bench};
use super::listener::{Heard, Listener};
use super::settings::Settings;
use super::summariser::{Place, Summariser};
use crate::commands::batch::plan::contract_row;
use crate::commands::run::entry::driver_row;
use crate::error::{Error, Outcome};
use crate::ledger::{Entered, Recorder, enter};
use crate::output::Output;

/// The tiers of a watch, before there is a ledger.
pub(super) struct Benches {
    settings: Arc<Settings>,
    base: Base,
    contract: Arc<Contract>,
    all: [Option<Bench>; 3],
    /// Who makes the summary of a session that gave none, if anybody does.
    summariser: Option<Summariser>,
}

/// The staff of a watch.
pub(super) struct Crew {
    pub(super) benches: Benches,
    pub(super) ledger: Ledger,
    pub(super) retention: Retention,
    pub(super) redactor: Redactor,
}

impl Benches {
    /// Finds out everything about the tiers that may be started.
    pub(super) fn new(settings: Arc<Settings>, base: Base) -> Result<Self, Error> {
        let contract = bench::contract(settings.schema)?;
        let mut benches = [None, None, None];
        let most = settings.policy.escalation.max_tier;
        for (tier, slot) in Tier::ALL.into_iter().zip(&mut benches).filter(|(it, _)| *it <= most) {
            *slot = Some(Bench::new(tier, &settings, &base)?);
        }
        let model = settings.summary_model.as_deref();
        let summariser = model.map(|it| Summariser::new(it, &settings.workspace, &base));
        let summariser = summariser.transpose()?;
        Ok(Self { settings, base, contract, all: benches, summariser })
    }

    /// Returns what must not show.
    pub(super) fn secrets(&self) -> Vec<String> {
        let tiers = self.all.iter().flatten().filter_map(|bench| bench.key.clone());
        tiers.chain(self.summariser.iter().filter_map(|it| it.key.clone())).collect()
    }

    /// Returns what deserves a warning, each once.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        let tiers = self.all.iter().flatten().flat_map(|bench| &bench.notes);
        for note in tiers.chain(self.summariser.iter().flat_map(|it| &it.notes)) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        notes
    }

    /// Returns what is asked of a tier, with what its answer looks like. Where the run puts the contract
    /// in words itself, it is not said twice.
    pub(super) fn task(&self, tier: Tier) -> String {
        let task = self.settings.tier(tier).task.as_str();
        let mode = self.bench(tier).map(|bench| bench.driver.mode(bench.config()));
        match mode {
            Some(Mode::Prompt) => without_response_format(task),
            Some(Mode::Auto | Mode::Native | Mode::Tool) | None => {
                with_response_format(task, &self.contract)
            }
        }
    }

    /// Returns the model of a tier, if it may be started.
    pub(super) fn model(&self, tier: Tier) -> Option<String> {
        let bench = self.bench(tier)?;
        Some(driver_row(&bench.driver).model).filter(|model| !model.is_empty())
    }

    fn bench(&self, tier: Tier) -> Option<&Bench> {
        let [observe, investigate, remediate] = &self.all;
        match tier {
            Tier::Observe => observe.as_ref(),
            Tier::Investigate => investigate.as_ref(),
            Tier::Remediate => remediate.as_ref(),
        }
    }
}

impl Crew {
    /// Returns what is told of an error, with its causes.
    fn told(&self, error: &Error) -> String {
        let words: Vec<String> = std::iter::once(error.to_string()).chain(error.causes()).collect();
        self.redactor.mask(&words.join(": ")).into_owned()
    }

    async fn attempt(
        &self,
        assignment: Assignment,
        witness: &mut dyn Witness,
    ) -> Result<Performed, Error> {
        let missing = || Error::new(Outcome::Machine, "nobody is there for this tier");
        let bench = self.benches.bench(assignment.tier).ok_or_else(missing)?;
        let (agent, run, unpacked) = self.benches.prepare(bench, &assignment).await?;
        let recorder = self.enter(bench, &assignment, agent.provider.price()).await?;
        let mut output =
            Output::unprinted(&assignment.session, Box::new(|line| witness.line(line)));
        output.mask(self.redactor.clone());
        let mut listener = Listener::new(output, Arc::clone(&recorder));
        let driving = agent.drive(run, &mut listener, assignment.interrupt.clone());
        let report = recorder.during(Box::pin(driving)).await;
        let heard = listener.end(&report);
        for (call, state) in &heard.results {
            assignment.guard.close(call, *state, None).await;
        }
        drop(agent);
        unpacked.close().await;
        Ok(self.performed(report, heard, recorder))
    }

    /// Puts the run on record, under the name of its session.
    async fn enter(
        &self,
        bench: &Bench,
        assignment: &Assignment,
        price: Option<airtight_core::price::Price>,
    ) -> Result<Arc<Recorder>, Error> {
        let mode = bench.driver.mode(bench.config()).name().to_owned();
        let schema = self.benches.settings.schema.text;
        let new = NewRun {
            id: Some(RunId::from(assignment.session.clone())),
            contract: contract_row(&self.benches.contract, schema.to_owned()),
            job: airtight_store::Job {
                prompt: assignment.prompt.clone(),
                system: Some(assignment.task.clone()),
                input: None,
            },
            driver: airtight_store::Driver { mode, ..driver_row(&bench.driver) },
            retention: self.retention,
            ..NewRun::default()
        };
        let failed =
            |error| Error::new(Outcome::Store, "the run cannot be put on record").caused_by(error);
        let prices = Prices { model: price, extractor: None };
        match enter(&self.ledger, new, prices, self.redactor.clone()).await.map_err(failed)? {
            Entered::Fresh(recorder) => Ok(recorder),
            Entered::Finished(_) | Entered::Busy { .. } => {
                Err(Error::new(Outcome::Store, "the name of the session is taken"))
            }
        }
    }

    fn performed(&self, report: Report, heard: Heard, recorder: Arc<Recorder>) -> Performed {
        let told = report.error.as_ref().map(|error| {
            let masked = |text: &str| self.redactor.mask(text).into_owned();
            error.told(masked)
        });
        let payload = payload(&report, told.as_deref());
        let ending = self.ending(&report, &payload);
        let is_failed = ending.status() == airtight_core::watch::SessionStatus::Failed;
        Performed {
            ending,
            payload,
            said: heard.said,
            result: heard.result,
            failure: told.filter(|_| is_failed),
            turns: Some(i64::from(report.turns)),
            cost: report.cost,
            pending: heard.pending,
            account: Box::new(RunAccount { recorder, report }),
        }
    }

    /// Says how the session ended. One that only gave no structured answer may have done its work, as
    /// long as older prompts are heeded: what it left decides.
    fn ending(&self, report: &Report, payload: &Payload) -> SessionEnding {
        let is_silent = match report.outcome {
            RunOutcome::Met => return accepted_ending(payload),
            RunOutcome::Interrupted => return SessionEnding::Stopped,
            RunOutcome::NoAnswer | RunOutcome::AttemptsExhausted | RunOutcome::Degenerate => true,
            RunOutcome::Refused
            | RunOutcome::Truncated
            | RunOutcome::Loop
            | RunOutcome::Provider
            | RunOutcome::Harness
            | RunOutcome::Auth
            | RunOutcome::Sandbox
            | RunOutcome::Config
            | RunOutcome::TurnCap
            | RunOutcome::Budget => false,
        };
        if is_silent && self.benches.settings.policy.legacy == Legacy::Read {
            return SessionEnding::FINE;
        }
        let code = i32::from(report.outcome.exit_code());
        SessionEnding::Exited { code, claim: ExitClaim::Error }
    }
}

fn accepted_ending(payload: &Payload) -> SessionEnding {
    match payload {
        Payload::Accepted(_) => SessionEnding::FINE,
        Payload::Rejected(_) | Payload::Absent => {
            SessionEnding::Exited { code: 1, claim: ExitClaim::Error }
        }
    }
}

impl Benches {
    /// Gets everything ready that a run needs.
    async fn prepare(
        &self,
        bench: &Bench,
        assignment: &Assignment,
    ) -> Result<(Agent, Run, airtight_agent::Mcp), Error> {
        let workspace = &self.settings.workspace;
        let provider = bench.provider(workspace, &self.base, assignment.door.as_deref())?;
        let equipment = bench.equipment(workspace, &self.base)?;
        let unpacked = equipment.unpack(&assignment.session).await;
        for note in unpacked.notes() {
            tracing::warn!(tier = assignment.tier.number(), "{note}");
        }
        let price = provider.price();
        let policy = bench.driver.policy(bench.config())?;
        let hooks =
            unpacked.hooks.guarded(Arc::clone(&assignment.guard) as Arc<dyn airtight_agent::Guard>);
        let mut agent = Agent::new(provider, unpacked.toolbox, hooks);
        agent.retries = bench.driver.retries(bench.config());
        agent.subagents =
            unpacked.subagents.map(|subagents| Subagents { price, ..subagents }.like(&policy));
        let run = Run::new(Job {
            contract: Some(Arc::clone(&self.contract)),
            dialect: agent.provider.dialect(),
            model: agent.provider.model().to_owned(),
            mode: bench.driver.mode(bench.config()),
            system: Some(assignment.task.clone()),
            prompt: assignment.prompt.clone(),
            tools: agent.specs(),
            terminal: unpacked.terminal,
            policy,
            price,
            account: agent.provider.account(),
            source: None,
            check: None,
            extractor: None,
        });
        let run = run.map_err(|error: run::RunError| {
            Error::new(Outcome::Run(error.outcome), error.message)
        })?;
        Ok((agent, run, unpacked.mcp))
    }
}

/// Returns the structured answer, as far as there is one.
fn payload(report: &Report, told: Option<&str>) -> Payload {
    match (report.outcome, &report.value) {
        (RunOutcome::Met, Some(value)) => match AgentResponse::read(value) {
            Ok(response) => Payload::Accepted(Box::new(response)),
            Err(error) => Payload::Rejected(error.to_string()),
        },
        (RunOutcome::AttemptsExhausted | RunOutcome::Degenerate, _) => {
            Payload::Rejected(told.unwrap_or("it breaks the contract").to_owned())
        }
        _ => Payload::Absent,
    }
}

/// The end of a run that is not on record yet.
struct RunAccount {
    recorder: Arc<Recorder>,
    report: Report,
}

impl Account for RunAccount {
    fn settle(&self, lead: Lead, minutes: Minutes) -> Settling<'_> {
        Box::pin(async move { self.recorder.settle(&self.report, (lead, minutes)).await })
    }
}

impl Staff for Crew {
    fn who(&self, tier: Tier) -> Who {
        let Some(bench) = self.benches.bench(tier) else { return Who::default() };
        let row = driver_row(&bench.driver);
        let driver = if row.driver == "api" { row.provider } else { row.driver };
        Who { driver, model: row.model }
    }

    async fn perform(&self, assignment: Assignment, witness: &mut dyn Witness) -> Performed {
        match self.attempt(assignment, witness).await {
            Ok(performed) => performed,
            Err(error) => Performed::failed(self.ledger.clone(), self.told(&error)),
        }
    }

    async fn retell(&self, said: &str, interrupt: CancellationToken) -> Retold {
        let Some(summariser) = &self.benches.summariser else { return Retold::Not };
        let place = Place { ledger: &self.ledger, retention: self.retention };
        match summariser.summarise(said, place, &self.redactor, interrupt).await {
            Ok(summary) => Retold::Briefly(summary),
            Err(error) => Retold::Failed(self.told(&error)),
        }
    }
}
