//! The supervised, tiered operations loop.
//!
//! One process leads. It runs a chain of sessions when one is due: core's chain machine decides,
//! this performs, and every step is on record before the next. Who really asks a model is the
//! caller's: [`Staff`].
//!
//! ```text
//! Watcher ─► Leadership (one of all) ─► Chain (core) ─► Session ─► Staff ─► Performed
//!              │ fence on every write       │              │ Gatekeeper: actions are on record first
//!              └ replaced: nothing is written └─ Minutes ◄─┘ what it yields, with the end of its run
//! ```

mod asked;
mod bell;
mod book;
mod call;
mod clock;
mod conclude;
mod digest;
mod dispatch;
mod door;
mod error;
mod estate;
mod files;
mod guard;
mod handoff;
mod keep;
mod lead;
mod log;
mod notice;
mod notify;
mod recover;
mod retell;
mod session;
mod settling;
mod staff;
mod watcher;

pub use clock::{Clock, LedgerClock};
pub use door::{Call, DOOR_ARGUMENT, Door, Porter, knock};
pub use error::WatchError;
pub use estate::Estate;
pub use guard::{Gatekeeper, SHELL};
pub use log::{LogFault, SessionLog};
pub use notice::{Notice, Teller};
pub use notify::{Address, Courier, Form, Target, Undelivered};
pub use staff::{Account, Assignment, NoRun, Performed, Settling, Staff, Who, Witness};
pub use watcher::{Watcher, Wish};
