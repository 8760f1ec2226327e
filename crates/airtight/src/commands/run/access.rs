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

impl Access {
    /// Finds the way, and refuses what cannot work; an agent CLI works in `folder`.
    pub(in crate::commands) fn find(
        driver: &Driver,
        folder: &Path,
        config: &Config,
        environment: &Environment,
    ) -> Result<Self, Error> {
        match driver {
            Driver::Model(Model::Served(name)) => {
                let endpoint = model::endpoint(name, Standing::Chosen, config, environment)?;
                model::require_key(name, &endpoint).map_err(|error| {
                    error.hint("`airtight doctor` shows where keys are looked for")
                })?;
                Ok(Self::Served { name: name.clone(), endpoint: Box::new(endpoint) })
            }
            Driver::Model(Model::Embedded(weights)) => Ok(Self::Embedded(weights.clone())),
            Driver::Program(program, model) => {
                let (model, folder) = (model.clone(), folder.to_owned());
                let harness = driver::harness(*program, model, folder, config, environment)?;
                Ok(Self::Program(harness))
            }
        }
    }

    /// Returns what deserves a warning.
    pub(in crate::commands) fn notes(
        &self,
        config: &Config,
        environment: &Environment,
    ) -> Vec<String> {
        match self {
            Self::Served { name, endpoint } => model::warning(endpoint)
                .into_iter()
                .chain(model::stray_key(name, endpoint, config, environment))
                .collect(),
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
}
