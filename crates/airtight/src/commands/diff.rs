//! `airtight diff`: what changes between two versions of a contract, and for whom.

mod replay;
mod report;
mod revision;

use airtight_core::contract::{Options, Patterns, Wrap};
use airtight_core::diff::{Declared, Diff, Step};
use airtight_core::{Contract, diff};

use crate::cli::{DiffArgs, Format};
use crate::commands::{check_command, load};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::Printer;
use crate::source::ContractSource;
use replay::Replay;
use report::Report;

/// Compares what was typed.
pub(super) fn run(
    args: &DiffArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let (old, new) = sources(args, environment)?;
    let before = compiled(args, &old, &args.old)?;
    let after = compiled(args, &new, args.new.as_deref().unwrap_or(&args.old))?;
    let found = diff(&before, &after);
    let replay = args.replay.then(|| replay::run(&args.ledger, (&before, &after), environment));
    let comparison = Comparison {
        declared: Declared::between(before.version(), after.version()),
        found,
        old: Party { source: &old, contract: &before },
        new: Party { source: &new, contract: &after },
        replay: replay.transpose()?,
    };
    let objection = args.check.then(|| comparison.objection()).flatten();
    let report = Report { comparison: &comparison, is_checked: args.check };
    match (args.format, objection) {
        (Format::Json, objection) => {
            printer.json(&report.to_json().to_string())?;
            Ok(if objection.is_some() { Outcome::Rejected } else { Outcome::Met })
        }
        (Format::Text, objection) => {
            report.print(printer)?;
            printer.flush()?;
            objection.map_or(Ok(Outcome::Met), Err)
        }
    }
}

/// One of the contracts.
struct Party<'p> {
    source: &'p ContractSource,
    contract: &'p Contract,
}

/// Both contracts, and what is known of the way from one to the other.
struct Comparison<'p> {
    old: Party<'p>,
    new: Party<'p>,
    found: Diff,
    declared: Declared,
    replay: Option<Replay>,
}

impl Comparison<'_> {
    /// Claims that the version moves as far as it must; nothing if it need not move.
    fn is_sufficient(&self) -> Option<bool> {
        self.found.step().map(|step| self.declared.suffices_for(step))
    }

    /// Says what is wrong with the versions, or with what became of answers on record.
    fn objection(&self) -> Option<Error> {
        if self.declared == Declared::Backwards {
            return Some(backwards(&self.old, &self.new));
        }
        match self.found.step() {
            Some(step) if !self.declared.suffices_for(step) => Some(self.too_small(step)),
            Some(_) | None => self.replay.as_ref().and_then(|replay| self.lost(replay)),
        }
    }

    fn too_small(&self, step: Step) -> Error {
        let certainty = if self.found.is_decided() { "" } else { ", as far as can be decided" };
        let words = format!("{} step{certainty}", step.name());
        let versions = (self.old.contract.version(), self.new.contract.version());
        let (Some(old), Some(new)) = versions else {
            let side = if versions.0.is_none() { &self.old } else { &self.new };
            let message =
                format!("the changes need a {words}, and `{}` has no version", side.source.label());
            return Error::new(Outcome::Rejected, message).hint(declare(side.source, "1.0.0"));
        };
        let next = step.after(old);
        let message =
            format!("the changes need a {words}, and the version goes from {old} to {new}");
        Error::new(Outcome::Rejected, message).hint(declare(self.new.source, &next.to_string()))
    }

    /// Objects to answers on record that are valid no longer, unless the version warns of it.
    fn lost(&self, replay: &Replay) -> Option<Error> {
        let warns = self.declared.suffices_for(Step::Major);
        (replay.lost > 0 && !warns).then(|| {
            let message = format!("{} answers on record are valid no longer", replay.lost);
            Error::new(Outcome::Rejected, message)
                .hint("carry them forward: `accepts` and `[[carry]]` in the contract's `.toml`")
                .hint("or say that they are lost by a major version")
        })
    }
}

fn backwards(old: &Party<'_>, new: &Party<'_>) -> Error {
    let versions = [old, new].map(|it| it.contract.version().map(ToString::to_string));
    let [old, new] = versions.map(Option::unwrap_or_default);
    let message = format!("the version goes back, from {old} to {new}");
    Error::new(Outcome::Rejected, message).hint("name the older contract first")
}

/// Says how a contract gets a version.
fn declare(source: &ContractSource, version: &str) -> String {
    match source.role().filter(|role| role.version.is_some()) {
        Some(role) => format!("write `version = \"{version}\"` in `{}`", role.path.display()),
        None => format!("write `\"x-version\": \"{version}\"` at the root of the schema"),
    }
}

/// Finds both contracts.
fn sources(
    args: &DiffArgs,
    environment: &Environment,
) -> Result<(ContractSource, ContractSource), Error> {
    let folder = args.folder.folder.as_deref();
    let find = |argument: &str| ContractSource::find(argument, folder, environment);
    match (&args.rev, &args.new) {
        (Some(revision), _) => {
            let new = find(&args.old)?;
            Ok((revision::at(revision, &new)?, new))
        }
        (None, Some(new)) if args.old.trim() == "-" && new.trim() == "-" => {
            Err(Error::new(Outcome::Usage, "only one contract can come from stdin"))
        }
        (None, Some(new)) => Ok((find(&args.old)?, find(new)?)),
        (None, None) => Err(Error::new(Outcome::Usage, "there is only one contract")
            .hint("name two, or add `--rev REVISION`")),
    }
}

fn compiled(args: &DiffArgs, source: &ContractSource, typed: &str) -> Result<Contract, Error> {
    let patterns = if args.patterns.look_around { Patterns::LookAround } else { Patterns::Linear };
    let command = check_command(typed, &args.folder, &args.patterns, Wrap::Allowed);
    load(source, &Options { patterns, ..Options::default() }, &command)
}
