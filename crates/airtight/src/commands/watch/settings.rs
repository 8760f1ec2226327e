//! `watch.toml`: read once, every value checked where it stands.

mod section;
mod target;
mod tier;

use std::path::{Path, PathBuf};
use std::time::Duration;

use airtight_core::nearest;
use airtight_core::price::Cost;
use airtight_core::watch::{
    ChainPolicy, CooldownLimits, EscalationPolicy, INTERVAL_MS, Legacy, MEMORY_BUDGET_TOKENS,
    MemoryPolicy, RESPONSE_SCHEMAS, ResponseSchema, Tier, VERIFICATION_MS, WatchMode, Window,
};
use airtight_watch::{Estate, Target};
use toml::de::{DeTable, DeValue};

use crate::config::{Kind, Owner, Reader};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file;
use section::{Section, Shape, TIERS};
pub(crate) use tier::TierSettings;

/// What the file is called in the user's configuration folder.
const NAME: &str = "watch.toml";

/// Far more than anybody configures by hand.
const LIMIT_BYTES: usize = 1024 * 1024;

/// The shortest time that what is over is kept: what is dropped is dropped once a day.
const SHORTEST_KEEP: Duration = Duration::from_hours(24);

/// The longest list of services: a model must read it in every session.
const SERVICES_LIMIT_BYTES: usize = 256 * 1024;

const ROOT: Shape = Shape {
    name: "",
    fields: &[
        ("interval", Kind::Duration),
        ("max_tier", Kind::Whole(1, 3)),
        ("dry_run", Kind::Switch),
        ("services", Kind::Text),
        ("workspace", Kind::Text),
        ("logs", Kind::Text),
        ("keep", Kind::Period),
        ("handoff", Kind::Text),
        ("state_dir", Kind::Text),
        ("results_dir", Kind::Text),
        ("repos_dir", Kind::Text),
        ("browser_origins", Kind::List),
        ("legacy", Kind::Switch),
        ("schema_version", Kind::Text),
        ("summary_model", Kind::Text),
        ("max_session_time", Kind::Duration),
        ("verify", Kind::Switch),
        ("verify_after", Kind::Duration),
        ("pre_session", Kind::Text),
        ("tools", Kind::List),
        ("deny", Kind::List),
    ],
    tables: &["tiers", "memory", "cooldown", "escalation", "environment", "notify"],
};

const MEMORY: Shape = Shape {
    name: "memory",
    fields: &[("budget_tokens", Kind::Whole(0, 1_000_000)), ("needs_leave", Kind::Choices(TIERS))],
    tables: &[],
};

const COOLDOWN: Shape = Shape {
    name: "cooldown",
    fields: &[
        ("restarts", Kind::Whole(0, 1_000)),
        ("restart_window", Kind::Duration),
        ("redeployments", Kind::Whole(0, 1_000)),
        ("redeployment_window", Kind::Duration),
    ],
    tables: &[],
};

const ESCALATION: Shape = Shape {
    name: "escalation",
    fields: &[
        ("approval", Kind::Choices(TIERS)),
        ("most_sessions", Kind::Whole(1, 3)),
        ("most_per_hour", Kind::Whole(0, 1_000)),
        ("max_cost", Kind::Decimal(0.0, 1_000_000.0)),
    ],
    tables: &[],
};

/// Everything that the file says.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    pub(crate) interval: Duration,
    pub(crate) policy: ChainPolicy,
    pub(crate) limits: CooldownLimits,
    pub(crate) memory_budget_tokens: u32,
    pub(crate) session_limit: Duration,
    pub(crate) verify_after: Option<Duration>,
    pub(crate) services: Option<String>,
    pub(crate) workspace: PathBuf,
    pub(crate) logs: Option<PathBuf>,
    /// How long what is over is kept, if not for ever.
    pub(crate) keep: Option<Duration>,
    pub(crate) handoff: Option<PathBuf>,
    pub(crate) folders: Folders,
    pub(crate) browser_origins: Vec<String>,
    pub(crate) schema: ResponseSchema,
    /// Who puts what a session said in a few sentences where it gave no summary.
    pub(crate) summary_model: Option<String>,
    pub(crate) pre_session: Option<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) targets: Vec<Target>,
    /// Variables that hold the addresses of targets: nothing that a session starts gets them.
    pub(crate) secret_variables: Vec<String>,
    /// Where the list of services is.
    services_file: Option<PathBuf>,
    tiers: [TierSettings; 3],
}

/// Where sessions are told to look, as far as somebody says.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    pub(crate) state: Option<PathBuf>,
    pub(crate) results: Option<PathBuf>,
    pub(crate) repos: Option<PathBuf>,
}

/// Where the file is.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// Finds and reads the file: the one that was named, else the user's own.
    ///
    /// One that lies in the launch directory must be named: it runs commands, and whoever enters a
    /// folder need not trust what is in it.
    pub(crate) fn find(named: Option<&str>, environment: &Environment) -> Result<Self, Error> {
        let path = match named {
            Some(named) => environment.resolve(named),
            None => usual(environment)?,
        };
        let refused =
            || Error::new(Outcome::Contract, format!("could not read `{}`", path.display()));
        let bytes = file::read(&path, LIMIT_BYTES).map_err(|error| refused().caused_by(error))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| refused().with_findings(vec!["it is not UTF-8".to_owned()]))?;
        Ok(Self { path, text })
    }

    /// Reads everything in it.
    pub(crate) fn settings(&self, environment: &Environment) -> Result<Settings, Error> {
        let reader = Reader { path: &self.path, owner: Owner::Tier, text: &self.text };
        let table = DeTable::parse(&self.text).map_err(|error| reader.malformed(&error))?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let draft = Draft { reader, table: table.get_ref(), folder, environment };
        draft.settings()
    }
}

fn usual(environment: &Environment) -> Result<PathBuf, Error> {
    let own = environment.config_folder().map(|folder| folder.join(NAME));
    if let Some(own) = own.as_ref().filter(|path| path.is_file()) {
        return Ok(own.clone());
    }
    let error = Error::new(Outcome::Contract, "nothing says what is to be watched");
    let error = if environment.launch_directory().join(NAME).is_file() {
        error.hint(format!("name the file, which may run commands: `--config {NAME}`"))
    } else {
        error.hint("write a file and name it: `--config watch.toml`; docs/guide/watch.md shows one")
    };
    Err(match own {
        Some(own) => error.hint(format!("or put it where it is found: `{}`", own.display())),
        None => error,
    })
}

struct Draft<'t> {
    reader: Reader<'t>,
    table: &'t DeTable<'t>,
    /// What paths in the file are relative to.
    folder: &'t Path,
    environment: &'t Environment,
}

impl Draft<'_> {
    fn settings(&self) -> Result<Settings, Error> {
        let root = Section::read(&self.reader, &ROOT, self.table)?;
        let memory = self.section(&MEMORY)?;
        let cooldown = self.section(&COOLDOWN)?;
        let millis = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
        let verify_after = root.duration("verify_after").unwrap_or(millis(VERIFICATION_MS));
        let is_verified = root.is_on("verify") != Some(false);
        let usual = CooldownLimits::default();
        let window = |most: &str, within: &str, usual: Window| Window {
            most: cooldown.whole(most).unwrap_or(usual.most),
            within_ms: cooldown.duration_ms(within).unwrap_or(usual.within_ms),
        };
        let targets = target::read(&self.reader, self.table, self.environment)?;
        Ok(Settings {
            path: self.reader.path.to_owned(),
            interval: root.duration("interval").unwrap_or(millis(INTERVAL_MS)),
            policy: self.policy(&root, &memory)?,
            limits: CooldownLimits {
                restarts: window("restarts", "restart_window", usual.restarts),
                redeployments: window("redeployments", "redeployment_window", usual.redeployments),
            },
            memory_budget_tokens: memory.whole("budget_tokens").unwrap_or(MEMORY_BUDGET_TOKENS),
            session_limit: root.duration("max_session_time").unwrap_or(Estate::SESSION_LIMIT),
            verify_after: is_verified.then_some(verify_after),
            services: self.services(&root)?,
            workspace: root
                .text("workspace")
                .map_or_else(|| self.folder.to_owned(), |path| self.path(path)),
            logs: root.text("logs").map(|path| self.path(path)),
            keep: self.keep(&root)?,
            handoff: root.text("handoff").map(|path| self.path(path)),
            folders: self.folders(&root),
            browser_origins: root.list("browser_origins").unwrap_or_default().to_vec(),
            schema: self.schema(&root)?,
            summary_model: root.text("summary_model").map(str::to_owned),
            pre_session: root.text("pre_session").map(str::to_owned),
            environment: self.surroundings()?,
            targets: targets.all,
            secret_variables: targets.variables,
            services_file: root.text("services").map(|path| self.path(path)),
            tiers: tier::read(&self.reader, self.table, (self.folder, self.environment), &root)?,
        })
    }

    fn keep(&self, root: &Section) -> Result<Option<Duration>, Error> {
        let keep = root.period("keep");
        if keep.is_none_or(|keep| keep >= SHORTEST_KEEP) {
            return Ok(keep);
        }
        let place = format!("{}:{}", self.reader.path.display(), root.line("keep"));
        Err(Error::new(Outcome::Contract, format!("{place}: `keep` is less than a day"))
            .hint("leave it out to keep everything, or write `keep = \"90d\"`"))
    }

    fn folders(&self, root: &Section) -> Folders {
        let folder = |name: &str| root.text(name).map(|path| self.path(path));
        Folders {
            state: folder("state_dir"),
            results: folder("results_dir"),
            repos: folder("repos_dir"),
        }
    }

    fn section(&self, shape: &Shape) -> Result<Section, Error> {
        match Section::table(&self.reader, self.table, shape.name)? {
            Some(table) => Section::read(&self.reader, shape, table),
            None => Ok(Section::default()),
        }
    }

    fn policy(&self, root: &Section, memory: &Section) -> Result<ChainPolicy, Error> {
        let escalation = self.section(&ESCALATION)?;
        let usual = EscalationPolicy::default();
        let max_tier = root.whole("max_tier").and_then(|tier| Tier::try_from(i64::from(tier)).ok());
        let mode = if root.is_on("dry_run") == Some(true) { WatchMode::DryRun } else { usual.mode };
        let legacy =
            if root.is_on("legacy") == Some(false) { Legacy::Ignored } else { Legacy::Read };
        let leave = MemoryPolicy::default().needs_leave;
        Ok(ChainPolicy {
            escalation: EscalationPolicy {
                max_tier: max_tier.unwrap_or(usual.max_tier),
                mode,
                approval: escalation.tiers("approval").unwrap_or(usual.approval),
                most_sessions: escalation.whole("most_sessions").unwrap_or(usual.most_sessions),
                most_cost: escalation.decimal("max_cost").and_then(Cost::from_usd),
                most_per_hour: escalation.whole("most_per_hour").unwrap_or(usual.most_per_hour),
            },
            memory: MemoryPolicy { needs_leave: memory.tiers("needs_leave").unwrap_or(leave) },
            legacy,
        })
    }

    fn schema(&self, root: &Section) -> Result<ResponseSchema, Error> {
        let Some(version) = root.text("schema_version") else {
            return Ok(ResponseSchema::current());
        };
        ResponseSchema::of_version(version).ok_or_else(|| {
            let versions = RESPONSE_SCHEMAS.map(|schema| schema.version);
            let place = format!("{}:{}", self.reader.path.display(), root.line("schema_version"));
            let message = format!("{place}: no version of the agent's response is called that");
            let error = Error::new(Outcome::Contract, message);
            match nearest(version, versions) {
                Some(meant) => error.hint(format!("did you mean `{meant}`?")),
                None => error.hint(format!("there are {}", versions.join(", "))),
            }
        })
    }

    fn services(&self, root: &Section) -> Result<Option<String>, Error> {
        let Some(named) = root.text("services") else { return Ok(None) };
        let place = format!("{}:{}", self.reader.path.display(), root.line("services"));
        read_text(&self.path(named), SERVICES_LIMIT_BYTES, &place, "services").map(Some)
    }

    /// Returns what sessions are told of where they are, beside what is known anyway.
    fn surroundings(&self) -> Result<Vec<(String, String)>, Error> {
        let table = Section::table(&self.reader, self.table, "environment")?;
        let mut pairs = Vec::new();
        for (key, value) in table.into_iter().flatten() {
            let DeValue::String(text) = value.get_ref() else {
                let message = format!("`environment.{}`: expected a text", key.get_ref());
                return Err(self.reader.refuse(key.span().start, &message));
            };
            pairs.push((key.get_ref().to_string(), text.to_string()));
        }
        Ok(pairs)
    }

    fn path(&self, named: &str) -> PathBuf {
        if named.starts_with('~') {
            return self.environment.resolve(named);
        }
        self.folder.join(named)
    }
}

/// Reads a text that line `place` of the file names as `what`.
fn read_text(path: &Path, limit: usize, place: &str, what: &str) -> Result<String, Error> {
    let refused =
        || Error::new(Outcome::Contract, format!("{place}: `{what}` names `{}`", path.display()));
    let bytes = file::read(path, limit).map_err(|error| refused().caused_by(error))?;
    String::from_utf8(bytes)
        .map_err(|_| refused().with_findings(vec!["it is not UTF-8".to_owned()]))
}

impl Settings {
    /// Returns the files that say what is watched and how.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let prompts = self.tiers.iter().filter_map(|tier| tier.task_file.clone());
        let services = self.services_file.clone();
        std::iter::once(self.path.clone()).chain(services).chain(prompts).collect()
    }

    /// Returns what is set for a tier.
    pub(crate) fn tier(&self, tier: Tier) -> &TierSettings {
        let [observe, investigate, remediate] = &self.tiers;
        match tier {
            Tier::Observe => observe,
            Tier::Investigate => investigate,
            Tier::Remediate => remediate,
        }
    }
}

#[cfg(test)]
mod tests;
