//! Escalations: what was acted on, and what waits for leave.

use serde::Serialize;

use crate::error::StoreError;
use crate::rows::Columns;

/// What became of an escalation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EscalationState {
    /// The next tier took over.
    Acted,
    /// It waits for somebody's leave.
    #[default]
    Proposed,
    /// Somebody gave leave; it is acted on as soon as the watch can.
    Approved,
    /// Somebody said no.
    Declined,
}

impl EscalationState {
    /// Returns the word for it in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acted => "acted",
            Self::Proposed => "proposed",
            Self::Approved => "approved",
            Self::Declined => "declined",
        }
    }

    fn named(word: &str) -> Self {
        match word {
            "acted" => Self::Acted,
            "proposed" => Self::Proposed,
            "approved" => Self::Approved,
            _ => Self::Declined,
        }
    }
}

/// An escalation that is to be stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewEscalation {
    /// The session that asked.
    pub session: String,
    /// Its chain.
    pub chain: String,
    /// The tier that takes over, or would.
    pub tier: i64,
    /// The services that it is about.
    pub affected: Vec<String>,
    /// What the next tier is told; kept where it waits.
    pub context: Option<String>,
    /// What became of it.
    pub state: EscalationState,
}

/// One escalation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Escalation {
    /// Its number: escalations are ordered by it.
    pub number: i64,
    /// Its name.
    pub id: String,
    /// The session that asked.
    pub session: String,
    /// Its chain.
    pub chain: String,
    /// The tier that takes over, or would.
    pub tier: i64,
    /// The services that it is about.
    pub affected: Vec<String>,
    /// What the next tier is told.
    pub context: Option<String>,
    /// What became of it.
    pub state: EscalationState,
    /// When it was asked for, in Unix milliseconds.
    pub at: i64,
}

/// Which escalations are meant. What is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EscalationFilter {
    /// One state.
    pub state: Option<EscalationState>,
    /// Asked for at this time or later, in Unix milliseconds.
    pub since: Option<i64>,
}

pub(super) const COLUMNS: &str = "seq, id, session, chain, tier, affected, context, state, told_at";

pub(super) fn read(columns: &mut Columns<'_>) -> Result<Escalation, StoreError> {
    let (number, id) = (columns.take()?, columns.take()?);
    let (session, chain, tier) = (columns.take()?, columns.take()?, columns.take()?);
    let affected: String = columns.take()?;
    let damaged = |_| StoreError::Damaged { what: "a list of services" };
    Ok(Escalation {
        number,
        id,
        session,
        chain,
        tier,
        affected: serde_json::from_str(&affected).map_err(damaged)?,
        context: columns.take()?,
        state: EscalationState::named(&columns.take::<String>()?),
        at: columns.take()?,
    })
}
