//! Providers that are busy, down, or do not want us.

use airtight_fake::Turn;
use serde_json::json;

use crate::stage::{Said, Stage, good, lines};

/// Times that make an outage short.
const SHORT: [&str; 4] = ["--circuit-pause", "10ms", "--patience", "400ms"];

#[test]
fn a_refused_key_ends_the_batch_after_one_request() {
    let stage = Stage::new([Turn::status(401).forever()]).with("in.jsonl", lines(100));
    let said = stage.batch(&[]);
    assert_eq!(said.code, 41, "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
    assert_eq!(said.stderr.matches("error:").count(), 1, "{said:?}");
}

#[test]
fn a_model_that_does_not_exist_ends_the_batch_after_one_request() {
    let unknown = Turn::status(404).forever();
    let stage = Stage::new([unknown]).with("in.jsonl", lines(100));
    let said = stage.batch(&[]);
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
}

#[test]
fn a_provider_that_is_down_is_asked_seldom_and_the_batch_goes_on_later() {
    let stage = Stage::new([Turn::status(503).forever()]).with("in.jsonl", lines(1000));
    let said = stage.batch(&SHORT);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("error: the provider does not come back: "), "{said:?}");
    let requests = stage.fake.requests().len();
    // Five until it is known, then one for each pause of 5 ms, 10 ms, 20 ms, … up to the patience.
    assert!((5..=20).contains(&requests), "{requests}");
    assert_eq!(stage.results("out.jsonl.failures.jsonl"), Vec::<serde_json::Value>::new());
}

#[test]
fn a_batch_without_its_provider_does_not_look_complete() {
    let stage = Stage::new([Turn::status(503).forever()]).with("in.jsonl", lines(100));
    let said = stage.batch(&[&SHORT[..], &["--json"]].concat());
    assert_eq!(said.code, 3, "{said:?}");
    let summary = &said.lines()[0];
    assert_eq!((&summary["inputs"], &summary["left"]), (&json!(100), &json!(100)), "{summary}");
    assert_eq!((&summary["failed"], &summary["complete"]), (&json!(0), &json!(false)));
    assert!(said.stderr.contains(" · stopped early · 100 left"), "{said:?}");
    let said = stage.batch(&[&SHORT[..], &["--limit", "7"]].concat());
    assert!(said.stderr.contains(" · stopped early · 7 left"), "{said:?}");
}

#[test]
fn a_provider_that_is_out_of_reach_is_told_as_such_with_its_host() {
    let stage = Stage::new([]).with("in.jsonl", lines(100));
    // Nobody listens there.
    let place = "127.0.0.1:1";
    let batch = ["batch", "review.json", "in.jsonl", "-o", "out.jsonl"];
    let mut dead = stage.command(&[&batch[..], &SHORT].concat());
    let said: Said =
        dead.env("ANTHROPIC_BASE_URL", format!("http://{place}")).output().unwrap().into();
    assert_eq!(said.code, 3, "{said:?}");
    let told =
        format!("error: the provider is out of reach: anthropic: no connection to {place}: ");
    assert!(said.stderr.contains(&told), "{said:?}");
    assert!(said.stderr.contains("hint: check the address (`--base-url`)"), "{said:?}");
    assert!(!said.stderr.contains("left alone"), "{said:?}");
    assert_eq!(stage.results("out.jsonl.failures.jsonl"), Vec::<serde_json::Value>::new());
}

#[test]
fn work_goes_on_when_a_provider_comes_back() {
    let outage: Vec<Turn> = (0..8).map(|_| Turn::status(529)).collect();
    let turns = [good(), good()].into_iter().chain(outage).chain([good().forever()]);
    let stage = Stage::new(turns.collect::<Vec<_>>()).with("in.jsonl", lines(40));
    let said = stage.batch(&["--circuit-pause", "10ms"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(stage.positions(), (1..=40).collect::<Vec<_>>());
    assert_eq!(stage.fake.requests().len(), 48);
}

#[test]
fn requests_that_are_too_many_are_sent_again_after_the_pause_that_was_asked_for() {
    let busy: Vec<Turn> = (0..6).map(|_| Turn::status(429).header("retry-after", "0.05")).collect();
    let turns = [good(), good(), good()].into_iter().chain(busy).chain([good().forever()]);
    let stage = Stage::new(turns.collect::<Vec<_>>()).with("in.jsonl", lines(40));
    let said = stage.batch(&["--circuit-pause", "10ms"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(stage.positions(), (1..=40).collect::<Vec<_>>());
}

#[test]
fn a_provider_that_wants_to_be_left_alone_for_long_is() {
    let stage = Stage::new([Turn::status(429).header("retry-after", "3600").forever()]);
    let stage = stage.with("in.jsonl", lines(100));
    let said = stage.batch(&[]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("left alone"), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
}

/// Without `--rate`, too: what one process is told, the others need not find out.
#[test]
fn what_a_provider_asks_of_one_process_holds_the_others() {
    let stage = Stage::new([Turn::status(429).header("retry-after", "3600").forever()]);
    let stage = stage.with("in.jsonl", lines(100)).with("more.jsonl", lines(100));
    assert_eq!((stage.batch(&[]).code, stage.fake.requests().len()), (3, 1));
    let more = ["batch", "review.json", "more.jsonl", "-o", "more.out.jsonl", "--patience", "1m"];
    let said = stage.say(&more);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("left alone"), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
    // Another key has limits of its own.
    let mut other = stage.command(&more);
    other.env("ANTHROPIC_API_KEY", "another-key-of-the-test").output().unwrap();
    assert_eq!(stage.fake.requests().len(), 2);
}

#[test]
fn a_reply_that_was_lost_is_on_record_and_asked_for_again() {
    let stage = Stage::new([good().cut_after(0), good()]).with("in.jsonl", lines(1));
    assert_eq!(stage.batch(&[]).code, 0);
    let attempts = stage.attempts(&stage.results("out.jsonl")[0]);
    let endings: Vec<_> = attempts.iter().map(|attempt| attempt.ending.as_deref()).collect();
    assert_eq!(endings, [Some("network"), Some("accepted")]);
}

#[test]
fn an_input_that_breaks_its_provider_fails_alone() {
    let broken = Turn::status(500).when_contains("ticket 5").forever();
    let stage = Stage::new([broken, good().forever()]).with("in.jsonl", lines(9));
    let said = stage.batch(&["--circuit-pause", "10ms", "--concurrency", "1"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(stage.positions(), [1, 2, 3, 4, 6, 7, 8, 9]);
}
