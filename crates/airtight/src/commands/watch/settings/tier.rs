//! What is set for a tier: `[tiers.1]`, `[tiers.2]`, `[tiers.3]`.
//!
//! A tier has the settings of `airtight.toml` that make sense for it, and a task, tools and denied
//! commands of its own. What it does not say is as for tier 1, then as for all, then built in.

use std::path::{Path, PathBuf};

use airtight_core::watch::{Tier, default_tools, denied_commands, settings_for, tier_prompt};
use toml::de::{DeTable, DeValue};

use super::read_text;
use super::section::{Section, refuse_empty};
use crate::config::{Entry, Own, Reader};
use crate::env::Environment;
use crate::error::Error;

/// The longest task: about as much as models can heed.
const TASK_LIMIT_BYTES: usize = 1024 * 1024;

/// What is set for a tier.
#[derive(Debug, Clone, Default)]
pub(crate) struct TierSettings {
    /// Settings, as in `airtight.toml`.
    pub(crate) entries: Vec<Entry>,
    /// Its standing instructions.
    pub(crate) task: String,
    /// Where they are, if they are in a file.
    pub(crate) task_file: Option<PathBuf>,
    /// What it may use, by claude's names or ours.
    pub(crate) tools: Vec<String>,
    /// Commands that it must not run.
    pub(crate) deny: Vec<String>,
}

/// What a table says.
#[derive(Debug, Default)]
struct Said {
    entries: Vec<Entry>,
    task: Option<String>,
    task_file: Option<PathBuf>,
    tools: Option<Vec<String>>,
    deny: Option<Vec<String>>,
}

/// Reads every tier.
pub(super) fn read(
    reader: &Reader<'_>,
    table: &DeTable<'_>,
    (folder, environment): (&Path, &Environment),
    root: &Section,
) -> Result<[TierSettings; 3], Error> {
    let mut said = [Said::default(), Said::default(), Said::default()];
    let all = Section::table(reader, table, "tiers")?;
    for (key, value) in all.into_iter().flatten() {
        let (name, offset) = (key.get_ref().as_ref(), key.span().start);
        let place = Tier::ALL.iter().zip(&mut said).find(|(tier, _)| is_named(**tier, name));
        let Some((_, slot)) = place else {
            let error = reader.refuse(offset, &format!("there is no tier `{name}`"));
            return Err(error.hint("there are `[tiers.1]`, `[tiers.2]` and `[tiers.3]`"));
        };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(reader.refuse(offset, &format!("`tiers.{name}` must be a table")));
        };
        *slot = read_one(reader, table, folder, environment)?;
    }
    let [first, ..] = &said;
    let settle = |tier: Tier, own: &Said| {
        let entries =
            if own.entries.is_empty() { first.entries.clone() } else { own.entries.clone() };
        let of = |it: Tier| if it == tier { own } else { first };
        let usual = usual_tools(tier);
        let tools = |it: Tier| of(it).tools.as_deref();
        let tools = settings_for(tier, tools, root.list("tools"), &usual);
        TierSettings {
            entries,
            task_file: own.task_file.clone(),
            task: own.task.clone().unwrap_or_else(|| tier_prompt(tier).to_owned()),
            tools: tools.to_vec(),
            deny: denied(tier, own, first, root.list("deny")),
        }
    };
    let [one, two, three] = &said;
    Ok([settle(Tier::Observe, one), settle(Tier::Investigate, two), settle(Tier::Remediate, three)])
}

/// Returns what a tier must not run: its own list, else that of tier 1, else that for all.
///
/// A tier that only inherits the list of tier 1 keeps what is built in for it: whoever writes down what
/// an observer must not do has not thought of what a repair may ruin.
fn denied(tier: Tier, own: &Said, first: &Said, all: Option<&[String]>) -> Vec<String> {
    let usual = usual_denials(tier);
    let of = |it: Tier| if it == tier { own.deny.as_deref() } else { first.deny.as_deref() };
    let mut denied = settings_for(tier, of, all, &usual).to_vec();
    if tier != Tier::Observe && own.deny.is_none() && first.deny.is_some() {
        denied.extend(usual);
        let mut seen = std::collections::BTreeSet::new();
        denied.retain(|command| seen.insert(command.clone()));
    }
    denied
}

fn is_named(tier: Tier, name: &str) -> bool {
    tier.number().to_string() == name || tier.name() == name
}

fn usual_tools(tier: Tier) -> Vec<String> {
    default_tools(tier).iter().map(|tool| tool.claude_name().to_owned()).collect()
}

fn usual_denials(tier: Tier) -> Vec<String> {
    denied_commands(tier).into_iter().map(str::to_owned).collect()
}

fn read_one(
    reader: &Reader<'_>,
    table: &DeTable<'_>,
    folder: &Path,
    environment: &Environment,
) -> Result<Said, Error> {
    let contents = reader.section(table)?;
    let own = |name: &str| contents.own.iter().find(|own| own.name == name);
    let place = |own: &Own| format!("{}:{}", reader.path.display(), own.line);
    for text in ["prompt", "prompt_file"].into_iter().filter_map(own) {
        refuse_empty(&place(text), text.name, &text.text)?;
    }
    let task_file = own("prompt_file").map(|file| {
        let is_of_home = file.text.starts_with('~');
        if is_of_home { environment.resolve(&file.text) } else { folder.join(&file.text) }
    });
    let task = match (own("prompt"), own("prompt_file")) {
        (Some(inline), None) => Some(inline.text.clone()),
        (None, Some(file)) => {
            let path = task_file.as_deref().unwrap_or(folder);
            Some(read_text(path, TASK_LIMIT_BYTES, &place(file), "prompt_file")?)
        }
        (Some(_), Some(file)) => {
            let message = format!("{}: `prompt_file` stands beside `prompt`", place(file));
            return Err(
                Error::new(crate::error::Outcome::Contract, message).hint("leave one of them out")
            );
        }
        (None, None) => None,
    };
    let list = |name: &str| own(name).map(|own| own.list.clone());
    let (tools, deny) = (list("tools"), list("deny"));
    Ok(Said { task, task_file, tools, deny, entries: contents.entries })
}
