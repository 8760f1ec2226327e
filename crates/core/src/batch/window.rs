//! How many requests may be under way: more while all is well, half as many when it is not.

use std::time::Duration;

/// How many requests are under way at first: a key that is refused, or a model that does not exist,
/// costs one request.
const FIRST: u32 = 1;

/// How many requests may be under way.
#[derive(Debug, Clone)]
pub(super) struct Window {
    most: u32,
    allowed: u32,
    phase: Phase,
    /// When it became smaller: what was sent before has nothing new to say.
    shrunk_at: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing has gone wrong yet: each answer makes room for one more, so that it doubles with
    /// every round.
    Opening,
    /// A whole round of answers makes room for one more; so many have come.
    Steady { answers: u32 },
}

impl Window {
    pub(super) fn new(most: u32) -> Self {
        let most = most.max(1);
        Self { most, allowed: FIRST.min(most), phase: Phase::Opening, shrunk_at: None }
    }

    pub(super) fn allowed(&self) -> u32 {
        self.allowed
    }

    /// Makes room after an answer.
    pub(super) fn answered(&mut self) {
        match &mut self.phase {
            Phase::Opening => self.allowed += 1,
            Phase::Steady { answers } => {
                *answers += 1;
                if *answers >= self.allowed {
                    *answers = 0;
                    self.allowed += 1;
                }
            }
        }
        self.allowed = self.allowed.min(self.most);
    }

    /// Halves it, once for all requests that were under way together.
    pub(super) fn pushed_back(&mut self, sent_at: Duration, now: Duration) {
        if self.shrunk_at.is_some_and(|shrunk_at| sent_at <= shrunk_at) {
            return;
        }
        self.allowed = (self.allowed / 2).max(1);
        self.phase = Phase::Steady { answers: 0 };
        self.shrunk_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn it_opens_quickly_and_never_beyond_the_most() {
        let mut window = Window::new(20);
        assert_eq!(window.allowed(), 1);
        (0..15).for_each(|_| window.answered());
        assert_eq!(window.allowed(), 16);
        (0..100).for_each(|_| window.answered());
        assert_eq!(window.allowed(), 20);
        assert_eq!(Window::new(0).allowed(), 1);
    }

    #[test]
    fn requests_that_were_turned_away_together_halve_it_once() {
        let mut window = Window::new(64);
        (0..63).for_each(|_| window.answered());
        (0..64).for_each(|_| window.pushed_back(SECOND, 2 * SECOND));
        assert_eq!(window.allowed(), 32);
        window.pushed_back(3 * SECOND, 4 * SECOND);
        assert_eq!(window.allowed(), 16);
    }

    #[test]
    fn after_a_push_back_a_whole_round_makes_room_for_one() {
        let mut window = Window::new(64);
        (0..7).for_each(|_| window.answered());
        window.pushed_back(SECOND, SECOND);
        assert_eq!(window.allowed(), 4);
        (0..4).for_each(|_| window.answered());
        assert_eq!(window.allowed(), 5);
    }

    #[test]
    fn one_is_always_allowed() {
        let mut window = Window::new(2);
        for second in 1..9 {
            window.pushed_back(second * SECOND, second * SECOND);
        }
        assert_eq!(window.allowed(), 1);
    }
}
