//! Model providers: over HTTP, or in this process.
//!
//! A [`Model`] says which model is meant, an [`Endpoint`] where it is served and with which key, a
//! [`Provider`] talks to it. The environment is not read here: the caller passes what it holds.

#[cfg(feature = "embedded")]
mod embedded;
mod endpoint;
mod model;
mod retry;
mod transport;

use std::ops::ControlFlow;

use airtight_core::codec::{Assembler, Delta, ProviderFailure, Reply, Request, Wire};
use airtight_core::lower::Dialect;
use airtight_core::price::Price;

#[cfg(feature = "embedded")]
pub use embedded::Embedded;
pub use endpoint::{Endpoint, EndpointError, Privacy, parse_base_url};
pub use model::{Carried, KeyVariable, Model, ModelName, ModelNameError, Vendor, Weights};
pub use retry::{Retries, retry_after};
pub use transport::{Service, Timeouts};

/// One model, wherever it is. Clones share its connections, or its weights.
#[derive(Debug, Clone)]
pub enum Provider {
    /// It is served over HTTP.
    Served(Box<Service>),
    /// It is in this process.
    #[cfg(feature = "embedded")]
    Embedded(Embedded),
}

/// What came of one request.
#[derive(Debug)]
pub struct Exchange {
    /// What was said, whole or not.
    pub reply: Reply,
    /// How it ended.
    pub end: End,
}

/// How a streamed answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With the format's own end mark.
    Whole,
    /// The one who listened wanted no more, or was told to stop.
    Stopped,
    /// The provider failed.
    Failed(ProviderFailure),
}

/// Hears every piece of an answer, and may break off.
type Listen<'a> = &'a mut (dyn FnMut(&Delta) -> ControlFlow<()> + Send);

impl Provider {
    /// Makes a provider of `endpoint`, with the process's connections where possible.
    pub fn new(endpoint: Endpoint, timeouts: Timeouts) -> Result<Self, EndpointError> {
        Service::new(endpoint, timeouts).map(|service| Self::Served(Box::new(service)))
    }

    /// Returns where the model is served, unless it is in this process.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Self::Served(service) => Some(service.endpoint()),
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => None,
        }
    }

    /// Returns what is accepted of JSON Schema.
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Served(service) => service.endpoint().dialect,
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => Dialect::Llguidance,
        }
    }

    /// Returns what the model is called there.
    pub fn model(&self) -> &str {
        match self {
            Self::Served(service) => &service.endpoint().model,
            #[cfg(feature = "embedded")]
            Self::Embedded(embedded) => embedded.name(),
        }
    }

    /// Returns what tokens cost, if that is known.
    pub fn price(&self) -> Option<Price> {
        match self {
            Self::Served(service) => Price::of(service.endpoint().wire, self.model()),
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => Some(Price::FREE),
        }
    }

    /// Returns the provider's name by OpenTelemetry's conventions, which ours is added to.
    pub(crate) fn telemetry_name(&self) -> &'static str {
        match self {
            Self::Served(service) => match service.endpoint().wire {
                Wire::Anthropic => "anthropic",
                Wire::Responses | Wire::Chat => "openai",
                Wire::Gemini => "gcp.gemini",
            },
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => "airtight.embedded",
        }
    }

    /// Sends `request` once and gives every piece of the answer to `listen`, until `listen` breaks
    /// or `stop` is ready. What was said before is in the exchange, however it ends.
    pub async fn send(
        &self,
        request: &Request,
        listen: Listen<'_>,
        stop: impl Future<Output = ()> + Send,
    ) -> Exchange {
        let mut assembler = Assembler::default();
        let answer = async {
            match self {
                Self::Served(service) => service.exchange(request, listen, &mut assembler).await,
                #[cfg(feature = "embedded")]
                Self::Embedded(embedded) => {
                    embedded.exchange(request, listen, &mut assembler).await
                }
            }
        };
        let end = tokio::select! {
            biased;
            () = stop => End::Stopped,
            end = answer => end,
        };
        Exchange { reply: assembler.finish(), end }
    }
}
