//! Who answers many questions alike: found, checked and reached once.

use std::io::{self, IsTerminal as _};

use airtight_agent::provider::{Model, Provider};
use airtight_agent::{Agent, Hooks, Toolbox};
use airtight_core::batch::Prices;
use airtight_core::redact::Redactor;
use airtight_core::run::{self, Mode, Policy, Terminal};

use super::access::{Access, Asked, Consent, Extraction};
use super::driver::{self, Driver};
use super::entry::driver_row;
use super::equipment;
use super::limit::Limit;
use super::model;
use crate::cli::ModelArgs;
use crate::config::Config;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;

/// Who answers, and within which bounds.
pub(in crate::commands) struct Answerer {
    pub(in crate::commands) driver: Driver,
    pub(in crate::commands) provider: Provider,
    /// Who looks for answers in text, if anybody.
    extractor: Option<(Model, Provider)>,
    /// Where agent CLIs are started.
    pub(in crate::commands) folder: String,
    pub(in crate::commands) policy: Policy,
    pub(in crate::commands) mode: Mode,
    pub(in crate::commands) redactor: Redactor,
    /// What deserves a warning.
    pub(in crate::commands) notes: Vec<String>,
}

/// What was typed that decides about it.
pub(in crate::commands) struct Wanted<'a> {
    pub(in crate::commands) model: &'a ModelArgs,
    /// Where runs are recorded, if they are: its password must not show.
    pub(in crate::commands) books: Option<&'a Books>,
    pub(in crate::commands) consent: Consent,
    /// Whether keys are needed.
    pub(in crate::commands) asked: Asked,
    /// What else must not show.
    pub(in crate::commands) secrets: Vec<String>,
}

/// Refuses flags that whoever answers cannot honour.
pub(in crate::commands) fn refuse_foreign(
    model: &ModelArgs,
    driver: &Driver,
    config: &Config,
) -> Result<(), Error> {
    match driver {
        Driver::Model(chosen) => model::refuse_idle_flags(model, chosen),
        Driver::Program(program, _) => driver::refuse_foreign(*program, config),
    }
}

/// Says whether weights may be fetched if nobody has said so: whoever sits there can be asked.
pub(in crate::commands) fn askable() -> Consent {
    let is_seen = io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_seen { Consent::Askable } else { Consent::Nobody }
}

impl Answerer {
    /// Finds and reaches whoever is to answer. That may take long, so it comes last, when nothing else
    /// can be refused.
    pub(in crate::commands) fn find(
        driver: Driver,
        wanted: Wanted<'_>,
        config: &Config,
        environment: &Environment,
        limit: &Limit,
    ) -> Result<Self, Error> {
        let Wanted { model, books, consent, asked, secrets: more } = wanted;
        let here = environment.launch_directory();
        let access = Access::find_for(asked, &driver, here, config, environment)?;
        let extractor = Extraction::find_for(asked, &driver, config, environment)?;
        let mut notes = config.warnings.clone();
        notes.extend(access.notes(config, environment));
        notes.extend(extractor.iter().flat_map(|it| it.access.key_notes(config, environment)));
        let keys = [access.key(), extractor.as_ref().and_then(|it| it.access.key())];
        let secrets = books.map(Books::secrets).unwrap_or_default();
        let given = keys.iter().flatten().chain(&secrets).chain(&more);
        let redactor = Redactor::new(given.map(String::as_str).chain(environment.secrets()));
        let policy = driver.policy(config)?;
        let mode = driver.mode(config);
        let provider = access.open(config, environment, limit, consent)?;
        let provider = model::seeded(provider, model.seed);
        let open = |access: Access| access.open(config, environment, limit, consent);
        let extractor = match extractor {
            Some(extraction) => {
                let model = extraction.model().clone();
                Some((model, extraction.open((&driver, &provider), open)?))
            }
            None => None,
        };
        let folder = environment.launch_directory().display().to_string();
        Ok(Self { driver, provider, extractor, folder, policy, mode, redactor, notes })
    }

    /// Returns the model that looks for answers in text, if one does.
    pub(in crate::commands) fn extractor(&self) -> Option<&Model> {
        self.extractor.as_ref().map(|(model, _)| model)
    }

    /// Returns what tokens cost, as far as that is known.
    pub(in crate::commands) fn prices(&self) -> Prices {
        let extractor = self.extractor.as_ref().and_then(|(_, provider)| provider.price());
        Prices { model: self.provider.price(), extractor }
    }

    /// Refuses a budget of money unless every model that is asked has a price.
    pub(in crate::commands) fn require_prices(&self) -> Result<(), Error> {
        let extractor = self.extractor.as_ref().map(|(_, provider)| provider);
        let mut asked = std::iter::once(&self.provider).chain(extractor);
        if asked.all(|provider| provider.price().is_some()) {
            return Ok(());
        }
        let outcome = Outcome::Run(run::Outcome::Config);
        Err(Error::new(outcome, "a budget of money needs models whose price is known")
            .hint("use `--max-tokens-total`"))
    }

    /// Returns it as the ledger knows it.
    pub(in crate::commands) fn row(&self) -> airtight_store::Driver {
        airtight_store::Driver { mode: self.mode.name().to_owned(), ..driver_row(&self.driver) }
    }

    /// Returns whoever performs its runs, without tools.
    pub(in crate::commands) fn agent(&self, config: &Config) -> Agent {
        let mut agent = Agent::new(self.provider.clone(), Toolbox::default(), Hooks::default());
        agent.retries = self.driver.retries(config);
        agent.extractor = self.extractor.as_ref().map(|(_, provider)| provider.clone());
        agent
    }
}

/// Says whether the terminal tool may be offered.
pub(in crate::commands) fn terminal(config: &Config) -> Terminal {
    equipment::permissions(config).map(|it| it.terminal()).unwrap_or_default()
}
