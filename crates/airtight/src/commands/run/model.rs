//! Which model, where, and with which key.

use airtight_agent::provider::{
    Carried, Endpoint, EndpointError, Model, ModelName, Privacy, Provider, Timeouts, Vendor,
    Weights,
};
use airtight_core::run;
use secrecy::SecretString;

use super::job;
use crate::cli::ModelArgs;
use crate::config::{Config, Entry, Key};
use crate::env::Environment;
use crate::error::{Error, Outcome};

/// The variable whose key is used whoever the provider of the model in force is.
pub(crate) const ANY_KEY: &str = "AIRTIGHT_API_KEY";

/// Where the key of `OPENAI_API_KEY` is at home.
const OPENAI_HOST: &str = "api.openai.com";

/// Whether a model is the one in force, which alone has the settings that name no provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Chosen,
    Other,
}

/// Returns the model in force; nobody who has set none and has no key for any is left without one.
pub(crate) fn chosen(config: &Config, environment: &Environment) -> Result<Model, Error> {
    let Some(entry) = config.strongest(Key::Model) else {
        let is_alone = cfg!(feature = "embedded") && !knows_provider(config, environment);
        return if is_alone { Ok(Model::Embedded(Weights::Usual)) } else { Err(missing()) };
    };
    parse(entry)
}

/// Returns the model that looks for answers in text, if one is named and may.
pub(super) fn extractor(config: &Config) -> Result<Option<Model>, Error> {
    let entry = config.strongest(Key::Extractor).filter(|_| !job::is_strict(config));
    entry.map(parse).transpose()
}

/// Reads the name of a model, and says where a wrong one was set.
pub(in crate::commands) fn parse(entry: &Entry) -> Result<Model, Error> {
    Model::parse(&entry.value.to_string()).map_err(|error| {
        let hint = error.hint();
        Error::new(Outcome::Contract, format!("no such model ({})", entry.origin))
            .caused_by(error)
            .hint(hint)
    })
}

/// Refuses flags that the model in force has no use for.
pub(in crate::commands) fn refuse_idle_flags(
    flags: &ModelArgs,
    model: &Model,
) -> Result<(), Error> {
    let refused = |message: &str, hint: &str| Err(Error::new(Outcome::Usage, message).hint(hint));
    match model {
        Model::Embedded(_) if flags.base_url.is_some() => refused(
            "`--base-url` says where a provider is, and the embedded model is in this process",
            "leave it out, or name another model by `--model PROVIDER:NAME`",
        ),
        Model::Served(_) if flags.seed.is_some() => refused(
            "`--seed` is for the embedded model: a provider has a chance of its own",
            "leave it out, or use `--model embedded`",
        ),
        Model::Served(_) if flags.examples.is_some() => refused(
            "`--examples` are shown to the embedded model alone",
            "leave it out, or use `--model embedded`",
        ),
        Model::Embedded(_) | Model::Served(_) => Ok(()),
    }
}

/// Decides where chance begins for a model in this process.
pub(in crate::commands) fn seeded(provider: Provider, seed: Option<u64>) -> Provider {
    match (provider, seed) {
        #[cfg(feature = "embedded")]
        (Provider::Embedded(model), Some(seed)) => Provider::Embedded(model.seeded(seed)),
        (provider, _) => provider,
    }
}

/// Claims that there is a key or an address of some provider.
fn knows_provider(config: &Config, environment: &Environment) -> bool {
    let is_set = |variable: &str| environment.variable(variable).is_some();
    let is_known = |vendor: Vendor| {
        let (base_url, key_variable) = own_settings(vendor);
        let named = config.text(base_url).is_some() || config.text(key_variable).is_some();
        named || vendor.key_variables().iter().any(|key| is_set(key.name))
    };
    is_set(ANY_KEY) || config.text(Key::BaseUrl).is_some() || Vendor::ALL.into_iter().any(is_known)
}

fn missing() -> Error {
    let named = Error::new(Outcome::Contract, "no model is set").hint(
        "pass `--model anthropic:NAME`, `openai:NAME`, `gemini:NAME` or `openai-compatible:NAME`",
    );
    let or_ours = if cfg!(feature = "embedded") {
        named.hint("or `--model embedded` for a small one in this process, without a key")
    } else {
        named
    };
    or_ours
        .hint("or set `AIRTIGHT_MODEL`, or `model = \"anthropic:NAME\"` in `airtight.toml`")
        .hint("the key is read from `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`")
}

/// Returns where the model is, with its key if there is one.
pub(crate) fn endpoint(
    model: &ModelName,
    standing: Standing,
    config: &Config,
    environment: &Environment,
) -> Result<Endpoint, Error> {
    let mut endpoint = located(model, standing, config, environment)?;
    let (_, key_variable) = own_settings(model.vendor);
    let any_key = match standing {
        Standing::Chosen => environment.variable(ANY_KEY),
        Standing::Other => None,
    };
    if let Some(key) = named_key(any_key, config.text(key_variable), environment)? {
        endpoint.key = Some(key);
        endpoint.carried = Carried::ByFormat;
    }
    Ok(endpoint)
}

/// Returns where the model is, for who does not ask it: a key that was named need not be there.
pub(super) fn located(
    model: &ModelName,
    standing: Standing,
    config: &Config,
    environment: &Environment,
) -> Result<Endpoint, Error> {
    let any_url = match standing {
        Standing::Chosen => config.text(Key::BaseUrl),
        Standing::Other => None,
    };
    let url = any_url.or_else(|| config.text(own_settings(model.vendor).0));
    let lookup = |name: &str| environment.variable(name).map(str::to_owned);
    model.endpoint(url, lookup).map_err(|error| no_such_place(model, standing, error))
}

fn no_such_place(model: &ModelName, standing: Standing, error: EndpointError) -> Error {
    let refused = Error::new(Outcome::Contract, format!("no such place for `{model}`"));
    let EndpointError::NoBaseUrl { variable } = error else { return refused.caused_by(error) };
    let hint = match standing {
        Standing::Chosen => format!("name it by `--base-url URL`, or type `export {variable}=…`"),
        // `--base-url` is where the chosen model is.
        Standing::Other => format!("type `export {variable}=…`"),
    };
    refused.caused_by(error).hint(hint)
}

/// Returns the settings that a vendor has of its own: its address, and the variable with its key.
fn own_settings(vendor: Vendor) -> (Key, Key) {
    match vendor {
        Vendor::Anthropic => (Key::AnthropicBaseUrl, Key::AnthropicKeyEnv),
        Vendor::Openai | Vendor::OpenaiChat => (Key::OpenaiBaseUrl, Key::OpenaiKeyEnv),
        Vendor::Gemini => (Key::GeminiBaseUrl, Key::GeminiKeyEnv),
        Vendor::OpenaiCompatible => (Key::CompatibleBaseUrl, Key::CompatibleKeyEnv),
    }
}

/// Says what to do if the provider of the model in force refuses the key: it names the variable that
/// the key came from.
pub(crate) fn key_hint(model: &ModelName, config: &Config, environment: &Environment) -> String {
    let is_set = |name: &&str| environment.variable(name).is_some();
    let usual = || model.vendor.key_variables().iter().map(|key| key.name);
    let named = Some(ANY_KEY).filter(is_set).or(config.text(own_settings(model.vendor).1));
    let variable = named.or_else(|| usual().find(is_set)).or_else(|| usual().next());
    let variable = variable.unwrap_or(ANY_KEY);
    format!("set another key in `{variable}`, or see that its account may use `{model}`")
}

/// Returns the key that was named explicitly.
fn named_key(
    any: Option<&str>,
    variable: Option<&str>,
    environment: &Environment,
) -> Result<Option<SecretString>, Error> {
    if let Some(key) = any {
        return Ok(Some(SecretString::from(key.trim().to_owned())));
    }
    let Some(variable) = variable else { return Ok(None) };
    match environment.variable(variable) {
        Some(key) => Ok(Some(SecretString::from(key.trim().to_owned()))),
        None => Err(Error::new(
            AUTH,
            format!("`api_key_env` names a variable that is not set: `{variable}`"),
        )
        .hint(format!("type `export {variable}=…`"))),
    }
}

const AUTH: Outcome = Outcome::Run(run::Outcome::Auth);

/// Refuses a provider that answers nobody without a key, if there is none.
pub(crate) fn require_key(model: &ModelName, endpoint: &Endpoint) -> Result<(), Error> {
    if endpoint.key.is_some() || !model.vendor.demands_key() {
        return Ok(());
    }
    let names: Vec<&str> = model.vendor.key_variables().iter().map(|key| key.name).collect();
    let first = names.first().copied().unwrap_or(ANY_KEY);
    Err(Error::new(AUTH, format!("there is no key for `{}`", model.vendor.prefix()))
        .hint(format!("type `export {first}=…`")))
}

/// Says what deserves a warning about where the key goes.
pub(crate) fn warning(endpoint: &Endpoint) -> Option<String> {
    let is_readable = endpoint.key.is_some() && endpoint.privacy() == Privacy::Readable;
    is_readable.then(|| "the key is sent over plain HTTP: others on the way can read it".to_owned())
}

/// Says that a key meant for one vendor goes to somebody else, if nobody named it for that.
pub(crate) fn stray_key(
    model: &ModelName,
    endpoint: &Endpoint,
    config: &Config,
    environment: &Environment,
) -> Option<String> {
    let is_named =
        environment.variable(ANY_KEY).is_some() || config.text(Key::CompatibleKeyEnv).is_some();
    let host = endpoint.base_url.host_str().filter(|host| *host != OPENAI_HOST)?;
    let strays = model.vendor == Vendor::OpenaiCompatible && endpoint.key.is_some() && !is_named;
    strays.then(|| {
        format!("the key in `OPENAI_API_KEY` is sent to `{host}`; `{ANY_KEY}` names another")
    })
}

/// Makes the provider.
pub(crate) fn provider(endpoint: Endpoint, config: &Config) -> Result<Provider, Error> {
    let usual = Timeouts::default();
    let timeouts = Timeouts {
        connect: config.duration(Key::ConnectTimeout).unwrap_or(usual.connect),
        head: config.duration(Key::HeadTimeout).unwrap_or(usual.head),
        idle: config.duration(Key::IdleTimeout).unwrap_or(usual.idle),
        total: config.duration(Key::TotalTimeout).unwrap_or(usual.total),
    };
    Provider::new(endpoint, timeouts).map_err(|error| {
        Error::new(Outcome::Contract, "the provider cannot be used").caused_by(error)
    })
}
