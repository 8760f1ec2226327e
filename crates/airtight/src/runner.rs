//! Runs, from Rust.

mod streaming;
mod weights;

use std::fmt;
use std::path::PathBuf;

use airtight_agent::provider::{Model, ModelName, ModelNameError, Provider, Retries, Timeouts};
use airtight_agent::{Agent, Event, Hooks, Observer, Toolbox};
use airtight_core::Source;
use airtight_core::run::{Job, Mode, Outcome, Policy, Report, Run, Terminal};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::answer::{self, Answer, RunFailure};
use crate::typed::Contract;
pub use streaming::{Streaming, Update};

/// Has a model answer by contracts.
///
/// The environment is not read: the key is an argument.
///
/// ```no_run
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
/// #[derive(Debug, Deserialize, JsonSchema)]
/// struct Capital {
///     city: String,
///     inhabitants: u64,
/// }
///
/// # async fn example(key: String) -> Result<(), Box<dyn std::error::Error>> {
/// let contract = airtight::Contract::<Capital>::from_type()?;
/// let runner = airtight::Runner::new("anthropic:claude-sonnet-4-5").key(key);
/// let answer = runner.run(&contract, "What is the capital of France?").await?;
/// println!("{} ({:?}, {:?})", answer.value.city, answer.rung, answer.usage);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Runner {
    model: Result<Model, ModelNameError>,
    weights: weights::Shelf,
    base_url: Option<String>,
    key: Option<SecretString>,
    mode: Mode,
    system: Option<String>,
    source: Option<Source>,
    policy: Policy,
    timeouts: Timeouts,
    retries: Retries,
    interrupt: CancellationToken,
}

impl fmt::Debug for Runner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runner").field("model", &self.model).finish_non_exhaustive()
    }
}

impl Runner {
    /// Makes a runner for `anthropic:NAME`, `openai:NAME`, `openai-chat:NAME`, `gemini:NAME`,
    /// `openai-compatible:NAME`, or a model in this process: `embedded`, `embedded:NAME` or
    /// `embedded:PATH`. What is wrong with the name is said by the first run.
    pub fn new(model: &str) -> Self {
        Self {
            model: Model::parse(model),
            weights: weights::Shelf::default(),
            base_url: None,
            key: None,
            mode: Mode::Auto,
            system: None,
            source: None,
            policy: Policy::default(),
            timeouts: Timeouts::default(),
            retries: Retries::default(),
            interrupt: CancellationToken::new(),
        }
    }

    /// Sets the provider's key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(SecretString::from(key.into()));
        self
    }

    /// Sets where the provider is.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the folder that weights of embedded models are looked up in by name.
    ///
    /// `airtight models path` says where the command keeps them. A model is loaded once for a runner
    /// and its clones, which take turns.
    #[must_use]
    pub fn models(mut self, folder: impl Into<PathBuf>) -> Self {
        self.weights = weights::Shelf::in_folder(folder.into());
        self
    }

    /// Sets how the contract is put to the model.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets standing instructions.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Sets the text that strings marked `x-grounded` must be quoted from.
    #[must_use]
    pub fn source(mut self, text: &str) -> Self {
        self.source = Some(Source::new(text));
        self
    }

    /// Sets bounds: re-asks, turns, tokens, time, cost.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets how long the provider may take.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets how failed requests are sent again.
    #[must_use]
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// Sets what ends runs cleanly, as interrupted.
    #[must_use]
    pub fn interrupt(mut self, token: CancellationToken) -> Self {
        self.interrupt = token;
        self
    }

    /// Asks the model until an answer satisfies `contract`, or the run fails.
    pub async fn run<T: DeserializeOwned>(
        &self,
        contract: &Contract<T>,
        prompt: impl Into<String> + Send,
    ) -> Result<Answer<T>, RunFailure> {
        let report = self.perform(contract, prompt.into(), &mut Silence).await?;
        answer::read(report)
    }

    /// Does the same, and tells of the answer while it grows.
    pub fn stream<'r, T: DeserializeOwned + 'r>(
        &'r self,
        contract: &'r Contract<T>,
        prompt: impl Into<String>,
    ) -> Streaming<'r, T> {
        Streaming::start(self, contract, prompt.into())
    }

    async fn perform<T>(
        &self,
        contract: &Contract<T>,
        prompt: String,
        observer: &mut dyn Observer,
    ) -> Result<Report, RunFailure> {
        let model = self.model.as_ref().map_err(|error| {
            RunFailure::new(Outcome::Config, error.to_string()).hint(error.hint())
        })?;
        let provider = match model {
            Model::Served(name) => self.served(name)?,
            Model::Embedded(weights) => self.weights.provider(weights).await?,
        };
        let run = Run::new(Job {
            contract: Some(contract.shared()),
            dialect: provider.dialect(),
            model: provider.model().to_owned(),
            mode: self.mode,
            system: self.system.clone(),
            prompt,
            tools: Vec::new(),
            terminal: Terminal::Offered,
            policy: self.policy.clone(),
            price: provider.price(),
            account: provider.account(),
            source: self.source.clone(),
        })?;
        let mut agent = Agent::new(provider, Toolbox::default(), Hooks::default());
        agent.retries = self.retries;
        Ok(agent.drive(run, observer, self.interrupt.child_token()).await)
    }

    /// Returns the member that holds the value if the provider wants an object and it is none.
    fn wrapper<T>(&self, contract: &Contract<T>) -> Option<&'static str> {
        let dialect = self.model.as_ref().ok()?.dialect();
        airtight_core::lower(contract, dialect).ok()?.inverse.wrapper()
    }

    fn served(&self, model: &ModelName) -> Result<Provider, RunFailure> {
        let refused = |error: airtight_agent::provider::EndpointError| {
            RunFailure::new(Outcome::Config, error.to_string())
        };
        let mut endpoint = model.endpoint(self.base_url.as_deref(), |_| None).map_err(refused)?;
        endpoint.key.clone_from(&self.key);
        if endpoint.key.is_none() && model.vendor.demands_key() {
            let message = format!("there is no key for `{}`", model.vendor.prefix());
            return Err(RunFailure::new(Outcome::Auth, message).hint("pass it to `Runner::key`"));
        }
        Provider::new(endpoint, self.timeouts).map_err(refused)
    }
}

/// Watches without a word.
struct Silence;

impl Observer for Silence {
    fn event(&mut self, _event: &Event) {}
}
