//! The branches of a choice, and which of them a value fits best.

use std::cmp::Reverse;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

use super::findings::is_trusted;
use super::message::{allowed, constant};

/// One branch of an `anyOf` or `oneOf`, and what the value lacks to fit it.
pub(super) struct Branch<'e> {
    pub(super) position: usize,
    pub(super) errors: Vec<&'e ValidationError<'static>>,
}

impl<'e> Branch<'e> {
    /// Returns the branches about which something is known.
    pub(super) fn all(branches: &'e [Vec<ValidationError<'static>>]) -> Vec<Self> {
        let trusted = |errors: &'e [ValidationError<'static>]| {
            errors.iter().filter(|error| is_trusted(error)).collect()
        };
        let branches = branches.iter().enumerate();
        branches
            .map(|(position, errors)| Self { position, errors: trusted(errors) })
            .filter(|branch| !branch.errors.is_empty())
            .collect()
    }

    /// Orders branches by how badly the value at `here` fits: it is something else, it has another
    /// tag, then the more there is to correct.
    pub(super) fn misfit(&self, here: &str) -> (bool, bool, usize, Reverse<usize>) {
        let errors = || self.errors.iter();
        let depth = errors().map(|error| error.instance_path().as_str().len()).max();
        (
            errors().any(|error| error.instance_path().as_str() == here && is_whole(error)),
            errors().any(|error| is_tag(error, here)),
            self.errors.len(),
            Reverse(depth.unwrap_or_default()),
        )
    }

    /// Returns the complaint that the value at `here` is of another type.
    pub(super) fn wrong_type(&self, here: &str) -> Option<&'e ValidationErrorKind> {
        let mut here = self.errors.iter().filter(|error| error.instance_path().as_str() == here);
        here.find(|error| matches!(error.kind(), ValidationErrorKind::Type { .. }))
            .map(|error| error.kind())
    }
}

/// Claims that `error` is about what the value is as a whole.
fn is_whole(error: &ValidationError<'_>) -> bool {
    let is_constant = constant(error.kind()).is_some();
    is_constant
        || matches!(
            error.kind(),
            ValidationErrorKind::Type { .. }
                | ValidationErrorKind::Enum { .. }
                | ValidationErrorKind::FalseSchema
        )
}

/// Claims that `error` is about a direct member of the value at `here` that must be a constant.
pub(super) fn is_tag(error: &ValidationError<'_>, here: &str) -> bool {
    let member = error.instance_path().as_str().strip_prefix(here);
    let is_direct = member.is_some_and(|member| member.rfind('/') == Some(0));
    is_direct && allowed(error.kind()).is_some()
}
