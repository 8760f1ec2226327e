//! Streams wait for the test, and the test for streams.

use airtight_fake::{Ending, Fake, Turn, Wire};
use serde_json::Value;
use test_case::test_matrix;

use crate::ask::{Manner, ask, read, start};

#[test_matrix([Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini])]
#[tokio::test]
async fn a_gate_holds_the_chunks_behind_it_until_it_opens(wire: Wire) {
    let fake = start(Turn::text("abcdef").chunk_chars(2).gate(1, "first").gate(2, "second")).await;
    let mut response = ask(&fake, wire, Manner::Stream).await;
    let mut answer = String::new();
    for (gate, last) in [("first", "\"ab\""), ("second", "\"cd\"")] {
        fake.gate(gate).reached().await;
        while !answer.contains(last) {
            answer += str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap();
        }
        assert!(!answer.contains("\"ef\""));
        fake.gate(gate).open();
    }
    let (rest, end) = read(response).await;
    end.unwrap();
    assert!(String::from_utf8(rest.concat()).unwrap().contains("\"ef\""));
    assert_eq!(fake.ending(0).await, Ending::Complete { chunks: 3 });
}

#[tokio::test]
async fn a_gate_that_is_open_holds_nobody() {
    let fake = start(Turn::text("ab").gate(0, "open")).await;
    fake.gate("open").open();
    read(ask(&fake, Wire::Chat, Manner::Stream).await).await.1.unwrap();
}

#[tokio::test]
async fn a_gate_holds_whole_answers_and_counts_who_waits() {
    let fake = start(Turn::text("ab").gate(0, "all").forever()).await;
    let asked = (0..5).map(|_| async {
        ask(&fake, Wire::Chat, Manner::Whole).await.json::<Value>().await.unwrap()
    });
    let opened = async {
        fake.gate("all").reached_by(5).await;
        fake.gate("all").open();
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(asked), opened);
    assert_eq!(answers.len(), 5);
}

#[tokio::test]
async fn hanging_up_at_a_gate_is_a_cancel() {
    let fake = start(Turn::text("abcd").chunk_chars(2).gate(1, "half")).await;
    let response = ask(&fake, Wire::Anthropic, Manner::Stream).await;
    fake.gate("half").reached().await;
    drop(response);
    assert_eq!(fake.next_cancel().await.chunks, 1);
}

#[test]
fn the_server_needs_no_runtime_of_the_test() {
    let fake = Fake::start_blocking(Turn::text("ab")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        read(ask(&fake, Wire::Chat, Manner::Stream).await).await.1.unwrap();
    });
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn other_processes_reach_gates_turns_and_log_over_http() {
    let fake = start(Turn::text("abcd").chunk_chars(2).gate(1, "half")).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = |path: &str| format!("{}{path}", fake.anthropic_base());
    let response = ask(&fake, Wire::Chat, Manner::Stream).await;
    assert_eq!(client.get(url("/fake/gates/half")).send().await.unwrap().status(), 204);
    assert_eq!(client.post(url("/fake/gates/half")).send().await.unwrap().status(), 204);
    read(response).await.1.unwrap();
    let pushed = client.post(url("/fake/turns")).json(&Turn::status(404)).send().await;
    assert_eq!(pushed.unwrap().status(), 204);
    assert_eq!(ask(&fake, Wire::Chat, Manner::Stream).await.status(), 404);
    let log: Value = client.get(url("/fake/exchanges")).send().await.unwrap().json().await.unwrap();
    assert_eq!(log.as_array().unwrap().len(), 2);
    assert_eq!(log[0]["ending"], serde_json::json!({"type": "complete", "chunks": 2}));
}
