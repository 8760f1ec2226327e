//! What it takes to do the work of one tier: found out before the first session.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use airtight_agent::provider::Provider;
use airtight_core::contract::{Contract, Identity, Options, Origin as ContractOrigin, Preflight};
use airtight_core::watch::{ResponseSchema, Tier};
use airtight_watch::SHELL;
use tokio_util::sync::CancellationToken;

use super::program;
use super::settings::{Settings, TierSettings};
use crate::commands::run::access::{Access, Consent};
use crate::commands::run::driver::Driver;
use crate::commands::run::equipment::{Equipment, Offered, Wanted};
use crate::commands::run::limit::Limit;
use crate::config::{Config, Entry, Key, Origin, Trust, Value};
use crate::env::Environment;
use crate::error::{Error, Outcome};

/// What the contract is called in the ledger.
const CONTRACT: &str = "agent-response";

/// What it takes to do the work of one tier.
pub(super) struct Bench {
    pub(super) driver: Driver,
    config: Config,
    own: TierSettings,
    /// Reached once; a program is started anew for each session.
    provider: Option<Provider>,
    /// What must not show.
    pub(super) key: Option<String>,
    /// What deserves a warning.
    pub(super) notes: Vec<String>,
}

/// What counts for all tiers.
#[derive(Debug, Clone)]
pub(super) struct Base {
    pub(super) environment: Environment,
    pub(super) flags: Vec<Entry>,
    pub(super) trust: Trust,
}

impl Base {
    /// Loads the settings of `own`, with `more` above all.
    pub(super) fn config(&self, own: &TierSettings, more: Vec<Entry>) -> Result<Config, Error> {
        let entries = own.entries.iter().chain(&self.flags).cloned().chain(more).collect();
        Config::load(&self.environment, None, entries, self.trust)
    }
}

impl Bench {
    /// Finds out everything about `tier`, and refuses what cannot work.
    pub(super) fn new(tier: Tier, settings: &Settings, base: &Base) -> Result<Self, Error> {
        let own = settings.tier(tier).clone();
        let named = |error: Error| error.hint(format!("this is about `[tiers.{}]`", tier.number()));
        let environment = &base.environment;
        let plain = base.config(&own, Vec::new())?;
        let driver = Driver::chosen(&plain, environment).map_err(named)?;
        // Whether a program takes hooks at all is found out here, and not in the first session.
        let equipped = equipped(&driver, &own, Some(Path::new("/nowhere"))).map_err(named)?;
        let config = base.config(&own, equipped)?;
        let workspace = &settings.workspace;
        Equipment::plan(wanted(workspace), &config, environment, offered(&driver))
            .map_err(named)?;
        let access = Access::find(&driver, workspace, &config, environment).map_err(named)?;
        let key = access.key();
        let mut notes = config.warnings.clone();
        notes.extend(access.notes(&config, environment));
        let provider = match driver {
            Driver::Model(_) => Some(open(access, &config, environment).map_err(named)?),
            Driver::Program(..) => None,
        };
        Ok(Self { driver, config, own, provider, key, notes })
    }

    /// Returns the settings in force.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns who answers in a session whose hooks ask at `door`.
    pub(super) fn provider(
        &self,
        workspace: &Path,
        base: &Base,
        door: Option<&Path>,
    ) -> Result<Provider, Error> {
        if let Some(provider) = &self.provider {
            return Ok(provider.clone());
        }
        let config = base.config(&self.own, equipped(&self.driver, &self.own, door)?)?;
        let access = Access::find(&self.driver, workspace, &config, &base.environment)?;
        open(access, &config, &base.environment)
    }

    /// Returns what the model of a session may use.
    pub(super) fn equipment(&self, workspace: &Path, base: &Base) -> Result<Equipment, Error> {
        let offered = offered(&self.driver);
        Equipment::plan(wanted(workspace), &self.config, &base.environment, offered)
    }
}

fn wanted(workspace: &Path) -> Wanted<'_> {
    Wanted { workspace: Some(workspace), mcp_config: None }
}

fn offered(driver: &Driver) -> Offered {
    use airtight_agent::provider::Model;
    match driver {
        Driver::Model(Model::Served(_)) => Offered::Tools,
        Driver::Model(Model::Embedded(_)) | Driver::Program(..) => Offered::None,
    }
}

/// Reaches whoever answers.
pub(super) fn open(
    access: Access,
    config: &Config,
    environment: &Environment,
) -> Result<Provider, Error> {
    let limit = Limit::new(Instant::now(), None, CancellationToken::new());
    access.open(config, environment, &limit, Consent::Nobody)
}

/// Returns the tools and the denied commands of the tier, in the words of whoever drives, and the hook
/// by which a program asks at `door` before it calls a tool.
fn equipped(driver: &Driver, own: &TierSettings, door: Option<&Path>) -> Result<Vec<Entry>, Error> {
    let driving = match driver {
        Driver::Model(_) => {
            let names = program::own_names(&own.tools);
            let excluded = own.deny.iter().map(|command| format!("{SHELL}({command})")).collect();
            return Ok(vec![
                entry(Key::CoreTools, Value::List(names.clone())),
                entry(Key::Allow, Value::List(names)),
                entry(Key::Exclude, Value::List(excluded)),
            ]);
        }
        Driver::Program(driving, _) => *driving,
    };
    let arguments = program::arguments(driving, &own.tools, &own.deny)?;
    let refused = |what: &str| Error::new(Outcome::Machine, what.to_owned());
    let asking = Environment::program()
        .ok_or_else(|| refused("this program cannot be found, which hooks have to start"))?;
    let door = door.ok_or_else(|| refused("there is no place where hooks could ask"))?;
    Ok(vec![
        entry(Key::HarnessArguments, Value::List(arguments)),
        entry(Key::Hooks, Value::Table(program::hook(&asking, door))),
    ])
}

/// Makes the entry of what the watch itself sets.
fn entry(key: Key, value: Value) -> Entry {
    Entry { key, value, origin: Origin::Flag("watch") }
}

/// Compiles the contract of sessions.
pub(super) fn contract(schema: ResponseSchema) -> Result<Arc<Contract>, Error> {
    let identity =
        Identity { name: Some(CONTRACT.to_owned()), version: schema.version.parse().ok() };
    let options = Options { identity, ..Options::default() };
    let preflight = Preflight::run(schema.text.as_bytes(), ContractOrigin::File, &options);
    let refused = || Error::new(Outcome::Machine, "the contract of sessions is refused");
    preflight.contract.map(Arc::new).ok_or_else(refused)
}
