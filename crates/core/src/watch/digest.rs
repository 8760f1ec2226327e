//! The daily digest: that the watch is alive, and what a day came to.

use serde::{Deserialize, Serialize};

use super::level::Level;
use super::notification::{Notification, NotificationCategory};
use super::quote::one_line;
use super::services::{ServiceState, ServiceStatus};
use super::span::span;
use crate::price::Cost;

/// A digest is due when the last is older than this.
pub const DIGEST_MS: i64 = 24 * 60 * 60 * 1_000;

/// The most services that are named.
const SERVICES_LIMIT: usize = 50;

/// What the time since the last digest came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// How long that is.
    pub span_ms: i64,
    /// How many sessions there were of each tier.
    pub sessions: [u64; 3],
    /// How many of them failed, were stopped or took too long.
    pub unfinished: u64,
    /// How many events there were: info, warning, critical.
    pub events: [u64; 3],
    /// How many actions there were on services.
    pub actions: u64,
    /// How many memories wait for leave.
    pub pending_memories: u64,
    /// What it cost, if that is known.
    pub cost: Option<Cost>,
    /// How services are.
    pub services: Vec<ServiceState>,
}

/// Claims that a digest is due: there was none, or the last is over a day away.
///
/// One that is a day in the future is of a clock that went back.
pub fn is_digest_due(last_at_ms: Option<i64>, now_ms: i64) -> bool {
    last_at_ms.is_none_or(|last| now_ms.saturating_sub(last).saturating_abs() > DIGEST_MS)
}

/// Returns since when a digest counts: the last one, else a day.
pub fn digest_since(last_at_ms: Option<i64>, now_ms: i64) -> i64 {
    let day = now_ms.saturating_sub(DIGEST_MS);
    // One in the future is of a clock that went back.
    last_at_ms.filter(|last| *last <= now_ms).unwrap_or(day)
}

impl Digest {
    /// Writes the notification.
    pub fn notification(&self, now_ms: i64) -> Notification {
        let unhealthy =
            || self.services.iter().filter(|state| state.status != ServiceStatus::Healthy);
        let title = match (unhealthy().count(), self.services.len()) {
            (_, 0) => "Daily digest: no service was checked".to_owned(),
            (0, all) => format!("Daily digest: all {all} services are healthy"),
            (bad, all) => format!("Daily digest: {bad} of {all} services are not healthy"),
        };
        let mut lines = vec![format!("In the last {}:", span(self.span_ms)), self.counts()];
        if unhealthy().next().is_some() {
            lines.push("## Not healthy".to_owned());
            let named = unhealthy().take(SERVICES_LIMIT).map(|state| service_line(state, now_ms));
            lines.push(named.collect::<Vec<_>>().join("\n"));
            let more = unhealthy().count().saturating_sub(SERVICES_LIMIT);
            if more > 0 {
                lines.push(format!("… and {more} more"));
            }
        }
        if self.pending_memories > 0 {
            lines.push(format!("{} memories wait for leave.", self.pending_memories));
        }
        let body = lines.join("\n\n");
        let category = NotificationCategory::DailyDigest;
        Notification { category, cause: String::new(), title, body }
    }

    fn counts(&self) -> String {
        let [observed, investigated, remediated] = self.sessions;
        let [info, warning, critical] = self.events;
        let all = observed.saturating_add(investigated).saturating_add(remediated);
        let cost = match self.cost {
            Some(cost) => format!("${:.2}", cost.usd()),
            None => "unknown".to_owned(),
        };
        let [info_name, warning_name, critical_name] = Level::ALL.map(Level::name);
        [
            format!(
                "- sessions: {all} ({observed} observed, {investigated} investigated, {remediated} \
                 remediated; {} did not finish)",
                self.unfinished
            ),
            format!(
                "- events: {info} {info_name}, {warning} {warning_name}, {critical} {critical_name}"
            ),
            format!("- actions on services: {}", self.actions),
            format!("- cost: {cost}"),
        ]
        .join("\n")
    }
}

fn service_line(state: &ServiceState, now_ms: i64) -> String {
    let name = one_line(&state.name);
    let since = span(now_ms.saturating_sub(state.changed_at_ms));
    let detail = state.detail.as_deref().map(one_line).filter(|it| !it.is_empty());
    let detail = detail.map(|it| format!(": {it}")).unwrap_or_default();
    format!("- **{name}** {} for {since}{detail}", state.status.name())
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    /// CO-95: due when there was none, or it is over a day ago.
    #[test_case(None, 0 => true; "none yet")]
    #[test_case(Some(0), DIGEST_MS => false; "exactly a day")]
    #[test_case(Some(0), DIGEST_MS + 1 => true; "over a day")]
    #[test_case(Some(3_600_000), 0 => false; "a clock that went back an hour")]
    #[test_case(Some(2 * DIGEST_MS), 0 => true; "a clock that was far ahead")]
    #[test_case(Some(i64::MIN), i64::MAX => true; "the ends of time")]
    fn co_95_a_digest_is_due_after_a_day(last_at_ms: Option<i64>, now_ms: i64) -> bool {
        is_digest_due(last_at_ms, now_ms)
    }

    /// CO-95: nothing between two digests is left out, however long the watch was away.
    #[test_case(None => -DIGEST_MS; "the first counts a day")]
    #[test_case(Some(-3 * DIGEST_MS) => -3 * DIGEST_MS; "the watch was away")]
    #[test_case(Some(1) => -DIGEST_MS; "a clock that went back")]
    fn co_95_a_digest_counts_since_the_last_one(last_at_ms: Option<i64>) -> i64 {
        digest_since(last_at_ms, 0)
    }

    fn state(name: &str, status: ServiceStatus, detail: Option<&str>) -> ServiceState {
        ServiceState {
            name: name.to_owned(),
            status,
            detail: detail.map(str::to_owned),
            healthy_streak: 0,
            unhealthy_streak: 1,
            changed_at_ms: 0,
            checked_at_ms: 0,
            cleared_at_ms: None,
        }
    }

    /// CO-108: what a day came to, from its counts.
    #[test]
    fn co_108_a_digest_tells_what_a_day_came_to() {
        let digest = Digest {
            span_ms: DIGEST_MS + 7_200_000,
            sessions: [24, 2, 1],
            unfinished: 1,
            events: [5, 3, 1],
            actions: 2,
            pending_memories: 3,
            cost: Cost::from_usd(1.25),
            services: vec![
                state("caddy", ServiceStatus::Healthy, None),
                state("jellyfin", ServiceStatus::Down, Some("502\nBad Gateway")),
            ],
        };
        let told = digest.notification(5_400_000);
        assert_eq!(told.title, "Daily digest: 1 of 2 services are not healthy");
        insta::assert_snapshot!(told.body, @r"
        In the last 1 d 2 h:

        - sessions: 27 (24 observed, 2 investigated, 1 remediated; 1 did not finish)
        - events: 5 info, 3 warning, 1 critical
        - actions on services: 2
        - cost: $1.25

        ## Not healthy

        - **jellyfin** down for 1 h 30 min: 502 Bad Gateway

        3 memories wait for leave.
        ");
    }

    #[test]
    fn a_quiet_day_is_told_too() {
        let quiet = Digest::default().notification(0);
        assert_eq!(quiet.title, "Daily digest: no service was checked");
        let services = vec![state("caddy", ServiceStatus::Healthy, None)];
        let healthy = Digest { services, ..Digest::default() }.notification(0);
        assert_eq!(healthy.title, "Daily digest: all 1 services are healthy");
        let services = vec![state("x", ServiceStatus::Down, None); 60];
        let bad = Digest { services, ..Digest::default() }.notification(0);
        assert!(bad.body.ends_with("… and 10 more"));
    }
}
