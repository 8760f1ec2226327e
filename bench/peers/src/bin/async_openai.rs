//! async-openai: the answer is read as a type, which stands for its check.

use airtight_bench_peers::{Failure, Load};
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::CreateChatCompletionRequest;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Triage {
    severity: Severity,
    component: String,
    summary: String,
    needs_human: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let load = Load::from_arguments()?;
    let config = OpenAIConfig::new().with_api_base(&load.base_url).with_api_key("x");
    let client = Client::with_config(config);
    let request: CreateChatCompletionRequest = serde_json::from_value(load.body.clone())?;
    load.perform(move |load| {
        let (client, request) = (client.clone(), request.clone());
        async move {
            let response = client.chat().create(request).await?;
            let said =
                response.choices.into_iter().next().and_then(|choice| choice.message.content);
            let triage: Triage = serde_json::from_str(&said.ok_or("no answer")?)?;
            Ok(serde_json::to_value(triage)? == load.answer)
        }
    })
    .await
}
