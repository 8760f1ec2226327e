//! `airtight.toml` and the files of contracts: found, read and checked key by key. Errors name lines,
//! never what is on them.

use std::path::{Path, PathBuf};

use airtight_core::nearest;
use serde_json::{Map, Number, Value as Json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Entry;
use super::key::{Kind, Spec, TABLE};
use super::origin::{Origin, Place};
use super::value::Value;
use crate::error::{Error, Outcome};
use crate::file;

/// What the file is called, in a project and in the user's configuration folder.
pub(crate) const NAME: &str = "airtight.toml";

/// The file with the rules of reviews, in a project.
pub(crate) const REVIEW: &str = ".airtight/review.toml";

/// What the settings of reviews are called elsewhere.
const REVIEW_SECTION: &str = "review";

/// Far more than anybody configures by hand.
const LIMIT_BYTES: usize = 1024 * 1024;

/// Names under which people put keys into files.
const SECRETS: [&str; 6] = ["api_key", "apikey", "key", "secret", "token", "auth_token"];

/// What people may call settings that have another name here.
const SYNONYMS: [(&str, &str); 3] = [
    ("attempts", "did you mean `reasks`, which does not count the first one?"),
    ("budget", "did you mean `max_cost`, `max_tokens_total` or `max_wall_time`?"),
    ("driver", "did you mean `model` or `via`?"),
];

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Project,
    User,
    Contract,
    /// The project, in the file of its reviews.
    Review,
    /// A tier of a watch, in the file that its user named.
    Tier,
}

/// What only the file of a contract has.
const CONTRACT_KEYS: &[(&str, Kind)] = &[
    ("schema", Kind::Text),
    ("version", Kind::Text),
    ("prompt", Kind::Text),
    ("prompt_file", Kind::Text),
    ("examples", Kind::Text),
    ("accepts", Kind::List),
    ("carry", Kind::List),
];

/// Those of them that whoever understands them checks.
const STRUCTURED: [&str; 2] = ["accepts", "carry"];

/// What only a tier has.
const TIER_KEYS: &[(&str, Kind)] = &[
    ("prompt", Kind::Text),
    ("prompt_file", Kind::Text),
    ("tools", Kind::List),
    ("deny", Kind::List),
];

/// The settings that are about the watch as a whole, or about what a person reads.
const NOT_OF_TIERS: [&str; 4] = ["trusted_projects", "output.", "store.", "system"];

impl Owner {
    /// Claims that this setting may stand in the file.
    fn knows(self, spec: &Spec) -> bool {
        match self {
            Self::Project | Self::User => true,
            Self::Contract => spec.name.is_some_and(|name| {
                ["model", "via", "mode"].contains(&name) || name.starts_with("policy.")
            }),
            Self::Review => spec.name.is_some_and(|name| name.starts_with("review.")),
            Self::Tier => {
                spec.name.is_some_and(|name| NOT_OF_TIERS.iter().all(|not| !name.starts_with(not)))
            }
        }
    }

    /// Returns what stands in the file and is no setting.
    fn own_keys(self) -> &'static [(&'static str, Kind)] {
        match self {
            Self::Project | Self::User | Self::Review => &[],
            Self::Contract => CONTRACT_KEYS,
            Self::Tier => TIER_KEYS,
        }
    }

    /// Returns the names that the file may have, in order.
    fn names(self) -> impl Iterator<Item = &'static str> {
        let own = self.own_keys().iter().map(|(name, _)| *name);
        own.chain(TABLE.iter().filter(move |spec| self.knows(spec)).filter_map(|spec| spec.name))
    }

    /// Returns the section that all of the file is.
    fn section(self) -> &'static str {
        match self {
            Self::Project | Self::User | Self::Contract | Self::Tier => "",
            Self::Review => REVIEW_SECTION,
        }
    }

    fn origin(self, place: Place) -> Origin {
        match self {
            Self::Project | Self::Review => Origin::Project(place),
            Self::User => Origin::User(place),
            Self::Contract => Origin::Contract(place),
            Self::Tier => Origin::Tier(place),
        }
    }
}

/// What is in a file.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The settings.
    pub(crate) entries: Vec<Entry>,
    /// What is no setting.
    pub(crate) own: Vec<Own>,
}

/// What is no setting, with its line.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) name: &'static str,
    /// What it says, if it is a text.
    pub(crate) text: String,
    /// Its texts, if it is a list of them.
    pub(crate) list: Vec<String>,
    /// What it holds, if it is neither.
    pub(crate) value: Json,
    pub(crate) line: usize,
}

/// Finds the project's file: upwards from `start`, never above the root of its git repository.
///
/// Without a repository only `start` counts: a file in a shared folder such as `/tmp` may be
/// anybody's.
pub(crate) fn find_project(start: &Path) -> Option<PathBuf> {
    find(start, NAME)
}

/// Finds the file with the rules of the project's reviews, in the same places.
pub(super) fn find_review(start: &Path) -> Option<PathBuf> {
    find(start, REVIEW)
}

fn find(start: &Path, name: &str) -> Option<PathBuf> {
    let root = start.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(start);
    start
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Reads a file.
pub(crate) fn read(path: &Path, owner: Owner) -> Result<Contents, Error> {
    let bytes = file::read(path, LIMIT_BYTES).map_err(|error| unreadable(path).caused_by(error))?;
    read_text(path, owner, bytes)
}

fn unreadable(path: &Path) -> Error {
    Error::new(Outcome::Contract, format!("could not read `{}`", path.display()))
}

/// Reads what was in the file `path`.
pub(crate) fn read_text(path: &Path, owner: Owner, bytes: Vec<u8>) -> Result<Contents, Error> {
    let text = String::from_utf8(bytes)
        .map_err(|_| unreadable(path).with_findings(vec!["it is not UTF-8".to_owned()]))?;
    let reader = Reader { path, owner, text: &text };
    let table = DeTable::parse(&text).map_err(|error| reader.malformed(&error))?;
    reader.section(table.get_ref())
}

/// Reads the tables of one file.
pub(crate) struct Reader<'t> {
    pub(crate) path: &'t Path,
    pub(crate) owner: Owner,
    pub(crate) text: &'t str,
}

impl Reader<'_> {
    /// Reads everything in a table.
    pub(crate) fn section(&self, table: &DeTable<'_>) -> Result<Contents, Error> {
        let mut contents = Contents::default();
        self.walk(self.owner.section(), table, &mut contents)?;
        Ok(contents)
    }

    fn walk(
        &self,
        prefix: &str,
        table: &DeTable<'_>,
        contents: &mut Contents,
    ) -> Result<(), Error> {
        for (key, value) in table {
            let segment = key.get_ref();
            let name =
                if prefix.is_empty() { segment.to_string() } else { format!("{prefix}.{segment}") };
            let offset = key.span().start;
            if let Some(own) = self.owner.own_keys().iter().find(|(known, _)| *known == name) {
                contents.own.push(self.own(*own, offset, value)?);
                continue;
            }
            let is_meant = |spec: &&Spec| spec.name == Some(&name) && self.owner.knows(spec);
            if let Some(spec) = TABLE.iter().find(is_meant) {
                contents.entries.push(self.entry(spec, offset, value)?);
                continue;
            }
            let below = format!("{name}.");
            let is_section = self.owner.names().any(|known| known.starts_with(&below));
            let section = value.get_ref().as_table().filter(|_| is_section);
            let Some(section) = section else {
                return Err(self.unknown(prefix, segment, offset, is_section));
            };
            self.walk(&name, section, contents)?;
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
        let value = self.value(spec.key.name(), spec.kind, offset, value)?;
        Ok(Entry { key: spec.key, value, origin: self.owner.origin(place) })
    }

    fn own(
        &self,
        (name, kind): (&'static str, Kind),
        offset: usize,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Own, Error> {
        let line = self.line(offset);
        if STRUCTURED.contains(&name) {
            let value = json(value.get_ref());
            return Ok(Own { name, text: String::new(), list: Vec::new(), value, line });
        }
        let value = self.value(name, kind, offset, value)?;
        let list = value.as_list().map(<[String]>::to_vec).unwrap_or_default();
        Ok(Own { name, text: value.to_string(), list, value: Json::Null, line })
    }

    /// Returns a value that fits `kind`.
    pub(crate) fn value(
        &self,
        name: &str,
        kind: Kind,
        offset: usize,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Value, Error> {
        Value::from_json(kind, &json(value.get_ref()))
            .map_err(|error| self.refuse(offset, &format!("`{name}`")).caused_by(error))
    }

    fn unknown(&self, prefix: &str, segment: &str, offset: usize, is_section: bool) -> Error {
        let name = match prefix {
            prefix if prefix == self.owner.section() => segment.to_owned(),
            prefix => format!("{prefix}.{segment}"),
        };
        if is_section {
            return self.refuse(offset, &format!("`{name}` must be a table: `[{name}]`"));
        }
        if SECRETS.contains(&segment.to_ascii_lowercase().as_str()) {
            return self.refuse(offset, "keys do not belong in a file").hint(
                "name the variable that holds it: `api_key_env = \"ANTHROPIC_API_KEY\"` under `[providers.anthropic]`",
            );
        }
        let siblings = siblings(prefix, self.owner);
        let error = self.refuse(offset, &format!("no such setting: `{name}`"));
        if let Some((_, hint)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == segment) {
            return error.hint(*hint);
        }
        match nearest(segment, siblings.iter().copied()) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error.hint(format!("settings here: {}", siblings.join(", "))),
        }
    }

    /// Says what is wrong, and on which line.
    pub(crate) fn refuse(&self, offset: usize, what: &str) -> Error {
        let place = format!("{}:{}", self.path.display(), self.line(offset));
        Error::new(Outcome::Contract, format!("{place}: {what}"))
    }

    /// Says that the file is no TOML.
    pub(crate) fn malformed(&self, error: &toml::de::Error) -> Error {
        let offset = error.span().map_or(0, |span| span.start);
        self.refuse(offset, &format!("not TOML: {}", error.message()))
    }

    /// Returns the line of an offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        before.split(|byte| *byte == b'\n').count()
    }
}

/// Returns the names that may stand under `prefix`.
fn siblings(prefix: &str, owner: Owner) -> Vec<&'static str> {
    let below = |name: &'static str| match prefix {
        "" => Some(name),
        prefix => name.strip_prefix(prefix)?.strip_prefix('.'),
    };
    let names = owner.names().filter_map(|name| below(name)?.split('.').next());
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
