//! Statistics, from tallies that every finished run adds to. They answer in milliseconds whatever
//! the size of the ledger, and outlive the runs that are pruned.

mod drift;
mod interval;
mod latency;
mod query;
mod tally;

pub use drift::{Drift, Sample, drift};
pub use interval::{Interval, wilson};
pub(crate) use latency::bucket_of;
pub use query::{GroupBy, Stat, StatsFilter};
pub(crate) use tally::{Tallies, Tally, TallyKey};
