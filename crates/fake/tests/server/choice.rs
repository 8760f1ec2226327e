//! Which request gets which turn, and what the log says.

use airtight_fake::{Ending, Script, Turn, Wire};
use serde_json::{Value, json};

use crate::ask::{Manner, WIRES, ask, body, post, start};
use crate::hearing::hear;

async fn answer(fake: &airtight_fake::Fake, wire: Wire, prompt: &str) -> String {
    let asked = body(wire, Manner::Whole, prompt);
    let response = post(fake, wire, Manner::Whole, &asked).send().await.unwrap();
    hear(wire, Manner::Whole, &response.text().await.unwrap()).text
}

#[tokio::test]
async fn turns_come_in_order_and_may_be_added_later() {
    let fake = start([Turn::text("one"), Turn::text("two")]).await;
    assert_eq!(answer(&fake, Wire::Chat, "Hello").await, "one");
    fake.push(Turn::text("three"));
    assert_eq!(answer(&fake, Wire::Anthropic, "Hello").await, "two");
    assert_eq!(answer(&fake, Wire::Gemini, "Hello").await, "three");
    assert_eq!(fake.remaining(), 0);
}

#[tokio::test]
async fn the_first_turn_that_accepts_the_request_is_taken() {
    let fake = start([
        Turn::text("rain").when_contains("\"weather\" in"),
        Turn::text("gemini").when_wire(Wire::Gemini),
        Turn::text("other model").when_model("gpt-9"),
        Turn::text("no weather").when_lacks("weather"),
        Turn::text("any"),
    ])
    .await;
    assert_eq!(answer(&fake, Wire::Chat, "Hello").await, "no weather");
    assert_eq!(answer(&fake, Wire::Gemini, "Hello").await, "gemini");
    assert_eq!(answer(&fake, Wire::Chat, "What is the \"weather\" in Paris?").await, "rain");
    assert_eq!(answer(&fake, Wire::Chat, "Hello").await, "any");
    assert_eq!(fake.remaining(), 1);
}

#[tokio::test]
async fn turns_may_repeat_and_have_a_fallback() {
    let fake = start(
        Script::new([Turn::text("again").forever().when_wire(Wire::Chat)])
            .otherwise(Turn::text("otherwise")),
    )
    .await;
    for _ in 0..3 {
        assert_eq!(answer(&fake, Wire::Chat, "Hello").await, "again");
        assert_eq!(answer(&fake, Wire::Gemini, "Hello").await, "otherwise");
    }
}

#[tokio::test]
async fn a_script_that_is_exhausted_says_so() {
    for wire in WIRES {
        let fake = start([]).await;
        let response = ask(&fake, wire, Manner::Stream).await;
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers()["x-should-retry"], "false");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"]["message"], "script exhausted: no turn for request 0");
    }
}

#[tokio::test]
async fn requests_are_logged_as_they_came() {
    let fake = start([Turn::text("Hello there").chunk_chars(4), Turn::status(503)]).await;
    let asked = body(Wire::Gemini, Manner::Stream, "Hi");
    let sent = post(&fake, Wire::Gemini, Manner::Stream, &asked).send().await.unwrap();
    sent.text().await.unwrap();
    let first = fake.next_request().await;
    assert_eq!(fake.ending(0).await, Ending::Complete { chunks: 3 });
    assert_eq!(
        (first.number, first.method.as_str(), first.path.as_str(), first.query.as_str()),
        (0, "POST", "/v1beta/models/gem:streamGenerateContent", "alt=sse")
    );
    assert_eq!(first.header("x-api-key"), Some("key"));
    assert_eq!(first.wire, Some(Wire::Gemini));
    assert_eq!(first.body, asked);
    assert_eq!(first.bytes, asked.to_string());

    ask(&fake, Wire::Anthropic, Manner::Whole).await;
    let second = fake.next_request().await;
    assert!(second.arrived >= first.arrived);
    assert_eq!(second.wire, Some(Wire::Anthropic));
    assert_eq!(fake.requests(), [first, second]);
}

#[tokio::test]
async fn questions_that_are_not_to_the_model_use_up_no_turn() {
    let fake = start(Turn::text("x")).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let base = fake.anthropic_base();
    let get = |path: &str| client.get(format!("{base}{path}"));

    let models: Value = get("/v1/models").send().await.unwrap().json().await.unwrap();
    assert_eq!(
        (&models["object"], &models["data"][0]["object"]),
        (&json!("list"), &json!("model"))
    );
    let anthropic = get("/v1/models").header("anthropic-version", "2023-06-01");
    let models: Value = anthropic.send().await.unwrap().json().await.unwrap();
    assert_eq!((&models["has_more"], &models["data"][0]["type"]), (&json!(false), &json!("model")));
    let models: Value = get("/v1beta/models").send().await.unwrap().json().await.unwrap();
    assert_eq!(models["models"][0]["name"], "models/fake-model");

    let count = client.post(format!("{base}/v1/messages/count_tokens")).json(&json!({}));
    let count: Value = count.send().await.unwrap().json().await.unwrap();
    assert_eq!(count, json!({"input_tokens": 10}));
    assert_eq!(client.head(&base).send().await.unwrap().status(), 200);
    assert_eq!(get("/v2/elsewhere").send().await.unwrap().status(), 404);
    assert_eq!((fake.remaining(), fake.requests().len()), (1, 6));
}

#[tokio::test]
async fn many_clients_at_once_each_get_their_answer() {
    let fake = start(Turn::text("Hello").forever()).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/chat/completions", fake.openai_base());
    let asked = (0..200).map(|_| {
        let request = client.post(&url).json(&body(Wire::Chat, Manner::Stream, "Hi"));
        async { request.send().await.unwrap().text().await.unwrap() }
    });
    for answer in futures_util::future::join_all(asked).await {
        assert_eq!(hear(Wire::Chat, Manner::Stream, &answer).text, "Hello");
    }
    let endings: Vec<Option<Ending>> =
        fake.exchanges().iter().map(|exchange| exchange.ending).collect();
    assert_eq!(endings, [Some(Ending::Complete { chunks: 1 }); 200]);
}
