//! Several processes on one ledger: one leads.

use std::io::{BufRead as _, BufReader};
use std::process::Child;

use airtight_fake::Turn;
use serde_json::Value;

use crate::estate::{Estate, Said, answer, report, signal};

/// Waits for a line of this type.
fn await_notice(child: &mut Child, kind: &str) -> Value {
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    loop {
        let line = lines.next().expect("the watch goes on").unwrap();
        let notice: Value = serde_json::from_str(&line).unwrap();
        if notice["type"] == kind {
            return notice;
        }
    }
}

fn end(child: Child) -> Said {
    child.wait_with_output().unwrap().into()
}

/// CO-4: a second start is refused, or waits.
#[test]
fn of_two_watchers_on_one_ledger_one_acts() {
    let slow = answer(report("healthy", false)).gate(0, "asked");
    let estate = Estate::new([slow]);
    let mut first = estate.start(&[]);
    await_notice(&mut first, "session_began");
    let once = estate.once(&[]);
    assert_eq!(once.code, 3, "{once:?}");
    assert!(once.stderr.contains("another process leads the watch"), "{once:?}");
    let mut second = estate.start(&[]);
    await_notice(&mut second, "standby");
    estate.fake.gate("asked").open();
    await_notice(&mut first, "chain_ended");
    assert_eq!(estate.sessions().len(), 1);

    // Who waits takes over when the leader ends, and keeps to its schedule.
    signal(&first, "TERM");
    assert_eq!(end(first).code, 0);
    await_notice(&mut second, "leading");
    await_notice(&mut second, "waiting");
    signal(&second, "TERM");
    assert_eq!(end(second).code, 0);
    assert_eq!(estate.sessions().len(), 1, "nothing was due");
    assert_eq!(estate.fake.requests().len(), 1);
}

/// CO-1, CO-12, CO-16: a signal ends the session under way, and that is on record.
#[test]
fn a_signal_ends_the_watch_cleanly() {
    let estate = Estate::new([Turn::text("never").stall_after(0)]);
    for name in ["TERM", "INT"] {
        estate.fake.push(Turn::text("never").stall_after(0));
        let mut watch = estate.start(&[]);
        await_notice(&mut watch, "session_began");
        signal(&watch, name);
        let said = end(watch);
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert!(estate.statuses().iter().all(|(_, status)| status == "stopped"));
    let chain = estate.asked(async |ledger| ledger.open_chain().await.unwrap());
    assert_eq!(chain, None);
}

/// CO-12: a session has its time, and its status says so.
#[test]
fn a_session_that_takes_too_long_is_ended() {
    let estate = Estate::new([Turn::text("never").stall_after(0)]).set("max_session_time = \"1s\"");
    let said = estate.once(&[]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(estate.statuses(), [(1, "timed_out".to_owned())]);
}
