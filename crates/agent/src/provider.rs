//! Model providers: over HTTP, in this process, or behind an agent CLI.
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

use airtight_core::codec::{Assembler, Delta, ProviderFailure, Reply, Request, Usage, Wire};
use airtight_core::lower::Dialect;
use airtight_core::price::Price;
use airtight_core::run::{Account, Extractor};
use airtight_core::transcript::{Event, Program, Record};

#[cfg(feature = "embedded")]
pub use embedded::Embedded;
pub(crate) use endpoint::is_loopback;
pub use endpoint::{Endpoint, EndpointError, Privacy, parse_base_url};
pub use model::{Carried, KeyVariable, Model, ModelName, ModelNameError, Vendor, Weights};
pub use retry::{Retries, retry_after};
pub use transport::{Service, Timeouts};

use crate::harness::{Harness, Traits};

/// One model, wherever it is. Clones share its connections, or its weights.
#[derive(Debug, Clone)]
pub enum Provider {
    /// It is served over HTTP.
    Served(Box<Service>),
    /// It is in this process.
    #[cfg(feature = "embedded")]
    Embedded(Embedded),
    /// An agent CLI stands between.
    Harness(Harness),
}

/// What came of one request.
#[derive(Debug)]
pub struct Exchange {
    /// What was said, whole or not.
    pub reply: Reply,
    /// How it ended.
    pub end: End,
    /// What an agent CLI came to, if one was called.
    pub record: Option<Box<Record>>,
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

/// What is heard while a request is answered.
#[derive(Debug)]
pub enum Heard<'a> {
    /// A piece of the answer.
    Delta(&'a Delta),
    /// Something that an agent CLI does by itself before it answers.
    Activity(Box<Event>),
    /// An agent CLI asks its model once more, and has used so much before.
    WentOn(Usage),
}

/// Hears everything while a request is answered, and may break off.
pub(crate) type Listen<'a> = &'a mut (dyn FnMut(Heard<'_>) -> ControlFlow<()> + Send);

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
            Self::Harness(_) => None,
        }
    }

    /// Returns what is accepted of JSON Schema.
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Served(service) => service.endpoint().dialect,
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => Dialect::Llguidance,
            Self::Harness(harness) => Traits::of(harness.program()).dialect,
        }
    }

    /// Returns what the model is called there.
    pub fn model(&self) -> &str {
        match self {
            Self::Served(service) => &service.endpoint().model,
            #[cfg(feature = "embedded")]
            Self::Embedded(embedded) => embedded.name(),
            Self::Harness(harness) => harness.model(),
        }
    }

    /// Returns what tokens cost, if that is known.
    pub fn price(&self) -> Option<Price> {
        match self {
            Self::Served(service) => Price::of(service.endpoint().wire, self.model()),
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => Some(Price::FREE),
            Self::Harness(_) => None,
        }
    }

    /// Returns what a run must know of it to have it extract answers.
    pub fn extractor(&self) -> Extractor {
        Extractor {
            model: self.model().to_owned(),
            dialect: self.dialect(),
            price: self.price(),
            account: self.account(),
        }
    }

    /// Returns who says what an answer costs.
    pub fn account(&self) -> Account {
        match self {
            Self::Served(_) => Account::Price,
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => Account::Price,
            Self::Harness(harness) => Traits::of(harness.program()).account,
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
            Self::Harness(harness) => match harness.program() {
                Program::Claude => "airtight.claude",
                Program::Codex => "airtight.codex",
                Program::Qwen => "airtight.qwen",
                Program::Gemini => "airtight.gemini",
                Program::Opencode => "airtight.opencode",
            },
        }
    }

    /// Sends `request` once and tells `listen` everything, until `listen` breaks or `stop` is ready.
    /// What was said before is in the exchange, however it ends.
    pub async fn send(
        &self,
        request: &Request,
        listen: Listen<'_>,
        stop: impl Future<Output = ()> + Send,
    ) -> Exchange {
        match self {
            Self::Served(service) => {
                assembled(stop, async |assembler| {
                    service.exchange(request, listen, assembler).await
                })
                .await
            }
            #[cfg(feature = "embedded")]
            Self::Embedded(embedded) => {
                assembled(stop, async |assembler| {
                    embedded.exchange(request, listen, assembler).await
                })
                .await
            }
            // It ends its program by itself, and takes its time for that.
            Self::Harness(harness) => Box::pin(harness.exchange(request, listen, stop)).await,
        }
    }
}

/// Collects an answer until `stop` is ready.
async fn assembled(
    stop: impl Future<Output = ()>,
    answer: impl AsyncFnOnce(&mut Assembler) -> End,
) -> Exchange {
    let mut assembler = Assembler::default();
    let end = tokio::select! {
        biased;
        () = stop => End::Stopped,
        end = answer(&mut assembler) => end,
    };
    Exchange { reply: assembler.finish(), end, record: None }
}
