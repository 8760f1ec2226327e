//! Bytes to verdict, ours and `serde_json`'s, on the agent-response contract.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot start must say so and stop")]

use airtight_core::verdict::check;
use airtight_core::{Contract, Document};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const SIZES: [usize; 2] = [2_000, 200_000];

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["summary", "events", "escalation"],
        "properties": {
            "summary": {"type": "string"},
            "services_checked": {"type": "array", "items": {"type": "string"}},
            "events": {"type": "array", "items": {
                "type": "object", "required": ["level", "message"],
                "properties": {
                    "level": {"type": "string", "enum": ["info", "warning", "critical"]},
                    "service": {"type": "string"}, "message": {"type": "string"}}}},
            "memories": {"type": "array", "items": {
                "type": "object", "required": ["key", "value"],
                "properties": {"key": {"type": "string"}, "value": {"type": "string"}}}},
            "escalation": {"type": "object", "required": ["needed"], "properties": {
                "needed": {"type": "boolean"}, "reason": {"type": "string"}}},
        },
    })
}

fn answer(size: usize) -> String {
    let mut events = Vec::new();
    let mut length = 0;
    while length + 200 < size {
        let n = events.len();
        let event = json!({"level": "warning", "service": format!("service-{n}"),
            "message": format!("restarted after {n} failed health checks, see \"journal\"\nnothing else to do")});
        length += event.to_string().len() + 1;
        events.push(event);
    }
    json!({"summary": "All services were checked.", "services_checked": ["web", "db"],
        "events": events, "memories": [{"key": "db", "value": "slow on Mondays"}],
        "escalation": {"needed": false}})
    .to_string()
}

#[divan::bench(args = SIZES)]
fn airtight_bytes_to_verdict(bencher: divan::Bencher<'_, '_>, size: usize) {
    let contract = Contract::compile(schema()).unwrap();
    let text = answer(size);
    bencher.bench(|| {
        let document = Document::parse(divan::black_box(text.as_str())).unwrap();
        assert!(check(&contract, &document).is_empty());
    });
}

#[divan::bench(args = SIZES)]
fn airtight_parse(bencher: divan::Bencher<'_, '_>, size: usize) {
    let text = answer(size);
    bencher.bench(|| Document::parse(divan::black_box(text.as_str())).unwrap());
}

#[divan::bench(args = SIZES)]
fn serde_json_and_jsonschema(bencher: divan::Bencher<'_, '_>, size: usize) {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let text = answer(size);
    bencher.bench(|| {
        let value: Value = serde_json::from_str(divan::black_box(&text)).unwrap();
        assert!(validator.is_valid(&value));
    });
}

#[divan::bench(args = SIZES)]
fn serde_json_parse(bencher: divan::Bencher<'_, '_>, size: usize) {
    let text = answer(size);
    bencher.bench(|| serde_json::from_str::<Value>(divan::black_box(&text)).unwrap());
}
