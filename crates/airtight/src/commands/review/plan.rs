//! Who reviews, and what each part is asked.

use std::sync::Arc;

use airtight_agent::provider::Model;
use airtight_core::batch::{Estimate, Fund, Keys, Limits, Pace, Pacing, Whose};
use airtight_core::contract::{Contract, Options};
use airtight_core::price::Cost;
use airtight_core::review::{CONTRACT, Part, Split, instructions, question};
use airtight_core::run::{Budget, Policy};
use airtight_core::{Origin, Preflight};
use airtight_store::{Ledger, Retention};

use super::remedy::Again;
use crate::batch::{Errand, Gate, Performer, Shared};
use crate::cli::ReviewArgs;
use crate::commands::batch::plan::{circuit, contract_row, most, parts, throttle};
use crate::commands::run::access::{Asked, Consent};
use crate::commands::run::answerer::{self, Answerer, Wanted};
use crate::commands::run::driver::Driver;
use crate::commands::run::limit::Limit;
use crate::config::{Config, Key};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;

/// What the runs of reviews have in common in the ledger: their batch begins with this word.
pub(in crate::commands) const BATCH: &str = "review ";

/// How many digits name a review in the ledger.
const DIGITS: usize = 12;

/// How much of a diff one run reviews if nobody says: what models read well, at a moderate price.
const PART_TOKENS: u64 = 8_000;

/// The same for an embedded model, whose whole context has 8,192 tokens and which reads some two
/// hundred in a second.
const EMBEDDED_PART_TOKENS: u64 = 800;

/// How many parts are reviewed though nobody set a budget: some ten dollars with a dear model.
const PARTS_UNBOUNDED: usize = 500;

/// Returns how much of a diff one run reviews.
pub(super) fn part_tokens(config: &Config, driver: &Driver) -> u64 {
    let usual = match driver {
        Driver::Model(Model::Embedded(_)) => EMBEDDED_PART_TOKENS,
        Driver::Model(Model::Served(_)) | Driver::Program(..) => PART_TOKENS,
    };
    config.whole(Key::ReviewPartTokens).unwrap_or(usual)
}

/// A review that can begin.
pub(super) struct Plan {
    pub(super) answerer: Answerer,
    pub(super) books: Option<Books>,
    pub(super) contract: Arc<Contract>,
    system: String,
    limits: Limits,
    config: Config,
    keys: Keys,
    pub(super) again: Again,
}

impl Plan {
    /// Finds whoever reviews, by these `rules`; `secrets` must not show.
    pub(super) fn new(
        args: &ReviewArgs,
        environment: &Environment,
        config: Config,
        (rules, secrets): (&[String], Vec<String>),
        limit: &Limit,
    ) -> Result<Self, Error> {
        let driver = Driver::chosen(&config, environment)?;
        answerer::refuse_foreign(&args.model, &driver, &config)?;
        let books = Books::configured(&config, environment)?;
        let contract = contract()?;
        let own = config.text(Key::System).map(|own| format!("\n\n{own}")).unwrap_or_default();
        let system = format!("{}{own}", instructions(rules));
        let consent = match (args.yes, args.quiet) {
            (true, _) => Consent::Given,
            (false, true) => Consent::Nobody,
            (false, false) => answerer::askable(),
        };
        let (model, asked) = (&args.model, Asked::Here);
        let wanted = Wanted { model, books: books.as_ref(), consent, asked, secrets };
        let answerer = Answerer::find(driver, wanted, &config, environment, limit)?;
        let limits = limits(&config, &answerer)?;
        let shared = parts(&contract, &answerer, Some(&system), &config);
        let seed = format!("{:?}", args.model.seed);
        let shared = shared.iter().map(String::as_bytes).chain([seed.as_bytes(), b"review"]);
        let level = books.as_ref().map(|books| books.retention().level);
        Ok(Self {
            keys: Keys::new(shared),
            again: Again::of(args, level),
            answerer,
            books,
            contract: Arc::new(contract),
            system,
            limits,
            config,
        })
    }

    /// Returns what is asked about each part.
    pub(super) fn errands(&self, split: &Split<'_>) -> Vec<Errand> {
        let prompts: Vec<String> = split.parts.iter().map(question).collect();
        let keys: Vec<String> =
            prompts.iter().map(|prompt| self.keys.key([prompt.as_bytes()])).collect();
        let name = self.keys.key(keys.iter().map(String::as_bytes));
        let batch: String = BATCH.chars().chain(name.chars().take(DIGITS)).collect();
        let asked = split.parts.iter().zip(prompts).zip(keys).zip(1..);
        asked
            .map(|(((part, prompt), key), position)| {
                self.errand(part, prompt, (key, &batch, position))
            })
            .collect()
    }

    fn errand(
        &self,
        part: &Part<'_>,
        prompt: String,
        (key, batch, position): (String, &str, i64),
    ) -> Errand {
        Errand {
            key,
            repeat: self.again.repeat(),
            prompt,
            input: Some(part.to_diff()),
            check: Some(Arc::new(part.scope())),
            batch: Some(batch.to_owned()),
            position: Some(position),
            claim: None,
        }
    }

    /// Returns about what `errands` take.
    pub(super) fn estimate(&self, errands: &[Errand]) -> Estimate {
        let fund = self.fund();
        let fixed = (self.system.len() + CONTRACT.len()) as u64;
        errands.iter().fold(Estimate::default(), |mut all, errand| {
            let one = fund.estimate(Whose::Model, errand.prompt.len() as u64 + fixed);
            all.tokens = all.tokens.saturating_add(one.tokens);
            all.cost += one.cost;
            all
        })
    }

    fn fund(&self) -> Fund {
        Fund::new(self.limits, self.answerer.prices(), self.answerer.policy.max_output_tokens)
    }

    /// Refuses a review of very many parts that nothing bounds.
    pub(super) fn require_bounds(&self, parts: usize) -> Result<(), Error> {
        if parts <= PARTS_UNBOUNDED || self.limits != Limits::default() {
            return Ok(());
        }
        let message =
            format!("the diff makes {parts} parts, over {PARTS_UNBOUNDED} without a budget");
        Err(Error::new(Outcome::Usage, message)
            .hint("`--dry-run` shows what they may cost; `--ignore PATTERN` leaves files out")
            .hint("or say what they may cost: `--max-tokens-total` or `--max-cost`"))
    }

    /// Returns how many requests may be under way.
    pub(super) fn most(&self, args: &ReviewArgs) -> u32 {
        most(&self.answerer.driver, &args.pace)
    }

    /// Gets ready to perform.
    pub(super) fn performer(&self, args: &ReviewArgs, ledger: Option<Ledger>) -> Performer {
        let answerer = &self.answerer;
        let pacing = Pacing { most: self.most(args), circuit: circuit(&args.pace) };
        let throttle =
            ledger.as_ref().and_then(|ledger| throttle(ledger, &answerer.provider, args.pace.rate));
        let gate = Gate::new(Pace::new(pacing), self.fund(), args.pace.patience, throttle);
        let retention = self.books.as_ref().map_or_else(Retention::default, Books::retention);
        let shared = Shared {
            agent: answerer.agent(&self.config),
            row: contract_row(&self.contract, CONTRACT.to_owned()),
            contract: Arc::clone(&self.contract),
            mode: answerer.mode,
            system: Some(self.system.clone()),
            terminal: answerer::terminal(&self.config),
            // Money, tokens and time are counted for the review as a whole.
            policy: Policy { budget: Budget::default(), ..answerer.policy.clone() },
            prices: answerer.prices(),
            driver: answerer.row(),
            name: answerer.driver.to_string(),
            folder: answerer.folder.clone(),
            retention,
            redactor: answerer.redactor.clone(),
        };
        Performer { shared, ledger, gate: Arc::new(gate) }
    }
}

/// Compiles the contract of reviews, which comes with this program.
fn contract() -> Result<Contract, Error> {
    let options = Options {
        identity: airtight_core::contract::Identity {
            name: Some("code-review".to_owned()),
            version: None,
        },
        ..Options::default()
    };
    let preflight = Preflight::run(CONTRACT.as_bytes(), Origin::File, &options);
    let refused = || Error::new(Outcome::Contract, "the contract of reviews is refused");
    preflight.contract.ok_or_else(refused)
}

fn limits(config: &Config, answerer: &Answerer) -> Result<Limits, Error> {
    let cost: Option<Cost> = answerer.policy.budget.cost;
    if cost.is_some() {
        answerer.require_prices()?;
    }
    Ok(Limits { tokens: config.whole(Key::MaxTokensTotal), cost })
}
