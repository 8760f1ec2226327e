//! `airtight runs resume`: a run that has no answer, done again.

use airtight_core::contract::{Options, Patterns};
use airtight_core::redact::MASK;
use airtight_store::{Run, RunState};
use tokio::runtime;

use super::Asked;
use super::rejudge::{check_of, contract_of};
use crate::cli::{Again, ResumeArgs};
use crate::commands::{load, run as running};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::Printer;
use crate::source::ContractSource;

/// Does a run again.
pub(super) fn run(
    args: &ResumeArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (known, again) = runtime.block_on(find(args, environment))?;
    drop(runtime);
    let mut run_args = match args.run_args(known) {
        Ok(run_args) => run_args,
        Err(refused) => return Ok(printer.usage(&refused)),
    };
    run_args.again = Some(again);
    if args.ledger.database.is_some() {
        run_args.store.database.clone_from(&args.ledger.database);
    }
    running::run(&run_args, environment, printer)
}

/// Returns the flags that say what is on record, and what no flag can say.
async fn find(args: &ResumeArgs, environment: &Environment) -> Result<(Vec<String>, Again), Error> {
    let asked = Asked::to_read(&args.ledger, environment).await?;
    let run = asked.ledger.run(&args.id).await.map_err(asked.failed())?;
    require_unanswered(&run, &asked)?;
    let prompt = prompt(&run)?;
    let (_, contract) = contract_of(&run, &asked).await?;
    let role = role_of(&run, environment);
    let (contract, system) = match &role {
        Some((name, more)) => (name.clone(), more.as_deref()),
        None => (contract.schema.trim().to_owned(), run.system.as_deref()),
    };
    let mut flags = vec!["--json-schema".to_owned(), contract];
    let mut add = |name: &str, value: &str| flags.push(format!("{name}={value}"));
    // One more `@` says that it is no file.
    let at = if prompt.starts_with('@') { "@" } else { "" };
    add("--prompt", &format!("{at}{prompt}"));
    let summary = &run.summary;
    match summary.driver.as_str() {
        "api" => add("--model", &format!("{}:{}", summary.provider, summary.model)),
        "embedded" if summary.model == "embedded" => add("--model", "embedded"),
        "embedded" => add("--model", &format!("embedded:{}", summary.model)),
        program => {
            add("--via", program);
            if !summary.model.is_empty() {
                add("--model", &summary.model);
            }
        }
    }
    if summary.driver == "api" && summary.mode != "auto" {
        add("--mode", &summary.mode);
    }
    if let Some(system) = system {
        add("--system", system);
    }
    add("--store-level", summary.store.name());
    if let Some(until) = summary.expires_at {
        // One that never ended counts from its beginning.
        let from = summary.ended_at.unwrap_or(summary.started_at);
        add("--store-keep", &format!("{}s", until.saturating_sub(from).max(1_000) / 1_000));
    }
    let again = Again {
        key: summary.key.clone().unwrap_or_else(|| summary.id.to_string()),
        source: run.input.clone(),
        check: check_of(&run),
        contract: (summary.contract.clone(), summary.contract_version.clone()),
    };
    asked.ledger.close().await;
    Ok((flags, again))
}

/// Returns the role that was asked, if it is still what it was, and the instructions behind its own: then
/// its policy counts again, which is not on record.
fn role_of(run: &Run, environment: &Environment) -> Option<(String, Option<String>)> {
    let name = &run.summary.contract;
    let source = ContractSource::find(name, None, environment).ok()?;
    let role = source.role()?;
    let options = Options { patterns: Patterns::LookAround, ..Options::default() };
    let contract = load(&source, &options, "").ok()?;
    if contract.fingerprint().to_string() != run.summary.fingerprint {
        return None;
    }
    let rest = match (&role.prompt, run.system.as_deref()) {
        (None, system) => system,
        (Some(prompt), system) => Some(system?.strip_prefix(prompt.as_str())?),
    };
    let rest = rest.map(str::trim_start).filter(|rest| !rest.is_empty());
    Some((name.clone(), rest.map(str::to_owned)))
}

/// Refuses a run that is under way, or has its answer.
fn require_unanswered(run: &Run, asked: &Asked) -> Result<(), Error> {
    let id = &run.summary.id;
    match run.summary.state {
        RunState::Unknown | RunState::Postponed => Ok(()),
        RunState::Done if !run.summary.output_valid => Ok(()),
        RunState::Done => {
            let message = format!("run `{id}` has its answer");
            let command = asked.books.command(&format!("runs show {id}"));
            Err(Error::new(Outcome::Usage, message).hint(format!("see it: `{command}`")))
        }
        RunState::Open => {
            let owner = run.summary.owner.as_deref().unwrap_or("another process");
            let message = format!("run `{id}` is under way: {owner}");
            Err(Error::new(Outcome::Busy, message).hint("wait for its end"))
        }
    }
}

fn prompt(run: &Run) -> Result<&str, Error> {
    let id = &run.summary.id;
    let refused = |why: &str| {
        let message = format!("run `{id}` cannot be done again: {why}");
        Err(Error::new(Outcome::Input, message).hint("start it anew: `airtight run`"))
    };
    match run.prompt.as_deref() {
        None => refused("what it was asked is not on record"),
        Some(prompt) if prompt.contains(MASK) => refused("secrets in what it was asked are masked"),
        Some(prompt) => Ok(prompt),
    }
}
