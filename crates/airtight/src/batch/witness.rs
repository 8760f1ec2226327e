//! Who sees what happens in one run of many, and how much of it is kept.
//!
//! The rule it protects: what happens in a run costs no write of its own. Its milestones (how it began, each
//! request that was sent again, each verdict) are rows of the write that ends or postpones it.

use std::sync::Arc;

use airtight_agent::provider::Provider;
use airtight_agent::{Event, Journal, Observer};
use airtight_core::redact::Redactor;
use airtight_core::run::EventKind;
use airtight_store::RunId;

use super::ticket::Ticket;
use crate::output::{Init, Output};

/// How much of what happens in a run of many is kept, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// Everything, while it happens: an agent CLI takes its time, and nobody else keeps what it does.
    AsItHappens,
    /// The milestones, with the end of the run. What a model says is with its attempts.
    AtTheEnd,
}

impl Telling {
    pub(super) fn of(provider: &Provider) -> Self {
        match provider {
            Provider::Harness(_) => Self::AsItHappens,
            Provider::Served(_) => Self::AtTheEnd,
            #[cfg(feature = "embedded")]
            Provider::Embedded(_) => Self::AtTheEnd,
        }
    }

    fn includes(self, kind: &EventKind) -> bool {
        match kind {
            EventKind::Delta(_) | EventKind::Said { .. } | EventKind::Heard(_) => {
                self == Self::AsItHappens
            }
            EventKind::Began(_)
            | EventKind::Judged(_)
            | EventKind::Extracting { .. }
            | EventKind::Retried(_)
            | EventKind::Witnessed(_)
            | EventKind::Recorded(_)
            | EventKind::Notified(_)
            | EventKind::Ended(_) => true,
        }
    }
}

/// Sees what happens in the run of a ticket.
pub(super) struct Witness {
    ticket: Arc<Ticket>,
    telling: Telling,
    /// Keeps what is told, if the run is on record.
    output: Option<Output<'static>>,
}

impl Witness {
    pub(super) fn new(ticket: Arc<Ticket>, telling: Telling, redactor: &Redactor) -> Self {
        let output = ticket.recorder().map(|recorder| {
            let mut output = Output::silent(recorder.id().as_str());
            output.mask(redactor.clone());
            output.keep_in(Arc::clone(recorder));
            output
        });
        Self { ticket, telling, output }
    }

    /// Tells what the run begins with, if it is on record.
    pub(super) fn begin(&mut self, init: impl FnOnce(&RunId) -> Init) {
        if let (Some(output), Some(recorder)) = (&mut self.output, self.ticket.recorder()) {
            output.begin(init(recorder.id()));
        }
    }
}

impl Observer for Witness {
    fn event(&mut self, event: &Event) {
        if let EventKind::Recorded(record) = &event.kind {
            self.ticket.recorded(record);
        }
        if !self.telling.includes(&event.kind) {
            return;
        }
        if let Some(output) = &mut self.output {
            output.event(event);
        }
        if let Some(recorder) = self.ticket.recorder() {
            recorder.event(event);
        }
    }

    fn journal(&self) -> Option<Arc<dyn Journal>> {
        let journal: Arc<dyn Journal> = Arc::clone(&self.ticket) as Arc<dyn Journal>;
        Some(journal)
    }
}
