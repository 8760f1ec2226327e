//! The laws of the ledger, on SQLite and on a real PostgreSQL.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]

mod bed;
mod child;
mod commits;
mod faults;
mod guarantees;
mod keys;
mod pages;
mod postgres;
mod proxy;
mod pruning;
mod queue;
mod reading;
mod retention;
mod review;
mod runs;
mod stats;
mod watch;
mod wishes;
mod workers;

/// Makes a test of each law on each database.
macro_rules! laws {
    ($($law:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                super::$law(crate::bed::Bed::sqlite()).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                super::$law(crate::bed::Bed::postgres()).await;
            })+
        }
    };
}
pub(crate) use laws;
