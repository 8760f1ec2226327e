//! What is in force and where it comes from.
//!
//! The `airtight.toml` of the project, that of the user, the file of the contract, the environment and
//! the flags, in rising strength: what somebody else put into a repository never overrules its user, so
//! that a contract's file which is not trusted is weaker than the user's. Every value is checked where
//! it is read and knows its origin; an unknown key is an error.

pub(crate) mod duration;
mod file;
mod key;
mod origin;
pub(crate) mod period;
mod value;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use airtight_core::nearest;
use serde_json::Value as Json;

use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::source::Role;
pub(crate) use file::{Contents, NAME, Own, Owner, REVIEW, Reader, read as read_file, read_text};
pub(crate) use key::{Key, Kind, Spec, TABLE};
use key::{Merge, Reach};
pub(crate) use origin::Origin;
pub(crate) use value::Value;

/// One value from one place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

impl Entry {
    /// Makes the entry of a flag.
    pub(crate) fn flag(key: Key, flag: &'static str, value: Value) -> Self {
        Self { key, value, origin: Origin::Flag(flag) }
    }

    /// Returns the entry of a contract's file that is not trusted.
    fn distrusted(self) -> Self {
        Self { origin: self.origin.distrusted(), ..self }
    }
}

/// Whether files of the project may run programs, widen permissions and move keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Trust {
    /// As `trusted_projects` of the user says.
    #[default]
    AsConfigured,
    /// It may.
    Given,
}

/// Everything in force.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config {
    /// Weakest first.
    entries: BTreeMap<Key, Vec<Entry>>,
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
    /// What deserves a look.
    pub(crate) warnings: Vec<String>,
    trust: Trust,
}

impl Config {
    /// Reads files and environment, adds what the contract's own file says, and puts `flags` on top.
    pub(crate) fn load(
        environment: &Environment,
        role: Option<&Role>,
        flags: Vec<Entry>,
        trust: Trust,
    ) -> Result<Self, Error> {
        let mut config = Self { trust, ..Self::default() };
        let user = environment
            .config_folder()
            .map(|folder| folder.join(file::NAME))
            .filter(|path| path.is_file());
        let user_entries = user
            .as_deref()
            .map(|path| file::read(path, Owner::User))
            .transpose()?
            .unwrap_or_default()
            .entries;
        if let Some(path) = file::find_project(environment.launch_directory())
            .filter(|path| Some(path) != user.as_ref())
        {
            let entries = file::read(&path, Owner::Project)?.entries;
            let folder = path.parent().unwrap_or(&path);
            if trust == Trust::AsConfigured && !is_trusted(&[folder], &user_entries, environment) {
                entries.iter().try_for_each(|entry| require_harmless(entry, folder))?;
            }
            config.add(entries);
            config.files.push(path);
        }
        let standing = match (role, trust) {
            (Some(role), Trust::AsConfigured) => role_standing(role, &user_entries, environment),
            (Some(_), Trust::Given) | (None, _) => Standing::Trusted,
        };
        if let (Some(role), Standing::Distrusted) = (role, standing) {
            role.entries.iter().try_for_each(|entry| require_harmless(entry, role.home()))?;
            config.add(role.entries.iter().cloned().map(Entry::distrusted).collect());
        }
        config.add(user_entries);
        config.files.extend(user);
        if let (Some(role), Standing::Trusted) = (role, standing) {
            config.add(role.entries.clone());
        }
        config.files.extend(role.map(|role| role.path.clone()));
        config.add(read_environment(environment)?);
        config.add(flags);
        config.warnings = unknown_variables(environment);
        Ok(config)
    }

    /// Adds what `.airtight/review.toml` of the project says, if there is one: it is as strong as the
    /// project's other file, and says more of reviews.
    pub(crate) fn with_review(mut self, environment: &Environment) -> Result<Self, Error> {
        let Some(path) = file::find_review(environment.launch_directory()) else { return Ok(self) };
        for entry in file::read(&path, Owner::Review)?.entries {
            let said = self.entries.entry(entry.key).or_default();
            let stronger = said.partition_point(|it| matches!(it.origin, Origin::Project(_)));
            said.insert(stronger, entry);
        }
        self.files.push(path);
        Ok(self)
    }

    /// Returns what `entries` alone come to.
    #[cfg(test)]
    pub(crate) fn of(entries: Vec<Entry>) -> Self {
        let mut config = Self::default();
        config.add(entries);
        config
    }

    fn add(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            self.entries.entry(entry.key).or_default().push(entry);
        }
    }

    /// Returns everything that was said about `key`, weakest first.
    pub(crate) fn said(&self, key: Key) -> &[Entry] {
        self.entries.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Returns the strongest entry for `key`.
    pub(crate) fn strongest(&self, key: Key) -> Option<&Entry> {
        self.said(key).last()
    }

    /// Returns the text in force.
    pub(crate) fn text(&self, key: Key) -> Option<&str> {
        let Value::Text(text) = &self.strongest(key)?.value else { return None };
        Some(text)
    }

    /// Returns the whole number in force.
    pub(crate) fn whole(&self, key: Key) -> Option<u64> {
        let Value::Whole(number) = self.strongest(key)?.value else { return None };
        Some(number)
    }

    /// Returns the whole number in force, which the table keeps within 32 bits.
    pub(crate) fn small(&self, key: Key) -> Option<u32> {
        self.whole(key).and_then(|number| u32::try_from(number).ok())
    }

    /// Returns the number in force.
    pub(crate) fn decimal(&self, key: Key) -> Option<f64> {
        let Value::Decimal(number) = self.strongest(key)?.value else { return None };
        Some(number)
    }

    /// Claims that `key` is switched on.
    pub(crate) fn is_on(&self, key: Key) -> Option<bool> {
        let Value::Switch(switch) = self.strongest(key)?.value else { return None };
        Some(switch)
    }

    /// Returns the duration in force.
    pub(crate) fn duration(&self, key: Key) -> Option<Duration> {
        let Value::Duration(duration) = self.strongest(key)?.value else { return None };
        Some(duration)
    }

    /// Returns the period in force.
    pub(crate) fn period(&self, key: Key) -> Option<Duration> {
        let Value::Period(period) = self.strongest(key)?.value else { return None };
        Some(period)
    }

    /// Returns the texts in force: all that were said, or the strongest list.
    pub(crate) fn list(&self, key: Key) -> Option<Vec<String>> {
        let mut lists = self.said(key).iter().filter_map(|entry| entry.value.as_list());
        match key.spec().merge {
            Merge::Replace => lists.next_back().map(<[String]>::to_vec),
            Merge::Append if self.said(key).is_empty() => None,
            Merge::Append => Some(lists.flatten().cloned().collect()),
        }
    }

    /// Claims that the user trusts `folder`, or the project that it is a part of.
    pub(crate) fn trusts(&self, folder: &Path, environment: &Environment) -> bool {
        let named = self.list(Key::TrustedProjects).unwrap_or_default();
        let mut named = named.iter().filter_map(|it| environment.resolve(it).canonicalize().ok());
        let folder = folder.canonicalize().ok();
        self.trust == Trust::Given
            || folder.is_some_and(|folder| named.any(|it| folder.starts_with(it)))
    }

    /// Returns the table in force. Members of a stronger one replace those of a weaker one, unless
    /// all values of the setting count: then its lists are joined.
    pub(crate) fn table(&self, key: Key) -> Json {
        let mut merged = serde_json::Map::new();
        for entry in self.said(key) {
            let Value::Table(Json::Object(table)) = &entry.value else { continue };
            for (name, member) in table {
                match (key.spec().merge, merged.get_mut(name), member) {
                    (Merge::Append, Some(Json::Array(all)), Json::Array(more)) => {
                        all.extend(more.iter().cloned());
                    }
                    _ => drop(merged.insert(name.clone(), member.clone())),
                }
            }
        }
        Json::Object(merged)
    }
}

/// Claims that the user trusts one of `folders`.
fn is_trusted(folders: &[&Path], user: &[Entry], environment: &Environment) -> bool {
    let folders: Vec<PathBuf> =
        folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let said = user.iter().filter(|entry| entry.key == Key::TrustedProjects);
    let mut trusted = said.filter_map(|entry| entry.value.as_list()).flatten();
    trusted.any(|named| {
        environment.resolve(named).canonicalize().is_ok_and(|named| folders.contains(&named))
    })
}

/// Whether the user has a reason to trust a contract's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Trusted,
    Distrusted,
}

/// A contract's file is trusted with the project that it belongs to, and where the user put it among
/// the own settings.
fn role_standing(role: &Role, user: &[Entry], environment: &Environment) -> Standing {
    let is_own = environment.config_folder().is_some_and(|own| role.path.starts_with(own));
    let home = role.home();
    let folders: Vec<&Path> =
        role.path.ancestors().skip(1).take_while(|folder| folder.starts_with(home)).collect();
    if is_own || is_trusted(&folders, user, environment) {
        return Standing::Trusted;
    }
    Standing::Distrusted
}

/// Refuses what an untrusted project must not set.
fn require_harmless(entry: &Entry, folder: &Path) -> Result<(), Error> {
    let narrows = match (&entry.value, entry.key) {
        (Value::Text(mode), Key::ApprovalMode) => matches!(mode.as_str(), "plan" | "default"),
        (Value::Switch(switch), Key::Sandbox | Key::Store) => *switch,
        _ => false,
    };
    let name = entry.key.name();
    let refused =
        |what: &str| Error::new(Outcome::Contract, format!("{}: `{name}` {what}", entry.origin));
    match entry.key.spec().reach {
        Reach::Anyone => Ok(()),
        Reach::Trusted if narrows => Ok(()),
        Reach::User => Err(refused("is for the user's own file")),
        Reach::Trusted => {
            let folder = folder.display();
            Err(refused("counts only in a project that you trust")
                .hint(format!("read the file; then pass `--trust-project`, or add `{folder}` to `trusted_projects` in your own `{}`", file::NAME)))
        }
    }
}

/// Reads every variable of the table; an empty one counts as absent.
fn read_environment(environment: &Environment) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    for spec in &TABLE {
        let set = spec.variables.iter().find_map(|name| Some((*name, environment.variable(name)?)));
        let Some((name, text)) = set else { continue };
        let value = Value::from_text(spec.kind, text).map_err(|error| {
            Error::new(Outcome::Contract, format!("environment variable `{name}`")).caused_by(error)
        })?;
        entries.push(Entry { key: spec.key, value, origin: Origin::Environment(name) });
    }
    Ok(entries)
}

/// Variables with our prefix that mean something although they are no settings.
const OTHER_VARIABLES: [&str; 3] = ["AIRTIGHT_API_KEY", "AIRTIGHT_LOG", "AIRTIGHT_BLESS"];

fn unknown_variables(environment: &Environment) -> Vec<String> {
    let known = || TABLE.iter().flat_map(|spec| spec.variables).copied().chain(OTHER_VARIABLES);
    let unknown =
        environment.variables_of("AIRTIGHT_").filter(|name| known().all(|known| known != *name));
    unknown
        .map(|name| match nearest(name, known()) {
            Some(meant) => format!("`{name}` is no setting; did you mean `{meant}`?"),
            None => format!("`{name}` is no setting"),
        })
        .collect()
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
