//! Minimal requests that each vendor would accept.

use airtight_fake::{Fake, Script, Wire};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

pub(crate) const WIRES: [Wire; 4] = [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini];

/// How the answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Stream,
    Whole,
}

pub(crate) async fn start(script: impl Into<Script>) -> Fake {
    Fake::start(script).await.unwrap()
}

pub(crate) fn path(wire: Wire, manner: Manner) -> &'static str {
    match (wire, manner) {
        (Wire::Anthropic, _) => "/v1/messages",
        (Wire::Responses, _) => "/v1/responses",
        (Wire::Chat, _) => "/v1/chat/completions",
        (Wire::Gemini, Manner::Stream) => "/v1beta/models/gem:streamGenerateContent?alt=sse",
        (Wire::Gemini, Manner::Whole) => "/v1beta/models/gem:generateContent",
    }
}

/// The smallest body: a user who says `prompt`.
pub(crate) fn body(wire: Wire, manner: Manner, prompt: &str) -> Value {
    let stream = manner == Manner::Stream;
    let messages = json!([{"role": "user", "content": prompt}]);
    match wire {
        Wire::Anthropic => {
            json!({"model": "claude", "max_tokens": 100, "messages": messages, "stream": stream})
        }
        Wire::Responses => json!({"model": "gpt", "input": prompt, "stream": stream}),
        Wire::Chat if stream => json!({
            "model": "gpt",
            "messages": messages,
            "stream": true,
            "stream_options": {"include_usage": true},
        }),
        Wire::Chat => json!({"model": "gpt", "messages": messages}),
        Wire::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]}),
    }
}

/// A request with this body and every vendor's key.
pub(crate) fn post(fake: &Fake, wire: Wire, manner: Manner, body: &Value) -> RequestBuilder {
    Client::builder()
        .no_proxy()
        .build()
        .unwrap()
        .post(format!("{}{}", fake.anthropic_base(), path(wire, manner)))
        .header("x-api-key", "key")
        .header("x-goog-api-key", "key")
        .header("anthropic-version", "2023-06-01")
        .bearer_auth("key")
        .json(body)
}

pub(crate) async fn ask(fake: &Fake, wire: Wire, manner: Manner) -> Response {
    post(fake, wire, manner, &body(wire, manner, "Hello")).send().await.unwrap()
}

/// Reads until the body ends or breaks, and says which.
pub(crate) async fn read(mut response: Response) -> (Vec<Vec<u8>>, Result<(), reqwest::Error>) {
    let mut chunks = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => chunks.push(chunk.to_vec()),
            Ok(None) => return (chunks, Ok(())),
            Err(error) => return (chunks, Err(error)),
        }
    }
}
