//! What people do with memories.

use airtight_core::watch::{Category, Confidence, OBSERVATION_LIMIT_CHARS, Trust, approve};
use airtight_store::{
    Ledger, Memory, MemoryEdit, MemoryFilter, MemoryUpdate, NewMemory, Order, PAGE_LIMIT, Page,
};

use super::Refusal;

/// The longest name of a service: within what sessions may call one, whatever letters it has.
const SERVICE_LIMIT_CHARS: usize = 60;

/// A memory that somebody writes down, as it was typed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MemoryDraft {
    /// The service that it is about; empty or absent, it is general.
    pub(crate) service: Option<String>,
    pub(crate) category: String,
    pub(crate) observation: String,
    /// From 0 to 1, and brought into that; absent, that of a new memory.
    pub(crate) confidence: Option<f64>,
}

/// What somebody changes in a memory. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::option_option, reason = "absent, general and a name are three things here")]
pub(crate) struct MemoryChanges {
    /// `Some(None)` makes it general.
    pub(crate) service: Option<Option<String>>,
    pub(crate) category: Option<String>,
    pub(crate) observation: Option<String>,
    /// From 0 to 1, and brought into that; enough makes it active again.
    pub(crate) confidence: Option<f64>,
    pub(crate) trust: Option<Trust>,
}

/// Writes a memory down.
pub(crate) async fn add_memory(ledger: &Ledger, draft: MemoryDraft) -> Result<Memory, Refusal> {
    let confidence = draft.confidence.map(confidence).transpose()?.unwrap_or(Confidence::NEW);
    let new = NewMemory {
        service: service(draft.service.as_deref())?,
        category: category(&draft.category)?,
        observation: observation(&draft.observation)?,
        confidence: i64::from(confidence.thousandths()),
    };
    Ok(ledger.add_memory(new).await?)
}

/// Changes a memory. Leave for one that waits does what `airtight watch approve` does: it contradicts
/// what it could not before.
pub(crate) async fn edit_memory(
    ledger: &Ledger,
    id: &str,
    changes: MemoryChanges,
) -> Result<Memory, Refusal> {
    let before = ledger.memory(id).await?;
    let edit = MemoryEdit {
        service: changes.service.map(|it| service(it.as_deref())).transpose()?,
        category: changes.category.as_deref().map(category).transpose()?,
        observation: changes.observation.as_deref().map(observation).transpose()?,
    };
    let worth = changes.confidence.map(confidence).transpose()?;
    let mut updates = Vec::new();
    if changes.trust == Some(Trust::Trusted) && before.trust == Trust::Pending {
        updates = leave(ledger, &before.id).await?;
    }
    updates.push(MemoryUpdate {
        id: before.id.clone(),
        confidence: worth.map(|worth| i64::from(worth.thousandths())),
        // What it is worth fades from when somebody last said so.
        reinforced_at: worth.map(|_| ledger.now_ms()),
        trust: changes.trust,
    });
    Ok(ledger.edit_memory(&before.id, edit, updates).await?)
}

/// Deletes a memory.
pub(crate) async fn delete_memory(ledger: &Ledger, id: &str) -> Result<(), Refusal> {
    Ok(ledger.delete_memory(id).await?)
}

/// Returns what leave for a memory changes in it and in others.
async fn leave(ledger: &Ledger, id: &str) -> Result<Vec<MemoryUpdate>, Refusal> {
    let all = Page { limit: PAGE_LIMIT, after: None, order: Order::NewestFirst };
    let rows = ledger.memories(&MemoryFilter::default(), all).await?;
    let known: Vec<_> = rows.into_iter().filter_map(Memory::known).collect();
    let changes = approve(&known, id, ledger.now_ms());
    Ok(changes.iter().filter_map(MemoryUpdate::of).collect())
}

fn service(typed: Option<&str>) -> Result<Option<String>, Refusal> {
    let typed = typed.map(str::trim).filter(|name| !name.is_empty());
    match typed {
        Some(name) if name.chars().count() > SERVICE_LIMIT_CHARS => {
            let message =
                format!("the name of a service has over {SERVICE_LIMIT_CHARS} characters");
            Err(Refusal::Request { parameter: "service", message })
        }
        name => Ok(name.map(str::to_owned)),
    }
}

fn category(typed: &str) -> Result<String, Refusal> {
    let refused = |error: airtight_core::watch::NoCategory| Refusal::Request {
        parameter: "category",
        message: error.to_string(),
    };
    Category::named(typed).map(|category| category.name().to_owned()).map_err(refused)
}

fn observation(typed: &str) -> Result<String, Refusal> {
    let refused = |message: String| Err(Refusal::Request { parameter: "observation", message });
    let typed = typed.trim();
    match typed.chars().count() {
        0 => refused("an observation must say something".to_owned()),
        count if count > OBSERVATION_LIMIT_CHARS => refused(format!(
            "the observation has {count} characters, over the limit of {OBSERVATION_LIMIT_CHARS}"
        )),
        _ => Ok(typed.to_owned()),
    }
}

fn confidence(typed: f64) -> Result<Confidence, Refusal> {
    let message = "a confidence is a number from 0 to 1".to_owned();
    Confidence::from_ratio(typed).ok_or(Refusal::Request { parameter: "confidence", message })
}

#[cfg(test)]
mod tests;
