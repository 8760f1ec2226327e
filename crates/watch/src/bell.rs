//! The bell: queues what people are told, with what it is about, and each cause once within its window.
//!
//! The rule it protects: what is not on record was told to nobody, and does not count as told.

use airtight_core::watch::{Notification, Told};
use airtight_store::{Ledger, Minutes, StoreError};
use tokio::sync::{Mutex, MutexGuard};

use crate::book;
use crate::notify::Target;

/// What people were told of late.
const TOLD: &str = "told";

/// Queues what people are told.
#[derive(Debug)]
pub(crate) struct Bell {
    targets: Vec<Target>,
    told: Mutex<Told>,
}

/// What is being queued: it counts once [`Ringing::rung`] says that it is on record.
#[derive(Debug)]
#[must_use]
pub(crate) struct Ringing<'b> {
    targets: &'b [Target],
    before: MutexGuard<'b, Told>,
    told: Told,
}

impl Bell {
    /// Goes on from what was told before.
    pub(crate) async fn new(ledger: &Ledger, targets: Vec<Target>) -> Result<Self, StoreError> {
        let stored = ledger.mark(TOLD).await?;
        let told = stored.and_then(|stored| serde_json::from_str(&stored).ok());
        Ok(Self { targets, told: Mutex::new(told.unwrap_or_default()) })
    }

    /// Begins to queue; nobody else does until that is over.
    pub(crate) async fn ringing(&self) -> Ringing<'_> {
        let before = self.told.lock().await;
        Ringing { targets: &self.targets, told: before.clone(), before }
    }
}

impl Ringing<'_> {
    /// Adds `notifications` about `chain` to `minutes`, as far as people are told of them now.
    pub(crate) fn ring(
        &mut self,
        minutes: &mut Minutes,
        notifications: impl IntoIterator<Item = Notification>,
        chain: Option<&str>,
    ) {
        let at_ms = minutes.at_ms;
        let heard = notifications.into_iter().filter_map(|it| self.told.hear(it, at_ms)).collect();
        self.queue(minutes, heard, chain);
    }

    /// Adds what was held back until now.
    pub(crate) fn release(&mut self, minutes: &mut Minutes) {
        let released = self.told.release(minutes.at_ms);
        self.queue(minutes, released, None);
    }

    fn queue(&self, minutes: &mut Minutes, told: Vec<Notification>, chain: Option<&str>) {
        for notification in told {
            minutes.notifications.extend(book::queued(self.targets, &notification, chain));
        }
        // Without it, the worst is that somebody is told twice.
        if self.told != *self.before
            && let Ok(mark) = serde_json::to_string(&self.told)
        {
            minutes.marks.retain(|(name, _)| name != TOLD);
            minutes.marks.push((TOLD.to_owned(), mark));
        }
    }

    /// Says that it is on record.
    pub(crate) fn rung(mut self) {
        *self.before = self.told;
    }
}

#[cfg(test)]
mod tests {
    use airtight_core::watch::NotificationCategory;

    use super::*;
    use crate::notify::Address;

    /// CO-108: what could not be put on record is told the next time, and not counted.
    #[tokio::test]
    async fn what_is_not_on_record_was_not_told() {
        let address = Address::Command("true".to_owned());
        let targets = vec![Target { name: "pager".to_owned(), address }];
        let bell = Bell { targets, told: Mutex::default() };
        let notification = Notification {
            category: NotificationCategory::HumanAttention,
            cause: "web".to_owned(),
            title: "web".to_owned(),
            body: String::new(),
        };
        let mut queued = Vec::new();
        for is_stored in [false, true, true] {
            let mut minutes = Minutes::default();
            let mut ringing = bell.ringing().await;
            ringing.ring(&mut minutes, [notification.clone()], None);
            if is_stored {
                ringing.rung();
            }
            queued.push((minutes.notifications.len(), minutes.marks.len()));
        }
        assert_eq!(queued, [(1, 1), (1, 1), (0, 1)], "the third is held back");
    }
}
