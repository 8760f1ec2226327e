//! `airtight models`: the weights of embedded models.

mod pull;
mod source;

use std::ops::ControlFlow;

use airtight_local::{KNOWN, Models, Package, Progress, WeightsName};
use tokio_util::sync::CancellationToken;

use crate::cli::{ModelsAction, ModelsArgs, NameArgs, PullArgs};
use crate::commands::signals;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span, Tone};
use crate::weights::{self, Bar};
use pull::Pull;

/// Does what was asked with weights.
pub(super) fn run(
    args: &ModelsArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let models = weights::models(environment)?;
    match &args.action {
        ModelsAction::List => list(&models, printer),
        ModelsAction::Pull(args) => pull(&models, args, environment, printer),
        ModelsAction::Path(named) => path(&models, &name(named)?, printer),
        ModelsAction::Remove(named) => remove(&models, &name(named)?),
    }
}

fn name(args: &NameArgs) -> Result<WeightsName, Error> {
    args.name.as_deref().map_or_else(|| Ok(Package::usual().name()), weights::read_name)
}

fn list(models: &Models, printer: &mut Printer) -> Result<Outcome, Error> {
    let size = |bytes: u64| format!("{} MB", bytes / 1_000_000);
    let known = KNOWN.iter().map(|package| {
        let here = models.path(&package.name()).is_some();
        // No word on how they are: whether they are undamaged is for `doctor` to find out.
        let (tone, state) = if here { (Tone::Plain, "here") } else { (Tone::Dim, "not here") };
        vec![
            Span::new(Tone::Strong, package.name),
            Span::plain(size(package.weights_bytes)),
            Span::new(tone, state),
            Span::plain(format!("{}, {}", package.title, package.licence)),
        ]
    });
    let others = models.others().into_iter().map(|(name, bytes)| {
        vec![Span::new(Tone::Strong, name.as_str()), Span::plain(size(bytes)), Span::plain("here")]
    });
    printer.table(0, &known.chain(others).collect::<Vec<_>>())?;
    Ok(Outcome::Met)
}

fn pull(
    models: &Models,
    args: &PullArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let interrupt = CancellationToken::new();
    signals::listen(interrupt.clone())?;
    let path = Pull { models, args, interrupt }.run(environment)?;
    printer.line(&[Span::plain(path.display().to_string())])?;
    Ok(Outcome::Met)
}

fn path(models: &Models, name: &WeightsName, printer: &mut Printer) -> Result<Outcome, Error> {
    let Some(path) = models.path(name) else {
        let known = Package::named(name);
        return Err(known.map_or_else(
            || weights::unknown(name),
            |package| weights::missing(package, Outcome::Rejected),
        ));
    };
    printer.line(&[Span::plain(path.display().to_string())])?;
    Ok(Outcome::Met)
}

fn remove(models: &Models, name: &WeightsName) -> Result<Outcome, Error> {
    let mut bar = Bar::default();
    // A signal ends the process: nothing is begun while it waits.
    let mut patiently = |progress: Progress| {
        bar.hear(progress);
        ControlFlow::Continue(())
    };
    match models.remove(name, &mut patiently) {
        Ok(true) => Ok(Outcome::Met),
        Ok(false) if Package::named(name).is_none() => Err(weights::unknown(name)),
        Ok(false) => {
            Err(Error::new(Outcome::Rejected, format!("the weights are not here: `{name}`")))
        }
        Err(error) => Err(weights::refused(error, name.as_str())),
    }
}
