//! The ledger: every run, attempt and event on SQLite or PostgreSQL, and the work queue beside them.
//!
//! What it protects: whatever was acknowledged is on disk; a run has one final result; what a model
//! said comes back byte for byte. It performs nothing and judges nothing: callers do, and tell it.
//!
//! ```text
//! begin ─► open_attempt ─► (a request leaves) ─► close_attempt ─► … ─► finish
//!   └ one write, on record when it returns          └ all in one transaction, once
//! ```
//!
//! One SQL text serves both databases; what must differ is in `dialect.rs`. Writes queue up for a
//! writer that commits what has come in together. Reads have connections of their own.

mod answer;
mod clock;
mod dialect;
mod error;
mod file;
mod filter;
mod form;
mod ledger;
mod location;
mod owner;
mod queue;
mod read;
mod retention;
mod review;
mod rows;
mod run;
mod schema;
mod settings;
mod stats;
mod watch;
mod write;
mod writer;

pub use answer::{AnswerToken, KnownAnswer};
pub use error::StoreError;
pub use filter::{Filter, Order, PAGE_LIMIT, Page, Validity};
pub use form::Shown;
pub use ledger::Ledger;
pub use location::Location;
pub use queue::{
    Again, Bucket, Claim, ClaimedJob, Enqueued, JobFilter, JobState, Lease, NewJob, QueueCounts,
    StoredJob, Worker,
};
pub use read::{Arrivals, ContractEntry, KnownContract, Spending};
pub use retention::{Level, Retention};
pub use review::{Decision, NewDecision};
pub use run::{
    Acknowledged, Attempt, AttemptEnd, AttemptState, Begun, BoundedEvent, ContractRow, Driver,
    EventBounds, EventPage, Finish, Job, NewAttempt, NewEvent, NewRun, Postponed, Repeat, Review,
    Run, RunId, RunState, RunSummary, RunToken, StoredEvent,
};
pub use settings::{Access, Settings};
pub use stats::{Drift, GroupBy, Interval, Sample, Stat, StatsFilter, drift, wilson};
pub use watch::{
    Action, ActionEnd, ActionFilter, Chain, ChainState, Check, Delivery, DoneAction, Escalation,
    EscalationFilter, EscalationState, EventFilter, Lead, Leader, Memory, MemoryEdit, MemoryFilter,
    MemoryUpdate, Minutes, NewAction, NewEscalation, NewMemory, NewNotification, NewSession,
    NewWatchEvent, NewWish, Notification, NotificationState, Patience, Reserved, Service, Session,
    SessionEnd, SessionFilter, SessionTexts, WISHES_WAITING, WatchCounts, WatchEvent,
    WatchOverview, Wish, Wished,
};
pub use write::{DRAFT_LIMIT_BYTES, Pruned};
