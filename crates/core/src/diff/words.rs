//! Changes in words.

use std::cmp::Ordering;

use serde_json::Value;

use crate::excerpt;

/// How many characters of a value are told.
const VALUE_LIMIT_CHARS: usize = 60;

/// How many values are told.
const LIST_LIMIT: usize = 8;

/// Returns a value, shortened.
pub(super) fn short(value: &Value) -> String {
    excerpt(&value.to_string(), VALUE_LIMIT_CHARS, "…").into_owned()
}

/// Returns a name, shortened.
pub(super) fn name(text: &str) -> String {
    format!("`{}`", excerpt(text, VALUE_LIMIT_CHARS, "…"))
}

/// Returns some values, the first of them.
pub(super) fn quoted(values: &[&Value]) -> String {
    let mut told: Vec<String> = values.iter().take(LIST_LIMIT).map(|value| short(value)).collect();
    if values.len() > LIST_LIMIT {
        told.push(format!("{} more", values.len() - LIST_LIMIT));
    }
    list(&told, "and")
}

/// Returns texts as a list, with `word` before the last.
pub(super) fn list<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, word: &str) -> String {
    let texts: Vec<T> = texts.into_iter().collect();
    match texts.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.as_ref().to_owned(),
        [before @ .., last] => {
            let before: Vec<&str> = before.iter().map(AsRef::as_ref).collect();
            format!("{} {word} {}", before.join(", "), last.as_ref())
        }
    }
}

/// Joins sentences, the first of them.
pub(super) fn sentences<'s>(sentences: impl Iterator<Item = &'s str>) -> String {
    let all: Vec<&str> = sentences.collect();
    let mut told = all.iter().take(LIST_LIMIT).copied().collect::<Vec<_>>().join("; ");
    if all.len() > LIST_LIMIT {
        told = format!("{told}; and {} more changes", all.len() - LIST_LIMIT);
    }
    told
}

/// Says how the value of a keyword changes.
pub(super) fn bound(keyword: &str, values: [Option<&Value>; 2]) -> String {
    match values {
        [None, None] => format!("`{keyword}` stays"),
        [None, Some(new)] => format!("`{keyword}` {} is new", short(new)),
        [Some(old), None] => format!("`{keyword}` {} is gone", short(old)),
        [Some(old), Some(new)] => {
            let verb = match old.as_f64().zip(new.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)) {
                Some(Ordering::Less) => "rises",
                Some(Ordering::Greater) => "falls",
                Some(Ordering::Equal) | None => "changes",
            };
            format!("`{keyword}` {verb} from {} to {}", short(old), short(new))
        }
    }
}

/// Says how something came or went.
pub(super) fn fate(subject: &str, is_new: Fate) -> String {
    match is_new {
        Fate::New => format!("{subject} is new"),
        Fate::Gone => format!("{subject} is gone"),
    }
}

/// Whether something came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    New,
    Gone,
}
