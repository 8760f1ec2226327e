//! Answers the questions of the gateway, each by a run on record.

use std::sync::{Arc, Mutex, PoisonError};

use airtight_agent::provider::Provider;
use airtight_core::contract::{Contract, Identity, Options, Origin, Preflight};
use airtight_core::run::{self, Job, Policy, Report, Run, RunError, Terminal};
use airtight_core::{Severity, Source, Violation};
use airtight_serve::{Answering, Desk, Fault, FaultKind, Growth, Question, Record, Reply, Schema};
use airtight_store::{ContractRow, Ledger, NewRun, Repeat, StoreError};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::bench::{self, Bench, CLI_SUFFIX, USUAL, Workshop};
use super::shelf::Shelf;
use super::valve::{Valve, Witness};
use crate::advice;
use crate::batch::{End, Settled};
use crate::commands::batch::plan::contract_row;
use crate::ledger::{self, Entered, Recorder};

/// How many models are kept ready, and the longest name of one; a server has few, and names are short.
const BENCHES: usize = 64;
const NAME_LIMIT_BYTES: usize = 256;

/// How many contracts are kept ready, and the longest of them: together no more than 16 MB.
const CONTRACTS: usize = 256;
const CONTRACT_LIMIT_BYTES: usize = 64 * 1024;

/// A bench that is made once, however many ask for it.
type Place = Arc<OnceCell<Arc<Bench>>>;

/// Answers the questions of the gateway.
#[derive(Clone)]
pub(super) struct Clerk(Arc<Office>);

struct Office {
    workshop: Workshop,
    ledger: Ledger,
    /// Ends all runs.
    interrupt: CancellationToken,
    /// Every run that is under way: each puts its own end on record.
    runs: TaskTracker,
    benches: Mutex<Shelf<String, Place>>,
    contracts: Mutex<Shelf<Schema, Arc<Contract>>>,
    models: Vec<String>,
}

impl Clerk {
    pub(super) fn new(workshop: Workshop, ledger: Ledger, contracts: Vec<String>) -> Self {
        let programs = ["claude", "codex", "gemini", "opencode", "qwen"];
        let programs = programs.iter().map(|name| format!("{name}{CLI_SUFFIX}"));
        let usual = [USUAL, "embedded"].map(str::to_owned);
        let models = usual.into_iter().chain(programs).chain(contracts).collect();
        Self(Arc::new(Office {
            interrupt: workshop.interrupt.clone(),
            workshop,
            ledger,
            runs: TaskTracker::new(),
            benches: Mutex::new(Shelf::new(BENCHES)),
            contracts: Mutex::new(Shelf::new(CONTRACTS)),
            models,
        }))
    }

    /// Ends all runs, and waits until the end of each is on record.
    pub(super) async fn close(&self) {
        self.0.interrupt.cancel();
        self.0.runs.close();
        self.0.runs.wait().await;
    }
}

impl Desk for Clerk {
    fn models(&self) -> Vec<String> {
        self.0.models.clone()
    }

    fn answer(&self, question: Question, growth: Option<Arc<Growth>>) -> Answering {
        let office = Arc::clone(&self.0);
        let interrupt = office.interrupt.child_token();
        let gone = interrupt.clone().drop_guard();
        // A task of its own: who hangs up ends the run, and not the record of its end.
        let work = async move { office.perform(question, growth, interrupt).await };
        let task = self.0.runs.spawn(work);
        Box::pin(async move {
            let performed = task.await;
            drop(gone);
            performed.unwrap_or_else(|_| {
                let message = "airtight made a mistake; the run is in the ledger as it was";
                Err(Fault::new(FaultKind::Mistake, message))
            })
        })
    }
}

impl Office {
    async fn perform(
        &self,
        question: Question,
        growth: Option<Arc<Growth>>,
        interrupt: CancellationToken,
    ) -> Result<Reply, Fault> {
        let bench = self.bench(&question.model).await?;
        let (contract, row) = match (question.schema.clone(), &bench.contract) {
            (None, Some(own)) => own.clone(),
            (Some(schema), _) => self.contract(schema).await?,
            (None, None) => return Err(without_contract()),
        };
        let run =
            Run::new(bench.job(&question, &contract)).map_err(|error| unfit(&bench, &error))?;
        let entered = self.enter(&question, &bench, row).await;
        let recorder = match entered.map_err(|error| refused(&error))? {
            Entered::Fresh(recorder) => recorder,
            Entered::Finished(run) => return settled(Settled::before(*run), Record::Stored),
            Entered::Busy { id, .. } => {
                let message = "a request with this `Idempotency-Key` is under way";
                return Err(Fault { run: Some(id), ..Fault::new(FaultKind::Busy, message) });
            }
        };
        let dialect = bench.agent.provider.dialect();
        let valve = growth.and_then(|growth| Valve::new(&contract, dialect, growth));
        let (report, record) = bench.drive(run, recorder.clone(), valve, interrupt).await;
        told(&report, &recorder, &bench, record)
    }

    /// Returns what answers by `name` need, made ready if it is not.
    async fn bench(&self, name: &str) -> Result<Arc<Bench>, Fault> {
        if name.len() > NAME_LIMIT_BYTES {
            return Err(bench::unknown(name));
        }
        let benches = || self.benches.lock().unwrap_or_else(PoisonError::into_inner);
        let place = {
            let mut benches = benches();
            benches.find(name).unwrap_or_else(|| {
                let place = Place::default();
                benches.keep(name.to_owned(), Arc::clone(&place));
                place
            })
        };
        let make = async || {
            let (workshop, name) = (self.workshop.clone(), name.to_owned());
            let made = spawn_blocking(move || workshop.bench(&name)).await;
            made.map_err(|_| mistake())?.map(Arc::new)
        };
        let made = place.get_or_try_init(make).await.cloned();
        if made.is_err() {
            // Names that stand for nothing must not take the room of those that do.
            benches().drop_if(name, |place| !place.initialized());
        }
        made
    }

    /// Compiles a contract, or refuses it with all that is wrong with it.
    async fn contract(&self, schema: Schema) -> Result<(Arc<Contract>, ContractRow), Fault> {
        let known = || self.contracts.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().find(&schema);
        let contract = if let Some(contract) = found {
            contract
        } else {
            let to_compile = schema.clone();
            // It may take its time, and others must not wait for it.
            let compiled = spawn_blocking(move || compile(&to_compile)).await;
            let contract = Arc::new(compiled.map_err(|_| mistake())??);
            if schema.text.len() <= CONTRACT_LIMIT_BYTES {
                known().keep(schema.clone(), Arc::clone(&contract));
            }
            contract
        };
        let row = contract_row(&contract, schema.text);
        Ok((contract, row))
    }

    async fn enter(
        &self,
        question: &Question,
        bench: &Bench,
        contract: ContractRow,
    ) -> Result<Entered, StoreError> {
        let new = NewRun {
            id: Some(question.run.clone()),
            key: question.key.clone(),
            // A key stands for an answer: a run that has none gives it up.
            repeat: Repeat::Failed,
            contract,
            job: airtight_store::Job {
                prompt: question.prompt.clone(),
                system: bench.system(question),
                input: None,
            },
            driver: bench.driver.clone(),
            retention: bench.retention,
            ..NewRun::default()
        };
        ledger::enter(&self.ledger, new, bench.prices, bench.redactor.clone()).await
    }
}

impl Bench {
    fn system(&self, question: &Question) -> Option<String> {
        let parts: Vec<&str> =
            self.system.iter().chain(&question.system).map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    fn job(&self, question: &Question, contract: &Arc<Contract>) -> Job {
        let own = &self.policy;
        let tokens = [own.max_output_tokens, question.max_output_tokens];
        Job {
            contract: Some(Arc::clone(contract)),
            dialect: self.agent.provider.dialect(),
            model: self.agent.provider.model().to_owned(),
            mode: self.mode,
            system: self.system(question),
            prompt: question.prompt.clone(),
            tools: Vec::new(),
            terminal: Terminal::Offered,
            policy: Policy {
                max_output_tokens: tokens.into_iter().flatten().min(),
                temperature: question.temperature.or(own.temperature),
                ..own.clone()
            },
            price: self.prices.model,
            account: self.agent.provider.account(),
            source: Some(Source::new(&question.prompt)),
            check: None,
            extractor: self.agent.extractor.as_ref().map(Provider::extractor),
        }
    }

    /// Performs a run, and puts its end on record.
    async fn drive(
        &self,
        run: Run,
        recorder: Arc<Recorder>,
        valve: Option<Valve>,
        interrupt: CancellationToken,
    ) -> (Report, Record) {
        let mut witness = Witness::new(Arc::clone(&recorder), valve);
        let driven = Box::pin(self.agent.drive(run, &mut witness, interrupt));
        let report = recorder.during(driven).await;
        let record = match recorder.finish(&report, None).await {
            Ok(()) => Record::Stored,
            Err(error) => {
                tracing::warn!(%error, "the end of a run is not on record");
                Record::Missing
            }
        };
        (report, record)
    }
}

fn compile(schema: &Schema) -> Result<Contract, Fault> {
    let identity = Identity { name: schema.name.clone(), version: None };
    let options = Options { identity, ..Options::default() };
    let preflight = Preflight::run(schema.text.as_bytes(), Origin::Inline, &options);
    preflight.contract.ok_or_else(|| {
        let errors = preflight.diagnostics.iter();
        let errors = errors.filter(|it| it.severity == Severity::Error).map(
            |it| json!({ "pointer": it.pointer.as_str(), "message": it.message, "hint": it.hint }),
        );
        let violations: Vec<Value> = errors.collect();
        let message = "the schema is refused: `violations` says what is wrong with it";
        Fault { violations, ..Fault::new(FaultKind::Contract, message) }
    })
}

/// Says what came of a run.
fn told(
    report: &Report,
    recorder: &Recorder,
    bench: &Bench,
    record: Record,
) -> Result<Reply, Fault> {
    if let Some(value) = report.value.as_ref().filter(|_| report.outcome == run::Outcome::Met) {
        return Ok(Reply {
            run: recorder.id().clone(),
            value: value.to_compact(),
            usage: report.usage,
            rung: report.rung.map(|rung| rung.name().to_owned()),
            record,
        });
    }
    let masked = |text: &str| bench.redactor.mask(text).into_owned();
    let wrong = |violation: &Violation| {
        json!({
            "pointer": masked(violation.pointer.as_str()),
            "keyword": violation.keyword,
            "message": masked(&violation.message),
        })
    };
    let last = report.attempts.last().map(|attempt| &attempt.violations.list);
    let error = report.error.as_ref();
    let mut message = error.map_or_else(|| "the run failed".to_owned(), |it| it.told(masked));
    if let Some(advice) = error.and_then(|error| error.advice.as_ref()) {
        message = format!("{message}; {}", advice::words(advice));
    }
    Err(Fault {
        kind: kind(report.outcome),
        message,
        violations: last.into_iter().flatten().map(wrong).collect(),
        run: Some(recorder.id().clone()),
    })
}

/// Says what an outcome means to the client.
fn kind(outcome: run::Outcome) -> FaultKind {
    match outcome {
        run::Outcome::Met
        | run::Outcome::NoAnswer
        | run::Outcome::AttemptsExhausted
        | run::Outcome::Refused
        | run::Outcome::Truncated
        | run::Outcome::Degenerate
        | run::Outcome::Loop
        | run::Outcome::TurnCap
        | run::Outcome::Budget => FaultKind::NotMet(outcome.name()),
        run::Outcome::Provider | run::Outcome::Harness | run::Outcome::Auth => {
            FaultKind::Provider(outcome.name())
        }
        run::Outcome::Sandbox => FaultKind::Setup,
        run::Outcome::Config => FaultKind::Contract,
        run::Outcome::Interrupted => FaultKind::Stopped,
    }
}

/// Returns the answer that a key has already.
fn settled(settled: Settled, record: Record) -> Result<Reply, Fault> {
    let Some(run) = settled.run_id else { return Err(mistake()) };
    match settled.end {
        End::Met(value) => Ok(Reply { run, value, usage: settled.usage, rung: None, record }),
        End::Failed { error, violations, .. } => {
            let kind = FaultKind::NotMet("attempts_exhausted");
            Err(Fault { kind, message: error, violations, run: Some(run) })
        }
    }
}

fn unfit(bench: &Bench, error: &RunError) -> Fault {
    let message = error.told(|text| bench.redactor.mask(text).into_owned());
    let hint = error.advice.iter().map(advice::words);
    let words: Vec<String> = [message].into_iter().chain(hint).collect();
    Fault::new(kind(error.outcome), words.join("; "))
}

fn refused(error: &StoreError) -> Fault {
    if let StoreError::OtherJob { .. } = error {
        let message = "this `Idempotency-Key` belongs to another question: choose another key";
        return Fault::new(FaultKind::KeyTaken, message);
    }
    // A name that no database takes is the client's to change.
    let is_name = matches!(error, StoreError::Nul { .. });
    let kind = if is_name { FaultKind::Contract } else { FaultKind::Ledger };
    Fault::new(kind, format!("nothing was asked: {error}"))
}

fn without_contract() -> Fault {
    let message = "there is no contract to answer by: send a format of `json_schema`, force a tool, or \
                   name a contract as the `model`";
    Fault::new(FaultKind::Contract, message)
}

fn mistake() -> Fault {
    Fault::new(FaultKind::Mistake, "airtight made a mistake")
}
