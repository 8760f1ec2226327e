//! Following an answer while it is being said.
//!
//! A [`Checker`] is pushed bytes and says at each point whether some completion can still conform;
//! a [`Follower`] also keeps the [`Growing`] value for display. One pass, amortised constant time
//! per byte. `Impossible` is certain; `Possible` and `Complete` decide nothing, for only the
//! verdict on the whole answer does ([`Plan::unenforced`] lists what is left to it).

mod claims;
mod growing;
mod lexer;
mod lexicon;
mod names;
mod plan;
mod tracker;

#[cfg(test)]
mod laws;

use std::sync::Arc;

use crate::json::{Kind, Limits, ParseErrorKind, Pointer};
use crate::verdict::Violation;
use lexer::{Fault, Lexer, Listener};
use tracker::{Tracker, violation};

pub use growing::{Growing, GrowingNode};
pub use plan::{Plan, Unenforced};

/// What can still become of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// It has to go on, and may conform.
    Possible,
    /// It is a whole JSON value, and may conform.
    Complete,
    /// However it goes on, it will not conform.
    Impossible(Box<Impossible>),
}

/// Why an answer cannot conform any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impossible {
    /// What is broken for good; `json` if the text is no JSON, `limit` if it is too large.
    pub violation: Violation,
    /// The byte that broke it: before it, a conforming answer was still in sight.
    pub offset: usize,
}

/// Checks one answer against a contract, byte by byte.
#[derive(Debug)]
pub struct Checker(Feed<Tracker>);

/// Checks one answer and keeps its value so far.
#[derive(Debug)]
pub struct Follower(Feed<Both>);

impl Checker {
    /// Starts a new answer, within the default [`Limits`].
    pub fn new(plan: Arc<Plan>) -> Self {
        Self::within(plan, Limits::default())
    }

    /// Starts a new answer, within `limits`.
    pub fn within(plan: Arc<Plan>, limits: Limits) -> Self {
        Self(Feed::new(Tracker::new(plan), limits))
    }

    /// Reads the next bytes, which may be cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) -> &Progress {
        self.0.push(bytes)
    }

    /// Says that nothing follows; what is not complete then is impossible.
    pub fn finish(&mut self) -> &Progress {
        self.0.finish()
    }

    /// Returns what can still become of the answer.
    pub fn progress(&self) -> &Progress {
        &self.0.progress
    }
}

impl Follower {
    /// Starts a new answer, within the default [`Limits`].
    pub fn new(plan: Arc<Plan>) -> Self {
        Self::within(plan, Limits::default())
    }

    /// Starts a new answer, within `limits`.
    pub fn within(plan: Arc<Plan>, limits: Limits) -> Self {
        let both = Both { tracker: Tracker::new(plan), growing: Growing::default() };
        Self(Feed::new(both, limits))
    }

    /// Reads the next bytes, which may be cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) -> &Progress {
        self.0.push(bytes)
    }

    /// Says that nothing follows; what is not complete then is impossible.
    pub fn finish(&mut self) -> &Progress {
        self.0.finish()
    }

    /// Returns what can still become of the answer.
    pub fn progress(&self) -> &Progress {
        &self.0.progress
    }

    /// Returns the value so far; once the answer is impossible, as it was then.
    pub fn growing(&self) -> &Growing {
        &self.0.listener.growing
    }
}

/// A lexer, its listener, and what came of it.
#[derive(Debug)]
struct Feed<L> {
    lexer: Lexer,
    listener: L,
    progress: Progress,
}

impl<L: Listener + Located> Feed<L> {
    fn new(listener: L, limits: Limits) -> Self {
        Self { lexer: Lexer::new(limits), listener, progress: Progress::Possible }
    }

    fn push(&mut self, bytes: &[u8]) -> &Progress {
        if !matches!(self.progress, Progress::Impossible(_)) {
            let read = self.lexer.push(bytes, &mut self.listener);
            self.settle(read);
        }
        &self.progress
    }

    fn finish(&mut self) -> &Progress {
        if !matches!(self.progress, Progress::Impossible(_)) {
            let ended = self.lexer.finish(&mut self.listener);
            self.settle(ended);
        }
        &self.progress
    }

    fn settle(&mut self, read: Result<(), (usize, Fault)>) {
        self.progress = match read {
            Ok(()) if self.lexer.is_done() => Progress::Complete,
            Ok(()) => Progress::Possible,
            Err((offset, fault)) => {
                let violation = match fault {
                    Fault::Refused(violation) => violation,
                    Fault::Malformed(kind) => self.malformed(&kind),
                };
                Progress::Impossible(Box::new(Impossible { violation, offset }))
            }
        };
    }

    fn malformed(&self, kind: &ParseErrorKind) -> Violation {
        let is_limit = matches!(
            kind,
            ParseErrorKind::TooDeep { .. }
                | ParseErrorKind::TooLarge { .. }
                | ParseErrorKind::TooManyNodes { .. }
        );
        let keyword = if is_limit { "limit" } else { "json" };
        violation(self.listener.pointer(), keyword, kind.to_string())
    }
}

/// What knows where in the answer it stands.
trait Located {
    fn pointer(&self) -> Pointer;
}

impl Located for Tracker {
    fn pointer(&self) -> Pointer {
        self.pointer()
    }
}

/// Passes each event to the tracker, and what it does not refuse to the growing value.
#[derive(Debug)]
struct Both {
    tracker: Tracker,
    growing: Growing,
}

impl Located for Both {
    fn pointer(&self) -> Pointer {
        self.tracker.pointer()
    }
}

impl Listener for Both {
    fn begin(&mut self, kind: Kind) -> Result<(), Violation> {
        self.tracker.begin(kind)?;
        self.growing.begin(kind)
    }

    fn begin_key(&mut self) -> Result<(), Violation> {
        self.tracker.begin_key()?;
        self.growing.begin_key()
    }

    fn text(&mut self, piece: &str) -> Result<(), (usize, Violation)> {
        let tracked = self.tracker.text(piece);
        let read = tracked.as_ref().map_or_else(|(read, _)| *read, |()| piece.len());
        self.growing.text(piece.get(..read).unwrap_or_default())?;
        tracked
    }

    fn end_key(&mut self) -> Result<(), Violation> {
        self.tracker.end_key()?;
        self.growing.end_key()
    }

    fn literal(&mut self, literal: &str) -> Result<(), Violation> {
        self.tracker.literal(literal)?;
        self.growing.literal(literal)
    }

    fn end(&mut self) -> Result<(), Violation> {
        self.tracker.end()?;
        self.growing.end()
    }
}
