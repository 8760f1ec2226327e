//! The embedded model: are its weights here, and can a model be made of them?

use airtight_agent::provider::{Model, Weights};

use super::provider::Examined;
use crate::env::Environment;

/// What it is called among the providers.
const NAME: &str = "embedded";

/// Examines the embedded model; `chosen` is the model in force.
#[cfg(feature = "embedded")]
pub(super) fn examine(chosen: Option<&Model>, environment: &Environment) -> Examined {
    use super::provider::State;
    use crate::error::Outcome;
    use crate::weights::{self, Found};

    let Some(model @ Model::Embedded(own)) = chosen else {
        let mut examined = Examined::absent(NAME, None, "no weights");
        match weights::find(&Weights::Usual, environment) {
            Ok(Found::Here(path)) => {
                examined.state = State::Untried;
                examined.message = format!("weights in {}", path.display());
            }
            Ok(Found::Known(package)) => {
                examined.hints = weights::missing(package, Outcome::Contract).hints;
            }
            Err(_) => {}
        }
        return examined;
    };
    let mut examined = Examined::absent(NAME, Some(model.to_string()), "no weights");
    let loaded = weights::find(own, environment).and_then(|found| match found {
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
