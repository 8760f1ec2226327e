//! What the contract says of one value: as it stands, out of its wrappers, coerced, and carried forward
//! from an older version.

use super::{Allowance, Strictness, echo, wrapper};
use crate::carry::{self, Carried};
use crate::contract::Contract;
use crate::json::Document;
use crate::verdict::{Accepted, Edits, Violations, coerce, consult, weigh};

/// How many wrappers are taken off, one inside the other.
const WRAPPER_LIMIT: usize = 3;

/// What the contract says of one value.
pub(super) enum Opinion {
    Conforms(Accepted),
    Echo,
    Breaks(Violations),
}

impl Opinion {
    /// Puts what was changed before the value was judged on record.
    pub(super) fn after(mut self, edits: Edits) -> Self {
        if let Self::Conforms(accepted) = &mut self {
            let later = std::mem::replace(&mut accepted.edits, edits);
            accepted.edits.append(later);
        }
        self
    }
}

/// Judges one value: as it stands, out of its wrappers, then coerced.
pub(super) fn opinion(contract: &Contract, document: Document, allowance: &Allowance) -> Opinion {
    let mut layers: Vec<(Document, Edits)> = Vec::new();
    let mut layer = (document, Edits::default());
    let violations = loop {
        let (value, edits) = layer;
        if echo::is_echo(contract, &value, allowance.strictness) {
            return Opinion::Echo;
        }
        let violations = self::violations(contract, &value, allowance);
        if violations.is_empty() {
            return Opinion::Conforms(Accepted { value, edits });
        }
        if allowance.strictness == Strictness::Strict {
            return Opinion::Breaks(violations);
        }
        let inner = wrapper::unwrap(contract, &value, &allowance.limits);
        let mut so_far = edits.clone();
        layers.push((value, edits));
        match inner {
            Some((value, edit)) if layers.len() <= WRAPPER_LIMIT => {
                so_far.push(edit);
                layer = (value, so_far);
            }
            _ => break violations,
        }
    };
    let coerced = layers.iter().find_map(|(value, edits)| {
        let (value, coercions) = coerce(contract, value)?;
        let mut edits = edits.clone();
        edits.append(coercions);
        let violations = self::violations(contract, &value, allowance);
        let conforms =
            violations.is_empty() && !echo::is_echo(contract, &value, allowance.strictness);
        conforms.then_some(Opinion::Conforms(Accepted { value, edits }))
    });
    coerced.unwrap_or_else(|| carried(contract, layers, violations, allowance))
}

/// Judges one value that the contract rejects by the older versions that it still accepts.
fn carried(
    contract: &Contract,
    layers: Vec<(Document, Edits)>,
    mut violations: Violations,
    allowance: &Allowance,
) -> Opinion {
    if contract.older().is_empty() {
        return Opinion::Breaks(violations);
    }
    for (value, mut edits) in layers {
        // What only the check objects to is an answer of this version.
        if weigh(contract, &value, allowance.source.as_ref()).is_empty() {
            continue;
        }
        match carry::forward(contract, &value, allowance.source.as_ref()) {
            Carried::Strange => {}
            Carried::Forward(value, later) => {
                let objections = self::violations(contract, &value, allowance);
                if !objections.is_empty() {
                    return Opinion::Breaks(objections);
                }
                edits.append(later);
                return Opinion::Conforms(Accepted { value, edits });
            }
            Carried::Stuck(violation) => violations.list.push(violation),
        }
    }
    Opinion::Breaks(violations)
}

/// Returns what is wrong with one value: by the contract, then by the check that the job carries.
pub(super) fn violations(
    contract: &Contract,
    value: &Document,
    allowance: &Allowance,
) -> Violations {
    let violations = weigh(contract, value, allowance.source.as_ref());
    match &allowance.check {
        Some(check) if violations.is_empty() => consult(check.as_ref(), value),
        Some(_) | None => violations,
    }
}
