//! The way to the model: what it takes to reach it, before it is reached.

use std::path::Path;

use airtight_agent::Harness;
use airtight_agent::provider::{Endpoint, Model, ModelName, Provider, Weights};
use secrecy::ExposeSecret as _;

use super::driver::{self, Driver};
use super::limit::Limit;
use super::model::{self, Standing};
use crate::config::{Config, Key};
use crate::env::Environment;
use crate::error::Error;

/// The way to the model in force.
pub(in crate::commands) enum Access {
    /// Somebody serves it.
    Served { name: ModelName, endpoint: Box<Endpoint> },
    /// It runs in this process.
    Embedded(Weights),
    /// An agent CLI stands between.
    Program(Harness),
}

/// Whether somebody may be asked, and whether a yes was given beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Consent {
    /// Yes to everything.
    Given,
    /// Somebody sits in front of the terminal.
    Askable,
    /// Nobody is there to ask.
    Nobody,
}

/// Where a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Asked {
    /// Here, so its key must be here.
    Here,
    /// By somebody with a key of its own, or not at all.
    Elsewhere,
}

impl Access {
    /// Finds the way, and refuses what cannot work; an agent CLI works in `folder`.
    pub(in crate::commands) fn find(
        driver: &Driver,
        folder: &Path,
        config: &Config,
        environment: &Environment,
    ) -> Result<Self, Error> {
        Self::find_for(Asked::Here, driver, folder, config, environment)
    }

    /// Finds the way; who is not asked here needs no key here.
    pub(super) fn find_for(
        asked: Asked,
        driver: &Driver,
        folder: &Path,
        config: &Config,
        environment: &Environment,
    ) -> Result<Self, Error> {
        match driver {
            Driver::Model(model) => Self::to(model, Standing::Chosen, asked, config, environment),
            Driver::Program(program, model) => {
                let (model, folder) = (model.clone(), folder.to_owned());
                let harness = driver::harness(*program, model, folder, config, environment)?;
                Ok(Self::Program(harness))
            }
        }
    }

    /// Finds the way to a model.
    fn to(
        model: &Model,
        standing: Standing,
        asked: Asked,
        config: &Config,
        environment: &Environment,
    ) -> Result<Self, Error> {
        let name = match model {
            Model::Served(name) => name.clone(),
            Model::Embedded(weights) => return Ok(Self::Embedded(weights.clone())),
        };
        let endpoint = match asked {
            Asked::Here => {
                let endpoint = model::endpoint(&name, standing, config, environment)?;
                model::require_key(&name, &endpoint).map_err(|error| {
                    error.hint("`airtight doctor` shows where keys are looked for")
                })?;
                endpoint
            }
            Asked::Elsewhere => model::located(&name, standing, config, environment)?,
        };
        Ok(Self::Served { name, endpoint: Box::new(endpoint) })
    }

    /// Returns what deserves a warning about where keys go.
    pub(crate) fn key_notes(&self, config: &Config, environment: &Environment) -> Vec<String> {
        let Self::Served { name, endpoint } = self else { return Vec::new() };
        let stray = model::stray_key(name, endpoint, config, environment);
        model::warning(endpoint).into_iter().chain(stray).collect()
    }

    /// Returns what deserves a warning.
    pub(in crate::commands) fn notes(
        &self,
        config: &Config,
        environment: &Environment,
    ) -> Vec<String> {
        match self {
            Self::Served { .. } => self.key_notes(config, environment),
            Self::Embedded(_) if config.text(Key::Model).is_none() => vec![
                "no model is set, so the small one in this process answers: it copies what stands \
                 in a text, and does not judge; `--model PROVIDER:NAME` names a better one"
                    .to_owned(),
            ],
            Self::Embedded(_) => Vec::new(),
            Self::Program(harness) => {
                let unheeded = driver::unheeded(harness.program(), config);
                let unset = driver::unset(config, environment);
                unheeded.into_iter().chain(unset).chain(driver::left_out(harness)).collect()
            }
        }
    }

    /// Returns the key, which must not show.
    pub(in crate::commands) fn key(&self) -> Option<String> {
        let Self::Served { endpoint, .. } = self else { return None };
        endpoint.key.as_ref().map(|key| key.expose_secret().trim().to_owned())
    }

    /// Says what to do if the provider refuses the key.
    pub(super) fn key_hint(&self, config: &Config, environment: &Environment) -> Option<String> {
        match self {
            Self::Served { name, .. } => Some(model::key_hint(name, config, environment)),
            Self::Embedded(_) => None,
            Self::Program(harness) => Some(driver::login_hint(harness.program())),
        }
    }

    /// Claims that the model can be reached without anything being fetched.
    pub(in crate::commands) fn is_here(&self, environment: &Environment) -> bool {
        match self {
            Self::Served { .. } | Self::Program(_) => true,
            Self::Embedded(weights) => embedded::is_here(weights, environment),
        }
    }

    /// Reaches the model; weights that are not here are fetched if somebody consents.
    pub(in crate::commands) fn open(
        self,
        config: &Config,
        environment: &Environment,
        limit: &Limit,
        consent: Consent,
    ) -> Result<Provider, Error> {
        match self {
            Self::Served { endpoint, .. } => model::provider(*endpoint, config),
            Self::Embedded(weights) => embedded::open(&weights, environment, limit, consent),
            Self::Program(harness) => Ok(Provider::Harness(harness)),
        }
    }
}

/// The way to the model that looks for answers in text.
pub(crate) struct Extraction {
    model: Model,
    pub(crate) access: Access,
}

impl Extraction {
    /// Finds the way, if such a model is named. What is set for the provider in force counts for it, if
    /// it has the same.
    pub(crate) fn find(
        driver: &Driver,
        config: &Config,
        environment: &Environment,
    ) -> Result<Option<Self>, Error> {
        Self::find_for(Asked::Here, driver, config, environment)
    }

    /// Finds the way; who is not asked here needs no key here.
    pub(super) fn find_for(
        asked: Asked,
        driver: &Driver,
        config: &Config,
        environment: &Environment,
    ) -> Result<Option<Self>, Error> {
        let Some(model) = model::extractor(config)? else { return Ok(None) };
        let standing = match (&model, driver.model()) {
            (Model::Served(name), Some(Model::Served(chosen))) if name.vendor == chosen.vendor => {
                Standing::Chosen
            }
            _ => Standing::Other,
        };
        let access = Access::to(&model, standing, asked, config, environment)
            .map_err(|error| error.hint(format!("`{model}` is to extract answers from text")))?;
        Ok(Some(Self { model, access }))
    }

    /// Returns the model.
    pub(in crate::commands) fn model(&self) -> &Model {
        &self.model
    }

    /// Returns `provider` if that is the same model, else what `open` makes of the way.
    pub(crate) fn open(
        self,
        (driver, provider): (&Driver, &Provider),
        open: impl FnOnce(Access) -> Result<Provider, Error>,
    ) -> Result<Provider, Error> {
        if driver.model() == Some(&self.model) { Ok(provider.clone()) } else { open(self.access) }
    }
}

#[cfg(feature = "embedded")]
use super::embedded;

/// What there is instead of the embedded model where it was left out.
#[cfg(not(feature = "embedded"))]
mod embedded {
    use super::{Consent, Environment, Error, Limit, Provider, Weights};

    pub(in crate::commands) fn open(
        _weights: &Weights,
        _environment: &Environment,
        _limit: &Limit,
        _consent: Consent,
    ) -> Result<Provider, Error> {
        Err(crate::commands::without_embedded())
    }

    pub(in crate::commands) fn is_here(_weights: &Weights, _environment: &Environment) -> bool {
        false
    }
}
