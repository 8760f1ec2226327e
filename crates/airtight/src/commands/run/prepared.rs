//! Everything that can be known before anything is spent.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;

use airtight_agent::Recording;
use airtight_agent::provider::{Model, Provider};
use airtight_core::Check;
use airtight_core::contract::{Contract, Options, Patterns, SOURCE_LIMIT_BYTES, Source, Wrap};
use airtight_core::price::Price;
use airtight_core::redact::Redactor;
use airtight_core::run::{Policy, Terminal};

use super::access::{Access, Consent, Extraction};
use super::driver::{self, Driver};
use super::equipment::{self, Equipment, Offered, Wanted};
use super::examples;
use super::job;
use super::limit::Limit;
use super::model;
use super::prompt::{self, Prompt, Stdin};
use super::stdin::{self, Piped};
use crate::cli::RunArgs;
use crate::commands::{check_command, compile};
use crate::config::{Config, Key};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::input::{ANSWER_LIMIT_BYTES, Input, unreadable};
use crate::ledger::Books;
use crate::output::Care;
use crate::source::ContractSource;

/// A run that can begin.
pub(super) struct Prepared {
    pub(super) driver: Driver,
    pub(super) provider: Provider,
    pub(super) contract: Arc<Contract>,
    pub(super) prompt: String,
    /// Standing instructions: those of the role, then what is set.
    pub(super) system: Option<String>,
    /// What grounded strings must be quoted from, and its text.
    pub(super) source: Option<(Source, Vec<u8>)>,
    /// What else an answer must pass.
    pub(super) check: Option<Arc<dyn Check>>,
    /// The contract as it was written.
    pub(super) schema: Vec<u8>,
    /// Where the run is recorded, if it is.
    pub(super) books: Option<Books>,
    pub(super) idempotency_key: Option<String>,
    /// The name and the version that the contract has on record, if the run is done again.
    pub(super) known_as: Option<(String, String)>,
    pub(super) price: Option<Price>,
    pub(super) config: Config,
    pub(super) policy: Policy,
    /// Who looks for answers in text, if anybody.
    pub(super) extractor: Option<Provider>,
    /// What is at stake, if anything is.
    pub(super) care: Option<Care>,
    /// What to do if the provider refuses the key.
    pub(super) key_hint: Option<String>,
    pub(super) equipment: Equipment,
    /// What deserves a warning.
    pub(super) notes: Vec<String>,
    /// Takes out what must not show.
    pub(super) redactor: Redactor,
    /// Where transcripts go, if they are kept.
    transcripts: Option<PathBuf>,
}

impl Prepared {
    /// Reads everything, and refuses what cannot work.
    pub(super) fn new(
        args: &RunArgs,
        environment: &Environment,
        (config, source): (Config, ContractSource),
        limit: &Limit,
    ) -> Result<Self, Error> {
        refuse_conflicts(args, &config)?;
        let driver = Driver::chosen(&config, environment)?;
        refuse_foreign(args, &driver, &config)?;
        let stdin = stdin(args, &source)?;
        let schema = contract_text(&source, limit)?;
        let contract = contract(args, &schema, &source, environment)?;
        let equipment = Equipment::plan(wanted(args), &config, environment, tools(args, &driver))?;
        let access = Access::find(&driver, equipment.folder(), &config, environment)?;
        let extractor = Extraction::find(&driver, &config, environment)?;
        let mut notes = config.warnings.clone();
        notes.extend(access.notes(&config, environment));
        notes.extend(extractor.iter().flat_map(|it| it.access.key_notes(&config, environment)));
        let quoted = args.source.as_deref();
        let quoted = quoted.map(|file| quotable(file, environment, limit)).transpose()?;
        let quoted = quoted.or_else(|| args.again.as_ref()?.source.clone().map(grounds));
        let keys = [access.key(), extractor.as_ref().and_then(|it| it.access.key())];
        let key_hint = access.key_hint(&config, environment);
        let books = Books::configured(&config, environment)?;
        let secrets = books.as_ref().map(Books::secrets).unwrap_or_default();
        let given = keys.iter().flatten().chain(&secrets).map(String::as_str);
        let given = given.chain(equipment.secrets());
        let redactor = Redactor::new(given.chain(environment.secrets()));
        let typed = args.prompt.as_deref().or(args.prompt_flag.as_deref());
        let Prompt { text, notes: more } = prompt::read(typed, stdin, environment, limit)?;
        notes.extend(more);
        let is_recorded = config.is_on(Key::Record) != Some(false);
        let policy = driver.policy(&config)?;
        // What may take long comes last, when nothing else can be refused.
        let provider = access.open(&config, environment, limit, consent(args))?;
        let provider = model::seeded(provider, args.model.seed);
        let open = |access: Access| access.open(&config, environment, limit, consent(args));
        let extractor = extractor.map(|it| it.open((&driver, &provider), open)).transpose()?;
        Ok(Self {
            care: Care::of(&source, config.is_on(Key::Critical) == Some(true), books.as_ref()),
            system: system(&source, &config),
            extractor,
            driver,
            price: provider.price(),
            provider,
            contract: Arc::new(contract),
            prompt: text,
            source: quoted,
            check: args.again.as_ref().and_then(|again| again.check.clone()),
            schema,
            books,
            known_as: args.again.as_ref().map(|again| again.contract.clone()),
            idempotency_key: match &args.again {
                Some(again) => Some(again.key.clone()),
                None => args.store.idempotency_key.clone(),
            },
            policy,
            key_hint,
            config,
            equipment,
            notes,
            redactor,
            transcripts: environment
                .data_folder()
                .filter(|_| is_recorded)
                .map(|data| data.join("runs")),
        })
    }

    /// Starts the transcript; a disk that refuses costs the transcript, not the run.
    pub(super) fn record(&mut self, session_id: &str) -> Option<Recording> {
        let path = self.transcripts.as_ref()?.join(format!("{session_id}.jsonl"));
        match Recording::create(&path, self.redactor.clone()) {
            Ok(recording) => Some(recording),
            Err(error) => {
                self.notes.push(format!("no transcript is kept: {}: {error}", path.display()));
                None
            }
        }
    }
}

/// Reads the contract, with the examples of its role or those that were named.
fn contract(
    args: &RunArgs,
    text: &[u8],
    source: &ContractSource,
    environment: &Environment,
) -> Result<Contract, Error> {
    let options = options(args);
    let again = check_command(&args.contract, &args.folder, &args.patterns, options.wrap);
    let mut contract = compile(text, source, &options, &again)?;
    examples::choose(args.model.examples.as_deref(), source, environment, &mut contract)?;
    Ok(contract)
}

/// Returns the instructions of the role, and behind them those that are set.
pub(crate) fn system(source: &ContractSource, config: &Config) -> Option<String> {
    let of_role = source.role().and_then(|role| role.prompt.as_deref());
    let parts: Vec<&str> = of_role.into_iter().chain(config.text(Key::System)).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Refuses what cannot be meant together, and says what to do instead.
fn refuse_conflicts(args: &RunArgs, config: &Config) -> Result<(), Error> {
    let refused = |message: &str, hint: &str| Err(Error::new(Outcome::Usage, message).hint(hint));
    if args.output.include_partial_messages && config.text(Key::OutputFormat) != Some("stream-json")
    {
        return refused(
            "`--include-partial-messages` has nowhere to tell them",
            "add `--output-format stream-json`",
        );
    }
    if job::is_strict(config) && config.text(Key::Mode) == Some("prompt") {
        return refused(
            "`--mode prompt` finds the answer in text, which `--strict` refuses",
            "leave one of them out",
        );
    }
    if config.text(Key::Mode) == Some("tool")
        && equipment::permissions(config)?.terminal() == Terminal::Denied
    {
        return refused(
            "`--mode tool` takes the answer by `structured_output`, which is excluded",
            "leave `--mode` out, use `--mode native`, or do not exclude the tool",
        );
    }
    Ok(())
}

/// Refuses what the driver cannot honour.
fn refuse_foreign(args: &RunArgs, driver: &Driver, config: &Config) -> Result<(), Error> {
    match driver {
        Driver::Model(model) => {
            refuse_tools(args, model)?;
            model::refuse_idle_flags(&args.model, model)
        }
        Driver::Program(..) if args.model.seed.is_some() || args.model.examples.is_some() => {
            let message = "`--seed` and `--examples` are for the embedded model";
            Err(Error::new(Outcome::Usage, message).hint("leave them out"))
        }
        Driver::Program(program, _) if args.tools.no_tools || args.tools.mcp_config.is_some() => {
            let name = program.name();
            let message = format!("`{name}` has tools of its own, which cannot be set from here");
            Err(Error::new(Outcome::Usage, message)
                .hint("leave `--no-tools` and `--mcp-config` out")
                .hint("pass the program's own flags by `--via-arg`"))
        }
        Driver::Program(program, _) => driver::refuse_foreign(*program, config),
    }
}

/// Refuses tools for a model that is too small to choose between them.
fn refuse_tools(args: &RunArgs, model: &Model) -> Result<(), Error> {
    let tools = &args.tools;
    let asks_for_some = !tools.allow_tool.is_empty()
        || tools.approval_mode.is_some()
        || tools.core_tools.is_some()
        || tools.mcp_config.is_some()
        || tools.sandbox;
    match model {
        Model::Embedded(_) if asks_for_some => {
            Err(Error::new(Outcome::Usage, "the embedded model cannot use tools")
                .hint("leave their flags out, or name another model by `--model PROVIDER:NAME`"))
        }
        Model::Embedded(_) | Model::Served(_) => Ok(()),
    }
}

fn wanted(args: &RunArgs) -> Wanted<'_> {
    Wanted {
        workspace: args.tools.workspace.as_deref(),
        mcp_config: args.tools.mcp_config.as_deref(),
    }
}

fn tools(args: &RunArgs, driver: &Driver) -> Offered {
    match driver {
        Driver::Model(Model::Served(_)) if !args.tools.no_tools => Offered::Tools,
        Driver::Model(Model::Served(_) | Model::Embedded(_)) | Driver::Program(..) => Offered::None,
    }
}

/// Says whether weights may be fetched.
fn consent(args: &RunArgs) -> Consent {
    if args.yes {
        return Consent::Given;
    }
    let is_seen = io::stdin().is_terminal() && io::stderr().is_terminal() && !args.output.quiet;
    if is_seen { Consent::Askable } else { Consent::Nobody }
}

/// Says whether stdin is left for the prompt.
fn stdin(args: &RunArgs, contract: &ContractSource) -> Result<Stdin, Error> {
    if args.again.is_some() {
        return Ok(Stdin::Taken);
    }
    let prompt = args.prompt.as_deref().or(args.prompt_flag.as_deref());
    let others = [*contract == ContractSource::Stdin, args.source.as_deref() == Some("-")];
    let others = others.into_iter().filter(|reads| *reads).count();
    let wants_it = prompt.is_none_or(|prompt| prompt == "-");
    if others > 1 || (others == 1 && wants_it) {
        let message = "only one of contract, prompt and source can come from stdin";
        return Err(Error::new(Outcome::Usage, message).hint("name files for the others"));
    }
    Ok(if others == 1 { Stdin::Taken } else { Stdin::Free })
}

fn options(args: &RunArgs) -> Options {
    Options {
        wrap: if args.no_wrap { Wrap::Refused } else { Wrap::Allowed },
        patterns: if args.patterns.look_around { Patterns::LookAround } else { Patterns::Linear },
        ..Options::default()
    }
}

fn contract_text(source: &ContractSource, limit: &Limit) -> Result<Vec<u8>, Error> {
    if *source != ContractSource::Stdin {
        return source.read();
    }
    match stdin::read(SOURCE_LIMIT_BYTES, None, limit)? {
        Piped::All(text) => Ok(text),
        Piped::Silence => Ok(Vec::new()),
        Piped::Unreadable(error) => Err(source.unreadable(error)),
    }
}

/// Reads the text that grounded strings must be quoted from.
fn quotable(
    file: &str,
    environment: &Environment,
    limit: &Limit,
) -> Result<(Source, Vec<u8>), Error> {
    let bytes = match Input::open(Some(file), environment)? {
        Input::Stdin => match stdin::read(ANSWER_LIMIT_BYTES, None, limit)? {
            Piped::All(bytes) => bytes,
            Piped::Silence => Vec::new(),
            Piped::Unreadable(error) => return Err(unreadable("(stdin)", error)),
        },
        input @ Input::File { .. } => input.read()?,
    };
    Ok(grounds(bytes))
}

/// Returns what grounded strings must be quoted from, and its text. What is no UTF-8 cannot be quoted
/// in JSON anyway.
fn grounds(bytes: Vec<u8>) -> (Source, Vec<u8>) {
    (Source::new(&String::from_utf8_lossy(&bytes)), bytes)
}
