//! What goes wrong, when the script says so.

use std::time::Duration;

use airtight_fake::{Ending, Turn, Wire};
use serde_json::{Value, json};
use test_case::{test_case, test_matrix};

use crate::ask::{Manner, WIRES, ask, read, start};
use crate::hearing::events;

fn text(chunks: &[Vec<u8>]) -> String {
    String::from_utf8(chunks.concat()).unwrap()
}

fn vendor_error(wire: Wire, words: [Value; 3]) -> Value {
    let [anthropic, openai, gemini] = words;
    match wire {
        Wire::Anthropic => anthropic,
        Wire::Responses | Wire::Chat => openai,
        Wire::Gemini => gemini,
    }
}

#[test_matrix(
    [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini],
    [Manner::Stream, Manner::Whole]
)]
#[tokio::test]
async fn a_status_has_the_vendors_body_and_the_scripts_headers(wire: Wire, manner: Manner) {
    let fake = start(Turn::status(429).header("Retry-After", "7").message("Slow down")).await;
    let response = ask(&fake, wire, manner).await;
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "7");
    let expected = vendor_error(
        wire,
        [
            json!({
                "type": "error",
                "error": {"type": "rate_limit_error", "message": "Slow down"},
                "request_id": "req_fake",
            }),
            json!({"error": {
                "message": "Slow down",
                "type": "rate_limit_error",
                "param": null,
                "code": "rate_limit_exceeded",
            }}),
            json!({"error": {
                "code": 429,
                "message": "Slow down",
                "status": "RESOURCE_EXHAUSTED",
            }}),
        ],
    );
    assert_eq!(response.json::<Value>().await.unwrap(), expected);
}

#[test_case(401, ["authentication_error", "invalid_request_error", "UNAUTHENTICATED"])]
#[test_case(400, ["invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"])]
#[test_case(500, ["api_error", "server_error", "INTERNAL"])]
#[test_case(503, ["overloaded_error", "server_error", "UNAVAILABLE"])]
#[test_case(529, ["overloaded_error", "server_error", "UNAVAILABLE"])]
#[tokio::test]
async fn each_status_has_the_vendors_word(status: u16, words: [&str; 3]) {
    for wire in WIRES {
        let fake = start(Turn::status(status)).await;
        let response = ask(&fake, wire, Manner::Stream).await;
        assert_eq!(response.status(), status);
        let body: Value = response.json().await.unwrap();
        let word = match wire {
            Wire::Gemini => &body["error"]["status"],
            Wire::Anthropic | Wire::Responses | Wire::Chat => &body["error"]["type"],
        };
        assert_eq!(*word, vendor_error(wire, words.map(Value::from)));
    }
}

#[test_matrix([Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini])]
#[tokio::test]
async fn an_error_within_the_stream_ends_it(wire: Wire) {
    let fake = start(Turn::text("abcdef").chunk_chars(2).error_after(2, 529)).await;
    let (chunks, end) = read(ask(&fake, wire, Manner::Stream).await).await;
    end.unwrap();
    let answer = text(&chunks);
    assert!(answer.contains("\"cd\"") && !answer.contains("\"ef\""), "{answer}");
    let last: Value = serde_json::from_str(events(&answer).last().unwrap()).unwrap();
    let expected = match wire {
        Wire::Responses => json!({
            "type": "error",
            "code": "server_error",
            "message": "Overloaded",
            "param": null,
            "sequence_number": events(&answer).len() - 1,
        }),
        Wire::Anthropic | Wire::Chat | Wire::Gemini => vendor_error(
            wire,
            [
                json!({
                    "type": "error",
                    "error": {"type": "overloaded_error", "message": "Overloaded"},
                    "request_id": "req_fake",
                }),
                json!({"error": {
                    "message": "Overloaded",
                    "type": "server_error",
                    "param": null,
                    "code": null,
                }}),
                json!({"error": {"code": 529, "message": "Overloaded", "status": "UNAVAILABLE"}}),
            ],
        ),
    };
    assert_eq!(last, expected);
}

#[test_matrix(
    [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini],
    [0, 1, 3, 99]
)]
#[tokio::test]
async fn a_cut_breaks_the_connection_within_an_event(wire: Wire, after: usize) {
    let fake = start(Turn::text("abcdef").chunk_chars(2).cut_after(after)).await;
    let (chunks, end) = read(ask(&fake, wire, Manner::Stream).await).await;
    assert!(end.is_err(), "no end of the body");
    let answer = text(&chunks).replace('\r', "");
    let (whole, half) = answer.rsplit_once("\n\n").unwrap_or(("", &answer));
    assert!(!half.is_empty());
    let parts = ["\"ab\"", "\"cd\"", "\"ef\""];
    let seen = parts.iter().filter(|part| whole.contains(**part)).count();
    assert_eq!(seen, after.min(3));
    assert_eq!(fake.ending(0).await, Ending::Cut { chunks: after.min(3) });
}

#[tokio::test]
async fn a_cut_breaks_a_whole_answer_too() {
    for wire in WIRES {
        let fake = start(Turn::text("abcdef").cut_after(0)).await;
        let (chunks, end) = read(ask(&fake, wire, Manner::Whole).await).await;
        assert!(end.is_err());
        assert!(!chunks.concat().is_empty());
        assert!(serde_json::from_slice::<Value>(&chunks.concat()).is_err());
    }
}

#[test_matrix([Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini])]
#[tokio::test]
async fn a_stream_may_end_without_its_mark(wire: Wire) {
    let fake = start(Turn::text("abcdef").chunk_chars(2).end_after(3)).await;
    let (chunks, end) = read(ask(&fake, wire, Manner::Stream).await).await;
    end.unwrap();
    let answer = text(&chunks);
    assert!(answer.contains("\"ef\""));
    for mark in ["message_stop", "response.completed", "[DONE]", "finishReason\":\""] {
        assert!(!answer.contains(mark), "{answer}");
    }
}

#[test_matrix([Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini])]
#[tokio::test]
async fn a_stalled_stream_is_a_cancel_once_the_client_hangs_up(wire: Wire) {
    let fake = start(Turn::text("abcdef").chunk_chars(2).stall_after(2)).await;
    let mut response = ask(&fake, wire, Manner::Stream).await;
    let mut answer = String::new();
    while !answer.contains("\"cd\"") {
        answer += str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap();
    }
    assert_eq!(fake.exchanges()[0].ending, None);
    drop(response);
    let cancel = fake.next_cancel().await;
    assert_eq!((cancel.request, cancel.chunks), (0, 2));
    assert_eq!(fake.ending(0).await, Ending::Cancelled { chunks: 2 });
}

#[tokio::test]
async fn hanging_up_before_the_first_byte_is_a_cancel() {
    let fake = start(Turn::text("late").delay_ms(3_600_000)).await;
    let asking = ask(&fake, Wire::Chat, Manner::Stream);
    tokio::select! {
        _ = asking => panic!("answered before the delay was over"),
        _ = fake.next_request() => {}
    }
    assert_eq!(fake.next_cancel().await.chunks, 0);
}

#[tokio::test]
async fn a_delay_comes_before_the_headers() {
    let fake = start(Turn::text("late").delay_ms(30)).await;
    let asked = std::time::Instant::now();
    ask(&fake, Wire::Chat, Manner::Stream).await;
    assert!(asked.elapsed() >= Duration::from_millis(30));
}

#[tokio::test]
async fn garbage_stands_between_the_chunks() {
    let garbage = b"\xff\xfe: not { an event\n\n".to_vec();
    let turn = Turn::text("abcd").chunk_chars(2).garbage_after(1, garbage.clone());
    let fake = start(turn).await;
    let (chunks, end) = read(ask(&fake, Wire::Anthropic, Manner::Stream).await).await;
    end.unwrap();
    let at = chunks.iter().position(|chunk| *chunk == garbage).unwrap();
    assert!(text(&chunks[at - 1..at]).contains("\"ab\""));
    assert!(text(&chunks[at + 1..at + 2]).contains("\"cd\""));
    assert!(text(&chunks[at + 1..]).contains("message_stop"));
}

#[test_matrix([Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini])]
#[tokio::test]
async fn an_event_may_be_of_any_size(wire: Wire) {
    let size = 3_000_001;
    let fake = start(Turn::text("ab").filler_after(0, size)).await;
    let answer = ask(&fake, wire, Manner::Stream).await.text().await.unwrap();
    let fillers: Vec<Value> = events(&answer)
        .iter()
        .filter(|data| data.len() > size)
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    assert_eq!(fillers.len(), 1);
    assert_eq!(fillers[0]["filler"].as_str().unwrap().len(), size);
    assert!(answer.contains("\"ab\""));
}

#[tokio::test]
async fn raw_chunks_are_sent_as_they_are() {
    let fake = start(Turn::raw(["data: {\"a\":", "1}\n\n", ": comment\r\n"]).cut_after(2)).await;
    let (chunks, end) = read(ask(&fake, Wire::Gemini, Manner::Stream).await).await;
    assert!(end.is_err());
    assert_eq!(text(&chunks), "data: {\"a\":1}\n\n: com");
}

#[tokio::test]
async fn a_script_that_makes_no_sense_is_the_tests_fault() {
    for turn in [Turn::status(7), Turn::text("x").header("bad name", "x")] {
        let fake = start(turn).await;
        let response = ask(&fake, Wire::Chat, Manner::Stream).await;
        assert_eq!(
            (response.status().as_u16(), &response.headers()["x-should-retry"]),
            (500, &"false".parse().unwrap())
        );
    }
}

#[tokio::test]
async fn dropping_the_server_ends_its_connections() {
    let fake = start(Turn::text("abcd").stall_after(1)).await;
    let response = ask(&fake, Wire::Chat, Manner::Stream).await;
    let address = fake.address();
    drop(fake);
    assert!(read(response).await.1.is_err());
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
