//! Asks a model of `OpenAI`, by the Responses API.
//!
//! `OPENAI_API_KEY=… cargo run --example openai`

use airtight::{Contract, Runner};
use schemars::JsonSchema;
use serde::Deserialize;

/// A country, as the model knows it.
#[derive(Debug, Deserialize, JsonSchema)]
struct Country {
    name: String,
    capital: String,
    /// In millions.
    #[schemars(range(min = 0))]
    inhabitants: f64,
}

#[tokio::main(flavor = "current_thread")]
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example is a whole program"
)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let contract = Contract::<Country>::from_type()?;
    let runner = Runner::new("openai:gpt-5-mini").key(std::env::var("OPENAI_API_KEY")?);
    let answer = runner.run(&contract, "Where is the Eiffel Tower?").await?;
    let Country { name, capital, inhabitants } = answer.value;
    println!("{name}: {capital}, {inhabitants} million");
    println!("{:?} after {} attempts, {:?}", answer.rung, answer.attempts.len(), answer.usage);
    Ok(())
}
