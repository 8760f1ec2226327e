//! Statistics, from tallies that every finished run adds to. What they cost depends on how many days,
//! models, contracts and outcomes there are, not on how many runs, and they outlive those that are pruned.

mod drift;
mod interval;
mod latency;
mod query;
mod source;
mod tally;

pub use drift::{Drift, Sample, drift};
pub use interval::{Interval, wilson};
pub(crate) use latency::Latencies;
pub use query::{GroupBy, Stat, StatsFilter};
pub(crate) use tally::{Tallies, Tally, TallyKey};
