//! What may be spent.

use crate::stage::{Stage, good, lines};

#[test]
fn a_budget_of_tokens_is_kept_by_all_requests_together_and_the_rest_is_done_later() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(50));
    let output = ["--max-output-tokens", "20"];
    let said = stage.batch(&[&["--max-tokens-total", "1300", "--json"], &output[..]].concat());
    assert_eq!(said.code, 55, "{said:?}");
    let done = stage.positions();
    let tokens = said.lines()[0]["tokens"].as_u64().unwrap();
    assert!(!done.is_empty() && tokens <= 1300, "{tokens} for {done:?}");
    assert_eq!(stage.fake.requests().len() as u64 * 120, tokens);
    // What was spent before counts.
    let said = stage.batch(&[&["--max-tokens-total", "1300"], &output[..]].concat());
    assert_eq!((said.code, stage.positions()), (55, done), "{said:?}");
    let said = stage.batch(&[&["--max-tokens-total", "100000"], &output[..]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(stage.positions(), (1..=50).collect::<Vec<_>>());
    assert_eq!(stage.fake.requests().len(), 50);
}

#[test]
fn a_budget_of_money_needs_a_price() {
    let stage = Stage::new([good().forever()]).with("in.jsonl", lines(2));
    let said = stage.batch(&["--budget-usd", "1"]);
    assert_eq!(said.code, 52, "{said:?}");
    let model = ["--model", "anthropic:claude-sonnet-4-5", "--max-output-tokens", "20"];
    let said = stage.batch(&[&["--budget-usd", "0.000001"], &model[..]].concat());
    assert_eq!(said.code, 55, "{said:?}");
    assert!(stage.fake.requests().is_empty());
    let said = stage.batch(&[&["--budget-usd", "1"], &model[..]].concat());
    assert_eq!(said.code, 0, "{said:?}");
}
