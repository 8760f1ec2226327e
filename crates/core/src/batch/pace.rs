//! When the next request may leave: everybody who asks the same provider asks here first.

use std::time::Duration;

use super::circuit::{Breaker, Circuit, Passage};
use super::window::Window;
use crate::codec::FailureKind;

/// How fast a provider is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pacing {
    /// The most requests under way at once.
    pub most: u32,
    /// When the provider is taken to be down.
    pub circuit: Circuit,
}

/// When the next request may leave.
#[derive(Debug, Clone)]
pub struct Pace {
    window: Window,
    breaker: Breaker,
    circuit: Circuit,
    in_flight: u32,
    /// The provider wants to be left alone until then.
    held_until: Duration,
    /// How often it said so in a row.
    push_backs: u32,
    /// Since when nothing but trouble has come back.
    troubled_since: Option<Duration>,
}

/// Whether a request may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// It may, and counts as under way until its return is told.
    Now,
    /// Ask again then, counted from the same start, or when another has returned.
    At(Duration),
    /// Ask again when another has returned.
    OnReturn,
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Return {
    /// The provider did what it is there for, or says what is wrong with this one request.
    Answered,
    /// It wants fewer requests, and perhaps says for how long.
    PushedBack(Option<Duration>),
    /// It is busy, broken or out of reach, and perhaps says for how long.
    Failed(Option<Duration>),
    /// Nobody waited for the answer.
    Abandoned,
}

impl Return {
    /// Says what a failure means to those who ask next.
    pub fn of_failure(kind: FailureKind, asked: Option<Duration>) -> Self {
        match kind {
            FailureKind::RateLimit => Self::PushedBack(asked),
            FailureKind::Overload
            | FailureKind::Unreachable
            | FailureKind::Network
            | FailureKind::Stalled
            | FailureKind::Malformed
            | FailureKind::Program => Self::Failed(asked),
            FailureKind::Auth
            | FailureKind::Request
            | FailureKind::Rejected
            | FailureKind::TurnCap
            | FailureKind::Budget => Self::Answered,
            // Nobody was asked.
            FailureKind::Unfit => Self::Abandoned,
        }
    }
}

impl Pace {
    /// Starts with a provider of which nothing is known.
    pub fn new(pacing: Pacing) -> Self {
        Self {
            window: Window::new(pacing.most),
            breaker: Breaker::new(pacing.circuit),
            circuit: pacing.circuit,
            in_flight: 0,
            held_until: Duration::ZERO,
            push_backs: 0,
            troubled_since: None,
        }
    }

    /// Asks whether a request may leave.
    pub fn ask(&mut self, now: Duration) -> Permit {
        if now < self.held_until {
            return Permit::At(self.held_until);
        }
        if self.in_flight >= self.window.allowed() {
            return Permit::OnReturn;
        }
        match self.breaker.passage(now) {
            Passage::Until(then) => return Permit::At(then),
            Passage::AfterProbe => return Permit::OnReturn,
            Passage::Probe => self.breaker.probed(),
            Passage::Free => {}
        }
        self.in_flight += 1;
        Permit::Now
    }

    /// Tells what came of a request that left at `sent_at`; `chance` is random in 0..=1.
    pub fn returned(&mut self, came: Return, sent_at: Duration, now: Duration, chance: f64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        match came {
            Return::Answered => {
                self.window.answered();
                self.breaker.answered();
                self.push_backs = 0;
                self.troubled_since = None;
            }
            Return::PushedBack(asked) => {
                self.window.pushed_back(sent_at, now);
                // Whoever turns requests away is not down.
                self.breaker.abandoned(now);
                self.hold(asked.unwrap_or_else(|| self.own_pause(chance)), now);
                self.push_backs = self.push_backs.saturating_add(1);
            }
            Return::Failed(asked) => {
                self.window.pushed_back(sent_at, now);
                self.breaker.failed(now, chance);
                self.hold(asked.unwrap_or_default(), now);
            }
            Return::Abandoned => self.breaker.abandoned(now),
        }
    }

    /// Leaves the provider alone for `pause`, as another process was told. That is no trouble of ours:
    /// nothing has come back.
    pub fn heed(&mut self, pause: Duration, now: Duration) {
        self.held_until = self.held_until.max(now.saturating_add(pause));
    }

    /// Returns how long the provider is left alone from `now` on.
    pub fn held(&self, now: Duration) -> Duration {
        self.held_until.saturating_sub(now)
    }

    /// Claims that a failure now is not the fault of the request that met it.
    pub fn is_troubled(&self) -> bool {
        !self.breaker.is_closed() || self.push_backs > 0
    }

    /// Returns how long nothing but trouble has come back, or will have when the provider may be asked
    /// again.
    pub fn trouble(&self, now: Duration) -> Duration {
        let since = self.troubled_since.unwrap_or(now);
        now.max(self.held_until).saturating_sub(since)
    }

    /// Returns how many requests may be under way at the moment.
    pub fn allowed(&self) -> u32 {
        self.window.allowed()
    }

    fn hold(&mut self, pause: Duration, now: Duration) {
        self.troubled_since = self.troubled_since.or(Some(now));
        self.held_until = self.held_until.max(now.saturating_add(pause));
    }

    fn own_pause(&self, chance: f64) -> Duration {
        let times = 1_u32.checked_shl(self.push_backs).unwrap_or(u32::MAX);
        self.circuit
            .first
            .saturating_mul(times)
            .min(self.circuit.cap)
            .mul_f64(chance.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn pace(most: u32) -> Pace {
        Pace::new(Pacing { most, circuit: Circuit::default() })
    }

    #[test]
    fn no_more_are_under_way_than_allowed() {
        let mut pace = pace(3);
        assert_eq!((pace.ask(SECOND), pace.ask(SECOND)), (Permit::Now, Permit::OnReturn));
        pace.returned(Return::Answered, SECOND, SECOND, 0.5);
        pace.window.answered();
        let permits: Vec<Permit> = (0..4).map(|_| pace.ask(SECOND)).collect();
        assert_eq!(permits, [Permit::Now, Permit::Now, Permit::Now, Permit::OnReturn]);
        pace.returned(Return::Answered, SECOND, SECOND, 0.5);
        assert_eq!(pace.ask(SECOND), Permit::Now);
    }

    #[test]
    fn all_wait_as_long_as_the_provider_asks() {
        let mut pace = pace(8);
        assert_eq!(pace.ask(SECOND), Permit::Now);
        pace.returned(Return::PushedBack(Some(20 * SECOND)), SECOND, 2 * SECOND, 0.0);
        assert_eq!(pace.ask(3 * SECOND), Permit::At(22 * SECOND));
        assert_eq!(pace.trouble(3 * SECOND), 20 * SECOND);
        assert_eq!(pace.ask(22 * SECOND), Permit::Now);
        pace.returned(Return::Answered, 22 * SECOND, 23 * SECOND, 0.0);
        assert_eq!((pace.trouble(23 * SECOND), pace.is_troubled()), (Duration::ZERO, false));
    }

    #[test]
    fn what_another_process_was_told_is_waited_for_and_is_no_trouble() {
        let mut pace = pace(8);
        pace.heed(20 * SECOND, SECOND);
        assert_eq!(pace.ask(2 * SECOND), Permit::At(21 * SECOND));
        assert_eq!((pace.held(2 * SECOND), pace.trouble(2 * SECOND)), (19 * SECOND, 19 * SECOND));
        // Long after, a short wait is a short wait.
        assert_eq!((pace.is_troubled(), pace.trouble(900 * SECOND)), (false, Duration::ZERO));
        pace.heed(SECOND, 900 * SECOND);
        assert_eq!(pace.trouble(900 * SECOND), SECOND);
    }

    #[test]
    fn a_pause_that_nobody_asked_for_can_be_told_to_others() {
        let mut pace = pace(8);
        assert_eq!(pace.ask(SECOND), Permit::Now);
        pace.returned(Return::PushedBack(None), SECOND, 2 * SECOND, 1.0);
        assert_eq!(pace.held(2 * SECOND), Circuit::default().first);
    }

    #[test]
    fn a_program_that_breaks_down_counts_and_one_that_was_not_asked_does_not() {
        assert_eq!(Return::of_failure(FailureKind::Program, None), Return::Failed(None));
        assert_eq!(Return::of_failure(FailureKind::Unfit, None), Return::Abandoned);
    }

    #[test]
    fn a_provider_that_turns_requests_away_is_not_down() {
        let mut pace = pace(8);
        for _ in 0..20 {
            let now = pace.held_until + SECOND;
            assert_eq!(pace.ask(now), Permit::Now);
            pace.returned(Return::PushedBack(None), now, now, 1.0);
        }
        assert!(pace.breaker.is_closed());
    }

    /// Plays an outage that begins when all is well: everybody asks again as soon as it is allowed.
    /// Returns how many requests left until `end`.
    fn outage(most: u32, end: Duration, chances: &[f64]) -> u32 {
        let mut pace = pace(most);
        (0..most).for_each(|_| pace.window.answered());
        let (mut now, mut sent) = (SECOND, 0);
        let mut chance = chances.iter().copied().cycle();
        while now < end {
            let mut in_flight = 0;
            while pace.ask(now) == Permit::Now {
                in_flight += 1;
            }
            sent += in_flight;
            // Every request fails at once.
            for _ in 0..in_flight {
                pace.returned(Return::Failed(None), now, now, chance.next().unwrap());
            }
            now = match pace.ask(now) {
                Permit::At(then) => then,
                Permit::Now => {
                    pace.returned(Return::Abandoned, now, now, 0.0);
                    now
                }
                Permit::OnReturn => panic!("nobody will return"),
            };
        }
        sent
    }

    proptest! {
        #[test]
        fn an_outage_costs_few_requests_however_many_wait(
            most in 1_u32..5_000,
            chances in prop::collection::vec(0.0..=1.0_f64, 1..20),
        ) {
            // Those under way when it began, five until it is known, and one for each pause after:
            // eleven if every pause is as short as chance can make it.
            prop_assert!(outage(most, 61 * SECOND, &chances) <= most + 5 + 11);
        }
    }
}
