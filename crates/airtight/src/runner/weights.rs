//! Models in this process, for runners: loaded once, from a folder that the caller names.

use std::path::PathBuf;

use airtight_agent::provider::{Provider, Weights};
use airtight_core::run::Outcome;

use crate::answer::RunFailure;

#[cfg(feature = "embedded")]
use airtight_agent::provider::Embedded;

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
            let path = self.find(weights)?;
            let opened = tokio::task::spawn_blocking(move || Embedded::open(&path)).await;
            match opened {
                Ok(Ok(embedded)) => Ok(embedded),
                Ok(Err(error)) => Err(RunFailure::new(Outcome::Config, error.to_string())),
                Err(_) => {
                    let message = "the embedded model broke down, which is a bug";
                    Err(RunFailure::new(Outcome::Provider, message.to_owned()))
                }
            }
        });
        loaded.await.cloned().map(Provider::Embedded)
    }

    fn find(&self, weights: &Weights) -> Result<PathBuf, RunFailure> {
        let refused = |message: String| RunFailure::new(Outcome::Config, message);
        let name = match weights {
            Weights::File(path) => return Ok(PathBuf::from(path)),
            Weights::Usual => airtight_local::Package::usual().name(),
            Weights::Named(name) => airtight_local::WeightsName::parse(name)
                .map_err(|error| refused(error.to_string()))?,
        };
        let Some(folder) = &self.folder else {
            return Err(refused(format!("nobody said where the weights `{name}` are"))
                .hint("pass their folder to `Runner::models`, or name a file: `embedded:PATH`"));
        };
        airtight_local::Models::in_folder(folder).path(&name).ok_or_else(|| {
            refused(format!("the weights are not here: `{name}`"))
                .hint(format!("type `airtight models pull {name}`"))
        })
    }
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
