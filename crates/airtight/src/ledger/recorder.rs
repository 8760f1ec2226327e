//! One run on its way into the ledger.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use airtight_agent::{
    Arrival, Course, Departure, EXTRACTOR, Entry, Event, Journal, Landing, Piece, Spoken,
};
use airtight_core::batch::{Prices, Whose};
use airtight_core::codec::Delta;
use airtight_core::price::Cost;
use airtight_core::redact::Redactor;
use airtight_core::run::{Attempt, Bill, EventKind, Report, Rung};
use airtight_store::{
    Again, AttemptEnd, Begun, Claim, DRAFT_LIMIT_BYTES, Driver, Lead, Ledger, Minutes, NewAttempt,
    NewEvent, NewRun, Run, RunId, RunToken, StoreError,
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::ending::{self, Failures};

/// How often events are stored while a run goes on: often enough for somebody who follows it, and
/// so seldom that a short run writes its events with its end.
const PACE: Duration = Duration::from_millis(250);

/// What a request is for that a subagent sends.
const SUBAGENT: &str = "subagent";

/// What came of the wish to record a run.
pub(crate) enum Entered {
    /// It is on record, and may begin.
    Fresh(Arc<Recorder>),
    /// Its key has an answer already.
    Finished(Box<Run>),
    /// Another process is at it.
    Busy { id: RunId, owner: String },
}

/// Puts `run` on record, with its first request, before that leaves. `redactor`
/// masks what errors say.
pub(crate) async fn enter(
    ledger: &Ledger,
    run: NewRun,
    prices: Prices,
    redactor: Redactor,
) -> Result<Entered, StoreError> {
    let driver = run.driver.clone();
    let first = NewAttempt {
        provider: driver.provider.clone(),
        model: driver.model.clone(),
        purpose: String::new(),
    };
    // A run without a key is its own: whoever knows its name can have it done again.
    let id = run.id.clone().unwrap_or_else(|| ledger.new_id());
    let key = run.key.clone().unwrap_or_else(|| id.to_string());
    let run = NewRun { id: Some(id), key: Some(key), attempt: Some(first), ..run };
    Ok(match ledger.begin(run).await? {
        Begun::Finished(run) => Entered::Finished(run),
        Begun::Busy { id, owner } => Entered::Busy { id, owner },
        Begun::Fresh(token) => {
            let state = State { unsent: Some(token.attempt()), ..State::default() };
            let ledger = ledger.clone();
            let state = Mutex::new(state);
            Entered::Fresh(Arc::new(Recorder { ledger, token, driver, prices, redactor, state }))
        }
    })
}

/// Records one run. Whoever performs it shows it every event, and hands it to the driver as the
/// journal.
pub(crate) struct Recorder {
    ledger: Ledger,
    token: RunToken,
    driver: Driver,
    prices: Prices,
    redactor: Redactor,
    state: Mutex<State>,
}

/// What is known of a run and not yet in the ledger.
#[derive(Default)]
struct State {
    /// The number of the first attempt, which is open before its request is made.
    unsent: Option<i64>,
    events: Vec<NewEvent>,
    draft: Draft,
    /// Answers that were judged since the last request came back, with the subagent that gave them.
    judged: Vec<(Option<String>, Attempt)>,
    /// Attempts that are over and not closed yet.
    ended: Vec<AttemptEnd>,
    /// The request of an extractor, which is over and not judged yet.
    extraction: Option<AttemptEnd>,
}

/// What the model is saying.
#[derive(Default)]
struct Draft {
    spoken: Spoken,
    text: String,
    /// Whether there is more than was stored.
    has_grown: bool,
}

impl Draft {
    fn hear(&mut self, delta: &Delta) {
        match self.spoken.hear(delta) {
            Piece::Anew => self.text.clear(),
            Piece::More(text) if self.text.len() < DRAFT_LIMIT_BYTES => {
                self.text.push_str(text);
                self.has_grown = true;
            }
            Piece::More(_) | Piece::Other => {}
        }
    }

    /// Returns what is to be stored, if anything is.
    fn news(&mut self) -> Option<String> {
        std::mem::take(&mut self.has_grown).then(|| self.text.clone())
    }
}

impl Recorder {
    /// Returns the name of the run.
    pub(crate) fn id(&self) -> &RunId {
        self.token.id()
    }

    /// Claims that another process had begun the run and is gone.
    pub(crate) fn is_taken_over(&self) -> bool {
        self.token.is_taken_over()
    }

    /// Sees what happens.
    pub(crate) fn event(&self, event: &Event) {
        let mut state = self.state();
        if let (EventKind::Delta(delta), None) = (&event.kind, &event.parent_call_id) {
            state.draft.hear(delta);
        }
        let EventKind::Judged(attempt) = &event.kind else { return };
        if attempt.rung == Rung::Extract {
            // Its request has come back before: the extractor's own run is told as this attempt.
            let end = state.extraction.take().map(|end| self.judged(end, attempt));
            state.ended.extend(end);
        } else {
            state.judged.push((event.parent_call_id.clone(), Attempt::clone(attempt)));
        }
    }

    /// Keeps one line of the public stream.
    pub(crate) fn keep(&self, kind: &str, body: String) {
        self.state().events.push(NewEvent { kind: kind.to_owned(), body });
    }

    /// Lets `performing` go on, and stores events meanwhile.
    pub(crate) async fn during<T>(&self, performing: impl Future<Output = T>) -> T {
        let over = CancellationToken::new();
        let performing = async {
            let performed = performing.await;
            over.cancel();
            performed
        };
        let storing = async {
            loop {
                tokio::select! {
                    biased;
                    () = over.cancelled() => return,
                    // Apart: a short run has no need of it, and most wait for their models.
                    () = sleep(PACE) => Box::pin(self.store_events()).await,
                }
            }
        };
        tokio::join!(performing, storing).0
    }

    /// Puts the end of the run on record, and the job of the queue with it.
    pub(crate) async fn finish(
        &self,
        report: &Report,
        claim: Option<Claim>,
    ) -> Result<(), StoreError> {
        let finish = airtight_store::Finish { claim, ..self.end(report) };
        self.ledger.finish(&self.token, finish).await
    }

    /// Puts the end of the run on record together with what its session yields, or nothing of either.
    pub(crate) async fn settle(
        &self,
        report: &Report,
        minutes: (Lead, Minutes),
    ) -> Result<(), StoreError> {
        let finish = airtight_store::Finish { minutes: Some(minutes), ..self.end(report) };
        let (events, ended) = (finish.events.clone(), finish.ended.clone());
        let settled = self.ledger.finish(&self.token, finish).await;
        if settled.is_err() {
            // They are tried again with the next try.
            let mut state = self.state();
            state.events.splice(0..0, events);
            state.ended.splice(0..0, ended);
        }
        settled
    }

    /// Returns what is stored at the end, with everything that was not stored yet.
    fn end(&self, report: &Report) -> airtight_store::Finish {
        let State { unsent, events, mut ended, extraction, .. } =
            std::mem::take(&mut *self.state());
        ended.extend(extraction);
        ended.extend(unsent.map(never_left));
        let finish = ending::finish(report, &self.redactor);
        let output = finish.output.as_deref();
        let ended = ended.into_iter().map(|end| ending::without(end, output)).collect();
        airtight_store::Finish { events, ended, ..finish }
    }

    /// Leaves the run to whoever begins it next, and its job to the queue.
    pub(crate) async fn postpone(
        &self,
        again: Again,
        error: String,
        claim: Option<Claim>,
    ) -> Result<(), StoreError> {
        let State { events, mut ended, unsent, extraction, .. } =
            std::mem::take(&mut *self.state());
        ended.extend(extraction);
        ended.extend(unsent.map(never_left));
        let postponed = airtight_store::Postponed { again, error, ended, events, claim };
        self.ledger.postpone(&self.token, postponed).await
    }

    async fn store_events(&self) {
        let (events, draft) = {
            let mut state = self.state();
            (std::mem::take(&mut state.events), state.draft.news())
        };
        if let Some(draft) = draft
            && let Err(error) = self.ledger.draft(&self.token, &draft).await
        {
            tracing::debug!(%error, "what the model is saying is not shown");
        }
        if events.is_empty() {
            return;
        }
        if let Err(error) = self.ledger.append(&self.token, events.clone()).await {
            tracing::warn!(%error, "events are not stored yet");
            // They are tried again with the end.
            self.state().events.splice(0..0, events);
        }
    }

    /// Puts a request on record, and returns its number.
    pub(crate) async fn depart(&self, departure: Departure<'_>) -> Result<i64, StoreError> {
        if let Some(first) = self.state().unsent.take() {
            return Ok(first);
        }
        let (provider, purpose) = match departure.parent_call_id {
            None => (self.driver.provider.as_str(), ""),
            // It may be another provider's: its model says which one.
            Some(EXTRACTOR) => ("", EXTRACTOR),
            Some(_) => (self.driver.provider.as_str(), SUBAGENT),
        };
        let attempt = NewAttempt {
            provider: provider.to_owned(),
            model: departure.model.to_owned(),
            purpose: purpose.to_owned(),
        };
        self.ledger.open_attempt(&self.token, attempt).await
    }

    /// Does the same for an answer that is worth more than its record.
    async fn open_attempt(&self, departure: Departure<'_>) -> Option<i64> {
        let opened = self.depart(departure).await;
        opened
            .inspect_err(|error| tracing::warn!(%error, "a request leaves that is not on record"))
            .ok()
    }

    async fn close_attempt(&self, number: i64, arrival: Arrival<'_>) {
        let end = self.attempt_end(number, arrival);
        if arrival.parent_call_id == Some(EXTRACTOR) {
            let earlier = self.state().extraction.replace(end);
            self.state().ended.extend(earlier);
            return;
        }
        if arrival.course == Course::Over {
            self.state().ended.push(end);
            return;
        }
        if let Err(error) = self.ledger.close_attempt(&self.token, end.clone()).await {
            tracing::warn!(%error, "the end of a request is not stored yet");
            self.state().ended.push(end);
        }
    }

    fn attempt_end(&self, number: i64, arrival: Arrival<'_>) -> AttemptEnd {
        let judged = self.take_judged(arrival.parent_call_id);
        let failures = Failures { redactor: &self.redactor };
        let (ending, error) = match (judged.last(), arrival.end) {
            (_, Landing::Failed(failure)) => {
                (ending::failure_word(failure.kind), Some(failures.told(failure)))
            }
            (Some(attempt), Landing::Whole | Landing::Stopped) => {
                (ending::ending_word(&attempt.ending), None)
            }
            (None, Landing::Whole) => ("answered", None),
            (None, Landing::Stopped) => ("stopped", None),
        };
        let end = AttemptEnd {
            number,
            ending: ending.to_owned(),
            error,
            usage: arrival.bill.usage(),
            cost: self.cost(arrival),
            ..AttemptEnd::default()
        };
        match judged.last() {
            Some(attempt) => AttemptEnd { ending: end.ending.clone(), ..self.judged(end, attempt) },
            None => end,
        }
    }

    /// Adds what was judged of an attempt.
    fn judged(&self, end: AttemptEnd, attempt: &Attempt) -> AttemptEnd {
        let failures = Failures { redactor: &self.redactor };
        AttemptEnd {
            ending: ending::ending_word(&attempt.ending).to_owned(),
            rung: Some(attempt.rung.name().to_owned()),
            output: Some(attempt.raw.clone().into_bytes()),
            violations: failures.violations(&attempt.violations),
            ..end
        }
    }

    fn take_judged(&self, parent_call_id: Option<&str>) -> Vec<Attempt> {
        let mut state = self.state();
        let is_its = |parent: &Option<String>| parent.as_deref() == parent_call_id;
        let (its, others) = std::mem::take(&mut state.judged)
            .into_iter()
            .partition::<Vec<_>, _>(|(parent, _)| is_its(parent));
        state.judged = others;
        its.into_iter().map(|(_, attempt)| attempt).collect()
    }

    fn cost(&self, arrival: Arrival<'_>) -> Option<Cost> {
        match arrival.bill {
            Bill::Free => Some(Cost::default()),
            Bill::Exact(_) if arrival.told_cost.is_some() => arrival.told_cost,
            Bill::Exact(usage) => {
                let is_extractor = arrival.parent_call_id == Some(EXTRACTOR);
                let whose = if is_extractor { Whose::Extractor } else { Whose::Model };
                self.prices.cost(whose, &usage)
            }
            Bill::AtLeast(_) => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for Recorder {
    fn open<'a>(&'a self, departure: Departure<'a>) -> Entry<'a, Option<i64>> {
        Box::pin(self.open_attempt(departure))
    }

    fn close<'a>(&'a self, number: i64, arrival: Arrival<'a>) -> Entry<'a, ()> {
        Box::pin(self.close_attempt(number, arrival))
    }
}

/// Ends an attempt of which nothing left, so that nobody need wonder whether it was paid.
fn never_left(number: i64) -> AttemptEnd {
    AttemptEnd {
        number,
        ending: "unsent".to_owned(),
        cost: Some(Cost::default()),
        ..AttemptEnd::default()
    }
}
