//! Jobs that this worker cannot do: each goes back to the queue for a while, perhaps to another.
//!
//! The rule it protects: a queue is told as empty only if it is. What others put off is waited for; what
//! this worker put off itself would come back as it is, so the worker ends, and says what it lacks.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use airtight_core::run;
use airtight_store::{JobFilter, JobState, Ledger, Order, PAGE_LIMIT, Page, StoreError};

use crate::error::{Error, Outcome};

/// What decides how a worker ends, among all that is missing: a key.
const NO_ACCESS: Outcome = Outcome::Run(run::Outcome::Auth);

/// How many reasons are kept apart; those that come later are told by none.
const REASONS: usize = 100;

/// How many reasons are told.
const TOLD: usize = 10;

/// Why a job cannot be done here.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// This machine lacks a key or an address: another may have it.
    Here(Error),
    /// The job is one that this worker does not understand.
    Job(Error),
}

impl From<Error> for Obstacle {
    fn from(why: Error) -> Self {
        Self::Job(why)
    }
}

/// The jobs that a worker which ends with its queue put off, and why.
pub(super) struct PutOff {
    /// Each job, with the place of its reason.
    jobs: HashMap<i64, Option<usize>>,
    /// Each reason once, with its words.
    reasons: Vec<(String, Error)>,
}

/// What waits in a queue of which nothing can be claimed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    Nothing,
    /// Jobs that this worker put off, and no others.
    Ours(Left),
    /// Jobs that another has put off, or that have just come in: one is offered after this pause.
    Others { pause: Duration },
}

/// Jobs that are left behind.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Left {
    jobs: u64,
    /// When the first is offered again.
    pause: Duration,
    /// The places of their reasons.
    reasons: BTreeSet<usize>,
}

impl PutOff {
    pub(super) fn new() -> Self {
        Self { jobs: HashMap::new(), reasons: Vec::new() }
    }

    /// Claims that this worker put `job` off before.
    pub(super) fn knows(&self, job: i64) -> bool {
        self.jobs.contains_key(&job)
    }

    /// Takes down that `job` was put off.
    pub(super) fn add(&mut self, job: i64, why: Error) {
        let words = told(&why);
        let known = self.reasons.iter().position(|(known, _)| *known == words);
        let place = known.or_else(|| {
            self.reason(why)?;
            self.reasons.len().checked_sub(1)
        });
        self.jobs.insert(job, place);
    }

    /// Takes down why jobs are put off; returns the words if they are new.
    pub(super) fn reason(&mut self, why: Error) -> Option<&str> {
        let words = told(&why);
        let is_known = self.reasons.iter().any(|(known, _)| *known == words);
        if is_known || self.reasons.len() >= REASONS {
            return None;
        }
        self.reasons.push((words, why));
        self.reasons.last().map(|(words, _)| words.as_str())
    }

    /// Forgets a job that is done here after all, or waits for a person.
    pub(super) fn forget(&mut self, job: i64) {
        self.jobs.remove(&job);
    }

    /// Finds out what waits in `queue`.
    pub(super) async fn rest(&self, queue: &str, ledger: &Ledger) -> Result<Rest, StoreError> {
        let filter = JobFilter {
            queue: Some(queue.to_owned()),
            state: Some(JobState::Ready),
            ..JobFilter::default()
        };
        let mut page = Page { limit: PAGE_LIMIT, after: None, order: Order::OldestFirst };
        let until = |due_at: i64| {
            let pause_ms = due_at.saturating_sub(ledger.now_ms());
            Duration::from_millis(u64::try_from(pause_ms).unwrap_or(0))
        };
        let (mut left, mut due_at) = (0, i64::MAX);
        let mut reasons = BTreeSet::new();
        loop {
            let jobs = ledger.jobs(&filter, page).await?;
            for job in &jobs {
                let Some(reason) = self.jobs.get(&job.number) else {
                    return Ok(Rest::Others { pause: until(job.run_at) });
                };
                left += 1;
                due_at = due_at.min(job.run_at);
                reasons.extend(*reason);
            }
            match jobs.last() {
                Some(last) => page.after = Some(last.number),
                None if left == 0 => return Ok(Rest::Nothing),
                None => {
                    return Ok(Rest::Ours(Left { jobs: left, pause: until(due_at), reasons }));
                }
            }
        }
    }

    /// Returns the end of a worker that leaves jobs behind.
    pub(super) fn error(&self, left: &Left) -> Error {
        let reasons = || left.reasons.iter().filter_map(|place| self.reasons.get(*place));
        let kinds = || reasons().map(|(_, why)| why.kind);
        let kind = kinds().find(|kind| *kind == NO_ACCESS).or_else(|| kinds().next());
        let message = match left.jobs {
            1 => "1 job is left that this worker cannot do".to_owned(),
            jobs => format!("{jobs} jobs are left that this worker cannot do"),
        };
        let mut error = Error::new(kind.unwrap_or(Outcome::Contract), message);
        for (words, why) in reasons().take(TOLD) {
            error.findings.push(words.clone());
            for hint in &why.hints {
                if !error.hints.contains(hint) {
                    error.hints.push(hint.clone());
                }
            }
        }
        let seconds = left.pause.as_millis().div_ceil(1000);
        error.hint(format!("then start it again: they are offered again in {seconds} s"))
    }
}

/// Returns what is wrong, and why, in one line.
pub(super) fn told(error: &Error) -> String {
    let causes = error.causes();
    std::iter::once(error.to_string()).chain(causes).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use airtight_store::{Location, NewJob, Worker};

    use super::*;

    fn missing_key() -> Error {
        Error::new(NO_ACCESS, "there is no key").hint("type `export KEY=…`")
    }

    #[tokio::test]
    async fn what_others_put_off_is_told_apart_from_our_own() {
        let folder = tempfile::tempdir().unwrap();
        let place = Location::Sqlite(folder.path().join("queue.db"));
        let ledger = Ledger::open(&place).await.unwrap();
        let mut put_off = PutOff::new();
        assert_eq!(put_off.rest("", &ledger).await.unwrap(), Rest::Nothing);
        let later = || NewJob {
            after: Duration::from_mins(1),
            payload: "{}".to_owned(),
            ..NewJob::default()
        };
        ledger.enqueue(vec![later(), later()]).await.unwrap();
        assert!(ledger.claim(&Worker::default()).await.unwrap().is_empty());
        let jobs = ledger.jobs(&JobFilter::default(), Page::default()).await.unwrap();
        put_off.add(jobs[0].number, missing_key());
        let rest = put_off.rest("", &ledger).await.unwrap();
        assert!(matches!(rest, Rest::Others { pause } if !pause.is_zero()), "{rest:?}");
        put_off.add(jobs[1].number, missing_key());
        let rest = put_off.rest("", &ledger).await.unwrap();
        assert!(matches!(rest, Rest::Ours(Left { jobs: 2, .. })), "{rest:?}");
        assert_eq!(put_off.rest("another", &ledger).await.unwrap(), Rest::Nothing);
    }

    #[test]
    fn a_missing_key_decides_and_each_reason_is_told_once() {
        let mut put_off = PutOff::new();
        let unknown = || Error::new(Outcome::Contract, "this worker knows no model `x`");
        for (job, why) in [(1, unknown()), (2, missing_key()), (3, missing_key())] {
            put_off.add(job, why);
        }
        let left = |reasons| Left { jobs: 3, pause: Duration::from_millis(59_100), reasons };
        let error = put_off.error(&left(BTreeSet::from([0, 1])));
        assert_eq!(error.kind.exit_code(), 41);
        assert_eq!(error.to_string(), "3 jobs are left that this worker cannot do");
        assert_eq!(error.findings, ["this worker knows no model `x`", "there is no key"]);
        let again = "then start it again: they are offered again in 60 s";
        assert_eq!(error.hints, ["type `export KEY=…`", again]);
        // Reasons of jobs that somebody else has done meanwhile are none.
        let error = put_off.error(&left(BTreeSet::from([0])));
        assert_eq!((error.kind.exit_code(), error.findings.len()), (52, 1));
    }
}
