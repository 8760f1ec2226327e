//! Tells what of a value does not stand in the text that it was extracted from.
//!
//! The rule it protects: who extracts copies, and does not invent. Every string must occur in the text,
//! as grounded strings must, every number must be written there, and so must names of members that the
//! contract does not know. Booleans and words that the contract lists cannot be looked up that way, and
//! are named. A value of which nothing stands in the text was not extracted from it.

use std::collections::BTreeSet;

use crate::contract::{Contract, GROUNDED, Source};
use crate::json::{Document, Kind, Node, Number, Pointer, unescaped};
use crate::judge::Shape;
use crate::verdict::{Violation, Violations};

use super::answer::said;
use super::numerals;

/// How many parts a value may have: each is looked for in the whole text.
const PART_LIMIT: usize = 10_000;

/// How many bytes the places of all parts may take: a long key may stand above each of them.
const PLACE_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// How many violations are listed.
const LISTED: usize = 20;

const NOT_THERE: &str = "does not occur in what the model said";
const NOTHING_THERE: &str = "nothing in it can be traced to what the model said";
const TOO_MUCH: &str = "has too many parts to trace each to what the model said";

/// What of a value does not stand in the text, and what cannot be looked up.
#[derive(Debug, Default)]
pub(super) struct Provenance {
    pub(super) violations: Violations,
    pub(super) unchecked: Vec<Pointer>,
}

/// One part of a value, and what the contract says of it.
struct Part<'v> {
    node: Node<'v>,
    pointer: Pointer,
    shape: Shape<'v>,
}

/// Looks everything in `value` up in `text`.
pub(super) fn trace(contract: &Contract, value: &Document, text: &str) -> Provenance {
    let mut provenance = Provenance::default();
    if value.node_count() > PART_LIMIT || value.place_bytes() > PLACE_LIMIT_BYTES {
        provenance.violations = said(GROUNDED, TOO_MUCH).into();
        return provenance;
    }
    let text = Text::read(text);
    let mut traced = 0_usize;
    let (pointer, shape) = (Pointer::root(), Shape::of_root(contract));
    let mut pending = vec![Part { node: value.root(), pointer, shape }];
    while let Some(part) = pending.pop() {
        let found = match part.node.kind() {
            Kind::Null => Found::Empty,
            Kind::Boolean => Found::Unchecked,
            Kind::Number | Kind::String => text.find(&part),
            Kind::Array | Kind::Object => {
                let first = pending.len();
                traced += part.open(&text, &mut pending, &mut provenance);
                // Taken from the end, so that parts come in their order.
                pending.get_mut(first..).unwrap_or_default().reverse();
                Found::Empty
            }
        };
        match found {
            Found::There => traced += 1,
            Found::Empty => {}
            Found::Unchecked => provenance.unchecked.push(part.pointer),
            Found::Nowhere => provenance.miss(part.pointer),
        }
    }
    if traced == 0 && provenance.violations.is_empty() {
        provenance.violations = said(GROUNDED, NOTHING_THERE).into();
    }
    provenance
}

impl Provenance {
    fn miss(&mut self, pointer: Pointer) {
        if self.violations.list.len() < LISTED {
            self.violations.list.push(Violation { pointer, ..said(GROUNDED, NOT_THERE) });
        } else {
            self.violations.more = true;
        }
    }
}

impl Part<'_> {
    /// Adds what is inside to `pending`, and returns how many names that the contract does not know
    /// stand in `text`.
    fn open(&self, text: &Text, pending: &mut Vec<Self>, provenance: &mut Provenance) -> usize {
        let mut traced = 0;
        for (key, node) in self.node.members() {
            let pointer = self.pointer.key(key);
            if !self.shape.declares(key) {
                if text.quotes(key) {
                    traced += 1;
                } else {
                    provenance.miss(pointer.clone());
                }
            }
            pending.push(Self { node, pointer, shape: self.shape.member(key) });
        }
        let shape = self.shape.item();
        for (index, node) in self.node.items().enumerate() {
            let (pointer, shape) = (self.pointer.index(index), shape.clone());
            pending.push(Self { node, pointer, shape });
        }
        traced
    }
}

/// Whether something stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    There,
    Nowhere,
    /// It says nothing that could be invented.
    Empty,
    /// It is one of the contract's own words, which the text may say in others.
    Unchecked,
}

/// A text that things are looked up in.
struct Text {
    plain: Source,
    /// The same with the escapes of JSON undone, if it has any: broken JSON is text, too.
    unescaped: Option<Source>,
    lowercase: String,
    numerals: BTreeSet<String>,
}

impl Text {
    fn read(text: &str) -> Self {
        Self {
            plain: Source::new(text),
            unescaped: text.contains('\\').then(|| Source::new(&unescaped(text))),
            lowercase: text.to_lowercase(),
            numerals: numerals::read(text),
        }
    }

    fn find(&self, part: &Part<'_>) -> Found {
        let word = part.node.as_str().unwrap_or_default();
        let number = part.node.as_number();
        if number.is_none() && word.trim().is_empty() {
            return Found::Empty;
        }
        let is_listed = part.shape.lists(part.node);
        let is_there = match number {
            Some(number) => self.counts(number),
            None if is_listed => self.mentions(word),
            None => self.quotes(word),
        };
        match (is_there, is_listed) {
            (true, _) => Found::There,
            (false, true) => Found::Unchecked,
            (false, false) => Found::Nowhere,
        }
    }

    fn quotes(&self, string: &str) -> bool {
        self.plain.contains(string)
            || self.unescaped.as_ref().is_some_and(|unescaped| unescaped.contains(string))
    }

    fn counts(&self, number: Number<'_>) -> bool {
        self.numerals.contains(&number.canonical())
    }

    /// Claims that `word` stands there by itself, in whatever case.
    fn mentions(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let is_apart = |next: Option<char>| !next.is_some_and(char::is_alphanumeric);
        self.lowercase.match_indices(&word).any(|(start, found)| {
            let before = self.lowercase.get(..start).and_then(|text| text.chars().next_back());
            let behind = self.lowercase.get(start + found.len()..);
            is_apart(before) && is_apart(behind.and_then(|text| text.chars().next()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use test_case::test_case;

    fn contract() -> Contract {
        Contract::compile(json!({
            "type": "object",
            "properties": {
                "title": { "type": "string" },
                "score": { "type": "number" },
                "level": { "enum": ["high", "low", 3] },
                "public": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "notes": { "type": "object", "additionalProperties": { "type": "string" } },
            },
        }))
        .unwrap()
    }

    /// Returns where something was invented, and what was not checked.
    fn traced(value: &Value, text: &str) -> (Vec<String>, Vec<String>) {
        let value = Document::from_value(value).unwrap();
        let Provenance { violations, unchecked } = trace(&contract(), &value, text);
        let places = |pointers: Vec<Pointer>| pointers.iter().map(ToString::to_string).collect();
        let invented = violations.list.into_iter().map(|violation| violation.pointer).collect();
        (places(invented), places(unchecked))
    }

    const TEXT: &str = "**Title:** A quick\n fox. Rated 7.5, of low importance. Tags: fox, Hund";

    #[test_case(&json!({ "title": "A quick fox", "score": 7.5 }); "strings and numbers")]
    #[test_case(&json!({ "title": "A quick fox", "score": null, "tags": [] }); "what is left empty")]
    #[test_case(&json!({ "tags": ["fox", "Hund"], "notes": { "fox": "quick" } }); "items and names")]
    #[test_case(&json!({ "level": "low" }); "a listed word that is there")]
    fn what_is_there_is_traced(value: &Value) {
        assert_eq!(traced(value, TEXT), (vec![], vec![]));
    }

    #[test_case(&json!({ "title": "A slow fox" }), "/title"; "a string")]
    #[test_case(&json!({ "title": "a quick fox" }), "/title"; "another case")]
    #[test_case(&json!({ "title": "high", "tags": ["fox"] }), "/title"; "a word listed elsewhere")]
    #[test_case(&json!({ "title": "fox", "score": 8 }), "/score"; "a number")]
    #[test_case(&json!({ "tags": ["fox", "dog"] }), "/tags/1"; "an item")]
    #[test_case(&json!({ "notes": { "dog": "fox" } }), "/notes/dog"; "a name")]
    #[test_case(&json!({}), "(root)"; "nothing at all")]
    #[test_case(&json!({ "title": " ", "score": null }), "(root)"; "nothing but blanks")]
    #[test_case(&json!({ "public": true, "level": "high" }), "(root)"; "nothing that can be looked up")]
    fn what_is_not_there_was_invented(value: &Value, place: &str) {
        assert_eq!(traced(value, TEXT).0, [place]);
    }

    #[test]
    fn what_cannot_be_looked_up_is_named() {
        let value = json!({ "title": "fox", "level": "high", "public": true });
        assert_eq!(traced(&value, TEXT), (vec![], vec!["/level".to_owned(), "/public".to_owned()]));
    }

    #[test]
    fn broken_json_is_read_without_its_escapes() {
        let text = r#"{"Title": "A \"quick\"\nfox \u00fc", "score": oops}"#;
        let value = json!({ "title": "A \"quick\" fox ü" });
        assert_eq!(traced(&value, text), (vec![], vec![]));
    }

    #[test]
    fn a_value_of_too_many_parts_is_refused() {
        let tags = vec!["fox"; PART_LIMIT];
        assert_eq!(traced(&json!({ "tags": tags }), TEXT).0, ["(root)"]);
        // The places of these would take 5 GB.
        let key = "k".repeat(1_000_000);
        assert_eq!(traced(&json!({ key: vec!["fox"; 5_000] }), TEXT).0, ["(root)"]);
    }
}
