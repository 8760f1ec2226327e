//! Minutes: everything that is to be known from one moment on, together or not at all.

use super::action::{ActionEnd, DoneAction};
use super::chain::ChainState;
use super::escalation::NewEscalation;
use super::event::NewWatchEvent;
use super::memory::{Memory, MemoryUpdate};
use super::notification::{Delivery, NewNotification};
use super::service::{Check, Service};
use super::session::{NewSession, SessionEnd};

/// What is written in one transaction. Rows that are new are inserted; what exists is set to what is
/// said here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Minutes {
    /// When, in Unix milliseconds.
    pub at_ms: i64,
    /// Where the chain stands.
    pub chain: Option<ChainState>,
    /// A session that begins.
    pub begun: Option<NewSession>,
    /// Sessions that end.
    pub ended: Vec<SessionEnd>,
    /// Events, in their order.
    pub events: Vec<NewWatchEvent>,
    /// Memories that are new.
    pub memories: Vec<Memory>,
    /// What changes in memories.
    pub updates: Vec<MemoryUpdate>,
    /// Escalations.
    pub escalations: Vec<NewEscalation>,
    /// Escalations that somebody gave leave to, and that are acted on.
    pub acted: Vec<String>,
    /// Escalations that are not acted on any more, whoever gave leave.
    pub declined: Vec<String>,
    /// The wish that the chain grants.
    pub granted: Option<String>,
    /// Services, as they stand from now on.
    pub services: Vec<Service>,
    /// Checks of services, in their order.
    pub checks: Vec<Check>,
    /// Actions that are over.
    pub actions: Vec<ActionEnd>,
    /// Actions that nobody had put on record before they were done.
    pub done: Vec<DoneAction>,
    /// Notifications to be delivered.
    pub notifications: Vec<NewNotification>,
    /// What came of delivering notifications.
    pub deliveries: Vec<Delivery>,
    /// What the watch remembers of itself: name and value.
    pub marks: Vec<(String, String)>,
}
