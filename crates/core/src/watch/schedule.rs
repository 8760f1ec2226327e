//! When the next chain begins: by a deadline, counted from the end of the last scheduled one.
//!
//! Chains that somebody starts in between do not shift it. A clock that goes back costs at most one
//! interval: what is in the future is taken to have happened now.

use serde::{Deserialize, Serialize};

/// How long it is from the end of a chain to the next, unless the configuration says otherwise.
pub const INTERVAL_MS: i64 = 60 * 60 * 1_000;

/// How long after a repair it is looked at again.
pub const VERIFICATION_MS: i64 = 10 * 60 * 1_000;

/// Why a chain began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// It was time.
    Scheduled,
    /// Somebody asked on the command line.
    Manual,
    /// Somebody asked through the API or the dashboard.
    Api,
    /// An alert came in.
    Alert,
    /// A session asked for the next tier.
    Escalation,
    /// Something was repaired a while ago.
    Verification,
}

impl Trigger {
    /// Every trigger.
    pub const ALL: [Self; 6] = [
        Self::Scheduled,
        Self::Manual,
        Self::Api,
        Self::Alert,
        Self::Escalation,
        Self::Verification,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Manual => "manual",
            Self::Api => "api",
            Self::Alert => "alert",
            Self::Escalation => "escalation",
            Self::Verification => "verification",
        }
    }

    /// Returns the trigger of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trigger| trigger.name() == name)
    }
}

/// Something that was repaired, to be looked at again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The services.
    pub services: Vec<String>,
    /// When the repair was done.
    pub repaired_at_ms: i64,
    /// How long to wait.
    pub after_ms: i64,
}

impl Verification {
    /// Returns when it is due.
    pub fn due_at_ms(&self) -> i64 {
        self.repaired_at_ms.saturating_add(self.after_ms.max(0))
    }

    /// Returns what the session is asked to do.
    pub fn request(&self) -> String {
        let services = super::quote::one_line(&self.services.join(", "));
        format!("Verify that these services work since they were repaired: {services}.")
    }
}

/// When chains begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// How long it is from the end of a chain to the next.
    pub interval_ms: i64,
    /// When the last scheduled chain ended; nothing if none did since the start.
    pub last_end_ms: Option<i64>,
    /// What is to be looked at again.
    pub verifications: Vec<Verification>,
}

/// What begins next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextChain {
    /// When.
    pub at_ms: i64,
    /// What.
    pub what: NextKind,
}

/// What begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextKind {
    /// A scheduled chain.
    Scheduled,
    /// A verification.
    Verification(Verification),
}

impl Schedule {
    /// Starts: the first chain begins at once.
    pub fn new(interval_ms: i64) -> Self {
        Self { interval_ms: interval_ms.max(0), last_end_ms: None, verifications: Vec::new() }
    }

    /// Says what begins next: a scheduled chain that is due, else what is due first.
    pub fn next(&mut self, now_ms: i64) -> NextChain {
        self.last_end_ms = self.last_end_ms.map(|end| end.min(now_ms));
        self.forget(now_ms);
        let at_ms = self.last_end_ms.map_or(now_ms, |end| end.saturating_add(self.interval_ms));
        match self.verifications.iter().min_by_key(|it| it.due_at_ms()) {
            Some(first) if at_ms > now_ms && first.due_at_ms() < at_ms => {
                NextChain { at_ms: first.due_at_ms(), what: NextKind::Verification(first.clone()) }
            }
            Some(_) | None => NextChain { at_ms, what: NextKind::Scheduled },
        }
    }

    /// Drops what nobody looked at for an interval: a scheduled chain has looked since, or will at once.
    fn forget(&mut self, now_ms: i64) {
        let interval_ms = self.interval_ms;
        self.verifications.retain_mut(|it| {
            it.repaired_at_ms = it.repaired_at_ms.min(now_ms);
            now_ms.saturating_sub(it.due_at_ms()) <= interval_ms
        });
    }

    /// Tells that a chain ended; only a scheduled one moves the deadline.
    pub fn chain_ended(&mut self, trigger: Trigger, now_ms: i64) {
        self.forget(now_ms);
        match trigger {
            Trigger::Scheduled => self.last_end_ms = Some(now_ms),
            Trigger::Manual
            | Trigger::Api
            | Trigger::Alert
            | Trigger::Escalation
            | Trigger::Verification => {}
        }
    }

    /// Asks for a look at what was repaired; what waits for the same services is replaced.
    pub fn repaired(&mut self, verification: Verification) {
        self.verifications.retain(|it| it.services != verification.services);
        self.verifications.push(verification);
    }

    /// Tells that a verification begins.
    pub fn verified(&mut self, verification: &Verification) {
        self.verifications.retain(|it| it != verification);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    fn verification(service: &str, repaired_at_ms: i64) -> Verification {
        let services = vec![service.to_owned()];
        Verification { services, repaired_at_ms, after_ms: VERIFICATION_MS }
    }

    fn scheduled(at_ms: i64) -> NextChain {
        NextChain { at_ms, what: NextKind::Scheduled }
    }

    /// CO-2: one at once, the next an interval after its end.
    #[test]
    fn co_2_the_first_chain_begins_at_once_and_the_next_after_its_end() {
        let mut schedule = Schedule::new(INTERVAL_MS);
        assert_eq!(schedule.next(100), scheduled(100));
        schedule.chain_ended(Trigger::Scheduled, 500);
        assert_eq!(schedule.next(600), scheduled(500 + INTERVAL_MS));
    }

    /// CO-2: what somebody starts in between moves nothing.
    #[test_case(Trigger::Manual)]
    #[test_case(Trigger::Api)]
    #[test_case(Trigger::Alert)]
    #[test_case(Trigger::Escalation)]
    #[test_case(Trigger::Verification)]
    fn co_2_other_chains_do_not_move_the_deadline(trigger: Trigger) {
        let mut schedule = Schedule::new(INTERVAL_MS);
        schedule.chain_ended(Trigger::Scheduled, 0);
        schedule.chain_ended(trigger, INTERVAL_MS / 2);
        assert_eq!(schedule.next(INTERVAL_MS / 2), scheduled(INTERVAL_MS));
        assert_eq!(schedule.next(2 * INTERVAL_MS), scheduled(INTERVAL_MS));
    }

    #[test]
    fn a_repair_is_looked_at_after_ten_minutes_once() {
        let mut schedule = Schedule::new(INTERVAL_MS);
        schedule.chain_ended(Trigger::Scheduled, 0);
        schedule.repaired(verification("a", 0));
        schedule.repaired(verification("a", 1_000));
        let expected = verification("a", 1_000);
        let next = schedule.next(1_000);
        assert_eq!((next.at_ms, &next.what), (601_000, &NextKind::Verification(expected.clone())));
        assert_eq!(
            expected.request(),
            "Verify that these services work since they were repaired: a."
        );
        schedule.verified(&expected);
        assert_eq!(schedule.next(1_000), scheduled(INTERVAL_MS));
    }

    /// Who starts looks at everything first, and at what was repaired long ago not at all.
    #[test]
    fn a_scheduled_chain_that_is_due_goes_first_and_old_repairs_are_forgotten() {
        let mut schedule = Schedule::new(INTERVAL_MS);
        schedule.repaired(verification("old", 0));
        let now = VERIFICATION_MS + INTERVAL_MS + 1;
        schedule.repaired(verification("due", now - VERIFICATION_MS));
        assert_eq!(schedule.next(now), scheduled(now));
        schedule.chain_ended(Trigger::Scheduled, now);
        let due = verification("due", now - VERIFICATION_MS);
        let expected = NextChain { at_ms: now, what: NextKind::Verification(due.clone()) };
        assert_eq!((schedule.next(now), &schedule.verifications), (expected, &vec![due]));
    }

    /// Whoever never asks what is next, as one chain does not, keeps no more than an interval of them.
    #[test]
    fn repairs_do_not_pile_up_where_nobody_looks_at_them() {
        let mut schedule = Schedule::new(INTERVAL_MS);
        for (hours, service) in (0..).zip(["a", "b", "c", "d", "e"]) {
            let now = hours * INTERVAL_MS;
            schedule.chain_ended(Trigger::Manual, now);
            schedule.repaired(verification(service, now));
        }
        let left: Vec<&str> =
            schedule.verifications.iter().map(|it| it.services[0].as_str()).collect();
        assert_eq!(left, ["d", "e"]);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for trigger in Trigger::ALL {
            assert_eq!(Trigger::named(trigger.name()), Some(trigger));
        }
    }

    proptest! {
        /// P7: wherever the clock jumps, the next chain is at most an interval away, and comes.
        #[test]
        fn a_clock_that_jumps_costs_at_most_an_interval(
            jumps in vec(-10 * INTERVAL_MS..10 * INTERVAL_MS, 1..20),
            interval in 0..INTERVAL_MS,
        ) {
            let mut schedule = Schedule::new(interval);
            let mut now = 0_i64;
            schedule.chain_ended(Trigger::Scheduled, now);
            for jump in jumps {
                now += jump;
                schedule.repaired(verification("a", now + 1));
                let next = schedule.next(now);
                prop_assert!(next.at_ms <= now + interval);
                // Waiting for it without looking at the clock again ends there.
                prop_assert!(schedule.next(now.max(next.at_ms)).at_ms <= now.max(next.at_ms));
            }
        }
    }
}
