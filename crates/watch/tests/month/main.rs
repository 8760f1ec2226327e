//! A month of a watch over five services, in seconds: the clock is an argument, and so is the staff.
//!
//! Services break by chance, some of them so that no restart helps. Sessions report what they see, confirm
//! and contradict what is remembered, and repair what they may; for half a day no model answers. The watch is
//! a process that is killed by `kill -9` at random points and started again. What then is on record is
//! compared with what really happened, by rules that are written down here once more.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]
#![cfg(target_os = "linux")]

mod actions;
mod chance;
mod crew;
mod life;
mod memories;
mod record;
mod told;
mod world;

use life::Month;
use record::Ledgered;

/// Begins the month, kills it again and again, and returns what is on record at its end.
fn lived() -> (Month, Ledgered) {
    let month = Month::new();
    month.begin();
    month.live();
    let record = month.record();
    (month, record)
}

/// P1: no event is lost or there twice, nothing is done past the record, the limits or twice, every memory
/// is worth what the closed formula says, and whoever is to be told is.
#[test]
fn a_month_loses_no_event_and_repeats_no_action() {
    let (month, record) = lived();
    let world = month.world();
    assert!(world.lives() > 20, "it was killed {} times", world.lives());
    record.assert_sessions(&world);
    record.assert_events(&world);
    record.assert_escalations();
    actions::assert_all(&record, &world);
    memories::assert_all(&record, &world);
    told::assert_all(&record, &month);
}
