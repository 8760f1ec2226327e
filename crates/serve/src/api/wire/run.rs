//! Runs, their attempts, events and decisions.

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_store::{
    Attempt, AttemptState, Decision, Review, Run, RunState, RunSummary, StoredEvent,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::said::{Json, Said};

/// Tokens; absent where nobody counted.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the members are called so everywhere")]
pub(crate) struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            reasoning_tokens: usage.reasoning_tokens,
        }
    }
}

/// Whether a run is over.
#[derive(Debug, Clone, Copy, Serialize, serde::Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// A process is at it.
    Open,
    /// It is to be tried again later.
    Postponed,
    /// Its process is gone before it was over.
    Unknown,
    /// It is over.
    Done,
}

impl From<RunState> for State {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Open => Self::Open,
            RunState::Postponed => Self::Postponed,
            RunState::Unknown => Self::Unknown,
            RunState::Done => Self::Done,
        }
    }
}

impl From<State> for RunState {
    fn from(state: State) -> Self {
        match state {
            State::Open => Self::Open,
            State::Postponed => Self::Postponed,
            State::Unknown => Self::Unknown,
            State::Done => Self::Done,
        }
    }
}

/// Whether a person looked at a run, or should.
#[derive(Debug, Clone, Copy, Serialize, serde::Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reviewed {
    /// Nobody need.
    None,
    /// Somebody should.
    Flagged,
    /// Somebody accepted a value for it.
    Accepted,
    /// Somebody rejected it.
    Rejected,
}

impl From<Review> for Reviewed {
    fn from(review: Review) -> Self {
        match review {
            Review::None => Self::None,
            Review::Flagged => Self::Flagged,
            Review::Accepted => Self::Accepted,
            Review::Rejected => Self::Rejected,
        }
    }
}

impl From<Reviewed> for Review {
    fn from(review: Reviewed) -> Self {
        match review {
            Reviewed::None => Self::None,
            Reviewed::Flagged => Self::Flagged,
            Reviewed::Accepted => Self::Accepted,
            Reviewed::Rejected => Self::Rejected,
        }
    }
}

/// A run without its texts. Times are Unix milliseconds.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunRow {
    /// Its number: pages go on after it.
    pub(crate) number: i64,
    id: String,
    /// The run that it belongs to, or goes on from.
    parent: Option<String>,
    /// Its idempotency key.
    key: Option<String>,
    /// The fingerprint of its contract.
    fingerprint: String,
    contract: String,
    contract_version: String,
    /// What drove the model: `api`, `embedded`, or the name of an agent CLI.
    driver: String,
    provider: String,
    model: String,
    /// How the contract was put to it.
    mode: String,
    state: State,
    /// How it ended.
    outcome: Option<String>,
    /// How the value was obtained.
    rung: Option<String>,
    output_valid: bool,
    review: Reviewed,
    /// Answers that were judged.
    attempts: i64,
    early_cancels: i64,
    tokens_saved: i64,
    usage: Tokens,
    cost_usd: Option<f64>,
    started_at: i64,
    ended_at: Option<i64>,
    elapsed_ms: Option<i64>,
    batch: Option<String>,
    position: Option<i64>,
    /// How much of it is kept: `full`, `masked` or `metadata`.
    store: &'static str,
    expires_at: Option<i64>,
    /// The process at it: host and process.
    owner: Option<String>,
}

impl From<RunSummary> for RunRow {
    fn from(run: RunSummary) -> Self {
        Self {
            number: run.number,
            id: run.id.to_string(),
            parent: run.parent.map(|id| id.to_string()),
            key: run.key,
            fingerprint: run.fingerprint,
            contract: run.contract,
            contract_version: run.contract_version,
            driver: run.driver,
            provider: run.provider,
            model: run.model,
            mode: run.mode,
            state: run.state.into(),
            outcome: run.outcome,
            rung: run.rung,
            output_valid: run.output_valid,
            review: run.review.into(),
            attempts: run.attempts,
            early_cancels: run.early_cancels,
            tokens_saved: run.tokens_saved,
            usage: run.usage.into(),
            cost_usd: run.cost_usd.map(Cost::usd),
            started_at: run.started_at,
            ended_at: run.ended_at,
            elapsed_ms: run.elapsed_ms,
            batch: run.batch,
            position: run.position,
            store: run.store.name(),
            expires_at: run.expires_at,
            owner: run.owner,
        }
    }
}

/// Everything about a run. Texts are absent where they are not kept.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunDetail {
    run: RunRow,
    prompt: Option<String>,
    system: Option<String>,
    /// The document that the job was about.
    input: Option<Said>,
    /// What the model said, exactly.
    output: Option<Said>,
    /// The accepted value.
    #[schema(value_type = Json)]
    parsed_output: Option<Json>,
    /// What is wrong with the output.
    #[schema(value_type = Json)]
    output_errors: Option<Json>,
    /// What was changed in the accepted answer.
    #[schema(value_type = Json)]
    edits: Option<Json>,
    /// What the provider was not asked to enforce.
    #[schema(value_type = Json)]
    losses: Option<Json>,
    /// Pointers to what of an extracted value nobody could look up in what the model said.
    #[schema(value_type = Json)]
    unchecked: Option<Json>,
    /// Every request, in order.
    requests: Vec<AttemptRow>,
    /// What people decided, in order.
    decisions: Vec<DecisionRow>,
}

impl RunDetail {
    pub(crate) fn new(run: Run, attempts: Vec<Attempt>, decisions: Vec<Decision>) -> Self {
        Self {
            run: run.summary.into(),
            prompt: run.prompt,
            system: run.system,
            input: run.input.map(Said),
            output: run.output.map(Said),
            parsed_output: run.parsed_output.map(Json::of),
            output_errors: run.output_errors.map(Json::of),
            edits: run.edits.map(Json::of),
            losses: run.losses.map(Json::of),
            unchecked: run.unchecked.map(Json::of),
            requests: attempts.into_iter().map(AttemptRow::from).collect(),
            decisions: decisions.into_iter().map(DecisionRow::from).collect(),
        }
    }
}

/// One request to a model.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttemptRow {
    /// Its number in the run, from 1; below 0 for one that came too late to count.
    number: i64,
    /// `open`, `closed`, `unknown` or `stray`.
    state: &'static str,
    provider: String,
    model: String,
    /// What it was for, if not for the answer.
    purpose: String,
    ending: Option<String>,
    rung: Option<String>,
    /// What was said, if it is not the output of the run.
    output: Option<Said>,
    #[schema(value_type = Json)]
    violations: Option<Json>,
    error: Option<String>,
    usage: Tokens,
    cost_usd: Option<f64>,
    started_at: i64,
    ended_at: Option<i64>,
}

impl From<Attempt> for AttemptRow {
    fn from(attempt: Attempt) -> Self {
        Self {
            number: attempt.number,
            state: match attempt.state {
                AttemptState::Open => "open",
                AttemptState::Closed => "closed",
                AttemptState::Unknown => "unknown",
                AttemptState::Stray => "stray",
            },
            provider: attempt.provider,
            model: attempt.model,
            purpose: attempt.purpose,
            ending: attempt.ending,
            rung: attempt.rung,
            output: attempt.output.map(Said),
            violations: attempt.violations.map(Json::of),
            error: attempt.error,
            usage: attempt.usage.into(),
            cost_usd: attempt.cost_usd.map(Cost::usd),
            started_at: attempt.started_at,
            ended_at: attempt.ended_at,
        }
    }
}

/// What a person decided about a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DecisionRow {
    number: i64,
    review: Reviewed,
    who: String,
    at: i64,
    note: Option<String>,
    /// The value until then.
    #[schema(value_type = Json)]
    before: Option<Json>,
    /// The value since.
    #[schema(value_type = Json)]
    after: Option<Json>,
}

impl From<Decision> for DecisionRow {
    fn from(decision: Decision) -> Self {
        Self {
            number: decision.number,
            review: decision.review.into(),
            who: decision.who,
            at: decision.at,
            note: decision.note,
            before: decision.before.map(Json::of),
            after: decision.after.map(Json::of),
        }
    }
}

/// One event of a run: a line of `stream-json`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventRow {
    /// Its number in the run, from 1.
    pub(crate) number: i64,
    at: i64,
    kind: String,
    /// Absent where texts are not kept.
    #[schema(value_type = Json)]
    body: Option<Json>,
}

impl From<StoredEvent> for EventRow {
    fn from(event: StoredEvent) -> Self {
        let StoredEvent { number, at, kind, body } = event;
        Self { number, at, kind, body: body.map(Json::of) }
    }
}
