//! Answers the questions of the gateway, each by a run on record.

use std::sync::{Arc, Mutex, PoisonError};

use airtight_agent::provider::Provider;
use airtight_core::contract::{Contract, Identity, Options, Origin, Preflight};
use airtight_core::run::{Job, Policy, Report, Run, Terminal};
use airtight_core::{Dialect, Severity, Source};
use airtight_serve::{
    Answering, Demand, Desk, Fault, FaultKind, Growth, Judging, Naming, Proposal, Question, Record,
    Reply, Schema, Setting, Unfit,
};
use airtight_store::{
    self as store, Acknowledged, ContractRow, Ledger, NewRun, Repeat, StoreError,
};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::bench::{self, Bench, Workshop};
use super::hints::Reader;
use super::judge;
use super::listing::Listing;
use super::shelf::Shelf;
use super::told::{mistake, refused, settled, told, unfit, without_contract};
use super::valve::{Valve, Witness};
use crate::commands::batch::plan::contract_row;
use crate::ledger::{self, Entered, Recorder};
use crate::output::Init;

/// How many models are kept ready, and the longest name of one; a server has few, and names are short.
const BENCHES: usize = 64;
const NAME_LIMIT_BYTES: usize = 256;

/// How many contracts are kept ready, and the longest of them: their texts are no more than 16 MB together.
const CONTRACTS: usize = 256;
const CONTRACT_LIMIT_BYTES: usize = 64 * 1024;

/// The contract of a client that wants any JSON object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// What a contract demands of strings that must occur in the prompt.
const GROUNDED: &str = "x-grounded";

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
    listing: Listing,
    settings: Vec<Setting>,
}

impl Clerk {
    pub(super) fn new(workshop: Workshop, ledger: Ledger, settings: Vec<Setting>) -> Self {
        Self(Arc::new(Office {
            interrupt: workshop.interrupt.clone(),
            workshop,
            ledger,
            runs: TaskTracker::new(),
            benches: Mutex::new(Shelf::new(BENCHES)),
            contracts: Mutex::new(Shelf::new(CONTRACTS)),
            listing: Listing::default(),
            settings,
        }))
    }

    /// Keeps ready what was made before anybody asked for it.
    pub(super) fn keep(&self, name: &str, bench: Bench) {
        let place: Place = Arc::new(OnceCell::from(Arc::new(bench)));
        let mut benches = self.0.benches.lock().unwrap_or_else(PoisonError::into_inner);
        benches.keep(name.to_owned(), place);
    }

    /// Ends all runs, and waits until the end of each is on record.
    pub(super) async fn close(&self) {
        self.0.interrupt.cancel();
        self.0.runs.close();
        self.0.runs.wait().await;
    }
}

impl Desk for Clerk {
    fn models(&self) -> Naming {
        let office = Arc::clone(&self.0);
        Box::pin(async move { office.listing.names(&office.workshop).await })
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

    fn settings(&self) -> Vec<Setting> {
        self.0.settings.clone()
    }

    fn judge(&self, run: store::Run, contract: ContractRow, proposal: Proposal) -> Judging {
        // It may take its time, and others must not wait for it.
        let judging = spawn_blocking(move || judge::judge(&run, &contract, &proposal));
        Box::pin(async move { judging.await.unwrap_or(Err(Unfit::Mistake)) })
    }
}

impl Office {
    async fn perform(
        &self,
        mut question: Question,
        growth: Option<Arc<Growth>>,
        interrupt: CancellationToken,
    ) -> Result<Reply, Fault> {
        let bench = Box::pin(self.bench(&question.model)).await?;
        let dialect = bench.agent.provider.dialect();
        let demand = std::mem::replace(&mut question.demand, Demand::Named);
        let (contract, row) = match (demand, &bench.contract) {
            (Demand::Schema(schema), _) => self.contract(schema, dialect).await?,
            (Demand::Named | Demand::AnyObject, Some(own)) => own.clone(),
            (Demand::AnyObject, None) => {
                let any = Schema { name: None, text: ANY_OBJECT.to_owned() };
                self.contract(any, dialect).await?
            }
            (Demand::Named, None) => return Err(without_contract()),
        };
        let run = Run::new(bench.job(&question, &contract)).map(Box::new);
        let run = run.map_err(|error| unfit(&bench, &error))?;
        // Apart: what it takes to begin need not be held while a model thinks.
        // A stream says at once that the run began; a key is for what the client may have lost.
        let acknowledged = if growth.is_some() || question.key.is_some() {
            Acknowledged::Begun
        } else {
            Acknowledged::Ended
        };
        let entered = Box::pin(self.enter(&question, &bench, row, acknowledged)).await;
        let recorder = match entered.map_err(|error| refused(&error))? {
            Entered::Fresh(recorder) => recorder,
            Entered::Finished(run) => return settled(&run),
            Entered::Busy { id, .. } => {
                let message = "a request with this `Idempotency-Key` is under way";
                return Err(Fault { run: Some(id), ..Fault::new(FaultKind::Busy, message) });
            }
        };
        let valve = growth.and_then(|growth| Valve::new(&contract, dialect, growth));
        let asked = (run, contract.as_ref());
        let driving = Box::pin(bench.drive(asked, recorder.clone(), valve, interrupt));
        let (report, record) = driving.await;
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
    async fn contract(
        &self,
        schema: Schema,
        dialect: Dialect,
    ) -> Result<(Arc<Contract>, ContractRow), Fault> {
        let known = || self.contracts.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().find(&schema);
        let contract = if let Some(contract) = found {
            contract
        } else {
            let to_compile = schema.clone();
            // It may take its time, and others must not wait for it.
            let compiled = spawn_blocking(move || ready(&to_compile, dialect)).await;
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
        acknowledged: Acknowledged,
    ) -> Result<Entered, StoreError> {
        let grounds = contract.schema.contains(GROUNDED);
        let new = NewRun {
            id: Some(question.run.clone()),
            key: question.key.clone(),
            // A key stands for an answer: a run that has none gives it up.
            repeat: Repeat::Failed,
            contract,
            job: airtight_store::Job {
                prompt: question.prompt.clone(),
                system: bench.system(question),
                // What strings that must be grounded are looked up in, as for `airtight run`.
                input: grounds.then(|| question.prompt.clone().into_bytes()),
            },
            terms: terms(question),
            driver: bench.driver.clone(),
            retention: bench.retention,
            acknowledged,
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

    /// Returns what whoever follows the run is told first.
    fn init(&self, run: &Run, contract: &Contract, id: &store::RunId) -> Init {
        let tools = run.tools().map(|tool| tool.name.clone()).collect();
        Init { tools, ..Init::of(id, &self.name, &self.folder, contract) }
    }

    /// Performs a run, and puts its end on record.
    async fn drive(
        &self,
        (run, contract): (Box<Run>, &Contract),
        recorder: Arc<Recorder>,
        valve: Option<Valve>,
        interrupt: CancellationToken,
    ) -> (Report, Record) {
        let mut witness = Witness::new(Arc::clone(&recorder), valve, self.redactor.clone());
        witness.begin(self.init(&run, contract, recorder.id()));
        let driven = Box::pin(self.agent.drive(run, &mut witness, interrupt));
        let report = recorder.during(driven).await;
        let finished = Box::pin(recorder.finish(&report, None)).await;
        let record = match finished {
            Ok(()) => Record::Stored,
            Err(error) => {
                tracing::warn!(%error, "the end of a run is not on record");
                Record::Missing
            }
        };
        (report, record)
    }
}

/// Returns what the client says of the answer besides the question.
fn terms(question: &Question) -> Vec<String> {
    let tokens = question.max_output_tokens.map(|most| format!("at most {most} tokens"));
    let temperature = question.temperature.map(|it| format!("temperature {it}"));
    tokens.into_iter().chain(temperature).collect()
}

/// Compiles a contract, and makes of it what every run of it needs.
fn ready(schema: &Schema, dialect: Dialect) -> Result<Contract, Fault> {
    let contract = compile(schema)?;
    // What cannot be put to this model is told when it is asked.
    drop((contract.plan(), contract.lowered(dialect)));
    Ok(contract)
}

fn compile(schema: &Schema) -> Result<Contract, Fault> {
    let identity = Identity { name: schema.name.clone(), version: None };
    let options = Options { identity, ..Options::default() };
    let preflight = Preflight::run(schema.text.as_bytes(), Origin::Inline, &options);
    preflight.contract.ok_or_else(|| {
        let errors = preflight.diagnostics.iter();
        let errors = errors.filter(|it| it.severity == Severity::Error).map(|it| {
            let hint = it.hint.as_deref().and_then(|hint| Reader::Client.hint(hint));
            json!({ "pointer": it.pointer.as_str(), "message": it.message, "hint": hint })
        });
        let violations: Vec<Value> = errors.collect();
        let message = "the schema is refused: `violations` says what is wrong with it";
        Fault { violations, ..Fault::new(FaultKind::Contract, message) }
    })
}
