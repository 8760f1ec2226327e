//! The ceiling: the same requests with nothing around them. The answer is read, and only looked at.

use airtight_bench_peers::{Failure, Load};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let load = Load::from_arguments()?;
    let url = format!("{}/chat/completions", load.base_url);
    let body = load.body.to_string();
    let client = reqwest::Client::new();
    load.perform(move |_| {
        let request = client.post(&url).header("content-type", "application/json").bearer_auth("x");
        let request = request.body(body.clone());
        async move {
            let response = request.send().await?.error_for_status()?;
            Ok(!response.bytes().await?.is_empty())
        }
    })
    .await
}
