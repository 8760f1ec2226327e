//! `anthropic:NAME`: which vendor a model belongs to, and what that vendor is used to; or
//! `embedded:NAME`: which weights.

use std::path::Path;

use airtight_core::codec::Wire;
use airtight_core::lower::Dialect;
use airtight_core::nearest;
use secrecy::SecretString;

use super::{Endpoint, EndpointError};

/// Whose model it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// Anthropic.
    Anthropic,
    /// `OpenAI`, by the Responses API.
    Openai,
    /// `OpenAI`, by Chat Completions.
    OpenaiChat,
    /// Google.
    Gemini,
    /// Any server that speaks Chat Completions: Ollama, vLLM, llama.cpp, `OpenRouter`.
    OpenaiCompatible,
}

/// An environment variable that holds a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyVariable {
    /// Its name.
    pub name: &'static str,
    /// How the key is sent.
    pub carried: Carried,
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// As the wire format has it.
    ByFormat,
    /// As `authorization: Bearer …`, whatever the format has.
    AsBearer,
}

const fn by_format(name: &'static str) -> KeyVariable {
    KeyVariable { name, carried: Carried::ByFormat }
}

const ANTHROPIC_KEYS: &[KeyVariable] = &[
    by_format("ANTHROPIC_API_KEY"),
    KeyVariable { name: "ANTHROPIC_AUTH_TOKEN", carried: Carried::AsBearer },
];
const OPENAI_KEYS: &[KeyVariable] = &[by_format("OPENAI_API_KEY")];
/// The narrower name first: `GOOGLE_API_KEY` may well be the key of another service.
const GEMINI_KEYS: &[KeyVariable] = &[by_format("GEMINI_API_KEY"), by_format("GOOGLE_API_KEY")];

impl Vendor {
    /// Every vendor, in the order of help texts.
    pub const ALL: [Self; 5] =
        [Self::Anthropic, Self::Openai, Self::OpenaiChat, Self::Gemini, Self::OpenaiCompatible];

    /// Returns what stands before the colon.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
            Self::OpenaiChat => "openai-chat",
            Self::Gemini => "gemini",
            Self::OpenaiCompatible => "openai-compatible",
        }
    }

    /// Returns the format that the vendor speaks.
    pub fn wire(self) -> Wire {
        match self {
            Self::Anthropic => Wire::Anthropic,
            Self::Openai => Wire::Responses,
            Self::OpenaiChat | Self::OpenaiCompatible => Wire::Chat,
            Self::Gemini => Wire::Gemini,
        }
    }

    /// Returns what the vendor accepts of JSON Schema.
    ///
    /// Compatible servers are mostly llama.cpp or built on it; the caller may know better.
    pub fn dialect(self) -> Dialect {
        match self {
            Self::Anthropic => Dialect::Anthropic,
            Self::Openai | Self::OpenaiChat => Dialect::OpenaiStrict,
            Self::Gemini => Dialect::Gemini,
            Self::OpenaiCompatible => Dialect::LlamaCpp,
        }
    }

    /// Returns where the vendor serves; a compatible server can be anywhere.
    pub fn base_url(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::Openai | Self::OpenaiChat => Some("https://api.openai.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com"),
            Self::OpenaiCompatible => None,
        }
    }

    /// Returns the variables that hold the key, strongest first.
    pub fn key_variables(self) -> &'static [KeyVariable] {
        match self {
            Self::Anthropic => ANTHROPIC_KEYS,
            Self::Openai | Self::OpenaiChat | Self::OpenaiCompatible => OPENAI_KEYS,
            Self::Gemini => GEMINI_KEYS,
        }
    }

    /// Returns the variable that names another base URL.
    pub fn base_url_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_BASE_URL",
            Self::Openai | Self::OpenaiChat | Self::OpenaiCompatible => "OPENAI_BASE_URL",
            Self::Gemini => "GOOGLE_GEMINI_BASE_URL",
        }
    }

    /// Claims that the vendor answers nobody without a key.
    pub fn demands_key(self) -> bool {
        self != Self::OpenaiCompatible
    }

    fn of_prefix(prefix: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vendor| vendor.prefix() == prefix)
    }

    /// Guesses whose model a bare name is, for a hint.
    fn of_bare_name(name: &str) -> Option<Self> {
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if starts(&["claude"]) {
            Some(Self::Anthropic)
        } else if starts(&["gpt", "o1", "o3", "o4", "chatgpt"]) {
            Some(Self::Openai)
        } else if starts(&["gemini", "gemma"]) {
            Some(Self::Gemini)
        } else {
            None
        }
    }
}

/// A model as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Model {
    /// `vendor:name`: somebody serves it.
    Served(ModelName),
    /// `embedded` or `embedded:…`: it runs in this process.
    Embedded(Weights),
}

/// The weights of a model in this process, as the user names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weights {
    /// Those that are used if none are named.
    Usual,
    /// Those of this name.
    Named(String),
    /// This file, as it was typed.
    File(String),
}

/// What stands before the colon for a model in this process.
const EMBEDDED: &str = "embedded";

impl Model {
    /// Reads `vendor:name`, `embedded`, `embedded:NAME` or `embedded:PATH`.
    pub fn parse(text: &str) -> Result<Self, ModelNameError> {
        if text.trim() == EMBEDDED {
            return Ok(Self::Embedded(Weights::Usual));
        }
        match text.trim().split_once(':') {
            Some((EMBEDDED, weights)) => Weights::parse(weights).map(Self::Embedded),
            _ => ModelName::parse(text).map(Self::Served),
        }
    }
}

impl Weights {
    /// Reads a name or a path, which has a slash in it or ends in `.gguf`.
    pub fn parse(text: &str) -> Result<Self, ModelNameError> {
        let text = text.trim();
        let extension = Path::new(text).extension();
        let is_weights = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"));
        match text {
            "" => Err(ModelNameError::NoName { vendor: EMBEDDED }),
            path if is_weights || path.contains(['/', '\\']) => Ok(Self::File(path.to_owned())),
            name => Ok(Self::Named(name.to_owned())),
        }
    }
}

impl Model {
    /// Returns what is accepted of JSON Schema, unless the caller knows better.
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Served(model) => model.vendor.dialect(),
            Self::Embedded(_) => Dialect::Llguidance,
        }
    }
}

impl std::fmt::Display for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Served(model) => model.fmt(f),
            Self::Embedded(Weights::Usual) => f.write_str(EMBEDDED),
            Self::Embedded(Weights::Named(which) | Weights::File(which)) => {
                write!(f, "{EMBEDDED}:{which}")
            }
        }
    }
}

/// A served model as the user names it: `vendor:name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    /// Whose it is.
    pub vendor: Vendor,
    /// What the vendor calls it.
    pub name: String,
}

/// Why a text names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelNameError {
    /// There is no vendor in front.
    #[error("the model has no provider in front: `{given}`")]
    NoVendor {
        /// What was given.
        given: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },
    /// Nobody knows the vendor.
    #[error("unknown provider: `{given}`")]
    UnknownVendor {
        /// What stood before the colon.
        given: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },
    /// Nothing follows the colon.
    #[error("the provider `{vendor}` needs the name of a model")]
    NoName {
        /// The provider.
        vendor: &'static str,
    },
}

impl ModelNameError {
    /// Returns what to type instead.
    pub fn hint(&self) -> String {
        match self {
            Self::NoVendor { suggestion: Some(meant), .. }
            | Self::UnknownVendor { suggestion: Some(meant), .. } => {
                format!("did you mean `{meant}`?")
            }
            Self::NoVendor { .. } | Self::UnknownVendor { .. } => {
                let forms = Vendor::ALL.map(|vendor| format!("`{}:NAME`", vendor.prefix()));
                format!("use one of {}, or `{EMBEDDED}`", forms.join(", "))
            }
            Self::NoName { vendor: EMBEDDED } => {
                format!("write it as `{EMBEDDED}:NAME`, or `{EMBEDDED}` for the default weights")
            }
            Self::NoName { vendor } => format!("write it as `{vendor}:NAME`"),
        }
    }
}

impl ModelName {
    /// Reads `vendor:name`; the name may hold colons itself (`llama3.2:1b`).
    pub fn parse(text: &str) -> Result<Self, ModelNameError> {
        let text = text.trim();
        let known = text.split_once(':').map(|(prefix, name)| (Vendor::of_prefix(prefix), name));
        let (Some((found, name)), prefix) = (known, text.split(':').next().unwrap_or(text)) else {
            let meant =
                Vendor::of_bare_name(text).map(|vendor| format!("{}:{text}", vendor.prefix()));
            return Err(ModelNameError::NoVendor { given: text.to_owned(), suggestion: meant });
        };
        let Some(vendor) = found else {
            let known = Vendor::ALL.into_iter().map(Vendor::prefix).chain([EMBEDDED]);
            let meant = nearest(prefix, known).map(|vendor| format!("{vendor}:{name}"));
            return Err(ModelNameError::UnknownVendor {
                given: prefix.to_owned(),
                suggestion: meant,
            });
        };
        let name = name.trim();
        if name.is_empty() {
            return Err(ModelNameError::NoName { vendor: vendor.prefix() });
        }
        Ok(Self { vendor, name: name.to_owned() })
    }

    /// Makes an endpoint of what `lookup` holds under the vendor's usual variable names.
    ///
    /// `base_url`, if given, is stronger than the variable; empty values count as absent.
    pub fn endpoint(
        &self,
        base_url: Option<&str>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Endpoint, EndpointError> {
        let held = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let named = base_url.map(str::to_owned).or_else(|| held(self.vendor.base_url_variable()));
        let Some(url) = named.or_else(|| self.vendor.base_url().map(str::to_owned)) else {
            return Err(EndpointError::NoBaseUrl { variable: self.vendor.base_url_variable() });
        };
        let mut endpoint = Endpoint::new(self.vendor, &url, &self.name)?;
        let keys = self.vendor.key_variables().iter();
        let found = keys.filter_map(|variable| Some((variable.carried, held(variable.name)?)));
        if let Some((carried, key)) = found.into_iter().next() {
            endpoint.key = Some(SecretString::from(key.trim().to_owned()));
            endpoint.carried = carried;
        }
        Ok(endpoint)
    }
}

impl std::fmt::Display for ModelName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.vendor.prefix(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;
    use test_case::test_case;

    use super::*;

    #[test_case("anthropic:claude-sonnet-4-5", Vendor::Anthropic, "claude-sonnet-4-5")]
    #[test_case("openai:gpt-5", Vendor::Openai, "gpt-5")]
    #[test_case("openai-chat:gpt-5", Vendor::OpenaiChat, "gpt-5")]
    #[test_case("gemini:gemini-2.5-pro", Vendor::Gemini, "gemini-2.5-pro")]
    #[test_case("openai-compatible:llama3.2:1b", Vendor::OpenaiCompatible, "llama3.2:1b")]
    fn a_name_is_a_vendor_and_the_rest(text: &str, vendor: Vendor, name: &str) {
        let model = ModelName::parse(text).unwrap();
        assert_eq!(model, ModelName { vendor, name: name.to_owned() });
        assert_eq!(model.to_string(), text);
    }

    #[test_case("antropic:x", "unknown provider: `antropic`", "did you mean `anthropic:x`?")]
    #[test_case(
        "mistral:x",
        "unknown provider: `mistral`",
        "use one of `anthropic:NAME`, `openai:NAME`, `openai-chat:NAME`, `gemini:NAME`, `openai-compatible:NAME`, or `embedded`"
    )]
    #[test_case(
        "gpt-5",
        "the model has no provider in front: `gpt-5`",
        "did you mean `openai:gpt-5`?"
    )]
    #[test_case(
        "openai:",
        "the provider `openai` needs the name of a model",
        "write it as `openai:NAME`"
    )]
    #[test_case(
        "embedded: ",
        "the provider `embedded` needs the name of a model",
        "write it as `embedded:NAME`, or `embedded` for the default weights"
    )]
    fn a_wrong_name_says_what_to_type(text: &str, message: &str, hint: &str) {
        let error = Model::parse(text).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.hint().as_str()), (message, hint));
    }

    fn endpoint(model: &str, held: &[(&str, &str)]) -> Result<Endpoint, EndpointError> {
        let held: Vec<(String, String)> =
            held.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        ModelName::parse(model).unwrap().endpoint(None, |wanted| {
            held.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
        })
    }

    #[test]
    fn the_vendors_own_variables_are_used() {
        let held = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/x/"), ("ANTHROPIC_AUTH_TOKEN", "t")];
        let found = endpoint("anthropic:m", &held).unwrap();
        assert_eq!(found.base_url.as_str(), "http://127.0.0.1:1/x/");
        assert_eq!(found.carried, Carried::AsBearer);
        assert_eq!(found.key.unwrap().expose_secret(), "t");
    }

    #[test_case("embedded" => Weights::Usual)]
    #[test_case("embedded:smollm2-135m" => Weights::Named("smollm2-135m".to_owned()))]
    #[test_case("embedded:./m.gguf" => Weights::File("./m.gguf".to_owned()))]
    #[test_case("embedded:m.gguf" => Weights::File("m.gguf".to_owned()))]
    #[test_case("embedded:~/weights/m" => Weights::File("~/weights/m".to_owned()))]
    fn weights_are_named_or_a_file(text: &str) -> Weights {
        let Ok(Model::Embedded(weights)) = Model::parse(text) else { panic!("{text}") };
        weights
    }

    #[test]
    fn other_models_are_served() {
        let model = Model::parse("openai:embedded:x").unwrap();
        assert_eq!(model.to_string(), "openai:embedded:x");
        assert!(matches!(model, Model::Served(_)));
        let hint = Model::parse("embeded:x").unwrap_err().hint();
        assert_eq!(hint, "did you mean `embedded:x`?");
    }

    #[test]
    fn empty_variables_count_as_absent() {
        let found = endpoint("gemini:m", &[("GEMINI_API_KEY", " "), ("GOOGLE_API_KEY", "g\n")]);
        assert_eq!(found.unwrap().key.unwrap().expose_secret(), "g");
    }

    #[test]
    fn a_compatible_server_needs_an_address() {
        let error = endpoint("openai-compatible:m", &[]).unwrap_err();
        assert_eq!(error, EndpointError::NoBaseUrl { variable: "OPENAI_BASE_URL" });
    }
}
