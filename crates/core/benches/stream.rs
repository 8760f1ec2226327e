//! What it costs to follow an answer in 4-byte deltas, with its value and its check up to date
//! after each of them; and what hostile answers cost.

#![expect(clippy::unwrap_used, reason = "a bench that cannot start should say so")]

use std::sync::Arc;

use airtight_core::{Checker, Contract, Follower, Plan, Progress};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use serde_json::{Value, json};

const SIZES: [usize; 3] = [2 << 10, 32 << 10, 128 << 10];
const DELTA: usize = 4;

fn main() {
    divan::main();
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "needed": {"type": "boolean"},
            "summary": {"type": "string", "minLength": 1, "maxLength": 4000},
            "events": {"type": "array", "items": {"$ref": "#/$defs/event"}},
        },
        "required": ["needed", "summary", "events"],
        "additionalProperties": false,
        "$defs": {"event": {
            "type": "object",
            "properties": {
                "level": {"enum": ["info", "warning", "critical"]},
                "service": {"type": "string", "pattern": "^[a-z-]+$"},
                "message": {"type": "string", "maxLength": 500},
                "count": {"type": "integer", "minimum": 0},
                "target": {"anyOf": [
                    {"type": "object", "properties": {"kind": {"const": "host"}, "name": {"type": "string"}}, "required": ["kind", "name"]},
                    {"type": "object", "properties": {"kind": {"const": "pod"}, "id": {"type": "integer"}}, "required": ["kind", "id"]},
                    {"type": "null"},
                ]},
            },
            "required": ["level", "message"],
            "additionalProperties": false,
        }},
    })
}

fn plan() -> Arc<Plan> {
    Arc::new(Plan::compile(&Contract::compile(schema()).unwrap()))
}

/// Makes a conforming answer of at least `size` bytes.
fn answer(size: usize) -> String {
    let mut text =
        String::from(r#"{"needed": true, "summary": "Two services restart.", "events": ["#);
    for number in 0.. {
        let target = match number % 3 {
            0 => json!({"kind": "host", "name": format!("db-{number}")}),
            1 => json!({"kind": "pod", "id": number}),
            _ => Value::Null,
        };
        let event = json!({
            "level": (["info", "warning", "critical"]).get(number % 3),
            "service": "payment-gateway",
            "message": format!("Verbindung \"{number}\" abgebrochen – retried\nwith backoff, then gave up"),
            "count": number * 7,
            "target": target,
        });
        text.push_str(&event.to_string());
        if text.len() >= size {
            break;
        }
        text.push_str(", ");
    }
    text.push_str("]}");
    text
}

#[divan::bench(args = SIZES)]
fn check_only(bencher: Bencher<'_, '_>, size: usize) {
    let (plan, text) = (plan(), answer(size));
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut checker = Checker::new(Arc::clone(&plan));
        for delta in text.as_bytes().chunks(DELTA) {
            black_box(checker.push(delta));
        }
        assert_eq!(checker.finish(), &Progress::Complete);
    });
}

#[divan::bench(args = SIZES)]
fn value_only(bencher: Bencher<'_, '_>, size: usize) {
    follow(bencher, &Arc::new(Plan::anything()), &answer(size));
}

#[divan::bench(args = SIZES)]
fn value_and_check(bencher: Bencher<'_, '_>, size: usize) {
    follow(bencher, &plan(), &answer(size));
}

fn follow(bencher: Bencher<'_, '_>, plan: &Arc<Plan>, text: &str) {
    bencher.counter(BytesCount::of_str(text)).bench(|| {
        let mut follower = Follower::new(Arc::clone(plan));
        for delta in text.as_bytes().chunks(DELTA) {
            black_box(follower.push(delta));
            black_box(follower.growing().root());
        }
        assert_eq!(follower.finish(), &Progress::Complete);
    });
}

/// Answers of some 10 MB, pushed in network-sized chunks.
#[divan::bench(args = ["brackets", "one string", "empty objects", "one number", "distinct keys"], sample_count = 5, sample_size = 1)]
fn hostile(bencher: Bencher<'_, '_>, what: &str) {
    let text = match what {
        "brackets" => "[".repeat(10 << 20),
        "one string" => format!("\"{}\"", "x".repeat(10 << 20)),
        "empty objects" => format!("[{}{{}}]", "{},".repeat(1_000_000)),
        "one number" => "9".repeat(10 << 20),
        _ => {
            let members: Vec<String> = (0..800_000).map(|n| format!("\"k{n}\":1")).collect();
            format!("{{{}}}", members.join(","))
        }
    };
    let plan = Arc::new(Plan::anything());
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut follower = Follower::new(Arc::clone(&plan));
        for chunk in text.as_bytes().chunks(4096) {
            black_box(follower.push(chunk));
        }
        black_box(follower.finish().clone())
    });
}

#[divan::bench]
fn compile_plan(bencher: Bencher<'_, '_>) {
    let contract = Contract::compile(schema()).unwrap();
    bencher.bench(|| Plan::compile(&contract));
}
