//! Jobs that this worker cannot do: each goes back to the queue for a while, perhaps to another.
//!
//! The rule it protects: a queue is told as empty only if it is. What others put off is waited for; what
//! this worker put off itself would come back as it is, so the worker ends, and says what it lacks.

use std::collections::HashSet;
use std::time::Duration;

use airtight_core::run;
use airtight_store::{JobFilter, JobState, Ledger, Order, PAGE_LIMIT, Page, StoreError};

use crate::error::{Error, Outcome};

/// What this machine lacks, and no job is to blame for: a key.
pub(super) const NO_ACCESS: Outcome = Outcome::Run(run::Outcome::Auth);

/// How many reasons are told.
const TOLD: usize = 10;

/// The jobs that this worker put off, and why.
#[derive(Default)]
pub(super) struct PutOff {
    jobs: HashSet<i64>,
    /// Each reason once, with its words.
    reasons: Vec<(String, Error)>,
}

/// What waits in a queue of which nothing can be claimed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    Nothing,
    /// So many jobs, each put off by this worker; the first is offered again after this pause.
    Ours { jobs: u64, pause: Duration },
    /// Jobs that another has put off, or that have just come in.
    Others,
}

impl PutOff {
    /// Takes down that `job` was put off; returns the reason if it is a new one.
    pub(super) fn add(&mut self, job: i64, why: Error) -> Option<&str> {
        self.jobs.insert(job);
        let words = told(&why);
        let is_known = self.reasons.iter().any(|(known, _)| *known == words);
        if is_known || self.reasons.len() >= TOLD {
            return None;
        }
        self.reasons.push((words, why));
        self.reasons.last().map(|(words, _)| words.as_str())
    }

    /// Forgets a job that waits for a person.
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
        let (mut count, mut due_at) = (0, i64::MAX);
        loop {
            let jobs = ledger.jobs(&filter, page).await?;
            for job in &jobs {
                if !self.jobs.contains(&job.number) {
                    return Ok(Rest::Others);
                }
                count += 1;
                due_at = due_at.min(job.run_at);
            }
            match jobs.last() {
                Some(last) => page.after = Some(last.number),
                None if count == 0 => return Ok(Rest::Nothing),
                None => {
                    let pause_ms = due_at.saturating_sub(ledger.now_ms());
                    let pause = Duration::from_millis(u64::try_from(pause_ms).unwrap_or(0));
                    return Ok(Rest::Ours { jobs: count, pause });
                }
            }
        }
    }

    /// Returns the end of a worker that leaves `jobs` behind.
    pub(super) fn into_error(self, jobs: u64, pause: Duration) -> Error {
        let kinds = || self.reasons.iter().map(|(_, why)| why.kind);
        let kind = kinds().find(|kind| *kind == NO_ACCESS).or_else(|| kinds().next());
        let message = match jobs {
            1 => "1 job is left that this worker cannot do".to_owned(),
            jobs => format!("{jobs} jobs are left that this worker cannot do"),
        };
        let mut error = Error::new(kind.unwrap_or(NO_ACCESS), message);
        for (words, why) in self.reasons {
            error.findings.push(words);
            for hint in why.hints {
                if !error.hints.contains(&hint) {
                    error.hints.push(hint);
                }
            }
        }
        let seconds = pause.as_millis().div_ceil(1000);
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
        let mut put_off = PutOff::default();
        assert_eq!(put_off.rest("", &ledger).await.unwrap(), Rest::Nothing);
        let later = || NewJob {
            after: Duration::from_mins(1),
            payload: "{}".to_owned(),
            ..NewJob::default()
        };
        ledger.enqueue(vec![later(), later()]).await.unwrap();
        assert!(ledger.claim(&Worker::default()).await.unwrap().is_empty());
        let jobs = ledger.jobs(&JobFilter::default(), Page::default()).await.unwrap();
        assert_eq!(put_off.add(jobs[0].number, missing_key()), Some("there is no key"));
        assert_eq!(put_off.rest("", &ledger).await.unwrap(), Rest::Others);
        assert_eq!(put_off.add(jobs[1].number, missing_key()), None);
        let rest = put_off.rest("", &ledger).await.unwrap();
        assert!(matches!(rest, Rest::Ours { jobs: 2, .. }), "{rest:?}");
        assert_eq!(put_off.rest("another", &ledger).await.unwrap(), Rest::Nothing);
    }

    #[test]
    fn a_missing_key_decides_and_each_reason_is_told_once() {
        let mut put_off = PutOff::default();
        let unknown = || Error::new(Outcome::Contract, "this worker knows no model `x`");
        for (job, why) in [(1, unknown()), (2, missing_key()), (3, missing_key())] {
            put_off.add(job, why);
        }
        let error = put_off.into_error(3, Duration::from_millis(59_100));
        assert_eq!(error.kind.exit_code(), 41);
        assert_eq!(error.to_string(), "3 jobs are left that this worker cannot do");
        assert_eq!(error.findings, ["this worker knows no model `x`", "there is no key"]);
        let again = "then start it again: they are offered again in 60 s";
        assert_eq!(error.hints, ["type `export KEY=…`", again]);
    }
}
