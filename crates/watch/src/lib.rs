//! The supervised, tiered operations loop.
//!
//! One process leads. It runs a chain of sessions when one is due: core's chain machine decides,
//! this performs, and every step is on record before the next. Who really asks a model is the
//! caller's: [`Staff`].

mod clock;
mod door;
mod log;
mod notify;

pub use clock::{Clock, LedgerClock};
pub use door::{Call, DOOR_ARGUMENT, Door, Porter, knock};
pub use log::SessionLog;
pub use notify::{Address, Courier, Form, Target, Undelivered};
