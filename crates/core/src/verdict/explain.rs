//! Findings as violations: choices are reported by the branch that fits best.

use std::borrow::Cow;
use std::collections::BTreeSet;

use jsonschema::ValidationError;
use serde_json::Value;

use super::branch::{Branch, is_tag};
use super::findings::{Findings, branches};
use super::message::{Wording, allowed, describe, one_of, type_names};
use super::violation::Violation;
use crate::json::Pointer;

/// How many of the other branches are summarised.
const BRANCHES_SHOWN: usize = 3;

impl Findings<'_> {
    /// Appends what is wrong to `violations`, until there are more than `limit`.
    pub(super) fn describe(&mut self, violations: &mut Vec<Violation>, limit: usize) {
        let errors = std::mem::take(&mut self.errors);
        for error in &errors {
            if violations.len() > limit {
                break;
            }
            self.describe_error(error, violations, limit);
        }
        self.errors = errors;
    }

    fn describe_error(
        &mut self,
        error: &ValidationError<'_>,
        violations: &mut Vec<Violation>,
        limit: usize,
    ) {
        let Some(branches) = branches(error) else {
            let node = self.locator.at(error.instance_path().as_str());
            let room = (limit + 1).saturating_sub(violations.len());
            let worded = describe(error, node, self.schema, room).into_iter();
            let here = error.instance_path().as_str();
            violations.extend(worded.map(|wording| violation(here, error, wording)));
            return;
        };
        let here = error.instance_path().as_str();
        let mut branches = Branch::all(branches);
        if let Some(wording) = self.wrong_type_everywhere(here, &branches) {
            violations.push(violation(here, error, wording));
            return;
        }
        if let Some((pointer, wording)) = self.wrong_tag_everywhere(here, &branches) {
            violations.push(violation(&pointer, error, wording));
            return;
        }
        branches.sort_by_cached_key(|branch| branch.misfit(here));
        let Some((best, others)) = branches.split_first() else {
            return;
        };
        violations.push(violation(here, error, self.choice(error, best, others)));
        for inner in &best.errors {
            if violations.len() > limit {
                break;
            }
            self.describe_error(inner, violations, limit);
        }
    }

    /// Words a choice none of whose branches takes a value of this kind.
    fn wrong_type_everywhere(&mut self, here: &str, branches: &[Branch<'_>]) -> Option<Wording> {
        let mut types = BTreeSet::new();
        for branch in branches {
            types.extend(type_names(branch.wrong_type(here)?));
        }
        let node = self.locator.at(here)?;
        (!types.is_empty()).then(|| Wording::wrong_type(node, types))
    }

    /// Words a choice whose branches are told apart by a member that fits none of them.
    fn wrong_tag_everywhere(
        &mut self,
        here: &str,
        branches: &[Branch<'_>],
    ) -> Option<(String, Wording)> {
        let mut pointer = None;
        let mut tags: Vec<Cow<'_, Value>> = Vec::new();
        for branch in branches {
            let tag = branch.errors.iter().find(|error| is_tag(error, here))?;
            let place = tag.instance_path().as_str();
            if *pointer.get_or_insert(place) != place {
                return None;
            }
            tags.extend(allowed(tag.kind())?);
        }
        let pointer = pointer?;
        let node = self.locator.at(pointer)?;
        Some((pointer.to_owned(), one_of(node, &tags)))
    }

    /// Words a choice: which branch comes closest, and what the others ask for.
    fn choice(
        &mut self,
        error: &ValidationError<'_>,
        best: &Branch<'_>,
        others: &[Branch<'_>],
    ) -> Wording {
        let forms = self.schema.pointer(error.schema_path().as_str());
        let mut wording = Wording::same(format!(
            "fits none of the {} allowed forms, the closest is {}: see what it lacks below",
            others.len() + 1,
            name_form(forms, best.position),
        ));
        for branch in others.iter().take(BRANCHES_SHOWN) {
            let Some(first) = branch.errors.first() else {
                continue;
            };
            let place = first.instance_path().as_str();
            let node = self.locator.at(place);
            let lack = describe(first, node, self.schema, 1).into_iter().next();
            let lack = lack.map_or_else(|| "another choice fails".to_owned(), |lack| lack.masked);
            let place = Pointer::from(place).to_string();
            let form = name_form(forms, branch.position);
            wording.message.extend(["; for ", &form, ": ", &place, " ", &lack]);
            // The way to a value consists of its keys.
            wording.masked.extend(["; for ", &form, ": ", &lack]);
        }
        wording
    }
}

fn violation(pointer: &str, error: &ValidationError<'_>, wording: Wording) -> Violation {
    Violation {
        pointer: pointer.into(),
        keyword: error.kind().keyword().to_owned(),
        message: wording.message,
        masked: wording.masked,
    }
}

/// Names a branch by its title or the definition that it refers to.
fn name_form(forms: Option<&Value>, position: usize) -> String {
    let form = forms.and_then(|forms| forms.get(position));
    let name = form.and_then(|form| {
        let reference = form.get("$ref").and_then(Value::as_str);
        let title = form.get("title").and_then(Value::as_str);
        title.or_else(|| reference?.rsplit('/').next())
    });
    match name {
        Some(name) => format!("form {} (`{name}`)", position + 1),
        None => format!("form {}", position + 1),
    }
}
