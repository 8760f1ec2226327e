//! Which vendor's door a request knocks at.

use axum::http::{HeaderMap, Method, Uri};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` Chat Completions.
    Chat,
    /// Gemini `generateContent`.
    Gemini,
}

/// How an answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// As server-sent events.
    Events,
    /// As one JSON document.
    Document,
    /// As a JSON array of what the events would hold: Gemini's stream without `alt=sse`.
    Array,
}

/// What is asked of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An answer of the model.
    Generate { wire: Wire, model: String, delivery: Delivery },
    /// How many tokens a request has.
    CountTokens(Wire),
    /// Which models there are.
    Models(Wire),
    /// One model.
    Model(Wire, String),
    /// Whether anybody is there; some clients look before they ask.
    Root,
    /// Nothing that this server knows.
    Unknown,
}

impl Endpoint {
    /// Returns what a request asks.
    pub(crate) fn of(method: &Method, uri: &Uri, headers: &HeaderMap, body: &Value) -> Self {
        let path = uri.path();
        if path == "/" {
            Self::Root
        } else if method == Method::POST {
            Self::posted(path, uri.query().unwrap_or_default(), body)
        } else if method == Method::GET {
            Self::listed(path, headers)
        } else {
            Self::Unknown
        }
    }

    fn posted(path: &str, query: &str, body: &Value) -> Self {
        let wire = match path {
            "/v1/messages" => Wire::Anthropic,
            "/v1/responses" => Wire::Responses,
            "/v1/chat/completions" => Wire::Chat,
            "/v1/messages/count_tokens" => return Self::CountTokens(Wire::Anthropic),
            _ => return Self::gemini(path, query),
        };
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        let delivery = match body.get("stream") {
            Some(Value::Bool(true)) => Delivery::Events,
            _ => Delivery::Document,
        };
        Self::Generate { wire, model, delivery }
    }

    fn gemini(path: &str, query: &str) -> Self {
        let Some((model, verb)) =
            path.strip_prefix("/v1beta/models/").and_then(|rest| rest.split_once(':'))
        else {
            return Self::Unknown;
        };
        let delivery = match verb {
            "generateContent" => Delivery::Document,
            "streamGenerateContent" if query.split('&').any(|pair| pair == "alt=sse") => {
                Delivery::Events
            }
            "streamGenerateContent" => Delivery::Array,
            "countTokens" => return Self::CountTokens(Wire::Gemini),
            _ => return Self::Unknown,
        };
        Self::Generate { wire: Wire::Gemini, model: model.to_owned(), delivery }
    }

    fn listed(path: &str, headers: &HeaderMap) -> Self {
        // Anthropic and OpenAI share the path; Anthropic's clients always name a version.
        let openai_or = || {
            if headers.contains_key("anthropic-version") { Wire::Anthropic } else { Wire::Chat }
        };
        if path == "/v1/models" {
            Self::Models(openai_or())
        } else if path == "/v1beta/models" {
            Self::Models(Wire::Gemini)
        } else if let Some(model) = path.strip_prefix("/v1/models/") {
            Self::Model(openai_or(), model.to_owned())
        } else if let Some(model) = path.strip_prefix("/v1beta/models/") {
            Self::Model(Wire::Gemini, model.to_owned())
        } else {
            Self::Unknown
        }
    }

    /// Returns the format, where the request has one.
    pub(crate) fn wire(&self) -> Option<Wire> {
        match self {
            Self::Generate { wire, .. } => Some(*wire),
            Self::CountTokens(wire) | Self::Models(wire) | Self::Model(wire, _) => Some(*wire),
            Self::Root | Self::Unknown => None,
        }
    }
}
