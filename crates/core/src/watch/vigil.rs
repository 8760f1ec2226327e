//! Whether anybody sees: tier 1 is who tells of services, so somebody must tell when it keeps failing.

use serde::{Deserialize, Serialize};

use super::chain::{Chain, ChainOutcome};
use super::event::Event;
use super::level::Level;
use super::notification::{Notification, NotificationCategory};
use super::session::{Extraction, SessionStatus};
use super::span::span;
use super::tier::Tier;

/// So many failures of tier 1 in a row, and people are told: one is an outage of a model, five are not.
pub const BLIND_LIMIT: u32 = 5;

/// What one chain says about tier 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// It saw how services are.
    Seen,
    /// It failed, took too long, gave no answer, or could not begin.
    Blind,
    /// It was not asked, or somebody stopped it.
    Unasked,
}

/// How tier 1 has fared of late.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vigil {
    /// How often in a row it failed.
    failures: u32,
    /// Since when.
    since_ms: i64,
}

/// What is told of tier 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// For operators.
    pub event: Event,
    /// For people who do not look.
    pub notification: Option<Notification>,
}

impl Vigil {
    /// Takes in a chain that ended; returns what is to be told, once when it goes wrong and once when it
    /// goes right again.
    pub fn chain_ended(
        &mut self,
        chain: &Chain,
        outcome: &ChainOutcome,
        now_ms: i64,
    ) -> Option<Alarm> {
        match sight(chain, outcome) {
            Sight::Unasked => None,
            Sight::Seen => {
                let before = std::mem::take(self);
                (before.failures >= BLIND_LIMIT).then(|| before.over(now_ms))
            }
            Sight::Blind => {
                if self.failures == 0 {
                    self.since_ms = now_ms;
                }
                self.failures = self.failures.saturating_add(1);
                (self.failures == BLIND_LIMIT).then(|| self.alarm(now_ms))
            }
        }
    }

    fn alarm(&self, now_ms: i64) -> Alarm {
        let since = span(now_ms.saturating_sub(self.since_ms));
        let message = format!(
            "{} failed {} times in a row, the first {since} ago: nobody sees how services are",
            Tier::Observe,
            self.failures
        );
        let notification = Notification {
            category: NotificationCategory::HumanAttention,
            // Each streak is told, however soon it follows another.
            cause: String::new(),
            title: "Needs human attention: nobody is looking".to_owned(),
            body: format!("{message}. `airtight watch events` says why."),
        };
        Alarm { event: Event::of_watch(Level::Critical, message), notification: Some(notification) }
    }

    fn over(&self, now_ms: i64) -> Alarm {
        let since = span(now_ms.saturating_sub(self.since_ms));
        let tier = Tier::Observe;
        let message = format!("{tier} sees again, after {} failures in {since}", self.failures);
        Alarm { event: Event::of_watch(Level::Info, message), notification: None }
    }
}

fn sight(chain: &Chain, outcome: &ChainOutcome) -> Sight {
    let Some(session) = chain.sessions().iter().find(|it| it.tier == Tier::Observe) else {
        let is_due = chain.first_tier() == Tier::Observe;
        let is_refused = is_due && *outcome == ChainOutcome::Aborted;
        return if is_refused { Sight::Blind } else { Sight::Unasked };
    };
    match (session.extraction, session.status) {
        (Some(Extraction::Structured | Extraction::Markers), _) => Sight::Seen,
        (Some(Extraction::None) | None, SessionStatus::Stopped | SessionStatus::Running) => {
            Sight::Unasked
        }
        (Some(Extraction::None) | None, _) => Sight::Blind,
    }
}

#[cfg(test)]
mod tests {
    use super::super::chain::{ChainPolicy, ChainStart, Known, Step};
    use super::super::response::{AgentResponse, Escalation};
    use super::super::schedule::Trigger;
    use super::super::session::{ExitClaim, Finished, Payload, SessionEnding};
    use super::*;

    const BROKEN: SessionEnding = SessionEnding::Exited { code: 1, claim: ExitClaim::Error };

    fn begun(tier: Tier) -> Chain {
        let start = ChainStart {
            id: "c".to_owned(),
            trigger: Trigger::Scheduled,
            tier,
            request: None,
            approved: None,
        };
        let mut chain = Chain::begin(start, ChainPolicy::default(), 0);
        while !matches!(chain.step(), Step::RunTier(_)) {
            chain.performed(0).unwrap();
        }
        chain
    }

    fn ended(mut chain: Chain) -> (Chain, ChainOutcome) {
        loop {
            match chain.step() {
                Step::Done(outcome) => return (chain, outcome),
                Step::DeleteHandoff | Step::RunTier(_) | Step::Record(_) => {
                    chain.performed(0).unwrap();
                }
            }
        }
    }

    fn played(tier: Tier, ending: SessionEnding, payload: Payload) -> (Chain, ChainOutcome) {
        let mut chain = begun(tier);
        chain.began("s", 0).unwrap();
        let finished = Finished { payload, ..Finished::without_answer(ending) };
        chain.finished(&finished, &Known::NOTHING, 0).unwrap();
        ended(chain)
    }

    fn answer() -> Payload {
        Payload::Accepted(Box::new(AgentResponse {
            summary: "s".to_owned(),
            events: Vec::new(),
            memories: Vec::new(),
            escalation: Escalation::NotNeeded,
            services_checked: Vec::new(),
        }))
    }

    fn hear(
        vigil: &mut Vigil,
        (chain, outcome): &(Chain, ChainOutcome),
        at_ms: i64,
    ) -> Vec<String> {
        let alarm = vigil.chain_ended(chain, outcome, at_ms);
        let told = |it: Alarm| {
            let people = if it.notification.is_some() { "people: " } else { "" };
            format!("{people}{}", it.event.message)
        };
        alarm.map(told).into_iter().collect()
    }

    #[test]
    fn five_failures_in_a_row_are_told_once_and_so_is_their_end() {
        let hour = 3_600_000;
        let failed = played(Tier::Observe, BROKEN, Payload::Absent);
        let mut vigil = Vigil::default();
        let told: Vec<String> =
            (0..8).flat_map(|at| hear(&mut vigil, &failed, at * hour)).collect();
        let expected = "people: tier 1 failed 5 times in a row, the first 4 h ago: nobody sees how \
            services are";
        assert_eq!(told, [expected]);
        let seen = played(Tier::Observe, SessionEnding::FINE, answer());
        let over = hear(&mut vigil, &seen, 8 * hour);
        assert_eq!(over, ["tier 1 sees again, after 8 failures in 8 h"]);
        assert_eq!(vigil, Vigil::default());
        let told: usize = (9..18).map(|at| hear(&mut vigil, &failed, at * hour).len()).sum();
        assert_eq!(told, 1, "another streak is told again");
    }

    #[test]
    fn whatever_leaves_nobody_looking_counts() {
        let mut aborted = begun(Tier::Observe);
        aborted.aborted("no", 0).unwrap();
        let blind = [
            ended(aborted),
            played(Tier::Observe, SessionEnding::TimedOut, Payload::Absent),
            played(Tier::Observe, SessionEnding::FINE, Payload::Absent),
            played(Tier::Observe, BROKEN, Payload::Rejected("no".to_owned())),
        ];
        for (chain, outcome) in &blind {
            assert_eq!(sight(chain, outcome), Sight::Blind, "{outcome:?}");
        }
        let unasked = [
            played(Tier::Observe, SessionEnding::Stopped, Payload::Absent),
            played(Tier::Remediate, BROKEN, Payload::Absent),
        ];
        for (chain, outcome) in &unasked {
            assert_eq!(sight(chain, outcome), Sight::Unasked, "{outcome:?}");
        }
        let (chain, outcome) = played(Tier::Observe, BROKEN, answer());
        assert_eq!(sight(&chain, &outcome), Sight::Seen, "what it answered before counts");
    }
}
