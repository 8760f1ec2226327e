//! The same from Rust.

use airtight::{Contract, Mode, Outcome, Policy, Rung, Runner, Update};
use airtight_fake::{Fake, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
struct Review {
    summary: String,
    #[schemars(range(min = 0, max = 10))]
    score: u8,
}

fn review() -> Turn {
    Turn::call("structured_output", json!({ "summary": "fine", "score": 9 })).usage(100, 20)
}

fn fine() -> Review {
    Review { summary: "fine".to_owned(), score: 9 }
}

#[tokio::test]
async fn an_answer_has_the_type_of_its_contract() {
    let contract = Contract::<Review>::from_type().unwrap();
    let rejected = Turn::call("structured_output", json!({ "summary": "x", "score": 99 }));
    for model in ["anthropic:m", "openai:m", "openai-chat:m", "openai-compatible:m", "gemini:m"] {
        let fake = Fake::start([rejected.clone(), review()]).await.unwrap();
        let url = if model.starts_with("openai") { fake.openai_base() } else { fake.gemini_base() };
        let runner = Runner::new(model).key("sk-test").base_url(url).mode(Mode::Tool);
        let answer = runner.run(&contract, "Review").await.unwrap();
        assert_eq!(answer.value, fine());
        assert_eq!((answer.rung, answer.attempts.len(), answer.turns), (Rung::ReAsk, 2, 2));
        assert_eq!(answer.cost, None);
    }
}

#[tokio::test]
async fn a_failure_says_how_the_run_ended() {
    let contract = Contract::<Review>::from_type().unwrap();
    let fake = Fake::start([Turn::text("No.").forever()]).await.unwrap();
    let runner = Runner::new("anthropic:m").key("sk-test").base_url(fake.anthropic_base());
    let runner = runner.policy(Policy { reasks: 0, ..Policy::default() });
    let failure = runner.run(&contract, "Review").await.unwrap_err();
    assert_eq!(failure.outcome, Outcome::NoAnswer);
    assert_eq!(failure.report.unwrap().raw.as_deref(), Some("No."));
    let failure = Runner::new("anthropic:m").run(&contract, "x").await.unwrap_err();
    assert_eq!(failure.outcome, Outcome::Auth);
    let failure = Runner::new("claude").run(&contract, "x").await.unwrap_err();
    assert_eq!((failure.outcome, failure.hint.is_some()), (Outcome::Config, true));
}

#[tokio::test]
async fn an_answer_grows_until_it_is_done() {
    let contract = Contract::<Vec<Review>>::from_type().unwrap();
    let arguments = json!({ "value": [{ "summary": "a longer summary", "score": 9 }] });
    let turn = Turn::call("structured_output", arguments).chunk_chars(4).gate(6, "middle");
    let fake = Fake::start([turn]).await.unwrap();
    let runner = Runner::new("anthropic:m").key("sk-test").base_url(fake.anthropic_base());
    let runner = runner.mode(Mode::Tool);
    let mut streaming = runner.stream(&contract, "Review");
    let mut grown: Vec<Value> = Vec::new();
    let answer = loop {
        match streaming.next().await.unwrap() {
            Update::Partial(value) => {
                grown.push(value);
                fake.gate("middle").open();
            }
            Update::Done(answer) => break answer.unwrap(),
        }
    };
    assert!(streaming.next().await.is_none());
    // The rest was held back until the first piece was seen.
    assert!(!grown.is_empty());
    assert!(grown.iter().all(Value::is_array), "{grown:?}");
    assert_eq!(answer.value.len(), 1);
}
