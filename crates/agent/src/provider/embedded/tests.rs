//! A model in the process, as the driver meets it. Its weights are random and tiny.

use std::future::{pending, ready};
use std::thread;
use std::time::Duration;

use airtight_core::Advice;
use airtight_core::codec::{Delta, Format};
use airtight_core::message::{Enforcement, Message, ToolChoice, ToolSpec};
use serde_json::{Value, json};
use tokio::runtime;
use tokio::time::timeout;

use super::*;
use crate::provider::{Exchange, Provider};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(1);

fn tiny() -> Embedded {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/local/tiny.gguf");
    Embedded::open(&path).unwrap()
}

fn provider() -> Provider {
    Provider::Embedded(tiny())
}

fn request(schema: Value) -> Request {
    Request {
        model: "tiny".to_owned(),
        system: None,
        messages: vec![Message::user("Go.")],
        tools: Vec::new(),
        choice: ToolChoice::Auto,
        format: Some(Format { name: "answer".to_owned(), schema: schema.into() }),
        examples: Vec::new(),
        max_output_tokens: Some(400),
        temperature: None,
        max_cost: None,
    }
}

fn long() -> Request {
    request(json!({"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 60}))
}

async fn send(provider: &Provider, request: &Request) -> Exchange {
    provider.send(request, &mut |_| ControlFlow::Continue(()), pending()).await
}

/// Returns how an answer ends that is soon said.
async fn ask(model: &Embedded) -> End {
    let brief = request(json!({"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2}));
    send(&Provider::Embedded(model.clone()), &brief).await.end
}

#[tokio::test]
async fn an_answer_is_heard_in_pieces_and_whole() {
    let mut pieces = 0;
    let mut listen = |heard: Heard<'_>| {
        let Heard::Delta(delta) = heard else { panic!("{heard:?}") };
        pieces += usize::from(matches!(delta, Delta::Text(_)));
        ControlFlow::Continue(())
    };
    // Short enough for a model without sense not to go in circles.
    let eight =
        json!({"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 8, "maxItems": 8});
    let exchange = provider().send(&request(eight), &mut listen, pending()).await;
    assert_eq!(exchange.end, End::Whole);
    let answer: Vec<i64> = serde_json::from_str(&exchange.reply.text()).unwrap();
    assert!(answer.len() == 8 && pieces > 1, "{pieces} pieces");
}

#[tokio::test]
async fn a_listener_that_breaks_off_stops_the_model_and_the_next_is_heard() {
    let provider = provider();
    let mut listen = |heard: Heard<'_>| {
        let Heard::Delta(delta) = heard else { panic!("{heard:?}") };
        if matches!(delta, Delta::Text(_)) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let exchange = provider.send(&long(), &mut listen, pending()).await;
    assert_eq!(exchange.end, End::Stopped);
    assert!(!exchange.reply.text().is_empty());
    let stopped = provider.send(&long(), &mut |_| ControlFlow::Continue(()), ready(())).await;
    assert_eq!(stopped.end, End::Stopped);
    assert_eq!(send(&provider, &request(json!({"const": 1}))).await.reply.text(), "1");
}

#[tokio::test]
async fn answers_to_several_at_once_are_whole() {
    let provider = provider();
    let (left, right) = (request(json!({"const": "left"})), request(json!({"const": "right"})));
    let answers = tokio::join!(send(&provider, &left), send(&provider, &right));
    assert_eq!(
        (answers.0.reply.text(), answers.1.reply.text()),
        (r#""left""#.to_owned(), r#""right""#.to_owned())
    );
}

#[tokio::test]
async fn what_is_too_much_for_it_is_a_failure_that_is_not_tried_again() {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object"}).into(),
        enforcement: Enforcement::Hint,
    };
    let tools = vec![tool("a"), tool("b")];
    let choice = Request { format: None, tools, ..long() };
    let lengthy = Request { messages: vec![Message::user("x ".repeat(3000))], ..long() };
    let cases = [
        (choice, "between 2 tools", None),
        (lengthy, "over the model's limit", Some(Advice::SendLess)),
    ];
    for (request, why, advice) in cases {
        let End::Failed(failure) = send(&provider(), &request).await.end else { panic!("{why}") };
        assert!(failure.message.starts_with("embedded: "), "{failure}");
        assert!(failure.message.contains(why), "{failure}");
        assert_eq!((failure.kind, failure.advice()), (FailureKind::Request, advice));
    }
}

#[tokio::test]
async fn the_same_seed_gives_the_same_answers() {
    let answer = async |seed| {
        let provider = Provider::Embedded(tiny().seeded(seed));
        send(&provider, &Request { temperature: Some(2.0), ..long() }).await.reply.text()
    };
    assert_eq!(answer(1).await, answer(1).await);
    assert_ne!(answer(1).await, answer(2).await);
}

#[test]
fn who_waits_for_the_model_holds_no_thread() {
    let runtime =
        runtime::Builder::new_current_thread().max_blocking_threads(1).enable_all().build();
    runtime.unwrap().block_on(async {
        let model = tiny();
        let taken = Arc::clone(&model.turn).acquire_owned().await.unwrap();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let model = model.clone();
                tokio::spawn(async move { ask(&model).await })
            })
            .collect();
        tokio::task::yield_now().await;
        let other = timeout(PATIENCE, spawn_blocking(|| 7)).await;
        assert_eq!(other.unwrap().unwrap(), 7);
        drop(taken);
        for answered in waiting {
            assert_eq!(answered.await.unwrap(), End::Whole);
        }
    });
}

#[tokio::test]
async fn a_model_that_broke_down_once_answers_again() {
    let model = tiny();
    assert_eq!(ask(&model).await, End::Whole);
    let broken = Arc::clone(&model.model);
    let breaking = thread::spawn(move || {
        let _model = broken.lock();
        panic!("the model breaks down");
    });
    assert!(breaking.join().is_err() && model.model.is_poisoned());
    assert_eq!(ask(&model).await, End::Whole);
    assert!(!model.model.is_poisoned());
}
