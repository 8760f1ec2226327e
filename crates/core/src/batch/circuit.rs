//! A provider that is down is not asked by everybody, but by one request now and then.

use std::time::Duration;

/// When a provider is taken to be down, and how often it is asked whether it is back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circuit {
    /// How many failures in a row, of all requests together, mean that it is down.
    pub failures: u32,
    /// The longest pause before the first question whether it is back; each further one may be twice
    /// as long.
    pub first: Duration,
    /// The longest pause of all.
    pub cap: Duration,
}

impl Default for Circuit {
    fn default() -> Self {
        // Five in a row are no accident; within half a minute of its return work goes on.
        Self { failures: 5, first: Duration::from_secs(1), cap: Duration::from_secs(30) }
    }
}

/// What is known of the provider.
#[derive(Debug, Clone)]
pub(super) struct Breaker {
    circuit: Circuit,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It answers; so many failures in a row.
    Closed { failures: u32 },
    /// It is left alone until then; so many questions failed.
    Open { until: Duration, probes: u32 },
    /// One request finds out.
    Probing { probes: u32 },
}

/// Whether a request may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passage {
    Free,
    /// This one finds out, if it is sent.
    Probe,
    /// Not before then.
    Until(Duration),
    /// Not before the one that finds out has returned.
    AfterProbe,
}

impl Breaker {
    pub(super) fn new(circuit: Circuit) -> Self {
        Self { circuit, state: State::Closed { failures: 0 } }
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. })
    }

    pub(super) fn passage(&self, now: Duration) -> Passage {
        match self.state {
            State::Closed { .. } => Passage::Free,
            State::Open { until, .. } if now < until => Passage::Until(until),
            State::Open { .. } => Passage::Probe,
            State::Probing { .. } => Passage::AfterProbe,
        }
    }

    /// Says that the request which finds out is sent.
    pub(super) fn probed(&mut self) {
        if let State::Open { probes, .. } = self.state {
            self.state = State::Probing { probes };
        }
    }

    pub(super) fn answered(&mut self) {
        self.state = State::Closed { failures: 0 };
    }

    /// Counts a failure; `chance` is random in 0..=1.
    pub(super) fn failed(&mut self, now: Duration, chance: f64) {
        self.state = match self.state {
            State::Closed { failures } if failures + 1 < self.circuit.failures => {
                State::Closed { failures: failures + 1 }
            }
            State::Closed { .. } => self.opened(0, now, chance),
            State::Probing { probes } => self.opened(probes.saturating_add(1), now, chance),
            // Sent before it was known, and no news.
            open @ State::Open { .. } => open,
        };
    }

    /// Says that a request was given up before anything came of it.
    pub(super) fn abandoned(&mut self, now: Duration) {
        if let State::Probing { probes } = self.state {
            self.state = State::Open { until: now, probes };
        }
    }

    fn opened(&self, probes: u32, now: Duration, chance: f64) -> State {
        let doubled =
            self.circuit.first.saturating_mul(1_u32.checked_shl(probes).unwrap_or(u32::MAX));
        // Processes that saw the same outage must not come back together, nor at once.
        let pause =
            doubled.min(self.circuit.cap).mul_f64(f64::midpoint(chance.clamp(0.0, 1.0), 1.0));
        State::Open { until: now.saturating_add(pause), probes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn down() -> Breaker {
        let mut breaker = Breaker::new(Circuit::default());
        (0..5).for_each(|_| breaker.failed(SECOND, 1.0));
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_an_answer_between_does_not() {
        let mut breaker = Breaker::new(Circuit::default());
        for _ in 0..9 {
            (0..4).for_each(|_| breaker.failed(SECOND, 1.0));
            breaker.answered();
        }
        assert_eq!(breaker.passage(SECOND), Passage::Free);
        assert_eq!(down().passage(SECOND), Passage::Until(2 * SECOND));
    }

    #[test]
    fn one_request_finds_out_while_all_others_wait() {
        let mut breaker = down();
        assert_eq!(breaker.passage(2 * SECOND), Passage::Probe);
        breaker.probed();
        assert_eq!(breaker.passage(9 * SECOND), Passage::AfterProbe);
        breaker.answered();
        assert_eq!(breaker.passage(9 * SECOND), Passage::Free);
    }

    #[test]
    fn pauses_double_up_to_the_cap() {
        let mut breaker = down();
        let mut pauses = Vec::new();
        let mut now = SECOND;
        for _ in 0..7 {
            let Passage::Until(until) = breaker.passage(now) else { panic!("{breaker:?}") };
            pauses.push(until.saturating_sub(now).as_secs());
            now = until;
            breaker.probed();
            breaker.failed(now, 1.0);
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn a_question_that_was_given_up_is_asked_by_another() {
        let mut breaker = down();
        breaker.probed();
        breaker.abandoned(3 * SECOND);
        assert_eq!(breaker.passage(3 * SECOND), Passage::Probe);
    }
}
