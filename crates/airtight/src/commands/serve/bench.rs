//! What it takes to answer by one model: found once, and kept ready.

use std::sync::Arc;
use std::time::Instant;

use airtight_agent::provider::{Model, Provider, Weights};
use airtight_agent::{Agent, Hooks, Toolbox};
use airtight_core::batch::Prices;
use airtight_core::contract::{Contract, Options};
use airtight_core::redact::Redactor;
use airtight_core::run::{Mode, Policy};
use airtight_core::transcript::Program;
use airtight_serve::{Fault, FaultKind};
use airtight_store::{ContractRow, Driver as DriverRow, Retention};
use tokio_util::sync::CancellationToken;

use super::hints::Reader;
use crate::commands::batch::plan::contract_row;
use crate::commands::load;
use crate::commands::run::access::{Access, Consent, Extraction};
use crate::commands::run::driver::Driver;
use crate::commands::run::entry::driver_row;
use crate::commands::run::limit::Limit;
use crate::commands::run::{model, prepared};
use crate::config::{Config, Entry, Key, Trust, Value};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::source::ContractSource;

/// The name for whoever is in force here.
pub(super) const USUAL: &str = "airtight";

/// The name for a model in this process.
pub(super) const EMBEDDED: &str = "embedded";

/// What stands behind the name of an agent CLI, which would be a contract's without it.
pub(super) const CLI_SUFFIX: &str = "-cli";

/// What it takes to answer by one model.
pub(super) struct Bench {
    pub(super) agent: Agent,
    pub(super) mode: Mode,
    pub(super) policy: Policy,
    pub(super) prices: Prices,
    /// Standing instructions of the role, then those that are set.
    pub(super) system: Option<String>,
    /// The contract that the model's name stands for, if it does.
    pub(super) contract: Option<(Arc<Contract>, ContractRow)>,
    pub(super) driver: DriverRow,
    /// The driver as people write it.
    pub(super) name: String,
    /// Where agent CLIs are started.
    pub(super) folder: String,
    pub(super) retention: Retention,
    pub(super) redactor: Redactor,
}

/// What benches are made with.
#[derive(Clone)]
pub(super) struct Workshop {
    pub(super) environment: Environment,
    /// The settings among the flags of the command.
    pub(super) entries: Vec<Entry>,
    pub(super) trust: Trust,
    /// What must not show, wherever it is.
    pub(super) secrets: Vec<String>,
    pub(super) interrupt: CancellationToken,
}

/// Who answers, and the way there.
struct Way {
    config: Config,
    driver: Driver,
    access: Access,
    extraction: Option<Extraction>,
}

/// What the name of a model stands for.
#[derive(Debug, PartialEq)]
enum Meaning {
    Usual,
    Model(String),
    Program(Program, Option<String>),
    Contract,
}

impl Workshop {
    /// Finds everything that answers by `name` need. Reads files, and may load weights.
    pub(super) fn bench(&self, name: &str) -> Result<Bench, Fault> {
        let made = self.make(name).map_err(|error| setup(&error))?;
        made.ok_or_else(|| unknown(name))
    }

    /// Finds the same for a model that was typed behind `flag`, and refuses one that cannot be used as
    /// `airtight run --model` does: nobody should learn of it from the first alert.
    pub(super) fn typed(&self, flag: &'static str, name: &str) -> Result<Bench, Error> {
        let made = self.make(name).map_err(|error| Reader::Operator(flag).advise(error))?;
        made.ok_or_else(|| no_such_model(flag, name))
    }

    /// Claims that somebody stands behind `name` now: there is a key, a program or a file of weights. Asks
    /// nobody, and loads nothing.
    pub(super) fn answers_by(&self, name: &str) -> bool {
        let Ok(Some((meaning, source))) = self.meant(name) else { return false };
        self.way(meaning, source.as_ref()).is_ok_and(|way| {
            let extraction = way.extraction.as_ref().map(|it| &it.access);
            [&way.access].into_iter().chain(extraction).all(|it| it.is_here(&self.environment))
        })
    }

    /// Finds everything; nothing if the name stands for nothing here.
    fn make(&self, name: &str) -> Result<Option<Bench>, Error> {
        let Some((meaning, source)) = self.meant(name)? else { return Ok(None) };
        let way = self.way(meaning, source.as_ref())?;
        self.prepare(way, source.as_ref()).map(Some)
    }

    /// Finds what a name stands for, with its contract if it is one's; nothing if it stands for nothing.
    fn meant(&self, name: &str) -> Result<Option<(Meaning, Option<ContractSource>)>, Error> {
        match meaning(name) {
            Some(Meaning::Contract) => {
                let source = self.contract(name)?;
                Ok(source.map(|source| (Meaning::Contract, Some(source))))
            }
            meaning => Ok(meaning.map(|meaning| (meaning, None))),
        }
    }

    /// Returns the contract of this name, if there is one.
    fn contract(&self, name: &str) -> Result<Option<ContractSource>, Error> {
        match ContractSource::find(name, None, &self.environment) {
            Ok(source @ (ContractSource::Named { .. } | ContractSource::Role(_))) => {
                Ok(Some(source))
            }
            Err(error) if ContractSource::names(&self.environment).iter().any(|it| it == name) => {
                Err(error)
            }
            Ok(_) | Err(_) => Ok(None),
        }
    }

    fn way(&self, meaning: Meaning, source: Option<&ContractSource>) -> Result<Way, Error> {
        let environment = &self.environment;
        let flags = [self.entries.clone(), entries(meaning)].concat();
        let role = source.and_then(ContractSource::role);
        let config = Config::load(environment, role, flags, self.trust)?;
        let driver = Driver::chosen(&config, environment)?;
        let access = Access::find(&driver, environment.launch_directory(), &config, environment)?;
        let extraction = Extraction::find(&driver, &config, environment)?;
        Ok(Way { config, driver, access, extraction })
    }

    fn prepare(&self, way: Way, source: Option<&ContractSource>) -> Result<Bench, Error> {
        let Way { config, driver, access, extraction } = way;
        let environment = &self.environment;
        let folder = environment.launch_directory();
        let keys = [access.key(), extraction.as_ref().and_then(|it| it.access.key())];
        let known = keys.iter().flatten().chain(&self.secrets).map(String::as_str);
        let redactor = Redactor::new(known.chain(environment.secrets()));
        let contract = source.map(named_contract).transpose()?;
        let limit = Limit::new(Instant::now(), None, self.interrupt.clone());
        let open = |access: Access| access.open(&config, environment, &limit, Consent::Nobody);
        let provider = open(access)?;
        let extractor = extraction.map(|it| it.open((&driver, &provider), open)).transpose()?;
        let extractor_price = extractor.as_ref().and_then(Provider::price);
        let prices = Prices { model: provider.price(), extractor: extractor_price };
        let mut agent = Agent::new(provider, Toolbox::default(), Hooks::default());
        agent.retries = driver.retries(&config);
        agent.extractor = extractor;
        let mode = driver.mode(&config);
        let books = Books::configured(&config, environment)?;
        Ok(Bench {
            agent,
            mode,
            policy: driver.policy(&config)?,
            prices,
            system: match source {
                Some(source) => prepared::system(source, &config),
                None => config.text(Key::System).map(str::to_owned),
            },
            contract,
            name: driver.to_string(),
            folder: folder.display().to_string(),
            driver: DriverRow { mode: mode.name().to_owned(), ..driver_row(&driver) },
            retention: books.as_ref().map(Books::retention).unwrap_or_default(),
            redactor,
        })
    }
}

fn named_contract(source: &ContractSource) -> Result<(Arc<Contract>, ContractRow), Error> {
    let text = source.read()?;
    let contract = load(source, &Options::default(), &format!("check {}", source.label()))?;
    let row = contract_row(&contract, String::from_utf8_lossy(&text).into_owned());
    Ok((Arc::new(contract), row))
}

/// Says what a name stands for, if for anything; never for a path, or what leads to one.
fn meaning(name: &str) -> Option<Meaning> {
    if name == USUAL {
        return Some(Meaning::Usual);
    }
    let (head, model) = match name.split_once(':') {
        Some((head, model)) => (head, Some(model.to_owned())),
        None => (name, None),
    };
    if let Some(program) = head.strip_suffix(CLI_SUFFIX).and_then(Program::parse) {
        // Whoever asks must not choose flags of a program on this machine.
        let is_name = |model: &String| !model.is_empty() && !model.starts_with('-');
        return match model {
            Some(model) if !is_name(&model) => None,
            model => Some(Meaning::Program(program, model)),
        };
    }
    match Model::parse(name) {
        // Whoever asks must not have files of this machine read.
        Ok(Model::Embedded(Weights::File(_))) => None,
        Ok(Model::Embedded(_) | Model::Served(_)) => Some(Meaning::Model(name.to_owned())),
        Err(_) => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
            let is_name = !name.is_empty() && !name.starts_with(['.', '-']);
            (is_name && name.bytes().all(is_plain)).then_some(Meaning::Contract)
        }
    }
}

fn entries(meaning: Meaning) -> Vec<Entry> {
    let flag = |key, text: String| Entry::flag(key, "model", Value::Text(text));
    match meaning {
        Meaning::Usual | Meaning::Contract => Vec::new(),
        Meaning::Model(name) => vec![flag(Key::Model, name)],
        Meaning::Program(program, model) => {
            let via = flag(Key::Via, program.name().to_owned());
            model.map(|model| flag(Key::Model, model)).into_iter().chain([via]).collect()
        }
    }
}

/// Says that a name stands for nothing here.
pub(super) fn unknown(name: &str) -> Fault {
    let known: String = name.chars().take(100).collect();
    Fault::new(
        FaultKind::UnknownModel,
        format!(
            "there is no model `{known}`: use `PROVIDER:NAME`, `{EMBEDDED}`, `claude{CLI_SUFFIX}`, the name \
             of a contract, or `{USUAL}` for what is set here"
        ),
    )
}

/// Says that what was typed behind `flag` stands for nothing here.
fn no_such_model(flag: &'static str, name: &str) -> Error {
    let typed = Entry::flag(Key::Model, flag, Value::Text(name.to_owned()));
    match model::parse(&typed) {
        Err(error) => error,
        // A file of weights is a model, and none that is served.
        Ok(_) => Error::new(Outcome::Contract, unknown(name).message),
    }
}

/// Says why a model cannot be used here, with what to do on the machine of the server.
fn setup(error: &Error) -> Fault {
    Fault::new(FaultKind::Setup, Reader::Client.words(error).join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_a_driver_or_a_contract_and_never_for_a_path() {
        assert_eq!(meaning("airtight"), Some(Meaning::Usual));
        assert_eq!(meaning("embedded"), Some(Meaning::Model("embedded".to_owned())));
        assert_eq!(meaning("openai:gpt-5"), Some(Meaning::Model("openai:gpt-5".to_owned())));
        assert_eq!(meaning("claude-cli"), Some(Meaning::Program(Program::Claude, None)));
        let named = Some("gpt-5".to_owned());
        assert_eq!(meaning("codex-cli:gpt-5"), Some(Meaning::Program(Program::Codex, named)));
        assert_eq!(meaning("review"), Some(Meaning::Contract));
        for path in
            ["", "-", "@a", "a/b", "../a", ".a", "{}", "embedded:/etc/passwd", "embedded:a.gguf"]
        {
            assert_eq!(meaning(path), None, "{path}");
        }
        for flag in ["qwen-cli:--mcp-config=evil.json", "codex-cli:-c", "claude-cli:"] {
            assert_eq!(meaning(flag), None, "{flag}");
        }
    }
}
