//! `airtight watch`: watch services, tier by tier.

mod bench;
mod crew;
mod decide;
mod denied;
mod door;
mod listener;
mod lists;
mod program;
mod services;
mod settings;
mod summariser;
mod telling;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use airtight_agent::Environment as CommandEnvironment;
use airtight_core::redact::{Redactor, is_unmaskable};
use airtight_core::watch::{ChainOutcome, Surroundings, Tier, Trigger, WatchMode};
use airtight_store::{Level, Retention};
use airtight_watch::{Address, Estate, LedgerClock, WatchError, Watcher, Wish};
use secrecy::ExposeSecret as _;
use tokio_util::sync::CancellationToken;

use crate::batch::unusable;
use crate::cli::{WatchAction, WatchArgs};
use crate::commands::batch::runtime;
use crate::commands::run::logging;
use crate::commands::signals;
use crate::config::Config;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::printer::{Printer, Span, Tone};
use bench::Base;
use crew::{Benches, Crew};
use denied::denied;
pub(crate) use door::{DoorArgs, ask as ask_at_door};
use settings::{Folders, Settings, Source};
use telling::Telling;

/// The folder of the logs in the folder for what we keep.
const LOGS: &str = "watch/logs";

/// Runs what was typed.
pub(super) fn run(
    args: &WatchArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    match &args.action {
        None => watch(args, environment, printer),
        Some(WatchAction::Approve(decision)) => {
            decide::run(decision, decide::Answer::Approve, environment, printer)
        }
        Some(WatchAction::Decline(decision)) => {
            decide::run(decision, decide::Answer::Decline, environment, printer)
        }
        Some(action) => lists::run(action, environment, printer),
    }
}

/// Everything that is known before the ledger is opened.
struct Plan {
    benches: Benches,
    books: Books,
    redactor: Redactor,
    estate: Estate,
}

fn watch(
    args: &WatchArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let stop = CancellationToken::new();
    signals::listen(stop.clone())?;
    let log = logging::start(environment);
    let plan = Plan::new(args, environment)?;
    log.mask(plan.redactor.clone());
    let notes = [plan.benches.notes(), unmasked(environment)].concat();
    for note in notes.iter().chain(&log.fault).filter(|_| !args.quiet) {
        let text = Span::plain(format!(" {}", plan.redactor.mask(note)));
        printer.note(&[Span::new(Tone::Warning, "warning:"), text]);
    }
    if let Err(error) = airtight_agent::hide_process() {
        tracing::warn!(%error, "commands can read the environment of this process");
    }
    let wish = wish(args);
    refuse_tier(wish.as_ref(), &plan.estate)?;
    runtime()?.block_on(async {
        let place = plan.books.place();
        let ledger = plan.books.open(plan.redactor.clone()).await?;
        let telling = Telling::new(args, printer.is_terminal(), plan.redactor.clone());
        let crew = Crew {
            benches: plan.benches,
            ledger: ledger.clone(),
            retention: masked(plan.books.retention()),
            redactor: plan.redactor,
        };
        let clock = LedgerClock(ledger.clone());
        let estate = (ledger.clone(), plan.estate);
        let watcher = Watcher::new(estate, crew, clock, telling.teller(), stop.clone());
        let watching = async {
            match wish {
                Some(wish) => watcher.once(wish).await.map(Some),
                None => watcher.run().await.map(|()| None),
            }
        };
        let watched = Box::pin(telling.during(watching, &stop, printer)).await;
        ledger.close().await;
        conclude(watched?, &place)
    })
}

/// Returns what is kept of the runs of a watch: their texts come from services, commands and logs, so
/// nothing of them is kept unmasked.
fn masked(retention: Retention) -> Retention {
    let level = match retention.level {
        Level::Full => Level::Masked,
        Level::Masked | Level::Metadata => retention.level,
    };
    Retention { level, ..retention }
}

fn conclude(
    watched: Result<Option<ChainOutcome>, WatchError>,
    place: &str,
) -> Result<Outcome, Error> {
    let outcome = watched.map_err(|error| failed(error, place))?;
    Ok(match outcome {
        None | Some(ChainOutcome::Settled { .. } | ChainOutcome::Blocked(_)) => Outcome::Met,
        Some(ChainOutcome::Stopped) => Outcome::Run(airtight_core::run::Outcome::Interrupted),
        Some(
            ChainOutcome::Aborted | ChainOutcome::Lost | ChainOutcome::Stale | ChainOutcome::Failed,
        ) => Outcome::Rejected,
    })
}

fn failed(error: WatchError, place: &str) -> Error {
    match error {
        WatchError::Store(error) => unusable(error, place),
        WatchError::Busy { .. } => Error::new(Outcome::Busy, error.to_string())
            .hint("wait for its end, or stop it; `airtight watch status` shows who leads")
            .hint("another estate needs a ledger of its own: `--database PATH`"),
        WatchError::Replaced => Error::new(Outcome::Busy, error.to_string())
            .hint("`airtight watch status` shows who leads"),
        WatchError::Disagreement(_) | WatchError::Unwritable(_) => {
            Error::new(Outcome::Machine, "the watch cannot go on").caused_by(error)
        }
    }
}

/// Returns what is asked for, if it is one chain.
fn wish(args: &WatchArgs) -> Option<Wish> {
    let is_asked = args.tier.is_some() || args.prompt.is_some();
    if !args.once && !is_asked {
        return None;
    }
    let tier = args.tier.and_then(|tier| Tier::try_from(tier).ok());
    Some(Wish {
        trigger: if is_asked { Trigger::Manual } else { Trigger::Scheduled },
        tier: tier.unwrap_or(Tier::Observe),
        request: args.prompt.clone(),
    })
}

/// Refuses what is asked of a tier that is never started: whoever asks should know before it is too late.
fn refuse_tier(wish: Option<&Wish>, estate: &Estate) -> Result<(), Error> {
    let most = estate.policy.escalation.max_tier;
    let Some(tier) = wish.map(|wish| wish.tier).filter(|tier| *tier > most) else { return Ok(()) };
    let message = format!("`--tier {}` is above `max_tier = {}`", tier.number(), most.number());
    Err(Error::new(Outcome::Contract, message)
        .hint("ask a lower tier, or raise `max_tier` in the file of the watch"))
}

impl Plan {
    fn new(args: &WatchArgs, environment: &Environment) -> Result<Self, Error> {
        let source = Source::find(args.config.as_deref(), environment)?;
        let mut settings = source.settings(environment)?;
        if args.dry_run {
            settings.policy.escalation.mode = WatchMode::DryRun;
        }
        let trust = args.trust.trust();
        let config = Config::load(environment, None, args.entries(), trust)?;
        let books = books(&config, environment)?;
        let settings = Arc::new(settings);
        // What a session starts must not find the addresses of targets.
        let within = environment.without(&settings.secret_variables);
        let base = Base { environment: within.clone(), flags: args.entries(), trust };
        let benches = Benches::new(Arc::clone(&settings), base)?;
        let redactor = redactor(&settings, &benches, &books, environment);
        let estate = estate(&settings, &benches, (&redactor, &books), &within)?;
        Ok(Self { benches, books, redactor, estate })
    }
}

/// Returns the ledger, without which there is no watch.
fn books(config: &Config, environment: &Environment) -> Result<Books, Error> {
    let none = || {
        let what = "a watch has everything in its ledger, and none is kept";
        Error::new(Outcome::Contract, what)
            .hint("leave `store.enabled` and `AIRTIGHT_STORE` out, or name a file by `--database`")
    };
    Ok(Books::configured(config, environment)?.ok_or_else(none)?.needed())
}

/// Knows everything that must not show.
fn redactor(
    settings: &Settings,
    benches: &Benches,
    books: &Books,
    environment: &Environment,
) -> Redactor {
    let mut secrets = benches.secrets();
    secrets.extend(books.secrets());
    for target in &settings.targets {
        if let Address::Webhook { url, .. } = &target.address {
            secrets.push(url.expose_secret().to_owned());
        }
    }
    let known = secrets.iter().map(String::as_str);
    let short = environment.named_secrets().map(|(_, value)| value);
    Redactor::new(known.chain(environment.secrets())).and_short(short)
}

/// Says which variables hold secrets that are too short or too common to be masked.
fn unmasked(environment: &Environment) -> Vec<String> {
    let named = environment.named_secrets().filter(|(_, value)| is_unmaskable(value));
    let told = |(name, _)| {
        format!(
            "the secret in `{name}` is too short or too common a word to be masked: what sessions \
                 say of it is kept in clear"
        )
    };
    named.map(told).collect()
}

fn estate(
    settings: &Settings,
    benches: &Benches,
    (redactor, books): (&Redactor, &Books),
    environment: &Environment,
) -> Result<Estate, Error> {
    let no_place = || {
        Error::new(
            Outcome::Contract,
            "there is no place for logs: neither `HOME` nor `XDG_DATA_HOME` is set",
        )
        .hint("say where they are to be: `logs = \"…\"` in the file of the watch")
    };
    let kept = || environment.data_folder().map(|data| data.join(LOGS));
    let logs: PathBuf = settings.logs.clone().or_else(kept).ok_or_else(no_place)?;
    let [observe, investigate, remediate] = Tier::ALL.map(|tier| settings.tier(tier));
    let mut own_files = settings.files();
    own_files.push(logs.clone());
    own_files.extend(books.file().map(Path::to_owned));
    Ok(Estate {
        interval: settings.interval,
        policy: settings.policy.clone(),
        limits: settings.limits,
        memory_budget_tokens: settings.memory_budget_tokens,
        session_limit: settings.session_limit,
        verify_after: settings.verify_after,
        surroundings: surroundings(settings, benches, &logs),
        services: settings.services.clone(),
        tasks: Tier::ALL.map(|tier| benches.task(tier)),
        denied: [denied(&observe.deny)?, denied(&investigate.deny)?, denied(&remediate.deny)?],
        logs,
        keep: settings.keep,
        handoff: settings.handoff.clone(),
        pre_session: settings.pre_session.clone(),
        targets: settings.targets.clone(),
        own_files,
        folder: settings.workspace.clone(),
        environment: CommandEnvironment::without_secrets(environment.all()),
        redactor: redactor.clone(),
        lease: Estate::LEASE,
        look_every: Estate::LOOK_EVERY,
    })
}

/// Returns what sessions are told of where they are.
fn surroundings(settings: &Settings, benches: &Benches, logs: &Path) -> Surroundings {
    let told = |path: &Path| Some(path.display().to_string());
    let Folders { state, results, repos } = &settings.folders;
    let workspace = settings.workspace.as_path();
    let handoff = settings.handoff.as_deref().and_then(Path::parent);
    Surroundings {
        mode: settings.policy.escalation.mode,
        state_dir: told(state.as_deref().or(handoff).unwrap_or(workspace)),
        results_dir: told(results.as_deref().unwrap_or(logs)),
        repos_dir: told(repos.as_deref().unwrap_or(workspace)),
        models: [Tier::Investigate, Tier::Remediate].map(|tier| benches.model(tier)),
        targets: settings.targets.iter().map(|target| target.name.clone()).collect(),
        browser_origins: settings.browser_origins.clone(),
        more: settings.environment.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CO-109: whatever the settings say, no text of a watch is kept unmasked.
    #[test]
    fn co_109_runs_of_a_watch_are_kept_masked_at_least() {
        let kept = |level| masked(Retention { level, keep: None }).level;
        let levels = [Level::Full, Level::Masked, Level::Metadata].map(kept);
        assert_eq!(levels, [Level::Masked, Level::Masked, Level::Metadata]);
    }
}
