//! `airtight.toml`: found, read and checked key by key. Errors name lines, never what is on them.

use std::path::{Path, PathBuf};

use airtight_core::nearest;
use serde_json::{Map, Number, Value as Json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Entry;
use super::key::{Spec, TABLE};
use super::origin::{Origin, Place};
use super::value::Value;
use crate::error::{Error, Outcome};
use crate::file;

/// What the file is called, in a project and in the user's configuration folder.
pub(crate) const NAME: &str = "airtight.toml";

/// Far more than anybody configures by hand.
const LIMIT_BYTES: usize = 1024 * 1024;

/// Names under which people put keys into files.
const SECRETS: [&str; 6] = ["api_key", "apikey", "key", "secret", "token", "auth_token"];

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Project,
    User,
}

/// Finds the project's file: upwards from `start`, never above the root of its git repository.
///
/// Without a repository only `start` counts: a file in a shared folder such as `/tmp` may be
/// anybody's.
pub(crate) fn find_project(start: &Path) -> Option<PathBuf> {
    let root = start.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(start);
    start
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(|folder| folder.join(NAME))
        .find(|path| path.is_file())
}

/// Reads a file into entries.
pub(super) fn read(path: &Path, owner: Owner) -> Result<Vec<Entry>, Error> {
    let refused = || Error::new(Outcome::Contract, format!("could not read `{}`", path.display()));
    let bytes = file::read(path, LIMIT_BYTES).map_err(|error| refused().caused_by(error))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| refused().with_findings(vec!["it is not UTF-8".to_owned()]))?;
    let reader = Reader { path, owner, text: &text };
    let table = DeTable::parse(&text).map_err(|error| reader.malformed(&error))?;
    let mut entries = Vec::new();
    reader.walk("", table.get_ref(), &mut entries)?;
    Ok(entries)
}

struct Reader<'t> {
    path: &'t Path,
    owner: Owner,
    text: &'t str,
}

impl Reader<'_> {
    fn walk(
        &self,
        prefix: &str,
        table: &DeTable<'_>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), Error> {
        for (key, value) in table {
            let segment = key.get_ref();
            let name =
                if prefix.is_empty() { segment.to_string() } else { format!("{prefix}.{segment}") };
            if let Some(spec) = TABLE.iter().find(|spec| spec.name == Some(&name)) {
                entries.push(self.entry(spec, key.span().start, value)?);
                continue;
            }
            let below = format!("{name}.");
            let is_section =
                TABLE.iter().any(|spec| spec.name.is_some_and(|known| known.starts_with(&below)));
            let section = value.get_ref().as_table().filter(|_| is_section);
            let Some(section) = section else {
                return Err(self.unknown(prefix, segment, key.span().start, is_section));
            };
            self.walk(&name, section, entries)?;
        }
        Ok(())
    }

    fn entry(
        &self,
        spec: &Spec,
        offset: usize,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Entry, Error> {
        let place = Place { path: self.path.to_owned(), line: self.line(offset) };
        let value = Value::from_json(spec.kind, &json(value.get_ref())).map_err(|error| {
            self.refuse(offset, &format!("`{}`", spec.key.name())).caused_by(error)
        })?;
        let origin = match self.owner {
            Owner::Project => Origin::Project(place),
            Owner::User => Origin::User(place),
        };
        Ok(Entry { key: spec.key, value, origin })
    }

    fn unknown(&self, prefix: &str, segment: &str, offset: usize, is_section: bool) -> Error {
        let name =
            if prefix.is_empty() { segment.to_owned() } else { format!("{prefix}.{segment}") };
        if is_section {
            return self.refuse(offset, &format!("`{name}` must be a table: `[{name}]`"));
        }
        if SECRETS.contains(&segment.to_ascii_lowercase().as_str()) {
            return self.refuse(offset, "keys do not belong in a file").hint(
                "name the variable that holds it: `api_key_env = \"ANTHROPIC_API_KEY\"` under `[providers.anthropic]`",
            );
        }
        let siblings = siblings(prefix);
        let error = self.refuse(offset, &format!("no such setting: `{name}`"));
        match nearest(segment, siblings.iter().copied()) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error.hint(format!("settings here: {}", siblings.join(", "))),
        }
    }

    fn refuse(&self, offset: usize, what: &str) -> Error {
        let place = format!("{}:{}", self.path.display(), self.line(offset));
        Error::new(Outcome::Contract, format!("{place}: {what}"))
    }

    fn malformed(&self, error: &toml::de::Error) -> Error {
        let offset = error.span().map_or(0, |span| span.start);
        self.refuse(offset, &format!("not TOML: {}", error.message()))
    }

    fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        before.split(|byte| *byte == b'\n').count()
    }
}

/// Returns the names that may stand under `prefix`.
fn siblings(prefix: &str) -> Vec<&'static str> {
    let below = |name: &'static str| match prefix {
        "" => Some(name),
        prefix => name.strip_prefix(prefix)?.strip_prefix('.'),
    };
    let names = TABLE.iter().filter_map(|spec| below(spec.name?)?.split('.').next());
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    names
}

fn json(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => Json::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Json::Null, |number| Json::Number(number.into())),
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(Number::from_f64);
            number.map_or(Json::Null, Json::Number)
        }
        DeValue::Boolean(switch) => Json::Bool(*switch),
        DeValue::Datetime(time) => Json::String(time.to_string()),
        DeValue::Array(items) => {
            Json::Array(items.iter().map(|item| json(item.get_ref())).collect())
        }
        DeValue::Table(table) => Json::Object(
            table
                .iter()
                .map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())))
                .collect::<Map<_, _>>(),
        ),
    }
}
