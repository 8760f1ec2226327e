//! The branches of a choice, and which of them a value fits best.

use std::cmp::Reverse;
use std::collections::HashSet;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

use super::findings::{branches, is_trusted};
use super::message::{allowed, constant};

/// How badly a value fits a branch; the least fits best.
pub(super) type Misfit = (bool, bool, usize, Reverse<usize>);

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
    pub(super) fn misfit(&self, here: &str) -> Misfit {
        let errors = || self.errors.iter();
        let depth = errors().map(|error| error.instance_path().as_str().len()).max();
        (
            errors().any(|error| error.instance_path().as_str() == here && is_whole(error)),
            errors().any(|error| is_tag(error, here)),
            self.errors.len(),
            Reverse(depth.unwrap_or_default()),
        )
    }

    /// Claims that the value at `here` may be meant for this branch, though another one fits with
    /// the `least` corrections: it is no worse in kind and tag, and lacks no member.
    pub(super) fn may_be_meant(&self, here: &str, least: Option<Misfit>) -> bool {
        let (is_other, has_other_tag, ..) = self.misfit(here);
        let lacks_member = self.errors.iter().any(|error| {
            error.instance_path().as_str() == here
                && matches!(error.kind(), ValidationErrorKind::Required { .. })
        });
        least.is_some_and(|least| (is_other, has_other_tag) <= (least.0, least.1)) && !lacks_member
    }

    /// Returns where a value is of a type that this branch does not take.
    pub(super) fn wrong_types(&self) -> HashSet<&'e str> {
        let wrong = self.errors.iter().filter(|error| is_about_type(error));
        wrong.map(|error| error.instance_path().as_str()).collect()
    }

    /// Returns the complaint that the value at `here` is of another type.
    pub(super) fn wrong_type(&self, here: &str) -> Option<&'e ValidationErrorKind> {
        let mut here = self.errors.iter().filter(|error| error.instance_path().as_str() == here);
        here.find(|error| matches!(error.kind(), ValidationErrorKind::Type { .. }))
            .map(|error| error.kind())
    }
}

/// Claims that `error` is about the type of its value, whatever branch of a choice that is for.
fn is_about_type(error: &ValidationError<'_>) -> bool {
    let here = error.instance_path().as_str();
    let is_here = |inner: &ValidationError<'_>| inner.instance_path().as_str() == here;
    match branches(error) {
        Some(branches) => branches
            .iter()
            .all(|errors| errors.iter().any(|inner| is_here(inner) && is_about_type(inner))),
        None => matches!(error.kind(), ValidationErrorKind::Type { .. }),
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
