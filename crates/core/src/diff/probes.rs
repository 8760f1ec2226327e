//! Values near a change: at its bounds, of other types, with members more or less.
//!
//! Guesses, nothing more. Whether one shows anything is for the verdicts to say.

use serde_json::{Map, Number, Value, json};

use crate::contract::text_matching;

/// How many values are tried for one change.
const PROBE_LIMIT: usize = 120;

/// The longest text, and the most items, that are made to pass a bound.
const LENGTH_LIMIT: u64 = 10_000;

/// How many parts of a value are varied.
const LEAF_LIMIT: usize = 24;

/// Returns values to try in place of `value`, given the small schemas before and after the change.
pub(super) fn probes(
    value: &Value,
    minis: &[Map<String, Value>; 2],
    member: Option<&str>,
) -> Vec<Value> {
    let mut probes = Vec::new();
    for mini in minis {
        listed(mini, &mut probes);
        numbers(mini, &mut probes);
        texts(mini, &mut probes);
        lengths(value, mini, &mut probes);
    }
    members(value, member, &mut probes);
    probes.extend(typical());
    varied(value, &mut probes);
    probes.truncate(PROBE_LIMIT);
    probes
}

/// Returns one value of each type.
fn typical() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(0.5),
        json!(-1),
        json!(""),
        json!("text"),
        json!([]),
        json!({}),
    ]
}

fn listed(mini: &Map<String, Value>, probes: &mut Vec<Value>) {
    let list = mini.get("enum").and_then(Value::as_array).into_iter().flatten();
    probes.extend(list.chain(mini.get("const")).take(PROBE_LIMIT / 4).cloned());
}

fn numbers(mini: &Map<String, Value>, probes: &mut Vec<Value>) {
    const BOUNDS: [&str; 5] =
        ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"];
    for bound in BOUNDS.iter().filter_map(|keyword| mini.get(*keyword)) {
        probes.push(bound.clone());
        if let Some(whole) = bound.as_i64() {
            probes.extend([whole.saturating_sub(1).into(), whole.saturating_add(1).into()]);
        }
        let near = bound.as_f64().into_iter().flat_map(|it| [it - 0.5, it + 0.5, it * 2.0]);
        probes.extend(near.filter_map(Number::from_f64).map(Value::Number));
    }
}

fn texts(mini: &Map<String, Value>, probes: &mut Vec<Value>) {
    let pattern = mini.get("pattern").and_then(Value::as_str);
    probes.extend(pattern.and_then(text_matching).map(Value::String));
    let format = mini.get("format").and_then(Value::as_str);
    probes.extend(format.and_then(formatted).map(Value::from));
    for keyword in ["minLength", "maxLength"] {
        let Some(bound) = mini.get(keyword).and_then(Value::as_u64) else { continue };
        for length in [bound.saturating_sub(1), bound, bound.saturating_add(1)] {
            if let Ok(length) = usize::try_from(length.min(LENGTH_LIMIT)) {
                probes.push("x".repeat(length).into());
            }
        }
    }
}

/// Returns a text of a format.
fn formatted(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2026-02-15",
        "date-time" => "2026-02-15T09:30:00Z",
        "time" => "09:30:00Z",
        "duration" => "PT15M",
        "email" | "idn-email" => "ada@example.com",
        "hostname" | "idn-hostname" => "www.example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "iri" | "uri-reference" | "iri-reference" => "https://example.com/page",
        "uuid" => "5f0c4c1e-9a3b-4d7e-8b21-000000000001",
        _ => return None,
    })
}

/// Makes arrays and objects of the lengths that are bounds, and next to them.
fn lengths(value: &Value, mini: &Map<String, Value>, probes: &mut Vec<Value>) {
    const BOUNDS: [&str; 4] = ["minItems", "maxItems", "minProperties", "maxProperties"];
    for bound in BOUNDS.iter().filter_map(|keyword| mini.get(*keyword)?.as_u64()) {
        for length in [bound.saturating_sub(1), bound, bound.saturating_add(1)] {
            let Ok(length) = usize::try_from(length.min(LENGTH_LIMIT)) else { continue };
            match value {
                Value::Array(items) => {
                    let last = items.last().cloned().unwrap_or_default();
                    let longer = items.iter().cloned().chain(std::iter::repeat(last));
                    probes.push(longer.take(length).collect());
                }
                Value::Object(members) => {
                    let more = (0..length).map(|index| (format!("extra_{index}"), Value::Null));
                    let all = members.clone().into_iter().chain(more).take(length);
                    probes.push(Value::Object(all.collect()));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }
}

/// Makes objects with the member that the change is about, without it, and with a stranger.
fn members(value: &Value, member: Option<&str>, probes: &mut Vec<Value>) {
    let Value::Object(members) = value else { return };
    if let Some(member) = member {
        let mut without = members.clone();
        without.remove(member);
        probes.push(Value::Object(without));
        for inner in typical() {
            let mut with = members.clone();
            with.insert(member.to_owned(), inner);
            probes.push(Value::Object(with));
        }
    }
    let mut stranger = members.clone();
    stranger.insert("extra_member".to_owned(), Value::Null);
    probes.push(Value::Object(stranger));
}

/// Changes one part of the value after the other, as rules across several parts need it.
fn varied(value: &Value, probes: &mut Vec<Value>) {
    let mut pending = vec![String::new()];
    let mut seen = 0;
    while let Some(pointer) = pending.pop() {
        let Some(part) = value.pointer(&pointer) else { continue };
        seen += 1;
        if seen > LEAF_LIMIT {
            return;
        }
        let others: Vec<Value> = match part {
            Value::Bool(flag) => vec![Value::Bool(!flag)],
            Value::Number(number) => {
                let whole = number.as_i64().into_iter().flat_map(|it| {
                    [it.saturating_sub(1), it.saturating_add(1), it.saturating_neg(), 1_000_000]
                });
                whole.map(Value::from).collect()
            }
            Value::String(text) => vec![json!(""), json!(format!("{text}x")), json!("x")],
            Value::Array(items) => {
                let places = (0..items.len()).map(|index| format!("{pointer}/{index}"));
                pending.extend(places);
                let twice: Vec<Value> = items.iter().chain(items).cloned().collect();
                vec![json!([]), Value::Array(twice)]
            }
            Value::Object(members) => {
                let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
                pending.extend(members.keys().map(|key| format!("{pointer}/{}", escaped(key))));
                Vec::new()
            }
            Value::Null => Vec::new(),
        };
        for other in others {
            let mut copy = value.clone();
            if let Some(part) = copy.pointer_mut(&pointer) {
                *part = other;
                probes.push(copy);
            }
        }
    }
}
