//! Rolling updates: a role's contract that takes answers of older versions, too.

use airtight_core::contract::{Identity, Options, SOURCE_LIMIT_BYTES};
use airtight_core::{Carry, Contract, Diagnostic, Origin, Pointer, Preflight, Severity};

use super::located;
use crate::file;
use crate::source::{Older, Role};

/// Lets `contract` take answers of every older version that `role` names; returns what speaks against
/// it.
pub(super) fn accept_older(
    role: &Role,
    contract: &mut Contract,
    options: &Options,
) -> Vec<Diagnostic> {
    let mut flaws = Vec::new();
    for older in &role.older {
        match carry(older, contract, options) {
            Ok(carry) => contract.accept_older(carry),
            Err(findings) => flaws.extend(findings.into_iter().map(|finding| {
                let from = &older.declaration.from;
                let place = format!("{}:{}", role.path.display(), older.line);
                let message = format!("{place}: `carry` from `{from}`: {finding}");
                Diagnostic::error(Pointer::root(), "bad_carry", message)
            })),
        }
    }
    flaws
}

fn carry(older: &Older, contract: &Contract, options: &Options) -> Result<Carry, Vec<String>> {
    let unreadable = |error: file::FileError| {
        vec![format!("its schema cannot be read: `{}`: {error}", older.schema.display())]
    };
    let text = file::read(&older.schema, SOURCE_LIMIT_BYTES).map_err(unreadable)?;
    let options = Options { identity: Identity::default(), ..options.clone() };
    let preflight = Preflight::run(&text, Origin::File, &options);
    let Some(before) = preflight.contract else {
        let errors = preflight.diagnostics.iter().filter(|it| it.severity == Severity::Error);
        return Err(errors
            .map(|finding| format!("its schema is refused: {}", located(finding)))
            .collect());
    };
    Carry::new(before, contract, &older.declaration).map_err(|error| vec![error.to_string()])
}
