//! Which branches of two choices correspond: those that say the same, then those that look alike.

use serde_json::Value;

use crate::contract::{Fingerprint, SiteId};

use super::pairs::Tied;
use super::reading::{Child, Reading};

/// The keywords whose lists have no order.
pub(super) const KEYWORDS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// How many branches are compared with each other.
const BRANCH_LIMIT: usize = 200;

type Branches<'r, 'c> = (&'r Reading<'c>, Vec<Child<'c>>);

/// Adds which of `before` and `after` correspond to `tied`.
pub(super) fn tie<'c>(before: Branches<'_, 'c>, after: Branches<'_, 'c>, tied: &mut Tied<'c>) {
    let ((old, mut left), (new, mut right)) = (before, after);
    if left.len().max(right.len()) > BRANCH_LIMIT {
        tied.removed.append(&mut left);
        tied.added.append(&mut right);
        return;
    }
    for likeness in [text, subject] {
        let mut rest = Vec::new();
        for child in left {
            let wanted = likeness(old, child.id);
            let is_alike = |other: &Child<'c>| likeness(new, other.id) == wanted;
            match right.iter().position(is_alike).filter(|_| wanted.is_some()) {
                Some(position) => tied.both.push((child, right.remove(position))),
                None => rest.push(child),
            }
        }
        left = rest;
    }
    if left.len() == right.len() {
        tied.both.extend(left.into_iter().zip(right));
        return;
    }
    tied.removed.append(&mut left);
    tied.added.append(&mut right);
}

/// Returns what tells a branch from all others.
fn text(reading: &Reading<'_>, id: SiteId) -> Option<String> {
    Some(Fingerprint::of(reading.value(id)?).to_string())
}

/// Returns what a branch is about: where it refers to, what its constant members are, or its type.
fn subject(reading: &Reading<'_>, id: SiteId) -> Option<String> {
    if let Some(reference) = reading.keyword(id, "$ref") {
        return Some(format!("$ref {reference}"));
    }
    if let Some(title) = reading.keyword(id, "title") {
        return Some(format!("title {title}"));
    }
    let properties = reading.keyword(id, "properties").and_then(Value::as_object);
    let constant =
        |(name, schema): (&String, &Value)| Some(format!("{name}={}", schema.get("const")?));
    let constants: Vec<String> = properties.into_iter().flatten().filter_map(constant).collect();
    if !constants.is_empty() {
        return Some(constants.join(" "));
    }
    reading.keyword(id, "type").map(|name| format!("type {name}"))
}
