//! What happens in a run, as the public stream tells it.

use crate::codec::{Delta, ProviderFailure, Reply};
use crate::message::ToolResult;

use super::{Attempt, Notification, Report};

/// What the text of a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// The answer that the contract asks for, a piece of it, or what stands beside it: the payload.
    Answer,
    /// Anything else.
    Prose,
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum EventKind {
    /// A piece of an answer came in, as the driver saw it.
    Delta(Delta),
    /// The model said this.
    Said {
        /// What it said.
        reply: Box<Reply>,
        /// What its text is.
        text: Words,
    },
    /// The calls of a turn came to this: what was done first, then what was skipped, by the ids that
    /// the model gave. The model itself gets them in the order of its calls.
    Heard(Vec<ToolResult>),
    /// An answer was judged.
    Judged(Box<Attempt>),
    /// A request failed and is sent again.
    Retried(ProviderFailure),
    /// Background work said something.
    Notified(Notification),
    /// The run is over; nothing follows. The driver makes this of what [`Run::finish`] returns.
    ///
    /// [`Run::finish`]: super::Run::finish
    Ended(Box<Report>),
}
