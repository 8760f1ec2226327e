//! One table of `watch.toml`, checked name by name.

use std::collections::BTreeMap;
use std::time::Duration;

use airtight_core::nearest;
use airtight_core::watch::Tier;
use toml::de::{DeTable, DeValue};

use crate::config::{Kind, Reader, Value};
use crate::error::{Error, Outcome};

/// The names of tiers in lists.
pub(super) const TIERS: &[&str] = &["observe", "investigate", "remediate"];

/// The values of one table.
#[derive(Debug, Default)]
pub(super) struct Section {
    values: BTreeMap<&'static str, Value>,
    lines: BTreeMap<&'static str, usize>,
}

/// What a table may hold.
pub(super) struct Shape {
    /// What it is called; empty for the whole file.
    pub(super) name: &'static str,
    pub(super) fields: &'static [(&'static str, Kind)],
    /// Tables in it, which somebody else reads.
    pub(super) tables: &'static [&'static str],
}

impl Section {
    /// Reads `table`; an unknown name is an error.
    pub(super) fn read(
        reader: &Reader<'_>,
        shape: &Shape,
        table: &DeTable<'_>,
    ) -> Result<Self, Error> {
        let mut section = Self::default();
        for (key, value) in table {
            let (name, offset) = (key.get_ref().as_ref(), key.span().start);
            if shape.tables.contains(&name) {
                continue;
            }
            let Some((known, kind)) = shape.fields.iter().find(|(known, _)| *known == name) else {
                return Err(unknown(reader, shape, name, offset));
            };
            let (value, line) = (reader.value(name, *kind, offset, value)?, reader.line(offset));
            if let Value::Text(text) = &value {
                refuse_empty(&format!("{}:{line}", reader.path.display()), known, text)?;
            }
            section.values.insert(known, value);
            section.lines.insert(known, line);
        }
        Ok(section)
    }

    /// Returns the table called `name` in `table`, if there is one.
    pub(super) fn table<'t, 'i>(
        reader: &Reader<'_>,
        table: &'t DeTable<'i>,
        name: &str,
    ) -> Result<Option<&'t DeTable<'i>>, Error> {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else {
            return Ok(None);
        };
        let DeValue::Table(inner) = value.get_ref() else {
            let message = format!("`{name}` must be a table: `[{name}]`");
            return Err(reader.refuse(key.span().start, &message));
        };
        Ok(Some(inner))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let Value::Text(text) = self.values.get(name)? else { return None };
        Some(text)
    }

    pub(super) fn whole(&self, name: &str) -> Option<u32> {
        let Value::Whole(number) = self.values.get(name)? else { return None };
        u32::try_from(*number).ok()
    }

    pub(super) fn decimal(&self, name: &str) -> Option<f64> {
        let Value::Decimal(number) = self.values.get(name)? else { return None };
        Some(*number)
    }

    pub(super) fn is_on(&self, name: &str) -> Option<bool> {
        let Value::Switch(switch) = self.values.get(name)? else { return None };
        Some(*switch)
    }

    pub(super) fn duration(&self, name: &str) -> Option<Duration> {
        let Value::Duration(duration) = self.values.get(name)? else { return None };
        Some(*duration)
    }

    pub(super) fn duration_ms(&self, name: &str) -> Option<i64> {
        self.duration(name).map(|it| i64::try_from(it.as_millis()).unwrap_or(i64::MAX))
    }

    pub(super) fn list(&self, name: &str) -> Option<&[String]> {
        self.values.get(name)?.as_list()
    }

    /// Returns the tiers in a list.
    pub(super) fn tiers(&self, name: &str) -> Option<Vec<Tier>> {
        let named = |it: &String| Tier::ALL.into_iter().find(|tier| tier.name() == it);
        Some(self.list(name)?.iter().filter_map(named).collect())
    }

    /// Returns the line of a value, from 1.
    pub(super) fn line(&self, name: &str) -> usize {
        self.lines.get(name).copied().unwrap_or(1)
    }
}

/// Examples of what can be said, for texts that somebody left empty.
const EXAMPLES: [(&str, &str); 6] = [
    ("pre_session", "./may-a-session-begin"),
    ("command", "pager --stdin"),
    ("services", "services.md"),
    ("webhook", "https://…"),
    ("prompt", "Look at …"),
    ("prompt_file", "tier1.md"),
];

/// Refuses a text that says nothing: whoever wrote it meant something.
pub(super) fn refuse_empty(place: &str, name: &str, text: &str) -> Result<(), Error> {
    if !text.trim().is_empty() {
        return Ok(());
    }
    let error = Error::new(Outcome::Contract, format!("{place}: `{name}` is empty"));
    let example = EXAMPLES.iter().find(|(known, _)| *known == name);
    Err(match example {
        Some((_, example)) => {
            error.hint(format!("leave it out, or say what is meant: `{name} = \"{example}\"`"))
        }
        None => error.hint("leave it out, or say what is meant"),
    })
}

fn unknown(reader: &Reader<'_>, shape: &Shape, name: &str, offset: usize) -> Error {
    let known: Vec<&str> =
        shape.fields.iter().map(|(known, _)| *known).chain(shape.tables.iter().copied()).collect();
    let full =
        if shape.name.is_empty() { name.to_owned() } else { format!("{}.{name}", shape.name) };
    let error = reader.refuse(offset, &format!("no such setting: `{full}`"));
    match nearest(name, known.iter().copied()) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error.hint(format!("settings here: {}", known.join(", "))),
    }
}
