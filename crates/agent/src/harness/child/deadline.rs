//! How long a program may take for what.

use std::time::Duration;

use tokio::time::Instant;

use super::{Heard, How};

/// How long a program may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlines {
    /// Until its first line is whole. A drip without the end of a line does not count.
    pub first_line: Duration,
    /// Between two pieces of stdout after that. A drip does count: `total` ends it.
    pub idle: Duration,
    /// In all, unless it has concluded.
    pub total: Duration,
    /// Until it exits after it concluded.
    pub exit: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            // The slowest CLI takes 12 s on a busy machine, and one of them says nothing before the
            // model does.
            first_line: Duration::from_mins(2),
            // CLIs say nothing while a command runs, which Claude's may do for 10 minutes.
            idle: Duration::from_mins(12),
            total: Duration::from_hours(1),
            // Codex takes 5 s where it has no network, and then loses nothing.
            exit: Duration::from_secs(5),
        }
    }
}

/// Which deadline passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// That of the first line.
    FirstLine,
    /// That of silence.
    Idle,
    /// That of the whole.
    Total,
}

/// What the clocks of one program show.
#[derive(Debug)]
pub(super) struct Clocks<'d> {
    deadlines: &'d Deadlines,
    started: Instant,
    /// When something was heard last; absent before the end of the first line.
    heard: Option<Instant>,
    /// When it concluded; absent if it has not, or went on.
    concluded: Option<Instant>,
}

impl<'d> Clocks<'d> {
    /// Starts the clocks.
    pub(super) fn new(deadlines: &'d Deadlines, started: Instant) -> Self {
        Self { deadlines, started, heard: None, concluded: None }
    }

    /// Takes note of what was heard.
    pub(super) fn hear(&mut self, bytes: &[u8], heard: Heard, now: Instant) {
        if self.heard.is_some() || bytes.contains(&b'\n') {
            self.heard = Some(now);
        }
        self.concluded = match heard {
            Heard::More => None,
            // From the first time on: who says it again and again does not stay for ever.
            Heard::Concluded => self.concluded.or(Some(now)),
        };
    }

    /// Says how a program ends that is stopped: what it has delivered is not undone.
    pub(super) fn stopped(&self) -> How {
        if self.concluded.is_some() { How::ExitForced } else { How::Cancelled }
    }

    /// Says how the program must be ended, if it must.
    pub(super) fn due(&self, now: Instant) -> Option<How> {
        let has_passed = |since: Instant, limit| now.saturating_duration_since(since) >= limit;
        if let Some(concluded) = self.concluded {
            return has_passed(concluded, self.deadlines.exit).then_some(How::ExitForced);
        }
        let (since, limit, deadline) = match self.heard {
            None => (self.started, self.deadlines.first_line, Deadline::FirstLine),
            Some(heard) => (heard, self.deadlines.idle, Deadline::Idle),
        };
        if has_passed(self.started, self.deadlines.total) {
            return Some(How::TimedOut(Deadline::Total));
        }
        has_passed(since, limit).then_some(How::TimedOut(deadline))
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    const DEADLINES: Deadlines = Deadlines {
        first_line: Duration::from_secs(10),
        idle: Duration::from_secs(20),
        total: Duration::from_secs(100),
        exit: Duration::from_secs(5),
    };

    /// Says when, in seconds, a program that is heard as told must be ended, and how.
    fn end(heard: &[(u64, &str, Heard)]) -> (u64, How) {
        let started = Instant::now();
        let mut clocks = Clocks::new(&DEADLINES, started);
        for second in 0..=1_000 {
            let now = started + Duration::from_secs(second);
            for (_, bytes, heard) in heard.iter().filter(|(at, ..)| *at == second) {
                clocks.hear(bytes.as_bytes(), *heard, now);
            }
            if let Some(how) = clocks.due(now) {
                return (second, how);
            }
        }
        panic!("it goes on for ever");
    }

    #[test_case(&[] => (10, How::TimedOut(Deadline::FirstLine)); "nothing is said")]
    #[test_case(&[(5, "x", Heard::More)] => (10, How::TimedOut(Deadline::FirstLine)); "half a line is none")]
    #[test_case(&[(9, "\n", Heard::More)] => (29, How::TimedOut(Deadline::Idle)); "silence after a line")]
    #[test_case(&[(9, "\n", Heard::More), (28, "x", Heard::More)] => (48, How::TimedOut(Deadline::Idle)); "half a line breaks the silence")]
    #[test_case(&[(9, "\n", Heard::Concluded)] => (14, How::ExitForced); "done and still there")]
    #[test_case(&[(9, "\n", Heard::Concluded), (12, "x", Heard::Concluded)] => (14, How::ExitForced); "done is done, however often it is said")]
    #[test_case(&[(9, "\n", Heard::Concluded), (12, "\n", Heard::More)] => (32, How::TimedOut(Deadline::Idle)); "it went on")]
    #[test_case(&[(9, "\n", Heard::Concluded), (12, "\n", Heard::More), (20, "\n", Heard::Concluded)] => (25, How::ExitForced); "done for the second time")]
    fn a_program_is_ended(heard: &[(u64, &str, Heard)]) -> (u64, How) {
        end(heard)
    }

    #[test]
    fn a_drip_is_ended_by_the_total() {
        let drip: Vec<_> =
            (1..200).map(|at| (at, if at == 1 { "\n" } else { "x" }, Heard::More)).collect();
        assert_eq!(end(&drip), (100, How::TimedOut(Deadline::Total)));
    }

    #[test]
    fn who_concluded_in_time_may_exit_after_the_total() {
        let mut words: Vec<_> = (1..99).map(|at| (at, "\n", Heard::More)).collect();
        words.push((99, "\n", Heard::Concluded));
        assert_eq!(end(&words), (104, How::ExitForced));
    }
}
