//! How services are: each check is folded into what is known, with streaks and the last change.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a service is, in the words of all formats that are read.
///
/// The contract has the first four; handoffs and prompts say `in_cooldown`, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceStatus {
    /// It does what it should.
    Healthy,
    /// It does some of it.
    Degraded,
    /// It does not.
    Down,
    /// The check itself failed, so that nobody knows.
    Unreachable,
    /// It does not, and must be left alone for now.
    InCooldown,
}

impl ServiceStatus {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Healthy, Self::Degraded, Self::Down, Self::Unreachable, Self::InCooldown];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Down => "down",
            Self::Unreachable => "unreachable",
            Self::InCooldown => "in_cooldown",
        }
    }

    /// Returns how much it says that something is wrong.
    fn severity(self) -> u8 {
        match self {
            Self::Healthy => 0,
            Self::InCooldown => 1,
            Self::Unreachable => 2,
            Self::Degraded => 3,
            Self::Down => 4,
        }
    }

    /// Returns the status of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// What one check saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceCheck {
    /// The service.
    pub name: String,
    /// How it is.
    pub status: ServiceStatus,
    /// What the check saw.
    pub detail: Option<String>,
}

/// What is known of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceState {
    /// The service.
    pub name: String,
    /// How it was when it was checked last.
    pub status: ServiceStatus,
    /// What that check saw.
    pub detail: Option<String>,
    /// How many checks in a row found it healthy, the last one included.
    pub healthy_streak: u32,
    /// How many checks in a row did not.
    pub unhealthy_streak: u32,
    /// When its status changed last.
    pub changed_at_ms: i64,
    /// When it was checked last.
    pub checked_at_ms: i64,
    /// Up to when actions count no more, because it recovered.
    pub cleared_at_ms: Option<i64>,
}

/// The longest name of a service: what DNS, Docker and systemd take. A longer one is a mistake of
/// whoever says it, and no key.
pub const SERVICE_NAME_LIMIT_BYTES: usize = 255;

/// So many healthy checks in a row clear what counts against a service, and the count begins anew.
pub const CLEARING_STREAK: u32 = 2;

impl ServiceState {
    /// Returns what is known after a check at `now_ms`.
    pub fn after(before: Option<&Self>, check: &ServiceCheck, now_ms: i64) -> Self {
        let is_healthy = check.status == ServiceStatus::Healthy;
        let streak =
            |before: u32, goes_on: bool| if goes_on { before.saturating_add(1) } else { 0 };
        let healthy_streak = streak(before.map_or(0, |it| it.healthy_streak), is_healthy);
        let clears = healthy_streak > 0 && healthy_streak.is_multiple_of(CLEARING_STREAK);
        let same = before.filter(|before| before.status == check.status);
        Self {
            name: check.name.clone(),
            status: check.status,
            detail: check.detail.clone(),
            healthy_streak,
            unhealthy_streak: streak(before.map_or(0, |it| it.unhealthy_streak), !is_healthy),
            changed_at_ms: same.map_or(now_ms, |before| before.changed_at_ms),
            checked_at_ms: now_ms,
            cleared_at_ms: if clears {
                Some(now_ms)
            } else {
                before.and_then(|it| it.cleared_at_ms)
            },
        }
    }
}

/// Folds the checks of one session into what is `known`, in the order in which services were named.
///
/// A session is one check of a service, however often it names it, and the worst that it says counts:
/// two healthy lines in one answer are no recovery.
pub fn fold_checks(
    known: &[ServiceState],
    checks: &[ServiceCheck],
    now_ms: i64,
) -> Vec<ServiceState> {
    let mut worst: Vec<ServiceCheck> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for check in checks {
        let name = check.name.trim();
        let check = ServiceCheck { name: name.to_owned(), ..check.clone() };
        match places.get(name).and_then(|place| worst.get_mut(*place)) {
            Some(before) if before.status.severity() < check.status.severity() => *before = check,
            Some(_) => {}
            None => {
                places.insert(name, worst.len());
                worst.push(check);
            }
        }
    }
    let known: BTreeMap<&str, &ServiceState> =
        known.iter().map(|state| (state.name.as_str(), state)).collect();
    let before = |name: &str| known.get(name).copied();
    worst.iter().map(|check| ServiceState::after(before(&check.name), check, now_ms)).collect()
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::ServiceStatus::{Degraded, Down, Healthy, InCooldown, Unreachable};
    use super::*;

    fn check(status: ServiceStatus) -> ServiceCheck {
        ServiceCheck { name: "jellyfin".to_owned(), status, detail: None }
    }

    /// Folds checks, one each second.
    fn history(checks: &[ServiceStatus]) -> ServiceState {
        let mut state = None;
        for (second, status) in (1..).zip(checks) {
            state = Some(ServiceState::after(state.as_ref(), &check(*status), second));
        }
        state.unwrap()
    }

    fn state(checks: &[ServiceStatus]) -> (u32, u32, i64, i64, Option<i64>) {
        let it = history(checks);
        let streaks = (it.healthy_streak, it.unhealthy_streak);
        (streaks.0, streaks.1, it.changed_at_ms, it.checked_at_ms, it.cleared_at_ms)
    }

    /// The original never kept `services_checked`; here it is a history with streaks and last change.
    #[test_case(&[Healthy] => (1, 0, 1, 1, None); "the first check is a change")]
    #[test_case(&[Healthy, Healthy, Healthy] => (3, 0, 1, 3, Some(2)); "healthy for long")]
    #[test_case(&[Healthy, Down, Down, Degraded] => (0, 3, 4, 4, None); "unhealthy in two ways")]
    #[test_case(&[Down, Healthy, Down, Healthy] => (1, 0, 4, 4, None); "flapping clears nothing")]
    #[test_case(&[Unreachable, InCooldown] => (0, 2, 2, 2, None); "what is not healthy")]
    fn checks_are_folded_into_streaks_and_the_last_change(
        checks: &[ServiceStatus],
    ) -> (u32, u32, i64, i64, Option<i64>) {
        state(checks)
    }

    /// CO-91: two healthy checks in a row clear, then the count begins anew.
    #[test]
    fn co_91_every_second_healthy_check_in_a_row_clears() {
        let cleared = |checks: usize| history(&vec![Healthy; checks]).cleared_at_ms;
        assert_eq!([1, 2, 3, 4, 5].map(cleared), [None, Some(2), Some(2), Some(4), Some(4)]);
        assert_eq!(history(&[Healthy, Healthy, Down]).cleared_at_ms, Some(2));
    }

    #[test]
    fn a_session_is_one_check_of_a_service_and_the_worst_counts() {
        let twice = [check(Healthy), check(Down), check(Healthy)];
        let folded = fold_checks(&[], &twice, 1);
        assert_eq!(folded, [ServiceState::after(None, &check(Down), 1)]);
        let spaced = ServiceCheck { name: " jellyfin ".to_owned(), ..check(Healthy) };
        let known = [history(&[Healthy])];
        let folded = fold_checks(&known, &[spaced, check(Healthy)], 2);
        assert_eq!(folded, [history(&[Healthy, Healthy])]);
    }

    #[test]
    fn statuses_have_one_name_each() {
        for status in ServiceStatus::ALL {
            assert_eq!(ServiceStatus::named(status.name()), Some(status));
            assert_eq!(serde_json::json!(status), status.name());
        }
        assert_eq!(ServiceStatus::named("Healthy"), None);
    }
}
