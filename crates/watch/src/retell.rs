//! What a session said, in a few sentences of another model, where it gave no summary itself. CO-15.
//!
//! The rule it protects: a summary is a kindness. Nothing is on record yet while it is asked for, and
//! whoever does not give one costs half a minute, an event, and nothing of the session.

use std::pin::pin;
use std::time::Duration;

use airtight_core::watch::{Payload, Retold};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::staff::{Performed, Staff};
use crate::watcher::Office;

/// How long a summary may take: a small model needs seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long whoever was told to end has to put that on record.
const GRACE: Duration = Duration::from_secs(5);

impl<S: Staff, C: Clock + 'static> Office<'_, S, C> {
    /// Has what a session said put in a few sentences, unless it did that itself.
    pub(crate) async fn retell(&self, performed: &Performed) -> Retold {
        // All of it: what is said last may leave out what was said before.
        let mut said = performed.said.join("\n\n");
        if said.trim().is_empty() {
            said = performed.result.clone().unwrap_or_default();
        }
        let has_summary = matches!(performed.payload, Payload::Accepted(_));
        if has_summary || said.trim().is_empty() || self.stop.is_cancelled() {
            return Retold::Not;
        }
        let interrupt = CancellationToken::new();
        let mut retelling = pin!(self.staff.retell(&said, interrupt.clone()));
        let why = tokio::select! {
            biased;
            retold = &mut retelling => return retold,
            () = self.leadership.lost.cancelled() => "another process leads",
            () = self.stop.cancelled() => "the watch was stopped",
            () = tokio::time::sleep(PATIENCE) => "it took too long",
        };
        interrupt.cancel();
        // What it still says does not count.
        drop(tokio::time::timeout(GRACE, &mut retelling).await);
        Retold::Failed(why.to_owned())
    }
}
