//! Laws of all formats.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixtures::{FOLDERS, read, streams};
use super::{Assembler, Delta, FailureKind, REPLY_LIMIT_BYTES, Wire};
use crate::wire::sse;

const WIRES: [Wire; 4] = [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini];

fn event(data: &str) -> sse::Event {
    sse::Event { name: String::new(), data: data.to_owned() }
}

fn assemble(deltas: impl IntoIterator<Item = Delta>) -> super::Reply {
    let mut assembler = Assembler::default();
    for delta in deltas {
        assembler.push(delta).unwrap();
    }
    assembler.finish()
}

#[test]
fn data_that_is_not_json_is_one_failure_and_the_end() {
    for wire in WIRES {
        let mut decoder = wire.decoder();
        let deltas = decoder.push(&event("{\"type\": secret"));
        let [Delta::Failed(failure)] = deltas.as_slice() else { panic!("{deltas:?}") };
        assert_eq!(failure.kind, FailureKind::Malformed);
        assert_eq!(failure.message, "an event of 15 bytes is not JSON at line 1, column 10");
        assert_eq!(decoder.push(&event("nor is this")), []);
        assert!(!decoder.is_complete());
    }
}

#[test]
fn json_of_another_shape_is_unknown_not_fatal() {
    for wire in WIRES {
        for data in ["null", "[]", "7", "\"text\"", "{}", "{\"type\":7}", "[[[{}]]]"] {
            let deltas = wire.decoder().push(&event(data));
            assert!(matches!(deltas.as_slice(), [Delta::Unknown { .. }]), "{wire:?} {data}");
        }
    }
}

/// Puts `piece` where a format has a piece of text.
fn said(wire: Wire, piece: &Value) -> Value {
    match wire {
        Wire::Anthropic => json!({
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": piece}
        }),
        Wire::Responses => json!({"type": "response.output_text.delta", "delta": piece}),
        Wire::Chat => json!({"choices": [{"index": 0, "delta": {"content": piece}}]}),
        Wire::Gemini => json!({"candidates": [{"content": {"parts": [{"text": piece}]}}]}),
    }
}

fn failures(wire: Wire, data: &Value) -> usize {
    let is_failure =
        |delta: &&Delta| matches!(delta, Delta::Failed(it) if it.kind == FailureKind::Malformed);
    wire.decoder().push(&event(&data.to_string())).iter().filter(is_failure).count()
}

#[test]
fn a_piece_that_is_no_text_ends_the_request() {
    for wire in WIRES {
        assert_eq!(failures(wire, &said(wire, &json!("x"))), 0, "{wire:?}");
        for piece in [json!(7), json!({"a": 1}), json!(true), json!(["x"])] {
            assert_eq!(failures(wire, &said(wire, &piece)), 1, "{wire:?} {piece}");
        }
    }
}

#[test]
fn text_of_an_unknown_kind_ends_the_request() {
    let part = |part: Value| json!({"candidates": [{"content": {"parts": [part]}}]});
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let block = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let item = |part: Value| {
        let item = json!({"type": "message", "content": [part]});
        json!({"type": "response.output_item.done", "output_index": 0, "item": item})
    };
    let of_text = [
        (Wire::Gemini, part(json!("x"))),
        (Wire::Chat, delta(json!("x"))),
        (Wire::Chat, delta(json!({"content": [{"text": "x"}]}))),
        (Wire::Chat, delta(json!({"content": [{"type": "text"}]}))),
        (Wire::Chat, delta(json!({"content": [{"type": "refusal", "refusal": 7}]}))),
        (Wire::Chat, delta(json!({"content": [{"type": "output_text", "text": "x"}]}))),
        (Wire::Chat, delta(json!({"content": [{"type": "text", "text": "x"}, 7]}))),
        (Wire::Anthropic, block(json!({"type": "text_delta"}))),
        (Wire::Anthropic, block(json!({"type": "input_json_delta", "partial_json": {}}))),
        (Wire::Anthropic, block(json!({"type": "banana_delta", "text": "x"}))),
        (Wire::Responses, item(json!({"type": "output_text", "text": 7}))),
        (Wire::Responses, item(json!({"type": "output_text"}))),
        (Wire::Responses, item(json!("x"))),
        (
            Wire::Responses,
            json!({
                "type": "response.output_item.done",
                "item": {"type": "message", "content": "x"}
            }),
        ),
        (Wire::Gemini, json!({"candidates": [{"content": "x"}]})),
        (Wire::Gemini, json!({"candidates": [{"content": {"parts": {"text": "x"}}}]})),
    ];
    for (wire, data) in of_text {
        assert_eq!(failures(wire, &data), 1, "{wire:?} {data}");
    }
    let of_others = [
        (Wire::Gemini, part(json!({"inlineData": {"data": "eA=="}}))),
        (Wire::Gemini, part(json!({"text": null, "functionResponse": {}}))),
        (Wire::Gemini, json!({"candidates": [{"content": {"role": "model"}}]})),
        (Wire::Gemini, json!({"candidates": [{"finishReason": "STOP"}]})),
        (Wire::Chat, json!({"choices": [{"index": 0, "finish_reason": "stop"}]})),
        (Wire::Chat, delta(json!(null))),
        (Wire::Chat, delta(json!([]))),
        (Wire::Chat, delta(json!({"content": []}))),
        (Wire::Chat, delta(json!({"content": null}))),
        (Wire::Chat, delta(json!({"content": [{"type": "text", "text": null}]}))),
        (Wire::Chat, delta(json!({"content": [{"type": "reasoning", "text": "hm"}]}))),
        (Wire::Chat, delta(json!({"content": [{"type": "reference", "text": null}]}))),
        (Wire::Chat, delta(json!({"content": [{"type": "reference", "reference_ids": [1]}]}))),
        (Wire::Anthropic, block(json!({"type": "citations_delta", "citation": {}}))),
        (Wire::Anthropic, block(json!({"type": "input_json_delta", "partial_json": null}))),
        (Wire::Responses, item(json!({"type": "output_audio", "transcript": "x"}))),
    ];
    for (wire, data) in of_others {
        assert_eq!(failures(wire, &data), 0, "{wire:?} {data}");
    }
}

#[test]
fn a_part_that_refuses_is_a_refusal() {
    let deltas = |words: &str| {
        let part = json!({"type": "refusal", "refusal": words});
        let data = json!({"choices": [{"index": 0, "delta": {"content": [part]}}]});
        Wire::Chat.decoder().push(&event(&data.to_string()))
    };
    let said = deltas("I take that back.");
    assert!(said.contains(&Delta::Refusal("I take that back.".into())), "{said:?}");
    assert!(!deltas("").iter().any(|delta| matches!(delta, Delta::Refusal(_))));
}

#[test]
fn text_of_blocks_that_anthropic_does_not_have_ends_the_request() {
    let failures = |block: Value| {
        let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
        let mut decoder = Wire::Anthropic.decoder();
        let mut deltas = decoder.push(&event(&start.to_string()));
        deltas.extend(decoder.push(&event(&said(Wire::Anthropic, &json!("x")).to_string())));
        deltas.iter().filter(|delta| matches!(delta, Delta::Failed(_))).count()
    };
    assert_eq!(failures(json!({"type": "text", "text": ""})), 0);
    assert_eq!(failures(json!({"type": "text", "text": ["x"]})), 1);
    assert_eq!(failures(json!({"type": "output_text"})), 1);
}

#[test]
fn arguments_of_no_call_are_counted() {
    let reply = assemble([Delta::CallArguments { index: 3, text: "{}".into() }]);
    assert_eq!((reply.unknown, reply.blocks.len()), (1, 0));
}

#[test]
fn a_reply_is_bounded() {
    let mut assembler = Assembler::default();
    let piece = "x".repeat(REPLY_LIMIT_BYTES / 4);
    for _ in 0..4 {
        assembler.push(Delta::Text(piece.clone())).unwrap();
    }
    let failure = assembler.push(Delta::Text("x".into())).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Malformed);
    assert_eq!(assembler.reply().text().len(), REPLY_LIMIT_BYTES);
}

/// JSON made of the words that the formats use.
fn chunk() -> impl Strategy<Value = serde_json::Value> {
    const KEYS: [&str; 24] = [
        "type",
        "index",
        "delta",
        "content_block",
        "message",
        "usage",
        "choices",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "id",
        "item",
        "output_index",
        "response",
        "error",
        "candidates",
        "content",
        "parts",
        "functionCall",
        "args",
        "text",
        "finish_reason",
        "finishReason",
    ];
    const WORDS: [&str; 14] = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "input_json_delta",
        "text_delta",
        "tool_use",
        "text",
        "stop",
        "STOP",
        "function_call",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
    ];
    let leaf = prop_oneof![
        proptest::sample::select(&WORDS[..]).prop_map(|word| json!(word)),
        (0_u64..3).prop_map(|number| json!(number)),
        any::<u64>().prop_map(|number| json!(number)),
        Just(json!(null)),
        Just(json!("{\"a\":")),
    ];
    leaf.prop_recursive(6, 48, 5, |inner| {
        prop_oneof![
            3 => vec((proptest::sample::select(&KEYS[..]), inner.clone()), 0..6)
                .prop_map(|members| members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
            1 => vec(inner, 0..3).prop_map(serde_json::Value::Array),
        ]
    })
}

proptest! {
    #[test]
    fn how_a_stream_is_cut_does_not_matter(sizes in vec(1_usize..40, 1..9)) {
        for (wire, folder) in FOLDERS {
            for (name, bytes) in streams(folder) {
                let whole = read(wire, &bytes, &[]);
                prop_assert_eq!(read(wire, &bytes, &sizes), whole, "{} {}", folder, name);
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..200)) {
        for wire in WIRES {
            prop_assert_eq!(read(wire, &bytes, &[]), read(wire, &bytes, &[1]));
        }
    }

    #[test]
    fn any_json_is_read_without_a_panic(chunks in vec(chunk(), 0..8)) {
        let events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        let text = events.concat();
        for wire in WIRES {
            let reading = read(wire, text.as_bytes(), &[]);
            let failures =
                reading.deltas.iter().filter(|delta| matches!(delta, Delta::Failed(_))).count();
            prop_assert_eq!(failures, usize::from(reading.failure.is_some()));
        }
    }
}
