//! Sessions: one tier at work, with one run of the same name.

use airtight_core::price::Cost;
use serde::Serialize;

use crate::error::StoreError;
use crate::rows::Columns;

/// A session that is about to begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewSession {
    /// Its name, which is that of its run.
    pub id: String,
    /// The chain that it is part of.
    pub chain: String,
    /// The session that escalated to it.
    pub parent: Option<String>,
    /// Its tier.
    pub tier: i64,
    /// Why it began: the word of core's trigger.
    pub cause: String,
    /// What drives the model.
    pub driver: String,
    /// The model.
    pub model: String,
    /// Where its log is.
    pub log: Option<String>,
    /// What is asked.
    pub prompt: Option<String>,
    /// What it was told of the estate.
    pub context: Option<String>,
}

/// The end of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionEnd {
    /// Its name.
    pub id: String,
    /// How it ended: the word of core's status.
    pub status: String,
    /// How its yield was read: `structured`, `markers` or `none`.
    pub extraction: String,
    /// Whether work was left behind that had not ended.
    pub pending: bool,
    /// How often the model was asked.
    pub turns: Option<i64>,
    /// What it cost, if known.
    pub cost: Option<Cost>,
    /// What it found and did, in short.
    pub summary: Option<String>,
    /// What it said last.
    pub response: Option<String>,
}

/// What lists tell about a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its number: sessions are ordered by it.
    pub number: i64,
    /// Its name, which is that of its run.
    pub id: String,
    /// The chain that it is part of.
    pub chain: String,
    /// The session that escalated to it.
    pub parent: Option<String>,
    /// Its tier.
    pub tier: i64,
    /// Why it began.
    pub cause: String,
    /// What drove the model.
    pub driver: String,
    /// The model.
    pub model: String,
    /// How it ended, or that it runs.
    pub status: String,
    /// How its yield was read.
    pub extraction: String,
    /// Whether work was left behind that had not ended.
    pub pending: bool,
    /// How often the model was asked.
    pub turns: Option<i64>,
    /// What it cost, if known.
    pub cost_usd: Option<Cost>,
    /// Where its log is.
    pub log: Option<String>,
    /// What it found and did, in short.
    pub summary: Option<String>,
    /// When it began, in Unix milliseconds.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
}

/// The long texts of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionTexts {
    /// What was asked.
    pub prompt: Option<String>,
    /// What it was told of the estate.
    pub context: Option<String>,
    /// What it said last.
    pub response: Option<String>,
}

/// Which sessions are meant. What is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// One chain.
    pub chain: Option<String>,
    /// One status.
    pub status: Option<String>,
    /// One tier.
    pub tier: Option<i64>,
}

pub(super) const COLUMNS: &str = "seq, id, chain, parent, tier, cause, driver, model, status, \
     extraction, pending, turns, cost_nano, log, summary, started_at, ended_at";

pub(super) fn read(columns: &mut Columns<'_>) -> Result<Session, StoreError> {
    Ok(Session {
        number: columns.take()?,
        id: columns.take()?,
        chain: columns.take()?,
        parent: columns.take()?,
        tier: columns.take()?,
        cause: columns.take()?,
        driver: columns.take()?,
        model: columns.take()?,
        status: columns.take()?,
        extraction: columns.take()?,
        pending: columns.take::<i64>()? != 0,
        turns: columns.take()?,
        cost_usd: columns.cost()?,
        log: columns.take()?,
        summary: columns.take()?,
        started_at: columns.take()?,
        ended_at: columns.take()?,
    })
}

pub(super) fn read_texts(columns: &mut Columns<'_>) -> Result<SessionTexts, StoreError> {
    Ok(SessionTexts {
        prompt: columns.take()?,
        context: columns.take()?,
        response: columns.take()?,
    })
}
