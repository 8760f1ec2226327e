//! Models in this process, for runners: loaded once, from a folder that the caller names.

use std::path::PathBuf;
#[cfg(feature = "embedded")]
use std::{ops::ControlFlow, path::Path};

use airtight_agent::provider::{Provider, Weights};
use airtight_core::run::Outcome;

use crate::answer::RunFailure;

#[cfg(feature = "embedded")]
use airtight_agent::provider::Embedded;
#[cfg(feature = "embedded")]
use airtight_local::{Condition, Models, Package, WeightsName};

/// Where weights are looked up by name, and the model that was made of some.
#[derive(Clone, Default)]
pub(super) struct Shelf {
    #[cfg_attr(
        not(feature = "embedded"),
        expect(dead_code, reason = "there is nothing to look up without the embedded model")
    )]
    folder: Option<PathBuf>,
    #[cfg(feature = "embedded")]
    loaded: std::sync::Arc<tokio::sync::OnceCell<Embedded>>,
}

impl Shelf {
    /// Looks names up in `folder`.
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self {
            folder: Some(folder),
            #[cfg(feature = "embedded")]
            loaded: std::sync::Arc::default(),
        }
    }
}

#[cfg(feature = "embedded")]
impl Shelf {
    /// Returns the model, loaded if it is not yet.
    pub(super) async fn provider(&self, weights: &Weights) -> Result<Provider, RunFailure> {
        let loaded = self.loaded.get_or_try_init(async || {
            let (folder, weights) = (self.folder.clone(), weights.clone());
            let open = move || {
                let path = find(folder.as_deref(), &weights)?;
                Embedded::open(&path).map_err(|error| refused(&error))
            };
            tokio::task::spawn_blocking(open).await.unwrap_or_else(|_| {
                let message = "the embedded model broke down, which is a bug".to_owned();
                Err(RunFailure::new(Outcome::Provider, message))
            })
        });
        loaded.await.cloned().map(Provider::Embedded)
    }
}

/// Finds the file of weights; those that are known must be what they should be.
#[cfg(feature = "embedded")]
fn find(folder: Option<&Path>, weights: &Weights) -> Result<PathBuf, RunFailure> {
    let name = match weights {
        Weights::File(path) => return Ok(PathBuf::from(path)),
        Weights::Usual => Package::usual().name(),
        Weights::Named(name) => WeightsName::parse(name).map_err(|error| refused(&error))?,
    };
    let Some(folder) = folder else {
        return Err(refused(&format!("nobody said where the weights `{name}` are"))
            .hint("pass their folder to `Runner::models`, or name a file: `embedded:PATH`"));
    };
    let models = Models::in_folder(folder);
    let pull = format!("type `airtight models pull {name}`");
    let path = models
        .path(&name)
        .ok_or_else(|| refused(&format!("the weights are not here: `{name}`")).hint(&pull))?;
    let check = |package| models.check(package, &mut |_| ControlFlow::Continue(()));
    match Package::named(&name).map(check).transpose().map_err(|error| refused(&error))? {
        None | Some(Condition::Absent | Condition::Sound) => Ok(path),
        Some(Condition::Damaged) => {
            Err(refused(&format!("the weights are damaged: `{name}`")).hint(pull))
        }
    }
}

#[cfg(feature = "embedded")]
fn refused(why: &impl ToString) -> RunFailure {
    RunFailure::new(Outcome::Config, why.to_string())
}

#[cfg(not(feature = "embedded"))]
impl Shelf {
    /// Says that there is no such model in this program.
    #[expect(clippy::unused_async, reason = "the same for whoever calls it")]
    pub(super) async fn provider(&self, _weights: &Weights) -> Result<Provider, RunFailure> {
        let message = "this program was built without the embedded model".to_owned();
        Err(RunFailure::new(Outcome::Config, message)
            .hint("switch on the feature `embedded` of `airtight`"))
    }
}
