//! Every format says what the script says.

use airtight_fake::{Stop, Turn, Usage, Wire};
use serde_json::{Value, json};
use test_case::test_matrix;

use crate::ask::{Manner, WIRES, ask, body, post, read, start};
use crate::hearing::{Heard, hear};

async fn heard(turn: Turn, wire: Wire, manner: Manner) -> Heard {
    let fake = start(turn).await;
    let response = ask(&fake, wire, manner).await;
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    let expected = if manner == Manner::Stream { "text/event-stream" } else { "application/json" };
    assert_eq!(kind, expected);
    hear(wire, manner, &response.text().await.unwrap())
}

fn said(turn: Turn) -> (Turn, Heard) {
    (turn.usage(7, 3), Heard { usage: Some(usage(7, 3)), ..Heard::default() })
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

/// The word of each format, in the order of [`WIRES`].
fn word(wire: Wire, words: [&str; 4]) -> String {
    let at = WIRES.iter().position(|known| *known == wire).unwrap();
    words[at].to_owned()
}

const ENDED: [&str; 4] = ["end_turn", "completed", "stop", "STOP"];
const CALLED: [&str; 4] = ["tool_use", "completed", "tool_calls", "STOP"];
const LIMITED: [&str; 4] = ["max_tokens", "max_output_tokens", "length", "MAX_TOKENS"];
const DECLINED: [&str; 4] = ["refusal", "completed", "stop", "SAFETY"];
const FILTERED: [&str; 4] = ["refusal", "content_filter", "content_filter", "SAFETY"];

#[test_matrix(
    [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini],
    [Manner::Stream, Manner::Whole]
)]
#[tokio::test]
async fn text_arrives_as_written(wire: Wire, manner: Manner) {
    let text = "Grüße, 世界 🦀\n\"quoted\" \\ and a tab\t, \u{2028}";
    let (turn, expected) = said(Turn::text(text).chunk_chars(3));
    let expected = Heard { text: text.to_owned(), stop: word(wire, ENDED), ..expected };
    assert_eq!(heard(turn, wire, manner).await, expected);
}

#[test_matrix(
    [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini],
    [Manner::Stream, Manner::Whole]
)]
#[tokio::test]
async fn calls_arrive_in_order_with_their_ids(wire: Wire, manner: Manner) {
    let (turn, expected) = said(
        Turn::call("read_file", json!({"path": "größe.txt"}))
            .id("one")
            .then_call("glob", json!({"pattern": "*", "deep": {"list": [1, 2.5, null]}}))
            .id("two"),
    );
    let calls = vec![
        ("read_file".to_owned(), r#"{"path":"größe.txt"}"#.to_owned()),
        ("glob".to_owned(), r#"{"pattern":"*","deep":{"list":[1,2.5,null]}}"#.to_owned()),
    ];
    let ids = vec!["one".to_owned(), "two".to_owned()];
    let expected = Heard { calls, ids, stop: word(wire, CALLED), ..expected };
    assert_eq!(heard(turn, wire, manner).await, expected);
}

#[test_matrix(
    [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini],
    [Manner::Stream, Manner::Whole]
)]
#[tokio::test]
async fn thinking_and_text_stay_apart(wire: Wire, manner: Manner) {
    let (turn, expected) =
        said(Turn::thinking("Let me see what they want.").then_text("Here it is."));
    let expected = Heard {
        thinking: "Let me see what they want.".to_owned(),
        text: "Here it is.".to_owned(),
        stop: word(wire, ENDED),
        ..expected
    };
    assert_eq!(heard(turn, wire, manner).await, expected);
}

#[test_matrix(
    [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini],
    [Manner::Stream, Manner::Whole]
)]
#[tokio::test]
async fn refusals_are_in_the_vendors_place(wire: Wire, manner: Manner) {
    let (turn, expected) = said(Turn::refusal("I cannot help with that."));
    let words = "I cannot help with that.".to_owned();
    let expected = Heard { stop: word(wire, DECLINED), ..expected };
    let expected = match wire {
        Wire::Anthropic => Heard { text: words, ..expected },
        Wire::Responses | Wire::Chat | Wire::Gemini => Heard { refusal: words, ..expected },
    };
    assert_eq!(heard(turn, wire, manner).await, expected);
}

#[test_matrix(
    [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini],
    [Manner::Stream, Manner::Whole]
)]
#[tokio::test]
async fn stops_are_in_the_vendors_words(wire: Wire, manner: Manner) {
    for (stop, words) in [(Stop::MaxTokens, LIMITED), (Stop::Refusal, FILTERED)] {
        let (turn, expected) = said(Turn::text("{\"half\": ").stop(stop));
        let text = "{\"half\": ".to_owned();
        let expected = Heard { text, stop: word(wire, words), ..expected };
        assert_eq!(heard(turn, wire, manner).await, expected);
    }
    let other = Turn::text("x").stop(Stop::Other("weather".to_owned()));
    assert_eq!(heard(other, wire, manner).await.stop, "weather");
}

#[test_matrix(
    [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini],
    [Manner::Stream, Manner::Whole]
)]
#[tokio::test]
async fn usage_counts_caches_and_thoughts(wire: Wire, manner: Manner) {
    let spent = Usage { input: 100, output: 50, cache_read: 30, cache_write: 0, reasoning: 20 };
    let answer = heard(Turn::text("x").usage_full(spent), wire, manner).await;
    assert_eq!(answer.usage, Some(spent));
    let uncounted = heard(Turn::text("x").without_usage(), wire, manner).await.usage;
    let nothing = (wire == Wire::Anthropic).then(|| usage(0, 0));
    assert_eq!(uncounted, nothing, "only Anthropic cannot leave it out");
}

#[tokio::test]
async fn made_up_ids_differ_from_call_to_call_and_answer_to_answer() {
    for wire in [Wire::Anthropic, Wire::Responses, Wire::Chat] {
        let turn = Turn::call("a", json!({})).then_call("a", json!({}));
        let fake = start(vec![turn.clone(), turn]).await;
        let mut ids = Vec::new();
        for _ in 0..2 {
            let answer = ask(&fake, wire, Manner::Stream).await.text().await.unwrap();
            ids.extend(hear(wire, Manner::Stream, &answer).ids);
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 4);
    }
}

#[tokio::test]
async fn chat_counts_only_for_those_who_ask() {
    let fake = start(Turn::text("x")).await;
    let asked = json!({
        "model": "gpt",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": true,
    });
    let answer = post(&fake, Wire::Chat, Manner::Stream, &asked).send().await.unwrap();
    let answer = answer.text().await.unwrap();
    assert!(!answer.contains("usage"), "{answer}");
}

#[tokio::test]
async fn arguments_that_are_no_object_cannot_be_said_in_gemini() {
    let broken = || Turn::call_text("read_file", "{\"path\": ");
    let answer = heard(broken(), Wire::Gemini, Manner::Stream).await;
    assert_eq!((answer.calls, answer.stop.as_str()), (Vec::new(), "MALFORMED_FUNCTION_CALL"));
    let answer = heard(broken(), Wire::Chat, Manner::Stream).await;
    assert_eq!(answer.calls, [("read_file".to_owned(), "{\"path\": ".to_owned())]);
}

#[tokio::test]
async fn gemini_streams_an_array_to_those_who_do_not_ask_for_events() {
    let fake = start(Turn::text("Hello, you there").chunk_chars(5)).await;
    let asked = body(Wire::Gemini, Manner::Stream, "Hello");
    let url = format!("{}/v1beta/models/gem:streamGenerateContent", fake.gemini_base());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client.post(url).header("x-goog-api-key", "key").json(&asked).send().await;
    let answer: Vec<Value> = answer.unwrap().json().await.unwrap();
    let texts: Vec<&Value> =
        answer.iter().map(|chunk| &chunk["candidates"][0]["content"]["parts"][0]["text"]).collect();
    assert_eq!(json!(texts), json!(["Hello", ", you", " ther", "e", ""]));
}

#[test_matrix(
    [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini],
    [1, 2, 3, 7]
)]
#[tokio::test]
async fn writes_may_end_within_a_character(wire: Wire, size: usize) {
    let text = "ä世🦀".repeat(5);
    let fake = start(Turn::text(&text).write_bytes(size)).await;
    let (writes, end) = read(ask(&fake, wire, Manner::Stream).await).await;
    end.unwrap();
    assert!(writes.iter().all(|write| write.len() <= size));
    assert!(writes.iter().any(|write| str::from_utf8(write).is_err()));
    let whole = String::from_utf8(writes.concat()).unwrap();
    assert_eq!(hear(wire, Manner::Stream, &whole).text, text);
}

/// The whole of one rich answer, so that a change of any byte is seen.
#[test_matrix([Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini])]
#[tokio::test]
async fn streams_are_as_recorded(wire: Wire) {
    let turn = Turn::thinking("Two files.")
        .signed("seal")
        .then_text("Reading.")
        .then_call("read_file", json!({"path": "a"}))
        .signed("call seal")
        .then_call("read_file", json!({"path": "b"}))
        .chunk_chars(10);
    let fake = start(turn).await;
    let answer = ask(&fake, wire, Manner::Stream).await.text().await.unwrap();
    insta::assert_snapshot!(format!("stream_{wire:?}"), answer.replace('\r', "␍"));
}
