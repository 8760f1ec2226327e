//! What it takes to do a job: one bench for each kind of job, and one gate for each model.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use airtight_agent::provider::{Model, ModelName, Provider};
use airtight_agent::{Agent, Hooks, Toolbox};
use airtight_core::batch::{Fund, Limits, Pace, Pacing, Prices};
use airtight_core::contract::{Origin, Preflight};
use airtight_core::redact::Redactor;
use airtight_store::{Ledger, Level, Retention};

use super::hints::advise;
use super::put_off::Obstacle;
use crate::batch::{Example, Gate, Kind, Performer, Shared, Stop};
use crate::cli::{PaceArgs, WorkerArgs};
use crate::commands::batch::plan::{circuit, contract_row, throttle};
use crate::commands::run::driver::Driver;
use crate::commands::run::entry::driver_row;
use crate::commands::run::job;
use crate::commands::run::model::{self, Standing};
use crate::config::{Config, Key};
use crate::env::Environment;
use crate::error::{Error, Outcome};

/// How many kinds of jobs are kept ready: a worker serves few batches at a time.
const KINDS: usize = 64;

/// The most requests under way where nobody says.
const CONCURRENCY: u32 = 16;

/// Everything that jobs need.
pub(super) struct Benches {
    config: Config,
    environment: Environment,
    ledger: Ledger,
    redactor: Redactor,
    most: u32,
    pace: Pacing,
    patience: Duration,
    rate: Option<u32>,
    performers: HashMap<String, Arc<Performer>>,
    gates: HashMap<String, Arc<Gate>>,
}

/// Returns how many jobs are done at once.
pub(super) fn most(pace: &PaceArgs) -> u32 {
    pace.concurrency.unwrap_or(CONCURRENCY)
}

impl Benches {
    pub(super) fn new(
        config: Config,
        environment: Environment,
        ledger: Ledger,
        redactor: Redactor,
        args: &WorkerArgs,
    ) -> Self {
        let most = most(&args.pace);
        Self {
            config,
            environment,
            ledger,
            redactor,
            most,
            pace: Pacing { most, circuit: circuit(&args.pace) },
            patience: args.pace.patience,
            rate: args.pace.rate,
            performers: HashMap::new(),
            gates: HashMap::new(),
        }
    }

    /// Returns why a gate is closed to everybody, if one is.
    pub(super) fn closed(&self) -> Option<Stop> {
        let is_general = |stop: &&Stop| !matches!(stop, Stop::Unfit(_));
        self.gates.values().find_map(|gate| gate.closed().filter(is_general).cloned())
    }

    /// Returns who performs jobs of this kind.
    pub(super) fn performer(&mut self, kind: &Kind) -> Result<Arc<Performer>, Obstacle> {
        let name = serde_json::to_string(kind).unwrap_or_default();
        if let Some(performer) = self.performers.get(&name) {
            return Ok(Arc::clone(performer));
        }
        let performer = Arc::new(self.prepare(kind)?);
        if self.performers.len() >= KINDS {
            self.performers.clear();
        }
        self.performers.insert(name, Arc::clone(&performer));
        Ok(performer)
    }

    fn prepare(&mut self, kind: &Kind) -> Result<Performer, Obstacle> {
        let name = model_name(&kind.model)?;
        let provider = self.provider(&name, Standing::Chosen)?;
        let preflight = Preflight::run(kind.schema.as_bytes(), Origin::File, &kind.options());
        let refused = || Error::new(Outcome::Contract, "the contract of the job is refused");
        let mut contract = preflight.contract.ok_or_else(refused)?;
        for Example { input, output } in &kind.examples {
            contract.add_example(input.clone(), output).map_err(|_| refused())?;
        }
        let contract = Arc::new(contract);
        let extractor = self.extractor(kind, (&name, &provider))?;
        let place = provider.endpoint().map(|it| it.base_url.to_string()).unwrap_or_default();
        // Providers count, and refuse, by the model; an extractor that is refused must not keep jobs back
        // that do without.
        let place = format!("{place} {name} {}", kind.extractor.as_deref().unwrap_or_default());
        let throttle = throttle(&self.ledger, &provider, self.rate);
        let keep = self.keep(kind);
        let gate = self.gates.entry(place).or_insert_with(|| {
            let fund = Fund::new(Limits::default(), Prices::default(), None);
            Arc::new(Gate::new(Pace::new(self.pace), fund, self.patience, throttle))
        });
        let extractor_price = extractor.as_ref().and_then(Provider::price);
        let prices = Prices { model: provider.price(), extractor: extractor_price };
        let mut agent = Agent::new(provider, Toolbox::default(), Hooks::default());
        agent.retries = job::retries(&self.config);
        agent.extractor = extractor;
        let mode = kind.mode();
        let row = driver_row(&Driver::Model(Model::Served(name)));
        let shared = Shared {
            agent,
            row: contract_row(&contract, kind.schema.clone()),
            contract,
            mode,
            system: kind.system.clone(),
            terminal: kind.terminal(),
            policy: kind.policy(),
            prices,
            driver: airtight_store::Driver { mode: mode.name().to_owned(), ..row },
            name: kind.model.clone(),
            folder: self.environment.launch_directory().display().to_string(),
            retention: Retention { level: Level::Full, keep },
            redactor: self.redactor.clone(),
        };
        Ok(Performer { shared, ledger: Some(self.ledger.clone()), gate: Arc::clone(gate) })
    }

    /// Returns who looks for answers in text, if anybody. What is set for the provider of the model counts
    /// for it, if it has the same.
    fn extractor(
        &self,
        kind: &Kind,
        (chosen, provider): (&ModelName, &Provider),
    ) -> Result<Option<Provider>, Obstacle> {
        let Some(model) = &kind.extractor else { return Ok(None) };
        let name = model_name(model)?;
        if name == *chosen {
            return Ok(Some(provider.clone()));
        }
        let is_same = name.vendor == chosen.vendor;
        let standing = if is_same { Standing::Chosen } else { Standing::Other };
        self.provider(&name, standing).map(Some)
    }

    /// Returns the provider of a model. Its address and key are set for the worker, not by the job.
    fn provider(&self, name: &ModelName, standing: Standing) -> Result<Provider, Obstacle> {
        let provider = || {
            let endpoint = model::endpoint(name, standing, &self.config, &self.environment)?;
            model::require_key(name, &endpoint)?;
            model::provider(endpoint, &self.config)
        };
        provider().map_err(advise).map_err(Obstacle::Here)
    }

    /// Returns how long runs are kept: as long as both who queued them and who does them want.
    fn keep(&self, kind: &Kind) -> Option<Duration> {
        [kind.keep(), self.config.period(Key::StoreKeep)].into_iter().flatten().min()
    }

    /// Returns the most jobs at once.
    pub(super) fn most(&self) -> u32 {
        self.most
    }
}

fn model_name(model: &str) -> Result<ModelName, Error> {
    match Model::parse(model) {
        Ok(Model::Served(name)) => Ok(name),
        Ok(Model::Embedded(_)) | Err(_) => {
            Err(Error::new(Outcome::Contract, format!("this worker knows no model `{model}`")))
        }
    }
}
