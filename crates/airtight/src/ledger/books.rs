//! Where runs are recorded, and how much of them: what the settings say.

use std::path::{Path, PathBuf};

use airtight_core::redact::Redactor;
use airtight_store::{Access, Ledger, Level, Location, Retention, Settings, StoreError};

use super::failure::store_error;
use crate::config::{Config, Entry, Key, Origin, Trust, Value};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::shell_word::shell_word;

/// The file of the ledger in the folder for what we keep.
const FILE: &str = "ledger.db";

/// Where runs are recorded, and how much of them.
#[derive(Debug, Clone)]
pub(crate) struct Books {
    location: Location,
    retention: Retention,
    purpose: Purpose,
    /// What `--database` says, if it was typed: nobody else knows of that ledger.
    typed: Option<String>,
}

/// What a ledger is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To keep runs, which can be had without a record.
    Record,
    /// For what is in it.
    Ask,
    /// To keep what nothing works without.
    Need,
}

impl Books {
    /// Returns what the settings say, nothing if runs are not to be recorded.
    pub(crate) fn configured(
        config: &Config,
        environment: &Environment,
    ) -> Result<Option<Self>, Error> {
        if config.is_on(Key::Store) == Some(false) {
            return Ok(None);
        }
        let location = location(config.text(Key::Database), environment)?;
        let level = match config.text(Key::StoreLevel) {
            Some("masked") => Level::Masked,
            Some("metadata") => Level::Metadata,
            Some(_) | None => Level::Full,
        };
        let retention = Retention { level, keep: config.period(Key::StoreKeep) };
        let typed = typed(config, &location);
        Ok(Some(Self { location, retention, purpose: Purpose::Record, typed }))
    }

    /// Returns the ledger that is asked: the one that `named` says, else the one in force.
    pub(crate) fn asked(named: Option<&str>, environment: &Environment) -> Result<Self, Error> {
        let flag = named.map(|text| Value::Text(text.to_owned()));
        let flags = flag.map(|value| Entry::flag(Key::Database, "--database", value));
        let flags = flags.into_iter().collect();
        let config = Config::load(environment, None, flags, Trust::AsConfigured)?;
        let location = location(config.text(Key::Database), environment)?;
        let (retention, typed) = (Retention::default(), typed(&config, &location));
        Ok(Self { location, retention, purpose: Purpose::Ask, typed })
    }

    /// Says that nothing works without it.
    pub(crate) fn needed(self) -> Self {
        Self { purpose: Purpose::Need, ..self }
    }

    /// Returns what is kept of a run, and for how long.
    pub(crate) fn retention(&self) -> Retention {
        self.retention
    }

    /// Returns where the ledger is, as it may be shown.
    pub(crate) fn place(&self) -> String {
        self.location.to_string()
    }

    /// Returns `airtight` with these words, as it is to be typed to ask this ledger.
    pub(crate) fn command(&self, words: &str) -> String {
        match &self.typed {
            Some(typed) => format!("airtight {words} --database {}", shell_word(typed)),
            None => format!("airtight {words}"),
        }
    }

    /// Returns the file that the ledger is in, if it is in one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.location {
            Location::Sqlite(path) => Some(path),
            Location::Postgres(_) => None,
        }
    }

    /// Says what it means that the ledger did not do what was asked.
    pub(crate) fn failed(&self, error: StoreError) -> Error {
        store_error(error, self, self.purpose)
    }

    /// Returns what must not show of where the ledger is.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let Location::Postgres(url) = &self.location else { return Vec::new() };
        let login = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
        let password = login.and_then(|(login, _)| login.split_once(':'));
        let parameters = url.split_once('?').map(|(_, all)| all.split('&')).into_iter().flatten();
        let of_parameters = parameters.filter_map(|pair| pair.strip_prefix("password="));
        password
            .map(|(_, password)| password)
            .into_iter()
            .chain(of_parameters)
            .map(str::to_owned)
            .collect()
    }

    /// Opens the ledger to write to it; it is made if it is missing. `redactor` knows what must never
    /// reach the disk.
    pub(crate) async fn open(&self, redactor: Redactor) -> Result<Ledger, Error> {
        self.open_for(Access::Write, redactor).await
    }

    /// Opens the ledger to read it.
    pub(crate) async fn read(&self) -> Result<Ledger, Error> {
        self.open_for(Access::Read, Redactor::new([])).await
    }

    async fn open_for(&self, access: Access, redactor: Redactor) -> Result<Ledger, Error> {
        let settings = Settings { access, redactor, ..Settings::default() };
        let opened = Ledger::open_with(&self.location, settings).await;
        opened.map_err(|error| self.failed(error))
    }
}

/// Returns what may be shown of where a ledger is said to be: no password.
pub(crate) fn shown(named: &str) -> String {
    named.parse::<Location>().map_or_else(|error| error.to_string(), |place| place.to_string())
}

/// Returns how a flag names the ledger at `location`, without its password; nothing if no flag does.
fn typed(config: &Config, location: &Location) -> Option<String> {
    let Entry { value: Value::Text(named), origin: Origin::Flag(_), .. } =
        config.strongest(Key::Database)?
    else {
        return None;
    };
    Some(match location {
        Location::Sqlite(_) => named.clone(),
        Location::Postgres(_) => location.to_string(),
    })
}

/// Finds the ledger: what was named, else a file in the user's folder for what we keep.
fn location(named: Option<&str>, environment: &Environment) -> Result<Location, Error> {
    let Some(named) = named else {
        return Ok(Location::Sqlite(usual(environment)?));
    };
    let refused =
        |error| Error::new(Outcome::Contract, "the ledger cannot be kept there").caused_by(error);
    match named.parse().map_err(refused)? {
        Location::Sqlite(path) => {
            let typed = path.to_string_lossy();
            Ok(Location::Sqlite(environment.resolve(&typed)))
        }
        server @ Location::Postgres(_) => Ok(server),
    }
}

fn usual(environment: &Environment) -> Result<PathBuf, Error> {
    let folder = environment.data_folder().ok_or_else(|| {
        let message = "there is no place for the ledger: neither `HOME` nor `XDG_DATA_HOME` is set";
        Error::new(Outcome::Store, message)
            .hint("say where it is to be: `--database PATH`")
            .hint("or run without a record: `--no-store`")
    })?;
    Ok(folder.join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(named: Option<&str>, variables: &[(&str, &str)]) -> String {
        let environment = Environment::of(Path::new("/launch"), variables);
        location(named, &environment).map_or_else(|error| error.to_string(), |it| it.to_string())
    }

    #[test]
    fn commands_name_a_ledger_that_was_typed_and_never_its_password() {
        let environment = Environment::of(Path::new("/launch"), &[("XDG_DATA_HOME", "/data")]);
        let told = |named| Books::asked(named, &environment).unwrap().command("runs list");
        assert_eq!(told(None), "airtight runs list");
        assert_eq!(told(Some("a b.db")), "airtight runs list --database 'a b.db'");
        let url = "postgres://me:secret@host/db";
        let shown = url.parse::<Location>().unwrap().to_string();
        assert!(!shown.contains("secret"), "{shown}");
        assert_eq!(
            told(Some(url)),
            format!("airtight runs list --database {}", shell_word(&shown))
        );
    }

    #[test]
    fn a_ledger_is_where_it_was_said_or_with_what_is_kept() {
        let data = [("XDG_DATA_HOME", "/data")];
        assert_eq!(found(None, &data), "/data/airtight/ledger.db");
        assert_eq!(found(Some("l.db"), &data), "/launch/l.db");
        assert_eq!(found(Some("sqlite:/a/l.db"), &data), "/a/l.db");
        assert_eq!(found(Some("postgres://ada:pw@db/x"), &data), "postgres://ada@db/x");
        assert_eq!(found(Some("mysql://db/x"), &data), "the ledger cannot be kept there");
        assert!(found(None, &[]).starts_with("there is no place for the ledger"));
    }
}
