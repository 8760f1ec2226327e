//! The bell: queues what people are told, with what it is about, and each cause once within its window.

use std::sync::{Arc, Mutex, PoisonError};

use airtight_core::watch::{Notification, Told};
use airtight_store::{Ledger, Minutes, StoreError};

use crate::book;
use crate::estate::Estate;

/// What people were told of late.
const TOLD: &str = "told";

/// Queues what people are told.
#[derive(Debug)]
pub(crate) struct Bell {
    estate: Arc<Estate>,
    told: Mutex<Told>,
}

impl Bell {
    /// Goes on from what was told before.
    pub(crate) async fn new(ledger: &Ledger, estate: &Arc<Estate>) -> Result<Self, StoreError> {
        let stored = ledger.mark(TOLD).await?;
        let told = stored.and_then(|stored| serde_json::from_str(&stored).ok());
        Ok(Self { estate: Arc::clone(estate), told: Mutex::new(told.unwrap_or_default()) })
    }

    /// Adds `notifications` about `chain` to `minutes`, as far as people are told of them now.
    pub(crate) fn ring(
        &self,
        minutes: &mut Minutes,
        notifications: impl IntoIterator<Item = Notification>,
        chain: &str,
    ) {
        let at_ms = minutes.at_ms;
        self.queue(minutes, Some(chain), |told| {
            notifications.into_iter().filter_map(|it| told.hear(it, at_ms)).collect()
        });
    }

    /// Adds what was held back until now.
    pub(crate) fn release(&self, minutes: &mut Minutes) {
        let at_ms = minutes.at_ms;
        self.queue(minutes, None, |told| told.release(at_ms));
    }

    fn queue(
        &self,
        minutes: &mut Minutes,
        chain: Option<&str>,
        choose: impl FnOnce(&mut Told) -> Vec<Notification>,
    ) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = told.clone();
        for notification in choose(&mut told) {
            minutes.notifications.extend(book::queued(&self.estate, &notification, chain));
        }
        // Without it, the worst is that somebody is told twice.
        if *told != before
            && let Ok(mark) = serde_json::to_string(&*told)
        {
            minutes.marks.push((TOLD.to_owned(), mark));
        }
    }
}
