//! Windows, reservations and claims.

use proptest::collection::vec;
use proptest::prelude::*;
use test_case::test_case;

use super::*;
use crate::watch::notification::NotificationCategory;
use crate::watch::services::{ServiceCheck, ServiceState, ServiceStatus};

const HOUR_MS: i64 = 60 * 60 * 1_000;

fn record(action: CooldownAction, at_ms: i64, state: ActionState) -> ActionRecord {
    let (id, service) = (at_ms.to_string(), "jellyfin".to_owned());
    ActionRecord { id, service, action, at_ms, state, session_id: None }
}

fn restarts(at_hours: &[i64]) -> Vec<ActionRecord> {
    let restart = |at: &i64| record(CooldownAction::Restart, at * HOUR_MS, ActionState::Success);
    at_hours.iter().map(restart).collect()
}

fn judge(command: &str, records: &[ActionRecord], now_ms: i64) -> CooldownVerdict {
    judge_command(recognise(command), records, &[], &CooldownLimits::default(), now_ms)
}

fn until_of(verdict: CooldownVerdict) -> Option<i64> {
    match verdict {
        CooldownVerdict::Deny(denied) => denied.until_ms,
        CooldownVerdict::Allow { .. } => None,
        CooldownVerdict::NotAnAction { .. }
        | CooldownVerdict::Repeated { .. }
        | CooldownVerdict::Own { .. } => panic!("it is an action"),
    }
}

/// Returns until which hour it is denied.
fn until(verdict: CooldownVerdict) -> Option<i64> {
    until_of(verdict).map(|until| until / HOUR_MS)
}

/// CO-90: at most two restarts within four hours, which slide.
#[test_case(&[], 10 => None; "none yet")]
#[test_case(&[9], 10 => None; "one")]
#[test_case(&[8, 9], 10 => Some(12); "the third is denied until the first is out")]
#[test_case(&[9, 8], 10 => Some(12); "in any order")]
#[test_case(&[6, 9], 10 => None; "exactly four hours ago is out")]
#[test_case(&[7, 8, 9], 10 => Some(12); "too many: until one less than two are left")]
#[test_case(&[9, 99], 10 => Some(13); "a clock that went back grants nothing")]
fn co_90_two_restarts_within_four_hours(at_hours: &[i64], now_hours: i64) -> Option<i64> {
    until(judge("docker restart jellyfin", &restarts(at_hours), now_hours * HOUR_MS))
}

/// CO-90: one redeployment within a day; restarts are counted apart.
#[test]
fn co_90_one_redeployment_within_a_day() {
    let done = [record(CooldownAction::Redeployment, HOUR_MS, ActionState::Success)];
    let command = "helm upgrade jellyfin ./chart";
    assert_eq!(until(judge(command, &done, 24 * HOUR_MS)), Some(25));
    assert_eq!(until(judge(command, &done, 25 * HOUR_MS)), None);
    assert_eq!(until(judge("docker restart jellyfin", &done, 2 * HOUR_MS)), None);
    assert_eq!(until(judge(command, &restarts(&[1, 1, 1]), 2 * HOUR_MS)), None);
}

/// CO-90: failed attempts count, and so does what was only reserved: a crash grants nothing.
#[test_case(ActionState::Failure)]
#[test_case(ActionState::Reserved)]
#[test_case(ActionState::Unknown)]
fn co_90_whatever_came_of_it_counts(state: ActionState) {
    let records = [
        record(CooldownAction::Restart, 8 * HOUR_MS, state),
        record(CooldownAction::Restart, 9 * HOUR_MS, state),
    ];
    assert_eq!(until(judge("docker restart jellyfin", &records, 10 * HOUR_MS)), Some(12));
}

/// CO-91: two healthy checks clear what was before them; one unhealthy check clears nothing.
#[test]
fn co_91_recovery_clears_both_counters() {
    let check = |status| ServiceCheck { name: "jellyfin".to_owned(), status, detail: None };
    let after = |before: Option<&ServiceState>, status, hour: i64| {
        ServiceState::after(before, &check(status), hour * HOUR_MS)
    };
    let limits = CooldownLimits::default();
    let mut records = restarts(&[8, 9]);
    records.push(record(CooldownAction::Redeployment, 9 * HOUR_MS, ActionState::Success));
    let judge = |state: &ServiceState, command: &str| {
        let services = std::slice::from_ref(state);
        judge_command(recognise(command), &records, services, &limits, 11 * HOUR_MS)
    };
    let once = after(None, ServiceStatus::Healthy, 10);
    assert_eq!(until(judge(&once, "docker restart jellyfin")), Some(12));
    let twice = after(Some(&once), ServiceStatus::Healthy, 11);
    assert_eq!(until(judge(&twice, "docker restart jellyfin")), None);
    assert_eq!(until(judge(&twice, "helm upgrade jellyfin ./chart")), None);
    let flapping = after(Some(&once), ServiceStatus::Down, 11);
    assert_eq!(until(judge(&flapping, "docker restart jellyfin")), Some(12));
}

/// CO-92: denied means a person must look, and the session is told not to try another way.
#[test]
fn co_92_what_is_denied_asks_for_a_person() {
    let verdict = judge("docker restart jellyfin", &restarts(&[8, 9]), 10 * HOUR_MS);
    let CooldownVerdict::Deny(denied) = verdict else { panic!("{verdict:?}") };
    let reason = "cooldown: no restart of jellyfin: it was acted on 2 times within 4 h, and at most 2 \
        are allowed. Not before 2 h from now. Do not try another way: it needs human attention";
    assert_eq!(denied.reason, reason);
    assert_eq!(denied.event().service.as_deref(), Some("jellyfin"));
    let told = denied.notification();
    let expected = (NotificationCategory::HumanAttention, "Needs human attention: jellyfin");
    assert_eq!((told.category, told.title.as_str()), expected);
}

/// CO-93: all of a line counts together, before any of it runs.
#[test]
fn co_93_the_third_restart_in_one_line_is_the_third() {
    let line =
        "docker restart jellyfin && sleep 5; docker restart jellyfin || docker restart jellyfin";
    assert_eq!(until(judge(line, &[], 0)), Some(4));
    let two = CommandAction { action: CooldownAction::Restart, service: "jellyfin".to_owned() };
    let allowed =
        CooldownVerdict::Allow { reserve: vec![two.clone(), two.clone()], notes: Vec::new() };
    assert_eq!(judge("docker restart jellyfin; docker restart jellyfin", &[], 0), allowed);
}

/// Whoever is watched must not decide about itself, whatever else the line does.
#[test]
fn a_session_must_not_start_the_watch_itself() {
    let own = |command: &str| match judge(command, &[], 0) {
        CooldownVerdict::Own { command } => Some(command),
        CooldownVerdict::NotAnAction { .. }
        | CooldownVerdict::Allow { .. }
        | CooldownVerdict::Repeated { .. }
        | CooldownVerdict::Deny(_) => None,
    };
    for (command, expected) in [
        ("airtight watch approve 1", Some("airtight watch approve 1")),
        ("docker ps; /opt/bin/airtight runs accept 1", Some("/opt/bin/airtight runs accept 1")),
        ("sudo -u ops airtight --version", Some("airtight --version")),
        ("sh -c 'airtight watch approve 1'", Some("airtight watch approve 1")),
        ("X=$(airtight watch status)", Some("airtight watch status")),
        ("find . -exec airtight watch approve {} +", Some("airtight watch approve {} +")),
        ("docker restart web; airtight watch decline 1", Some("airtight watch decline 1")),
        ("systemctl status airtight", None),
        ("docker logs airtight --since 1h", None),
        ("sudo -u airtight ls", None),
        ("ssh airtight uptime", None),
        ("grep -r 'airtight watch' docs", None),
        ("kubectl -n airtight get pods", None),
    ] {
        assert_eq!(own(command).as_deref(), expected, "{command}");
    }
}

#[test]
fn a_service_that_was_stopped_may_always_be_started_again() {
    let mut records = restarts(&[8]);
    records.push(record(CooldownAction::Stop, 9 * HOUR_MS, ActionState::Success));
    let start =
        |records: &[ActionRecord]| until(judge("docker start jellyfin", records, 10 * HOUR_MS));
    assert_eq!(start(&records), None);
    records.push(record(CooldownAction::Start, 9 * HOUR_MS + 1, ActionState::Success));
    assert_eq!(start(&records), Some(12));
    let stopped = [record(CooldownAction::Stop, HOUR_MS, ActionState::Success)];
    assert_eq!(until(judge("docker restart jellyfin", &stopped, 2 * HOUR_MS)), None);
}

#[test]
fn a_limit_of_nothing_denies_for_ever() {
    let none = Window { most: 0, within_ms: HOUR_MS };
    let limits = CooldownLimits { restarts: none, ..CooldownLimits::default() };
    let verdict = judge_command(recognise("docker restart jellyfin"), &[], &[], &limits, 0);
    let CooldownVerdict::Deny(denied) = verdict else { panic!("{verdict:?}") };
    assert_eq!(denied.until_ms, None);
    assert!(denied.reason.contains("Never by a session"));
}

fn claim(action: CooldownAction, result: ClaimedResult) -> CooldownClaim {
    let (service, message) = ("jellyfin".to_owned(), "because".to_owned());
    CooldownClaim { action, service, result, message }
}

fn close(id: &str, state: ActionState, error: Option<&str>) -> CooldownChange {
    let error = error.map(str::to_owned);
    CooldownChange::Close { id: id.to_owned(), state, error }
}

/// CO-94: what a session says closes what was reserved; the words of a failure are its error.
#[test]
fn co_94_a_claim_closes_its_reservation() {
    let reserved = [record(CooldownAction::Restart, 1, ActionState::Reserved)];
    let failed = [claim(CooldownAction::Restart, ClaimedResult::Failure)];
    let closed = [close("1", ActionState::Failure, Some("because"))];
    assert_eq!(settle_claims(&reserved, &failed, 9), closed);
    let worked = [claim(CooldownAction::Restart, ClaimedResult::Success)];
    assert_eq!(settle_claims(&reserved, &worked, 9), [close("1", ActionState::Success, None)]);
    assert_eq!(settle_claims(&reserved, &[], 9), [close("1", ActionState::Unknown, None)]);
}

/// The original's guard read other names than its state held, and never fired: here a claim is a record.
#[test]
fn what_was_done_past_the_guard_is_put_on_record_and_counts() {
    let twice = [
        claim(CooldownAction::Restart, ClaimedResult::Success),
        claim(CooldownAction::Restart, ClaimedResult::Failure),
    ];
    let mut records = Vec::new();
    for change in settle_claims(&[], &twice, HOUR_MS) {
        let CooldownChange::Insert { service, action, at_ms, state, .. } = change else {
            panic!("{change:?}")
        };
        let (id, session_id) = (String::new(), None);
        records.push(ActionRecord { id, service, action, at_ms, state, session_id });
    }
    assert_eq!(until(judge("docker restart jellyfin", &records, 2 * HOUR_MS)), Some(5));
}

#[test]
fn one_claim_of_a_restart_is_a_stop_and_a_start() {
    let records = [
        record(CooldownAction::Stop, 1, ActionState::Reserved),
        record(CooldownAction::Start, 2, ActionState::Reserved),
    ];
    let worked = [claim(CooldownAction::Restart, ClaimedResult::Success)];
    let closed = [close("2", ActionState::Success, None), close("1", ActionState::Success, None)];
    assert_eq!(settle_claims(&records, &worked, 9), closed);
}

#[test]
fn names_are_read_as_they_are_written() {
    for action in CooldownAction::ALL {
        assert_eq!(CooldownAction::named(action.name()), Some(action));
    }
    for state in ActionState::ALL {
        assert_eq!(ActionState::named(state.name()), Some(state));
    }
}

proptest! {
    /// CO-90: whatever is asked whenever, no window of four hours ever holds three restarts.
    #[test]
    fn no_window_ever_holds_more_than_it_may(gaps in vec(0_i64..3 * HOUR_MS, 1..40)) {
        let mut records: Vec<ActionRecord> = Vec::new();
        let mut now = 0;
        for gap in gaps {
            now += gap;
            match judge("sudo docker restart jellyfin", &records, now) {
                CooldownVerdict::Allow { .. } => {
                    records.push(record(CooldownAction::Restart, now, ActionState::Reserved));
                }
                CooldownVerdict::Deny(denied) => {
                    let until = denied.until_ms.unwrap();
                    prop_assert!(until > now);
                    let then = judge("docker restart jellyfin", &records, until);
                    prop_assert_eq!(until_of(then), None);
                    let before = judge("docker restart jellyfin", &records, until - 1);
                    prop_assert_eq!(until_of(before), Some(until));
                }
                CooldownVerdict::NotAnAction { .. }
                | CooldownVerdict::Repeated { .. }
                | CooldownVerdict::Own { .. } => prop_assert!(false),
            }
            for first in &records {
                let within = records.iter().filter(|it| {
                    it.at_ms >= first.at_ms && it.at_ms < first.at_ms + 4 * HOUR_MS
                });
                prop_assert!(within.count() <= 2);
            }
        }
    }
}
