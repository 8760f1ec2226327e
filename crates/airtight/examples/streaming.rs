//! Shows an answer while it grows.
//!
//! `ANTHROPIC_API_KEY=… cargo run --example streaming`

use airtight::{Contract, Runner, Update};
use schemars::JsonSchema;
use serde::Deserialize;

/// A story in parts.
#[derive(Debug, Deserialize, JsonSchema)]
struct Story {
    title: String,
    #[schemars(length(min = 3))]
    chapters: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example is a whole program"
)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let contract = Contract::<Story>::from_type()?;
    let runner =
        Runner::new("anthropic:claude-sonnet-4-5").key(std::env::var("ANTHROPIC_API_KEY")?);
    let mut story = runner.stream(&contract, "Tell a story of a lighthouse.");
    while let Some(update) = story.next().await {
        match update {
            Update::Partial(value) => println!("{value}"),
            Update::Done(answer) => {
                let Story { title, chapters } = answer?.value;
                println!("{title}\n{}", chapters.join("\n"));
            }
        }
    }
    Ok(())
}
