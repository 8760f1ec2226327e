//! Tells answers that conform but say nothing.
//!
//! A refusal here costs a re-ask, so only what no honest answer looks like counts: the example of
//! the prompt handed back, and texts that are nothing but stand-ins. Words that the contract itself
//! lists are never stand-ins.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::contract::Contract;
use crate::json::{Document, Kind, Node};

/// Stand-ins that mean nothing even alone.
const NEVER_MEANT: [&str; 6] =
    ["...", "…", "placeholder", "lorem ipsum", "your answer here", "insert text here"];

/// Stand-ins that may be meant: only several of them, and nothing else, say nothing.
const SELDOM_MEANT: [&str; 10] =
    ["string", "text", "todo", "tbd", "example", "sample", "test", "foo", "bar", "n/a"];

/// Says why `value` says nothing, if so.
pub(super) fn emptiness(
    contract: &Contract,
    value: &Document,
    example: Option<&Document>,
) -> Option<&'static str> {
    let listed = listed_words(contract.schema());
    let texts: Vec<&str> = (value.root().values().filter_map(Node::as_str))
        .map(str::trim)
        .filter(|text| !text.is_empty() && !listed.contains(text))
        .collect();
    if example.is_some_and(|example| is_echo(value, example, &texts)) {
        return Some("this is the example that was given; answer with content of your own");
    }
    let plain: Vec<String> = texts.iter().map(|text| plain(text)).collect();
    let is_in = |words: &[&str], text: &String| words.contains(&text.as_str());
    let all_stand_in = !plain.is_empty()
        && plain.iter().all(|text| is_in(&NEVER_MEANT, text) || is_in(&SELDOM_MEANT, text));
    let is_certain = plain.len() > 1 || plain.iter().any(|text| is_in(&NEVER_MEANT, text));
    (all_stand_in && is_certain)
        .then_some("every text in this is a placeholder; answer with content of your own")
}

/// Claims that `value` is the example, and the example has made-up sentences that nobody would say.
fn is_echo(value: &Document, example: &Document, texts: &[&str]) -> bool {
    texts.iter().any(|text| text.starts_with("Example ")) && value.root().same_value(example.root())
}

/// Counts the scalars in `value` that carry something: all but `null` and empty strings.
pub(super) fn content(value: &Document) -> usize {
    let carries = |node: &Node<'_>| match node.kind() {
        Kind::Boolean | Kind::Number => true,
        Kind::String => node.as_str().is_some_and(|text| !text.trim().is_empty()),
        Kind::Null | Kind::Array | Kind::Object => false,
    };
    value.root().values().filter(carries).count()
}

/// Returns `text` in lower case, without brackets around it.
fn plain(text: &str) -> String {
    text.trim_matches(['<', '>', '[', ']', '{', '}', '(', ')']).trim().to_lowercase()
}

/// Returns every string that stands somewhere in `schema`.
fn listed_words(schema: &Value) -> BTreeSet<&str> {
    let mut words = BTreeSet::new();
    let mut pending = vec![(schema, Reading::Schema)];
    while let Some((value, reading)) = pending.pop() {
        match value {
            Value::Object(members) => pending.extend(members.iter().map(|(key, member)| {
                let is_list = matches!(key.as_str(), "enum" | "const" | "default" | "examples");
                (member, if is_list { Reading::Words } else { reading })
            })),
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, reading))),
            Value::String(word) if reading == Reading::Words => {
                words.insert(word.trim());
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    words
}

/// Whether strings are read as words of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Schema,
    Words,
}
