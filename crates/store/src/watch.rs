//! What a watch keeps: chains and their sessions, events, memories, services, actions on them, and
//! notifications.
//!
//! One process leads. Everything it writes carries the fence of its lead, which the writing
//! transaction compares: a leader that was paused and replaced writes nothing any more. What a
//! session yields is one [`Minutes`], all or nothing, and commits with the end of its run.

mod action;
mod chain;
mod counts;
mod escalation;
mod event;
mod fit;
mod lead;
mod memory;
mod minutes;
mod notification;
mod operator;
mod overview;
mod prune;
mod read;
mod remember;
mod reserve;
mod service;
mod session;
mod text;
mod wish;
mod write;

pub use action::{Action, ActionEnd, ActionFilter, DoneAction, NewAction};
pub use chain::{Chain, ChainState};
pub use counts::WatchCounts;
pub use escalation::{Escalation, EscalationFilter, EscalationState, NewEscalation};
pub use event::{EventFilter, NewWatchEvent, WatchEvent};
pub use lead::{Lead, Leader};
pub use memory::{Memory, MemoryEdit, MemoryFilter, MemoryUpdate, NewMemory};
pub use minutes::Minutes;
pub use notification::{Delivery, NewNotification, Notification, NotificationState};
pub use overview::WatchOverview;
pub use reserve::Reserved;
pub use service::{Check, Service};
pub use session::{NewSession, Session, SessionEnd, SessionFilter, SessionTexts};
pub use wish::{NewWish, Patience, WISHES_WAITING, Wish, Wished};
pub(crate) use write::PackedMinutes;
