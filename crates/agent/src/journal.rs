//! Who keeps account of requests: told before each leaves, and when it is over.
//!
//! The rule it protects: a request that may cost something is on record before it leaves, so that
//! whatever becomes of this process, somebody can tell that it may have been answered and paid.

use std::pin::Pin;

use airtight_core::codec::ProviderFailure;
use airtight_core::price::Cost;
use airtight_core::run::Bill;

/// What a journal has to do before the run goes on.
pub type Entry<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Keeps account of requests, those of subagents included.
///
/// It cannot hold a request back: a record that fails costs the record, never the answer.
pub trait Journal: Send + Sync {
    /// Puts a request on record, which leaves when that is done. Returns its number, none if it
    /// could not be recorded.
    fn open<'a>(&'a self, departure: Departure<'a>) -> Entry<'a, Option<i64>>;

    /// Puts on record what came of request `number`. What was judged of it, the observer has seen
    /// before.
    fn close<'a>(&'a self, number: i64, arrival: Arrival<'a>) -> Entry<'a, ()>;
}

/// A request that is about to leave: a question, or one more try to get it answered.
#[derive(Debug, Clone, Copy)]
pub struct Departure<'a> {
    /// The provider's name of the model.
    pub model: &'a str,
    /// The tool call of the subagent that asks.
    pub parent_call_id: Option<&'a str>,
}

/// What came of a request.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The tool call of the subagent that asked.
    pub parent_call_id: Option<&'a str>,
    /// What it used.
    pub bill: Bill,
    /// What it cost by the word of whoever answered, which counts before any price list.
    pub told_cost: Option<Cost>,
    /// How it ended.
    pub end: Landing<'a>,
    /// What becomes of the user's run.
    pub course: Course,
}

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub enum Landing<'a> {
    /// With a whole answer.
    Whole,
    /// Stopped: the answer could not conform any more, or the run had to end.
    Stopped,
    /// The provider failed.
    Failed(&'a ProviderFailure),
}

/// What becomes of a run after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// It goes on.
    On,
    /// It is over: its end follows at once.
    Over,
}
