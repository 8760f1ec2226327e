//! What happens in a run, as the public stream tells it.

use std::time::Duration;

use crate::codec::{Delta, ProviderFailure, Reply};
use crate::contract::Fingerprint;
use crate::message::ToolResult;
use crate::transcript;

use super::offer::Offer;
use super::{Attempt, Bill, Job, Mode, Notification, Report};

/// What the text of a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// The answer that the contract asks for, a piece of it, or what stands beside it: the payload.
    Answer,
    /// Anything else.
    Prose,
}

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The provider's name of the model.
    pub model: String,
    /// Which contract decides, if one does.
    pub contract: Option<Fingerprint>,
    /// How it is put to the model, once that is settled.
    pub mode: Option<Mode>,
}

impl Opening {
    pub(super) fn of(job: &Job, offer: Option<&Offer>) -> Self {
        Self {
            model: job.model.clone(),
            contract: offer.map(|offer| offer.contract.fingerprint()),
            mode: offer.map(Offer::mode),
        }
    }
}

/// A request that failed and is sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Why it failed.
    pub failure: ProviderFailure,
    /// How long nothing is sent.
    pub pause: Duration,
    /// What it used.
    pub bill: Bill,
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum EventKind {
    /// The run begins; always the first.
    Began(Opening),
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
    /// A second model begins to look for the answer in what the first one wrote; an attempt on the
    /// rung `extract` follows. Of what it says in between, only requests that are sent again are
    /// told.
    Extracting {
        /// Its provider's name of it.
        model: String,
    },
    /// A request failed and is sent again.
    Retried(Retry),
    /// An agent CLI tells what it does by itself.
    Witnessed(Box<transcript::Event>),
    /// An agent CLI has ended, and this is what it comes to.
    Recorded(Box<transcript::Record>),
    /// Background work said something.
    Notified(Notification),
    /// The run is over; nothing follows. The driver makes this of what [`Run::finish`] returns.
    ///
    /// [`Run::finish`]: super::Run::finish
    Ended(Box<Report>),
}
