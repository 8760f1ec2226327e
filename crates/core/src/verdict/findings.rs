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
    let meter =
        Meter::lenient(work_limit(value)).with_source(source).with_patterns(contract.patterns());
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

/// Finds nodes by pointer, in constant time for the siblings of one that was found before.
pub(super) struct Locator<'d> {
    document: &'d Document,
    found: HashMap<String, Option<Node<'d>>>,
    items: HashMap<u32, Vec<Node<'d>>>,
}

impl<'d> Locator<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        Self { document, found: HashMap::new(), items: HashMap::new() }
    }

    /// Returns the node at `pointer`.
    pub(super) fn at(&mut self, pointer: &str) -> Option<Node<'d>> {
        let Some((parent, segment)) = pointer.rsplit_once('/') else {
            return Some(self.document.root());
        };
        if let Some(known) = self.found.get(pointer) {
            return *known;
        }
        let parent = self.at(parent)?;
        let node = match parent.kind() {
            Kind::Array => {
                let items =
                    self.items.entry(parent.id()).or_insert_with(|| parent.items().collect());
                segment.parse::<usize>().ok().and_then(|index| items.get(index)).copied()
            }
            Kind::Object => parent.member(&segment.replace("~1", "/").replace("~0", "~")),
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => None,
        };
        self.found.insert(pointer.to_owned(), node);
        node
    }
}
