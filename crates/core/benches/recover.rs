//! From damaged text to verdict: each class at three sizes, to see the growth.

use airtight_core::{Allowance, Contract, judge};
use divan::Bencher;
use divan::counter::BytesCount;
use serde_json::json;

fn main() {
    divan::main();
}

const SIZES: [usize; 3] = [1_000, 100_000, 10_000_000];

const RECORD: &str =
    r#"{"level": "info", "message": "it's fine, see {x} [1]", "count": 12, "ok": true}"#;

/// The classes of damage that repair libraries are measured with.
const CLASSES: [&str; 10] = [
    "typical",
    "truncated",
    "single quotes",
    "missing closing quotes",
    "unescaped inner quotes",
    "many fences",
    "open brackets",
    "concatenation",
    "digits",
    "sound",
];

fn records(record: &str, size: usize) -> String {
    vec![record; size / (record.len() + 2) + 1].join(",\n")
}

fn text(class: &str, size: usize) -> String {
    let list = |record: &str| format!("[{}]", records(record, size));
    match class {
        "typical" => {
            let record = RECORD.replace("true}", "True,}");
            format!("Here you are:\n```json\n{}\n```\nDone.", list(&record))
        }
        "truncated" => {
            let whole = list(RECORD);
            whole[..whole.len() - 40].to_owned()
        }
        "single quotes" => list(&RECORD.replace("it's", "it is").replace('"', "'")),
        "missing closing quotes" => list(&RECORD.replace("[1]\"", "[1]")),
        "unescaped inner quotes" => list(&RECORD.replace("fine", "\"fine\" or so")),
        "many fences" => "```json\n{\"a\": 1}\n```\n".repeat(size / 20 + 1),
        "open brackets" => "[".repeat(size),
        "concatenation" => format!("[{}\"x\"]", "\"x\"+".repeat(size / 4)),
        "digits" => "7".repeat(size),
        _ => list(RECORD),
    }
}

#[divan::bench(args = CLASSES, consts = SIZES, max_time = 2)]
fn recover<const SIZE: usize>(bencher: Bencher<'_, '_>, class: &str) {
    let schema = json!({"type": "array", "items": {
        "type": "object",
        "properties": {
            "level": {"enum": ["info", "warning", "critical"]},
            "message": {"type": "string"},
            "count": {"type": "integer"},
            "ok": {"type": "boolean"}
        },
        "required": ["level", "message"]
    }});
    let Ok(contract) = Contract::compile(schema) else {
        return;
    };
    let text = text(class, SIZE);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| judge(&contract, divan::black_box(&text), &Allowance::default()));
}
