//! Many runs of one kind: what `airtight batch` and `airtight worker` share.
//!
//! ```text
//! Performer::perform ─► ledger: begun ─► Gate: may a request leave? ─► driver ─► ledger: finished
//!                                          ▲ pace, circuit, budget        │ or postponed
//!                                          └──────── what came of it ◄────┘
//! ```
//!
//! The rule it protects: every key has one final result, whatever happens to this process. What only
//! the provider, or the machine, is to blame for is no result: such a run is postponed, and done again.

mod critical;
mod gate;
mod payload;
mod performer;
mod result;
mod stop;
mod throttle;
mod ticket;
mod witness;

pub(crate) use critical::cry;
pub(crate) use gate::Gate;
pub(crate) use payload::{Example, Kind, Manner, Payload};
pub(crate) use performer::{Errand, Performer, Shared};
pub(crate) use result::{Age, End, Settled};
pub(crate) use stop::{Stop, unusable};
pub(crate) use throttle::Throttle;
