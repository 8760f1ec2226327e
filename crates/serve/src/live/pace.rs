//! How often the ledger is asked: often while something happens, seldom while nothing does.

use std::time::Duration;

use airtight_store::Ledger;
use tokio::time::{Instant, sleep};

/// The shortest pause between two questions.
const SHORTEST: Duration = Duration::from_millis(20);

/// The longest.
const LONGEST: Duration = Duration::from_millis(250);

/// A pause is this part of the quiet before it: what comes once a second is seen within 50 ms.
const PART: u32 = 20;

/// When the ledger is asked next.
#[derive(Debug)]
pub(super) struct Pace {
    shortest: Duration,
    heard_at: Instant,
    /// The commits of this process that were counted before the last question.
    commits: u64,
}

impl Pace {
    pub(super) fn new(ledger: &Ledger) -> Self {
        Self { shortest: SHORTEST, heard_at: Instant::now(), commits: ledger.commits() }
    }

    /// Makes one for questions that cost more than a look at one run.
    pub(super) fn slow(ledger: &Ledger) -> Self {
        Self { shortest: LONGEST, ..Self::new(ledger) }
    }

    /// Says that the ledger is about to be asked.
    pub(super) fn asks(&mut self, ledger: &Ledger) {
        self.commits = ledger.commits();
    }

    /// Says that something had happened.
    pub(super) fn heard(&mut self) {
        self.heard_at = Instant::now();
    }

    /// Waits until it is time to ask again: at once if this process has written something.
    pub(super) async fn wait(&self, ledger: &Ledger) {
        let longest = pause(self.heard_at.elapsed());
        // Before the count is looked at: what is committed between the two must not be missed.
        let committed = ledger.committed();
        let changed = async {
            if ledger.commits() == self.commits {
                committed.await;
            }
        };
        let over = async {
            tokio::select! {
                () = changed => {}
                () = sleep(longest) => {}
            }
        };
        tokio::join!(sleep(self.shortest), over);
    }
}

fn pause(quiet: Duration) -> Duration {
    (quiet / PART).clamp(SHORTEST, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_nothing_happens_the_longer_the_pause() {
        let pauses = [0, 400, 1_000, 4_000, 60_000].map(|ms| pause(Duration::from_millis(ms)));
        assert_eq!(pauses.map(|pause| pause.as_millis()), [20, 20, 50, 200, 250]);
    }
}
