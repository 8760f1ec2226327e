//! Providers: is there a key, and does it work?

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use airtight_agent::provider::{End, Endpoint, ModelName, Provider, Timeouts, Vendor};
use airtight_core::codec::{FailureKind, Request};
use airtight_core::message::{Message, ToolChoice};
use airtight_core::run;
use serde::Serialize;

use crate::advice;
use crate::commands::run::model::{self, Standing};
use crate::config::Config;
use crate::env::Environment;
use crate::error::{Error, Outcome};

/// Long enough for a busy provider, short enough to wait for.
const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(5),
    head: Duration::from_secs(20),
    idle: Duration::from_secs(20),
    total: Duration::from_secs(20),
};

/// A name that no model has: its refusal shows that the key is taken, and costs nothing.
const NO_MODEL: &str = "airtight-doctor";

/// What is known of a provider.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Examined {
    pub(super) provider: &'static str,
    /// The model that was tried; absent if none is configured for this provider.
    pub(super) model: Option<String>,
    pub(super) base_url: Option<String>,
    /// Whether there is a key.
    pub(super) key: KeyFound,
    pub(super) state: State,
    /// What happened, for people.
    pub(super) message: String,
    pub(super) hints: Vec<String>,
    #[serde(skip)]
    pub(super) outcome: Outcome,
    #[serde(skip)]
    pub(super) source: Source,
}

/// Whose word a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Ours, about what is set.
    Settings,
    /// The provider's, or about what became of asking it.
    Provider,
}

/// Whether there is a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyFound {
    Present,
    Absent,
}

/// How a provider is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It answers.
    Working,
    /// There is a key or an address; it was not tried.
    Untried,
    /// There is neither key nor address.
    NotConfigured,
    /// It cannot be used.
    Failing,
}

/// Whether the network may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    Used,
    Avoided,
}

/// Examines one provider; `chosen` is the model in force.
pub(super) async fn examine(
    vendor: Vendor,
    chosen: Option<&ModelName>,
    config: &Config,
    environment: &Environment,
    network: Network,
) -> Examined {
    let own = chosen.filter(|model| model.vendor == vendor);
    let nobody = ModelName { vendor, name: NO_MODEL.to_owned() };
    let model = own.unwrap_or(&nobody);
    // A key or an address that names no provider is none of the others' business.
    let standing = if own.is_some() { Standing::Chosen } else { Standing::Other };
    let mut examined = Examined::absent(vendor.prefix(), own.map(ToString::to_string), "no key");
    let endpoint = match model::endpoint(model, standing, config, environment) {
        Ok(endpoint) => endpoint,
        Err(error) if own.is_some() => return examined.failing(&error),
        Err(_) => {
            "no address".clone_into(&mut examined.message);
            return examined;
        }
    };
    examined.base_url = Some(endpoint.base_url.to_string());
    if endpoint.key.is_some() {
        examined.key = KeyFound::Present;
    }
    if let Err(error) = model::require_key(model, &endpoint) {
        return if own.is_some() { examined.failing(&error) } else { examined };
    }
    match network {
        Network::Avoided => {
            examined.state = State::Untried;
            "not tried".clone_into(&mut examined.message);
            examined
        }
        Network::Used => attempt(examined, endpoint, own.is_some()).await,
    }
}

/// Sends the smallest request there is.
async fn attempt(mut examined: Examined, endpoint: Endpoint, is_own: bool) -> Examined {
    let request = Request {
        model: endpoint.model.clone(),
        system: None,
        messages: vec![Message::user("Say OK.")],
        tools: Vec::new(),
        choice: ToolChoice::Auto,
        format: None,
        examples: Vec::new(),
        max_output_tokens: Some(16),
        temperature: None,
        max_cost: None,
    };
    let provider = match Provider::new(endpoint, TIMEOUTS) {
        Ok(provider) => provider,
        Err(error) => {
            let error = Error::new(Outcome::Contract, error.to_string());
            return examined.failing(&error);
        }
    };
    let started = Instant::now();
    // The first piece shows that it works; nobody pays for the rest.
    let mut listen = |_: airtight_agent::provider::Heard<'_>| ControlFlow::Break(());
    let exchange = provider.send(&request, &mut listen, std::future::pending()).await;
    let took = started.elapsed().as_millis();
    match exchange.end {
        End::Whole | End::Stopped => {
            examined.state = State::Working;
            examined.message = format!("answers ({took} ms)");
            examined
        }
        End::Failed(failure) if !is_own && failure.kind == FailureKind::Request => {
            examined.state = State::Working;
            examined.message = format!("takes the key ({took} ms)");
            examined
        }
        End::Failed(failure) => {
            let is_unknown = failure.kind == FailureKind::Request && failure.status == Some(404);
            let outcome = if is_unknown { run::Outcome::Config } else { failure.kind.into() };
            let hint = failure.advice().as_ref().map(advice::words);
            let error = Error::new(Outcome::Run(outcome), failure.message);
            examined.source = Source::Provider;
            examined.failing(&hint.into_iter().fold(error, Error::hint))
        }
    }
}

impl Examined {
    /// Says that there is nothing to try, and why.
    pub(super) fn absent(provider: &'static str, model: Option<String>, why: &str) -> Self {
        Self {
            provider,
            model,
            base_url: None,
            key: KeyFound::Absent,
            state: State::NotConfigured,
            message: why.to_owned(),
            hints: Vec::new(),
            outcome: Outcome::Met,
            source: Source::Settings,
        }
    }

    /// Says that it cannot be used, and why.
    pub(super) fn failing(mut self, error: &Error) -> Self {
        self.state = State::Failing;
        let causes = error.causes();
        self.message =
            std::iter::once(error.to_string()).chain(causes).collect::<Vec<_>>().join(": ");
        self.hints.clone_from(&error.hints);
        self.outcome = error.kind;
        self
    }
}
