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

/// What a day came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
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
        let mut lines = vec![self.counts()];
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
        Notification { category: NotificationCategory::DailyDigest, title, body }
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
