//! One run: from a job to exactly one outcome, decided without I/O.
//!
//! [`Run::step`] says what to do next; the driver does it and feeds the result back. API models,
//! the embedded model and agent CLIs share this machine, so that retry, suppression, budgets and
//! outcomes exist once. `docs/design/run-machine.md` has the states and the rules.

mod answer;
mod asking;
mod attempts;
mod batch;
mod bill;
mod call_ids;
mod certainty;
mod closing;
mod conversation;
mod degenerate;
mod event;
mod extraction;
mod job;
#[cfg(test)]
mod laws;
mod numerals;
mod offer;
mod provenance;
mod purse;
mod repetition;
mod report;
mod turn;
mod watch;
mod words;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::codec::{Delta, ProviderFailure, Reply, Request, Usage};
use crate::json::{Document, Pointer};
use crate::lower::Loss;
use crate::message::{ToolCall, ToolResult};
use crate::stream::Impossible;
use crate::transcript;
use crate::verdict::Edits;
use answer::Examiner;
pub use answer::unless_cut;
use batch::Batch;
use call_ids::{CallIds, Naming};
use conversation::Conversation;
use extraction::Pending;
use offer::Offer;
use purse::{Entry, Knowledge, Purse};
use repetition::Repetition;

pub use bill::Bill;
pub(crate) use bill::tokens_in;
pub use event::{EventKind, Opening, Retry, Words};
pub use job::{Account, Budget, Extractor, Job, Mode, Policy, RepairRung, Terminal, TextRung};
pub use report::{Attempt, Claim, Denial, DeniedBy, Ending, Outcome, Report, RunError, Rung};
pub use watch::Watch;

/// The name of the terminal tool.
pub const TERMINAL_TOOL: &str = "structured_output";

/// The most model calls of a run without a cap of its own: nothing may go on for ever.
pub const TURN_LIMIT: u32 = 1_000;

/// The most re-asks that a policy may allow: who has failed six times fails the seventh.
pub const REASK_LIMIT: u8 = 5;

/// What to do next.
#[derive(Debug)]
pub enum Step {
    /// Send this to the model, pushing each delta to [`Run::watch`]'s watch.
    CallModel(Box<Request>),
    /// Run these tools; every call needs one result, in this order.
    CallTools(Vec<ToolCall>),
    /// Perform this job by a run of its own, with the extractor, and say what it came to by
    /// [`Run::extracted`].
    Extract(Box<Job>),
    /// Background work is unfinished: wait for a notification.
    Wait,
    /// Abort background work, give it the holdback to end, then take [`Run::finish`].
    Done,
}

/// Why a model call ended without a whole answer.
#[derive(Debug)]
pub enum CallFailure {
    /// The provider failed for good, retries included.
    Provider(ProviderFailure),
    /// The watch said that no completion can conform any more, and the request was cancelled.
    Impossible(Box<Impossible>),
}

/// Background work has something to say to the model; it is the last thing that its task says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The task.
    pub task_id: String,
    /// `completed`, `failed` or `cancelled`.
    pub status: String,
    /// What the model is told.
    pub text: String,
}

/// A hook's objection to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Veto {
    /// What the hook runs.
    pub hook: String,
    /// What the model is told.
    pub why: String,
}

/// What a run shares with its subagents: one purse, and ids of calls that no two have.
#[derive(Debug, Clone)]
pub struct Household {
    purse: Purse,
    ids: CallIds,
}

/// One run.
#[derive(Debug)]
pub struct Run {
    job: Job,
    offer: Option<Offer>,
    examiner: Examiner,
    conversation: Conversation,
    purse: Purse,
    naming: Naming,
    repetition: Repetition,
    state: State,
    pressure: Pressure,
    turns: u32,
    reasks: u8,
    attempts: Vec<Attempt>,
    /// Whether any attempt held something to judge.
    candidate: answer::Candidate,
    /// The most content that a rejected answer had.
    richest: usize,
    /// Objections to calls of the terminal tool in the reply to come, by position.
    vetoes: BTreeMap<usize, Veto>,
    /// The hook that refused an answer last.
    objector: Option<String>,
    open_tasks: BTreeSet<String>,
    notices: VecDeque<Notification>,
    events: Vec<EventKind>,
    last_said: Option<String>,
    /// What the driver says of the answer that is being judged.
    claim: Claim,
}

/// Where a run stands.
#[derive(Debug)]
enum State {
    /// The model is to be called.
    Ready,
    /// The model was called.
    Asking,
    /// Tools are at work; then the run goes on, or ends with the error.
    Working(Batch, Option<RunError>),
    /// The last answer is text without a value, and the extractor is at it.
    Extracting(Box<Pending>),
    /// The model has said all it has to say until background work ends.
    Idle,
    /// The run is over.
    Over(End),
}

/// How a run ended.
#[derive(Debug)]
enum End {
    /// With an answer that satisfies the contract.
    Answer { value: Document, edits: Edits, rung: Rung },
    /// With an answer that the extractor found in what the model said.
    Extracted(Box<Extracted>),
    /// With text, where there is no contract.
    Text(String),
    /// Without.
    Failure(RunError),
}

/// An answer that the extractor found in what the model said.
#[derive(Debug)]
struct Extracted {
    value: Document,
    edits: Edits,
    /// What the extractor's provider was not asked to enforce.
    losses: Vec<Loss>,
    /// What could not be looked up in what the model said.
    unchecked: Vec<Pointer>,
}

/// Whether the next model call must use the terminal tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pressure {
    Free,
    Forced,
}

impl Run {
    /// Starts a run; fails if the contract cannot be put to this model in the mode asked for.
    pub fn new(job: Job) -> Result<Self, RunError> {
        let purse = Purse::open(job.policy.budget, Knowledge::of(&job), None)?;
        Self::begin(job, Household { purse, ids: CallIds::default() })
    }

    /// Starts a run of a subagent: what it spends is also spent by the run whose household this is.
    pub fn within(household: &Household, job: Job) -> Result<Self, RunError> {
        let Household { purse, ids } = household.clone();
        let purse = Purse::open(job.policy.budget, Knowledge::of(&job), Some(purse))?;
        Self::begin(job, Household { purse, ids })
    }

    fn begin(job: Job, household: Household) -> Result<Self, RunError> {
        if let Some(extractor) = &job.extractor {
            household.purse.require_cost(Knowledge::of_extractor(extractor))?;
        }
        let offer = match &job.contract {
            Some(contract) => Some(Offer::settle(&job, contract.clone())?),
            None => None,
        };
        Ok(Self {
            examiner: Examiner::of(&job),
            conversation: Conversation::begin(&job.prompt),
            purse: household.purse,
            naming: Naming::new(household.ids),
            repetition: Repetition::default(),
            state: State::Ready,
            pressure: Pressure::Free,
            turns: 0,
            reasks: 0,
            attempts: Vec::new(),
            candidate: answer::Candidate::Absent,
            richest: 0,
            vetoes: BTreeMap::new(),
            objector: None,
            open_tasks: BTreeSet::new(),
            notices: VecDeque::new(),
            events: vec![EventKind::Began(Opening::of(&job, offer.as_ref()))],
            last_said: None,
            claim: Claim::None,
            offer,
            job,
        })
    }

    /// Says what to do next; the same again until the driver has fed something back.
    pub fn step(&mut self) -> Step {
        if matches!(self.state, State::Ready) {
            match self.begin_turn() {
                Ok(()) => self.state = State::Asking,
                Err(error) => self.fail(error),
            }
        }
        match &self.state {
            State::Ready | State::Asking => Step::CallModel(Box::new(self.request())),
            State::Working(batch, _) => {
                Step::CallTools(batch.open().map(|slot| slot.call.clone()).collect())
            }
            State::Extracting(pending) => Step::Extract(Box::new(pending.job.clone())),
            State::Idle => Step::Wait,
            State::Over(_) => Step::Done,
        }
    }

    /// Counts a model call, if one more is allowed.
    fn begin_turn(&mut self) -> Result<(), RunError> {
        if self.turns >= self.turn_limit() {
            return Err(self.turn_cap());
        }
        self.purse.allows_model_call(&Usage::default())?;
        self.turns += 1;
        Ok(())
    }

    fn turn_limit(&self) -> u32 {
        self.job.policy.max_turns.unwrap_or(TURN_LIMIT)
    }

    /// Returns what was asked of it.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Returns how often the model was called so far, the call under way included.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns the wall time that may pass until [`Run::elapsed`] ends the run.
    pub fn wall(&self) -> Option<Duration> {
        self.purse.wall()
    }

    /// Returns what subagents share with this run.
    pub fn household(&self) -> Household {
        Household { purse: self.purse.clone(), ids: self.naming.ids.clone() }
    }

    /// Says that a request leaves: until its end is told, nobody knows what it costs.
    pub fn sent(&mut self) {
        self.purse.sent();
    }

    /// Returns `delta` as the stream tells it: a call that begins has an id that no other call of
    /// the run or its subagents has, the same that [`Run::answered`] gives it.
    pub fn identify(&mut self, mut delta: Delta) -> Delta {
        self.naming.name_delta(&mut delta);
        delta
    }

    /// Counts a request that failed and is sent again after `pause`, unless nothing is left to spend:
    /// then the run is over. What was said before it failed is kept as an attempt.
    pub fn retried(&mut self, partial: &Reply, failure: &ProviderFailure, pause: Duration) {
        let bill = Bill::of_failure(partial, failure);
        self.settle(bill, partial);
        self.keep_partial(partial);
        if let Err(error) = self.purse.allows_model_call(&Usage::default()) {
            if !partial.blocks.is_empty() {
                self.record(partial);
            }
            return self.fail(error);
        }
        self.purse.retried();
        self.events.push(EventKind::Retried(Retry { failure: failure.clone(), pause, bill }));
    }

    /// Counts what a request used, or what it may have used where nobody says.
    fn settle(&mut self, bill: Bill, reply: &Reply) {
        self.naming.close();
        let guess = |counted: &_| bill::estimate(&self.request(), reply, counted);
        let entry = Entry::of(bill, self.job.price.as_ref(), reply, guess);
        self.purse.settle(&entry);
    }

    /// Takes what an agent CLI does by itself before it answers; past the budget for tool calls the
    /// run is over.
    pub fn witnessed(&mut self, event: transcript::Event) {
        let calls = u32::try_from(event.tool_calls().count()).unwrap_or(u32::MAX);
        self.events.push(EventKind::Witnessed(Box::new(event)));
        if self.purse.take_tool_calls(calls) < calls {
            self.fail(self.purse.no_tool_calls_left());
        }
    }

    /// Takes what an agent CLI has used so far in a call in which it asks its model once more; if
    /// nothing is left for that, the run is over.
    pub fn went_on(&mut self, used: &Usage) {
        if let Err(error) = self.purse.allows_model_call(used) {
            self.fail(error);
        }
    }

    /// Takes what an agent CLI came to.
    pub fn recorded(&mut self, record: transcript::Record) {
        self.events.push(EventKind::Recorded(Box::new(record)));
    }

    /// Takes the results of [`Step::CallTools`]; none are taken once the run is over.
    pub fn tools_returned(&mut self, results: Vec<ToolResult>) {
        match std::mem::replace(&mut self.state, State::Ready) {
            State::Working(mut batch, after) => {
                batch.settle(results, words::NO_RESULT);
                self.close(batch);
                match after {
                    Some(error) => self.fail(error),
                    None => self.drain(),
                }
            }
            // Late: the run ended while the tools were at work, and their calls were told so.
            state @ (State::Ready
            | State::Asking
            | State::Extracting(_)
            | State::Idle
            | State::Over(_)) => {
                self.state = state;
            }
        }
    }

    /// Says that a background task began; the run waits for its notification before it gives up on
    /// a model that has ended its turn.
    pub fn background_began(&mut self, task_id: &str) {
        self.open_tasks.insert(task_id.to_owned());
    }

    /// Takes what a background task has to say, which also says that the task has ended.
    pub fn notified(&mut self, notification: Notification) {
        self.open_tasks.remove(&notification.task_id);
        self.events.push(EventKind::Notified(notification.clone()));
        self.notices.push_back(notification);
        if matches!(self.state, State::Idle) {
            self.drain();
            self.state = State::Ready;
        }
    }

    /// Says how much time has passed since the start; past the budget the next step is the end.
    pub fn elapsed(&mut self, since_start: Duration) {
        if let Err(error) = self.purse.pass(since_start) {
            self.fail(error);
        }
    }

    /// Ends the run as interrupted, unless it is over: an accepted answer stays accepted.
    pub fn interrupt(&mut self) {
        self.fail(RunError::new(Outcome::Interrupted, "the run was interrupted"));
    }

    /// Objects to the call at this position of the reply that [`Run::answered`] is about to take, if
    /// it is of the terminal tool: its arguments are not judged, and the model is told why.
    pub fn veto(&mut self, position: usize, veto: Veto) {
        self.vetoes.insert(position, veto);
    }

    /// Objects to the end of a run without a contract: the model is told why, and speaks again.
    ///
    /// An accepted answer, or a failure, cannot be objected to.
    pub fn object(&mut self, why: String) {
        if matches!(self.state, State::Over(End::Text(_))) {
            self.conversation.tell(why);
            self.state = State::Ready;
        }
    }

    /// Claims that the run has ended in text, to which [`Run::object`] may be said.
    pub fn ends_in_text(&self) -> bool {
        matches!(self.state, State::Over(End::Text(_)))
    }

    /// Claims that the next step is [`Step::Done`].
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over(_))
    }

    /// Returns what happened since the last call, for the public stream.
    ///
    /// [`EventKind::Ended`] is not among it: the driver makes it of what [`Run::finish`] returns,
    /// which can happen only once.
    pub fn take_events(&mut self) -> Vec<EventKind> {
        std::mem::take(&mut self.events)
    }

    /// Ends the run after [`Step::Done`]; a run that is not over was interrupted.
    ///
    /// Events are taken before.
    pub fn finish(mut self, elapsed: Duration) -> Report {
        if !self.is_over() {
            self.interrupt();
        }
        self.report(elapsed)
    }

    /// Ends the run, unless it is over.
    fn fail(&mut self, error: RunError) {
        if self.is_over() {
            return;
        }
        let before = std::mem::replace(&mut self.state, State::Over(End::Failure(error)));
        if let State::Working(mut batch, _) = before {
            batch.skip_open_after(0, words::UNFINISHED);
            self.events.push(EventKind::Heard(batch.heard()));
        }
    }
}
