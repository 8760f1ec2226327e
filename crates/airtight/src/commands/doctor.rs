//! `airtight doctor`: what is in force, from where, and does it work?

mod embedded;
mod login;
mod program;
mod provider;
mod report;
mod versions;

use airtight_agent::Sandbox;
use airtight_agent::provider::{Model, ModelName, Vendor};
use airtight_core::redact::Redactor;
use airtight_core::run;
use futures_util::future::join_all;
use tokio::runtime;

use crate::cli::{DoctorArgs, Format};
use crate::commands::run::driver::{self, Driver};
use crate::config::{Config, Entry, Key, Value};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::source::ContractSource;
use program::Program;
use provider::{Examined, Network, Source, State};
use report::{Problem, Report};

/// Examines what was typed.
pub(super) fn run(
    args: &DoctorArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let flag = |model: &String| Entry::flag(Key::Model, "--model", Value::Text(model.clone()));
    let flags = args.model.iter().map(flag).collect();
    let folder = args.folder.folder.as_deref();
    let find = |contract: &String| ContractSource::find(contract, folder, environment);
    let contract = args.contract.as_ref().map(find).transpose();
    let config = contract.and_then(|contract| {
        let role = contract.as_ref().and_then(ContractSource::role);
        Config::load(environment, role, flags, args.trust.trust())
    });
    let config = config.or_else(|error| refuse(error, args, printer))?;
    let report = examine(args, &config, environment)?;
    match args.format {
        Format::Json => printer.json(&report.document())?,
        Format::Text => report.print(printer)?,
    }
    printer.flush()?;
    Ok(report.outcome)
}

/// Passes the refusal of settings on, after telling programs that wait for a document.
fn refuse<T>(error: Error, args: &DoctorArgs, printer: &mut Printer) -> Result<T, Error> {
    if args.format == Format::Json {
        printer.json(&report::refused(&error))?;
    }
    Err(error)
}

/// Returns every setting that somebody made, for the server.
pub(super) fn in_force(config: &Config) -> Vec<airtight_serve::Setting> {
    report::settings(config).into_iter().map(Into::into).collect()
}

fn examine(args: &DoctorArgs, config: &Config, environment: &Environment) -> Result<Report, Error> {
    let chosen = Driver::chosen(config, environment).and_then(|driver| {
        if let Driver::Program(program, _) = driver {
            driver::installed(program, config, environment)?;
        }
        Ok(driver)
    });
    let network = if args.offline { Network::Avoided } else { Network::Used };
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let progress = Progress::new(Vendor::ALL.len());
    let (mut providers, programs) = runtime.block_on(async {
        let model = match &chosen {
            Ok(Driver::Model(Model::Served(name))) => Some(name),
            Ok(Driver::Model(Model::Embedded(_)) | Driver::Program(..)) | Err(_) => None,
        };
        let providers = vendors(model).into_iter().map(|vendor| {
            watched(provider::examine(vendor, model, config, environment, network), &progress)
        });
        tokio::join!(join_all(providers), program::find(environment, network))
    });
    drop(progress);
    let model = chosen.as_ref().ok().and_then(Driver::model);
    providers.push(embedded::examine(model, environment));
    // A provider may say anything, also the key of another one.
    let redactor = Redactor::new(environment.secrets());
    for examined in &mut providers {
        examined.message = redactor.mask(&examined.message).into_owned();
    }
    let (outcome, mut problems) = conclude(&chosen, &providers, config);
    problems.extend(without_login(&chosen, config, environment));
    Ok(Report {
        settings: report::settings(config),
        files: config.files.clone(),
        providers,
        sandbox: sandbox(),
        hints: instead(&chosen, outcome, &programs, config).into_iter().collect(),
        programs,
        problems,
        outcome,
    })
}

/// Says that nobody seems to be logged in to the program in force. Only a call would show it: there are
/// keyrings, and providers that want no key.
fn without_login(
    chosen: &Result<Driver, Error>,
    config: &Config,
    environment: &Environment,
) -> Option<Problem> {
    let Ok(Driver::Program(program, _)) = chosen else { return None };
    let besides = config.list(Key::HarnessEnvironment).unwrap_or_default();
    if login::login(*program, &besides, environment).is_some() {
        return None;
    }
    let what = format!(
        "no key and no login of `{}` was found: its provider may refuse it",
        program.name()
    );
    Some(Problem { what, hints: vec![driver::login_hint(*program)] })
}

/// Says which program could do the job where no model can, or only the small one that nobody chose.
fn instead(
    chosen: &Result<Driver, Error>,
    outcome: Outcome,
    programs: &[Program],
    config: &Config,
) -> Option<String> {
    let is_locked_out =
        matches!(outcome, Outcome::Run(run::Outcome::Auth | run::Outcome::Provider));
    let is_makeshift = matches!(chosen, Ok(Driver::Model(Model::Embedded(_))))
        && config.strongest(Key::Model).is_none();
    let name = programs.iter().find(|program| program.is_ready())?.name;
    (is_locked_out || is_makeshift).then(|| {
        format!("`{name}` is here and has a login of its own: pass `--via {name}`, or set `AIRTIGHT_VIA`")
    })
}

/// Leaves out the second way to the same provider, unless it is the one in force.
fn vendors(model: Option<&ModelName>) -> Vec<Vendor> {
    let is_chosen = |vendor| model.is_some_and(|model| model.vendor == vendor);
    Vendor::ALL
        .into_iter()
        .filter(|vendor| *vendor != Vendor::OpenaiChat || is_chosen(*vendor))
        .collect()
}

async fn watched<T>(work: impl Future<Output = T>, progress: &Progress) -> T {
    progress.tick();
    let done = work.await;
    progress.advance();
    done
}

/// Says whether the kernel can hold commands.
fn sandbox() -> Result<(), String> {
    Sandbox::probe().map_err(|error| error.to_string())
}

/// Decides whether a run can work, and what to do if not.
fn conclude(
    chosen: &Result<Driver, Error>,
    providers: &[Examined],
    config: &Config,
) -> (Outcome, Vec<Problem>) {
    let mut problems: Vec<Problem> = Vec::new();
    let mut outcome = Outcome::Met;
    if let Err(error) = chosen {
        problems.push(Problem { what: error.to_string(), hints: error.hints.clone() });
        outcome = error.kind;
    }
    for examined in providers.iter().filter(|examined| examined.state == State::Failing) {
        let what = match examined.source {
            // The provider's own failures name it already.
            Source::Provider => examined.message.clone(),
            Source::Settings => format!("{}: {}", examined.provider, examined.message),
        };
        problems.push(Problem { what, hints: examined.hints.clone() });
        if examined.model.is_some() {
            outcome = examined.outcome;
        }
    }
    problems.extend(
        config.warnings.iter().map(|what| Problem { what: what.clone(), hints: Vec::new() }),
    );
    (outcome, problems)
}
