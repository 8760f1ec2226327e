//! How well a contract travels, dialect by dialect.

use serde::Serialize;

use super::{Dialect, lower};
use crate::contract::Contract;

/// How a contract fits a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Everything is enforced and can be said.
    Accepted,
    /// Something is lost or cannot be said; the local verdict makes up for it.
    Adapted,
    /// It cannot be expressed.
    Refused,
}

/// One row of the portability report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Portability {
    /// The dialect.
    pub dialect: Dialect,
    /// How the contract fits it.
    pub fit: Fit,
    /// How many keywords the dialect does not enforce.
    pub losses: usize,
    /// How many places cannot say all that the contract accepts.
    pub narrowings: usize,
    /// What a reader should know, in sentences without a period.
    pub notes: Vec<String>,
}

/// Reports how `contract` fits every dialect.
pub fn portability(contract: &Contract) -> Vec<Portability> {
    Dialect::ALL.into_iter().map(|dialect| row(contract, dialect)).collect()
}

fn row(contract: &Contract, dialect: Dialect) -> Portability {
    let lowering = match lower(contract, dialect) {
        Ok(lowering) => lowering,
        Err(refusal) => {
            let notes = vec![refusal.to_string()];
            return Portability { dialect, fit: Fit::Refused, losses: 0, narrowings: 0, notes };
        }
    };
    let (losses, narrowings) = (lowering.losses.len(), lowering.narrowings.len());
    let fit = if losses + narrowings == 0 { Fit::Accepted } else { Fit::Adapted };
    let inverse = &lowering.inverse;
    let notes = [
        (inverse.is_wrapped, "the root is wrapped in `value`"),
        (inverse.carries_text(), "some values travel as JSON text"),
        (inverse.reads_nulls(), "absent members are written as null"),
    ];
    let notes = notes.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note.to_owned());
    Portability { dialect, fit, losses, narrowings, notes: notes.collect() }
}
