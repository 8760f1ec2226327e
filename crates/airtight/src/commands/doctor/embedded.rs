//! The embedded model: are its weights here and undamaged, and can a model be made of them?

use airtight_agent::provider::{Model, Weights};
#[cfg(feature = "embedded")]
use airtight_local::Models;

use super::provider::Examined;
#[cfg(feature = "embedded")]
use super::provider::State;
use crate::env::Environment;
#[cfg(feature = "embedded")]
use crate::error::Outcome;
#[cfg(feature = "embedded")]
use crate::weights::{self, Found};

/// What it is called among the providers.
const NAME: &str = "embedded";

/// Examines the embedded model; `chosen` is the model in force.
#[cfg(feature = "embedded")]
pub(super) fn examine(chosen: Option<&Model>, environment: &Environment) -> Examined {
    let Some(model @ Model::Embedded(own)) = chosen else { return idle(environment) };
    let mut examined = Examined::absent(NAME, Some(model.to_string()), "no weights");
    let sound = weights::refuse_damage(own, environment, Models::examine, &|| true);
    let found = sound.and_then(|()| weights::find(own, environment));
    let loaded = found.and_then(|found| match found {
        Found::Here(path) => weights::open(&path).map(|_| path),
        Found::Known(package) => Err(weights::missing(package, Outcome::Contract)),
    });
    match loaded {
        Ok(path) => {
            examined.state = State::Working;
            examined.message = format!("loads {}", path.display());
            examined
        }
        Err(error) => examined.failing(&error),
    }
}

/// Examines the weights that would be used if another model were not in force.
#[cfg(feature = "embedded")]
fn idle(environment: &Environment) -> Examined {
    let mut examined = Examined::absent(NAME, None, "no weights");
    let Ok(found) = weights::find(&Weights::Usual, environment) else { return examined };
    if let Err(error) =
        weights::refuse_damage(&Weights::Usual, environment, Models::examine, &|| true)
    {
        return examined.failing(&error);
    }
    match found {
        Found::Here(path) => {
            examined.state = State::Untried;
            examined.message = format!("weights in {}", path.display());
        }
        Found::Known(package) => {
            examined.hints = weights::missing(package, Outcome::Contract).hints;
        }
    }
    examined
}

/// Says that there is none in this program.
#[cfg(not(feature = "embedded"))]
pub(super) fn examine(chosen: Option<&Model>, _environment: &Environment) -> Examined {
    let Some(model @ Model::Embedded(Weights::Usual | Weights::Named(_) | Weights::File(_))) =
        chosen
    else {
        return Examined::absent(NAME, None, "not built in");
    };
    Examined::absent(NAME, Some(model.to_string()), "")
        .failing(&crate::commands::without_embedded())
}
