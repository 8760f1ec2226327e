//! Who is told: one target takes everything, one never takes anything and holds up nothing.

use std::collections::BTreeMap;

use airtight_store::{Notification, NotificationState};

use crate::life::Month;
use crate::record::Ledgered;
use crate::world::{DAY_MS, HOUR_MS};

pub(crate) fn assert_all(record: &Ledgered, month: &Month) {
    let of = |target: &str| -> Vec<&Notification> {
        record.notifications.iter().filter(|it| it.target == target).collect()
    };
    let (good, bad) = (of("good"), of("bad"));
    assert!(good.len() > 30, "{} notifications", good.len());
    assert_eq!(good.len(), bad.len(), "each is told of everything");
    assert_taken(&good, month);
    assert_refused(&bad);
    assert_no_flood(&good);
    assert_digests(&good);
    assert_alarms(record, &good);
}

/// CO-108: who takes notifications gets each of them.
fn assert_taken(good: &[&Notification], month: &Month) {
    let told = std::fs::read_to_string(month.path("told.jsonl")).unwrap();
    for it in good {
        assert_eq!(it.state, NotificationState::Sent, "{it:?}");
        let title = serde_json::to_string(&it.title).unwrap();
        let queued = format!("\"at_ms\":{}", it.queued_at);
        assert!(told.contains(&title) && told.contains(&queued), "{} is lost", it.title);
    }
}

/// CO-108: who never does is tried three times, and that is on record.
fn assert_refused(bad: &[&Notification]) {
    let given_up = bad.iter().filter(|it| it.state == NotificationState::Failed).count();
    assert!(given_up > 10, "{given_up} are given up");
    for it in bad {
        match it.state {
            NotificationState::Failed => assert_eq!(it.attempts, 3, "{it:?}"),
            NotificationState::Queued => assert!(it.attempts < 3, "{it:?}"),
            NotificationState::Sent => panic!("it was never taken: {it:?}"),
        }
        assert_eq!(it.attempts > 0, it.error.is_some(), "{it:?}");
    }
}

/// CO-92, CO-108: an action that is refused again and again is told once an hour, with a count.
fn assert_no_flood(good: &[&Notification]) {
    let mut last: BTreeMap<&str, i64> = BTreeMap::new();
    let mut counted = 0;
    for it in good {
        let Some(at) = it.body.find("cooldown: no ") else { continue };
        counted += usize::from(it.title.ends_with(" times)"));
        // `cooldown: no restart of web`
        let cause = it.body[at..].split(": it was acted on").next().unwrap();
        if let Some(before) = last.insert(cause, it.queued_at) {
            assert!(it.queued_at - before >= HOUR_MS, "{cause} is told again too soon");
        }
    }
    assert!(!last.is_empty() && counted > 0, "{counted} of {last:?} have a count");
}

/// CO-95: a digest a day, and none is left out.
fn assert_digests(good: &[&Notification]) {
    let digests: Vec<i64> =
        good.iter().filter(|it| it.category == "daily_digest").map(|it| it.queued_at).collect();
    assert!((28..=31).contains(&digests.len()), "{} digests", digests.len());
    assert!(digests.windows(2).all(|two| two[1] - two[0] > DAY_MS), "{digests:?}");
}

/// Five failures of tier 1 in a row are told, once each time.
fn assert_alarms(record: &Ledgered, good: &[&Notification]) {
    let mut streak = 0;
    let mut expected = 0;
    for session in record.sessions.iter().filter(|it| it.tier == 1) {
        streak = match (session.extraction.as_str(), session.status.as_str()) {
            ("none", "stopped") => streak,
            ("none", _) => streak + 1,
            _ => 0,
        };
        expected += usize::from(streak == 5);
    }
    assert!(expected > 0, "for half a day nobody looks");
    let is_alarm = |message: &str| message.starts_with("tier 1 failed 5 times in a row");
    let told = record.events.iter().filter(|it| is_alarm(&it.message)).count();
    assert_eq!(told, expected);
    assert_eq!(good.iter().filter(|it| is_alarm(&it.body)).count(), expected);
}
