//! Everything about a batch that can be known before anything is spent.

use std::sync::Arc;

use airtight_agent::provider::{Model, Provider};
use airtight_core::batch::{Circuit, Earlier, Estimate, Fund, Keys, Limits, Pace, Pacing};
use airtight_core::contract::{Contract, Options, Patterns, Wrap};
use airtight_core::price::{Cost, Price};
use airtight_core::run::{RepairRung, TextRung};
use airtight_store::{ContractRow, Job, Ledger, Level, NewRun, Spending, StoreError};
use secrecy::ExposeSecret;

use super::desk::{self, Desk};
use crate::batch::{Gate, Kind, Manner, Performer, Shared, Throttle, unusable};
use crate::cli::{BatchArgs, PaceArgs};
use crate::commands::run::access::{Asked, Consent};
use crate::commands::run::answerer::{self, Answerer, Wanted};
use crate::commands::run::driver::Driver;
use crate::commands::run::examples;
use crate::commands::run::limit::Limit;
use crate::commands::run::prepared::system;
use crate::commands::{check_command, compile};
use crate::config::{Config, Key};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::source::ContractSource;

/// A batch that can begin.
pub(super) struct Plan {
    pub(super) batch: String,
    pub(super) books: Books,
    pub(super) answerer: Answerer,
    pub(super) contract: Arc<Contract>,
    schema: String,
    options: Options,
    /// Standing instructions: those of the role, then what is set.
    system: Option<String>,
    config: Config,
    limits: Limits,
    pub(super) desk: Desk,
    /// The contract, as people call it, if nothing may go on without its answers.
    pub(super) critical: Option<String>,
}

impl Plan {
    /// Reads everything, and refuses what cannot work.
    pub(super) fn new(
        args: &BatchArgs,
        source: &ContractSource,
        environment: &Environment,
        config: Config,
        limit: &Limit,
    ) -> Result<Self, Error> {
        let driver = Driver::chosen(&config, environment)?;
        answerer::refuse_foreign(&args.model, &driver, &config)?;
        let books = books(&config, environment)?;
        if *source == ContractSource::Stdin {
            return Err(Error::new(Outcome::Usage, "a batch takes its contract from a file")
                .hint("give inline JSON, `@path`, or the name of a contract"));
        }
        let options = options(args, source);
        let again = check_command(&args.contract, &args.folder, &args.patterns, options.wrap);
        let schema = source.read()?;
        let mut contract = compile(&schema, source, &options, &again)?;
        examples::choose(args.model.examples.as_deref(), source, environment, &mut contract)?;
        let system = system(source, &config);
        let template = args.prompt.as_deref().map(|it| desk::read(it, environment)).transpose()?;
        let (books_of, consent) = (Some(&books), consent(args));
        let (model, secrets) = (&args.model, Vec::new());
        let wanted = Wanted { model, books: books_of, consent, asked: asked(args), secrets };
        let answerer = Answerer::find(driver, wanted, &config, environment, limit)?;
        let limits = limits(args, &answerer)?;
        let mut parts = parts(&contract, &answerer, system.as_deref(), &config).to_vec();
        parts.push(format!("{:?} {:?} {:?}", options.patterns, options.wrap, args.model.seed));
        let desk = Desk::new(template.as_deref(), args.key.clone(), &parts)?;
        let is_critical = config.is_on(Key::Critical) == Some(true);
        Ok(Self {
            batch: args.name.clone().unwrap_or_else(|| desk.name()),
            books,
            answerer,
            contract: Arc::new(contract),
            schema: String::from_utf8_lossy(&schema).into_owned(),
            options,
            system,
            config,
            limits,
            desk,
            critical: is_critical.then(|| source.label().to_owned()),
        })
    }

    /// Returns what tokens cost, if that is known.
    pub(super) fn price(&self) -> Option<Price> {
        self.answerer.provider.price()
    }

    /// Returns a fund that nothing was spent of.
    pub(super) fn fund(&self) -> Fund {
        Fund::new(self.limits, self.answerer.prices(), self.answerer.policy.max_output_tokens)
    }

    /// Returns what tells the question with this prompt from others, as the ledger does.
    pub(super) fn digest(&self, prompt: &str) -> String {
        let fingerprint = self.contract.fingerprint().to_string();
        let contract = ContractRow { fingerprint, ..ContractRow::default() };
        let job = Job { prompt: prompt.to_owned(), system: self.system.clone(), ..Job::default() };
        NewRun { contract, job, driver: self.answerer.row(), ..NewRun::default() }.digest()
    }

    /// Returns how large that part of a request is which all have in common.
    pub(super) fn fixed_bytes(&self) -> u64 {
        (self.schema.len() + self.system.as_ref().map_or(0, String::len)) as u64
    }

    /// Returns how many requests may be under way.
    pub(super) fn most(&self, pace: &PaceArgs) -> u32 {
        most(&self.answerer.driver, pace)
    }

    /// Returns what all jobs share if the batch is queued.
    pub(super) fn kind(&self) -> Result<Kind, Error> {
        let Driver::Model(Model::Served(name)) = &self.answerer.driver else {
            return Err(Error::new(Outcome::Usage, "only models of providers can be queued")
                .hint("name one by `--model PROVIDER:NAME`, or leave `--enqueue` out"));
        };
        let extractor = self.answerer.extractor();
        if let Some(Model::Embedded(_)) = extractor {
            let message = "only models of providers can extract answers of queued jobs";
            return Err(Error::new(Outcome::Usage, message)
                .hint("name one by `--extractor PROVIDER:NAME`, or leave `--enqueue` out"));
        }
        if !self.contract.older().is_empty() {
            let message = "jobs of the queue know one version of their contract alone";
            return Err(Error::new(Outcome::Usage, message)
                .hint("leave `--enqueue` out, or `accepts` in the contract's file"));
        }
        let (schema, system) = (self.schema.clone(), self.system.clone());
        let manner = Manner {
            mode: self.answerer.mode,
            policy: &self.answerer.policy,
            terminal: answerer::terminal(&self.config),
            keep: self.books.retention().keep,
            extractor,
            examples: self.contract.added_examples(),
            critical: self.critical.as_deref(),
        };
        Ok(Kind::new(schema, &self.options, name.to_string(), system, manner))
    }

    /// Gets ready to perform.
    pub(super) async fn performer(
        self,
        ledger: Ledger,
        pace: &PaceArgs,
    ) -> Result<(Performer, Desk), Error> {
        let pacing = Pacing { most: self.most(pace), circuit: circuit(pace) };
        let throttle = throttle(&ledger, &self.answerer.provider, pace.rate);
        let mut fund = self.fund();
        if self.limits != Limits::default() {
            let earlier = earlier(&ledger, &self.batch, self.price()).await;
            fund.add(earlier.map_err(|error| unusable(error, &self.books.place()))?);
        }
        let gate = Gate::new(Pace::new(pacing), fund, pace.patience, throttle);
        let prices = self.answerer.prices();
        let shared = Shared {
            agent: self.answerer.agent(&self.config),
            row: contract_row(&self.contract, self.schema),
            contract: self.contract,
            mode: self.answerer.mode,
            system: self.system,
            terminal: answerer::terminal(&self.config),
            driver: self.answerer.row(),
            name: self.answerer.driver.to_string(),
            folder: self.answerer.folder,
            policy: self.answerer.policy,
            prices,
            retention: self.books.retention(),
            redactor: self.answerer.redactor,
        };
        Ok((Performer { shared, ledger: Some(ledger), gate: Arc::new(gate) }, self.desk))
    }
}

/// Returns how many requests may be under way.
pub(in crate::commands) fn most(driver: &Driver, pace: &PaceArgs) -> u32 {
    let usual = match driver {
        Driver::Model(Model::Served(_)) => 64,
        Driver::Program(..) => 4,
        Driver::Model(Model::Embedded(_)) => 1,
    };
    pace.concurrency.unwrap_or(usual)
}

/// Returns what earlier processes spent on a batch.
async fn earlier(
    ledger: &Ledger,
    batch: &str,
    price: Option<Price>,
) -> Result<Earlier, StoreError> {
    let Spending { requests, unknown, unpriced, usage, cost } = ledger.spending(batch).await?;
    // Where there are prices, what has none was stopped before anybody counted.
    let unknown = unknown + price.map_or(0, |_| unpriced);
    let spent = Estimate { tokens: usage.total(), cost };
    Ok(Earlier { requests, spent, unknown })
}

/// Returns a contract as the ledger knows it.
pub(in crate::commands) fn contract_row(contract: &Contract, schema: String) -> ContractRow {
    ContractRow {
        fingerprint: contract.fingerprint().to_string(),
        name: contract.name().unwrap_or_default().to_owned(),
        version: contract.version().map(ToString::to_string).unwrap_or_default(),
        schema,
    }
}

/// Returns when a provider is taken to be down.
pub(in crate::commands) fn circuit(pace: &PaceArgs) -> Circuit {
    let first = pace.circuit_pause;
    Circuit { failures: pace.circuit_failures, first, cap: first.saturating_mul(30) }
}

/// Returns what all processes that ask the same provider with the same key keep to together: the pauses
/// that it asks for, and the rate, if there is one. Its name tells providers and keys apart without showing
/// a key.
pub(in crate::commands) fn throttle(
    ledger: &Ledger,
    provider: &Provider,
    rate: Option<u32>,
) -> Option<Throttle> {
    let endpoint = provider.endpoint()?;
    let key = endpoint.key.as_ref().map(ExposeSecret::expose_secret).unwrap_or_default();
    let whose = Keys::new([endpoint.base_url.as_str().as_bytes()]).key([key.as_bytes()]);
    let name = format!("provider {}", whose.chars().take(16).collect::<String>());
    Some(Throttle::new(ledger.clone(), &name, rate))
}

/// Finds the ledger, which a batch cannot do without.
pub(in crate::commands) fn books(
    config: &Config,
    environment: &Environment,
) -> Result<Books, Error> {
    let Some(books) = Books::configured(config, environment)? else {
        return Err(Error::new(
            Outcome::Contract,
            "a batch goes on from its ledger, and none is kept",
        )
        .hint("leave `store.enabled` and `AIRTIGHT_STORE` out, or name a file by `--database`"));
    };
    if books.retention().level != Level::Full {
        let message = "a batch writes its results from the ledger, which must keep them whole";
        return Err(Error::new(Outcome::Contract, message)
            .hint("use `--store-level full`, with `--store-keep 1d` if they must not stay")
            .hint("or a ledger of its own: `--database batch.db`"));
    }
    Ok(books.needed())
}

fn options(args: &BatchArgs, source: &ContractSource) -> Options {
    Options {
        wrap: if args.no_wrap { Wrap::Refused } else { Wrap::Allowed },
        patterns: if args.patterns.look_around { Patterns::LookAround } else { Patterns::Linear },
        identity: source.identity(),
        ..Options::default()
    }
}

fn limits(args: &BatchArgs, answerer: &Answerer) -> Result<Limits, Error> {
    let dollars = args.limits.budget_usd;
    let cost = dollars.and_then(Cost::from_usd);
    if dollars.is_some() && cost.is_none() {
        return Err(Error::new(Outcome::Usage, "`--budget-usd` is no amount of money"));
    }
    if cost.is_some() {
        answerer.require_prices()?;
    }
    Ok(Limits { tokens: args.limits.max_tokens_total, cost })
}

/// Returns what all inputs share and what decides about their answers.
pub(in crate::commands) fn parts(
    contract: &Contract,
    answerer: &Answerer,
    system: Option<&str>,
    config: &Config,
) -> [String; 10] {
    let Answerer { driver, mode, policy, .. } = answerer;
    [
        contract.fingerprint().to_string(),
        system.unwrap_or_default().to_owned(),
        config.text(Key::Extractor).unwrap_or_default().to_owned(),
        driver.to_string(),
        mode.name().to_owned(),
        policy.reasks.to_string(),
        if policy.text == TextRung::Refused { "strict" } else { "" }.to_owned(),
        if policy.repair == RepairRung::Refused { "as it stands" } else { "" }.to_owned(),
        policy.max_output_tokens.map(|most| most.to_string()).unwrap_or_default(),
        policy.temperature.map(|it| it.to_string()).unwrap_or_default(),
    ]
}

/// Says where models are asked: keys are those of whoever does.
fn asked(args: &BatchArgs) -> Asked {
    if args.enqueue || args.dry_run { Asked::Elsewhere } else { Asked::Here }
}

fn consent(args: &BatchArgs) -> Consent {
    if args.yes {
        return Consent::Given;
    }
    if args.quiet { Consent::Nobody } else { answerer::askable() }
}
