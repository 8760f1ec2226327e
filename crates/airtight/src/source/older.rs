//! Older versions of a role's contract whose answers are still taken: `accepts` and `[[carry]]`.

use std::path::{Path, PathBuf};

use airtight_core::{Declaration, nearest};
use serde_json::{Map, Value as Json};

use super::role::{beside, refuse};
use crate::config::Own;
use crate::error::Error;

/// How many older versions a contract may accept: each is tried on every answer that it rejects.
const VERSION_LIMIT: usize = 16;

/// What may be said about a version.
const KEYS: [&str; 6] = ["from", "schema", "rename", "drop", "map", "default"];

/// A version before the current one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Older {
    /// The file of its schema.
    pub(crate) schema: PathBuf,
    pub(crate) declaration: Declaration,
    /// Where the role's file says so.
    pub(crate) line: usize,
}

/// Reads which older versions the file `path` accepts, and what becomes of their answers.
pub(super) fn read(
    path: &Path,
    accepts: Option<&Own>,
    carry: Option<&Own>,
) -> Result<Vec<Older>, Error> {
    let Some(accepts) = accepts else {
        return match carry {
            None => Ok(Vec::new()),
            Some(carry) => Err(refuse(path, carry, "counts only for what `accepts` lists")
                .hint("add `accepts = [\"1.x\"]`")),
        };
    };
    let ranges = ranges(path, accepts)?;
    let older = match carry {
        Some(carry) => tables(path, carry)?,
        None => Vec::new(),
    };
    for range in &ranges {
        match older.iter().filter(|older| older.declaration.from == *range).count() {
            1 => {}
            0 => {
                return Err(refuse(
                    path,
                    accepts,
                    &format!("lists `{range}`, and no `[[carry]]` is from it"),
                )
                .hint(format!("add `[[carry]]` with `from = \"{range}\"` and `schema = \"…\"`")));
            }
            _ => {
                return Err(refuse(
                    path,
                    accepts,
                    &format!("lists `{range}`, which two `[[carry]]` are from"),
                ));
            }
        }
    }
    if let (Some(stranger), Some(carry)) =
        (older.iter().find(|older| !ranges.contains(&older.declaration.from)), carry)
    {
        let from = &stranger.declaration.from;
        return Err(refuse(
            path,
            carry,
            &format!("is from `{from}`, which `accepts` does not list"),
        )
        .hint(format!("add `{from}` to `accepts`")));
    }
    Ok(older)
}

fn ranges(path: &Path, accepts: &Own) -> Result<Vec<String>, Error> {
    let refused = || refuse(path, accepts, "must be a list of versions such as `[\"1.x\"]`");
    let list = accepts.value.as_array().filter(|list| !list.is_empty()).ok_or_else(refused)?;
    if list.len() > VERSION_LIMIT {
        return Err(refuse(path, accepts, &format!("lists more than {VERSION_LIMIT} versions")));
    }
    list.iter().map(|range| range.as_str().map(str::to_owned).ok_or_else(refused)).collect()
}

fn tables(path: &Path, carry: &Own) -> Result<Vec<Older>, Error> {
    let refused = || refuse(path, carry, "must be tables: `[[carry]]`");
    let list = carry.value.as_array().ok_or_else(refused)?;
    if list.len() > VERSION_LIMIT {
        return Err(refuse(path, carry, &format!("is there more than {VERSION_LIMIT} times")));
    }
    list.iter().map(|it| table(path, carry, it.as_object().ok_or_else(refused)?)).collect()
}

fn table(path: &Path, carry: &Own, table: &Map<String, Json>) -> Result<Older, Error> {
    if let Some(stranger) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let error = refuse(path, carry, &format!("has no `{stranger}`"));
        return Err(match nearest(stranger, KEYS) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error.hint(format!("it has {}", KEYS.join(", "))),
        });
    }
    let text = |name: &str| {
        let text = table.get(name).and_then(Json::as_str).map(str::to_owned);
        text.ok_or_else(|| refuse(path, carry, &format!("needs a `{name}`, a text")))
    };
    let (list, value) = (Vec::new(), Json::Null);
    let schema = Own { name: "carry", text: text("schema")?, list, value, line: carry.line };
    let reader = Reader { path, carry, table };
    Ok(Older {
        declaration: Declaration {
            from: text("from")?,
            rename: reader.pairs("rename", |to| to.as_str().map(str::to_owned))?,
            drop: reader.list("drop")?,
            map: reader.pairs("map", words)?,
            default: reader.pairs("default", |value| Some(value.clone()))?,
        },
        schema: beside(path, &schema)?,
        line: carry.line,
    })
}

/// Reads which words are called otherwise at one place.
fn words(table: &Json) -> Option<Vec<(String, Json)>> {
    let table = table.as_object()?;
    Some(table.iter().map(|(word, other)| (word.clone(), other.clone())).collect())
}

struct Reader<'r> {
    path: &'r Path,
    carry: &'r Own,
    table: &'r Map<String, Json>,
}

impl Reader<'_> {
    fn pairs<T>(
        &self,
        name: &str,
        read: impl Fn(&Json) -> Option<T>,
    ) -> Result<Vec<(String, T)>, Error> {
        let Some(value) = self.table.get(name) else { return Ok(Vec::new()) };
        let pairs = value.as_object().and_then(|pairs| {
            pairs.iter().map(|(key, value)| Some((key.clone(), read(value)?))).collect()
        });
        let example = match name {
            "rename" => r#"{ "/old" = "/new" }"#,
            "map" => r#"{ "/level" = { "warn" = "warning" } }"#,
            _ => r#"{ "/source" = "unknown" }"#,
        };
        pairs.ok_or_else(|| refuse(self.path, self.carry, &format!("wants `{name} = {example}`")))
    }

    fn list(&self, name: &str) -> Result<Vec<String>, Error> {
        let Some(value) = self.table.get(name) else { return Ok(Vec::new()) };
        let texts = value
            .as_array()
            .and_then(|list| list.iter().map(|text| text.as_str().map(str::to_owned)).collect());
        let refused = || refuse(self.path, self.carry, &format!("wants `{name} = [\"/old\"]`"));
        texts.ok_or_else(refused)
    }
}
