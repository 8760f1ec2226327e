//! What the validator found, before it is put in words.

use std::collections::HashMap;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::check::work_limit;
use crate::contract::{Contract, Source};
use crate::json::meter::{Meter, Unfinished, bounded};
use crate::json::probe::{Probe, is_untrusted};
use crate::json::{Document, Kind, Node};

/// Everything that the validator has against a value.
pub(super) struct Findings<'f> {
    pub(super) schema: &'f Value,
    pub(super) errors: Vec<ValidationError<'f>>,
    pub(super) locator: Locator<'f>,
    is_partial: bool,
}

impl Findings<'_> {
    /// Claims that the validator was stopped before it had found everything.
    pub(super) fn is_partial(&self) -> bool {
        self.is_partial
    }
}

/// Validates `value` once more, and lets `read` look at what is wrong.
pub(super) fn find<T>(
    contract: &Contract,
    value: &Document,
    source: Option<&Source>,
    read: impl FnOnce(&mut Findings<'_>) -> T,
) -> Result<T, Unfinished> {
    let meter = Meter::lenient(work_limit(value))
        .with_source(source)
        .with_patterns(contract.patterns())
        .with_places(value);
    let mut findings = bounded(|| {
        let errors = contract.validator().iter_errors(Probe::Node(value.root(), &meter));
        Findings {
            schema: contract.schema(),
            errors: errors.filter(is_trusted).collect(),
            locator: Locator::new(value),
            is_partial: meter.is_low(),
        }
    })?;
    Ok(read(&mut findings))
}

/// Returns the errors of each branch, if `error` is about a choice that nothing fits.
pub(super) fn branches<'e>(
    error: &'e ValidationError<'_>,
) -> Option<&'e [Vec<ValidationError<'static>>]> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return None;
    };
    Some(context)
}

/// Claims that `error`, or something in its branches, was found before the meter was low.
pub(super) fn is_trusted(error: &ValidationError<'_>) -> bool {
    match branches(error) {
        Some(branches) => branches.iter().flatten().any(is_trusted),
        None => !is_untrusted(error.instance()),
    }
}

/// Finds nodes by pointer, and goes on from the way to the one before as far as that leads.
///
/// Findings are mostly in the order of the value. To keep the way to each of them instead would copy
/// every key above them once more.
pub(super) struct Locator<'d> {
    document: &'d Document,
    /// The pointer that was looked for last.
    last: String,
    /// The nodes on the way to it, each with the length of its own pointer.
    way: Vec<(usize, Node<'d>)>,
    items: HashMap<u32, Vec<Node<'d>>>,
}

impl<'d> Locator<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        Self { document, last: String::new(), way: Vec::new(), items: HashMap::new() }
    }

    /// Returns the node at `pointer`.
    pub(super) fn at(&mut self, pointer: &str) -> Option<Node<'d>> {
        let both = self.last.bytes().zip(pointer.bytes());
        let shared = both.take_while(|(before, now)| before == now).count();
        let leads_on =
            |end: usize| end <= shared && matches!(pointer.as_bytes().get(end), None | Some(b'/'));
        let known = self.way.iter().take_while(|(end, _)| leads_on(*end)).count();
        self.way.truncate(known);
        self.last.clear();
        self.last.push_str(pointer);
        let (mut end, mut node) = self.way.last().copied().unwrap_or((0, self.document.root()));
        for segment in pointer.get(end..)?.split('/').skip(1) {
            node = self.step(node, segment)?;
            end += 1 + segment.len();
            self.way.push((end, node));
        }
        Some(node)
    }

    /// Returns the item or member that a segment of a pointer names.
    fn step(&mut self, node: Node<'d>, segment: &str) -> Option<Node<'d>> {
        match node.kind() {
            Kind::Array => {
                let items = self.items.entry(node.id()).or_insert_with(|| node.items().collect());
                items.get(segment.parse::<usize>().ok()?).copied()
            }
            Kind::Object => node.member(&segment.replace("~1", "/").replace("~0", "~")),
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_found_in_any_order() {
        let text = r#"{"a":[1,{"b":2,"bc":3}],"a~/":{"":4},"ab":5}"#;
        let document = Document::parse(text).unwrap();
        let mut locator = Locator::new(&document);
        let pointers = [
            ("/a/1/b", Some("2")),
            ("/a/1/bc", Some("3")),
            ("/a/1/b", Some("2")),
            ("/a/1/x", None),
            ("/a/1", Some(r#"{"b":2,"bc":3}"#)),
            ("/a/10", None),
            ("/a/0", Some("1")),
            ("/ab", Some("5")),
            ("/a~0~1/", Some("4")),
            ("/ab/c", None),
            ("", Some(text)),
            ("/a/1/bc", Some("3")),
        ];
        for (pointer, expected) in pointers {
            assert_eq!(locator.at(pointer).map(Node::raw), expected, "{pointer}");
        }
    }
}
