//! Delivers what is queued, beside everything else: no target ever holds up a session.

use std::sync::Arc;
use std::time::Duration;

use airtight_core::watch::{Notification, NotificationCategory, generic_payload, slack_payload};
use airtight_store::{Delivery, Lead, Ledger, Minutes, NotificationState, Order, Page};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::WatchError;
use crate::estate::Estate;
use crate::notice::{Notice, Teller};
use crate::notify::{Address, Courier, Form};

/// How often a target is tried: one that was restarting is back a minute later.
const ATTEMPTS: i64 = 3;

/// How long to wait before what failed is tried again.
const PAUSE: Duration = Duration::from_mins(1);

/// How many notifications are delivered between two looks at the queue.
const AT_ONCE: u32 = 50;

/// How long what is queued may take when the watch ends.
const LAST_WORDS: Duration = Duration::from_secs(15);

/// Delivers for as long as it lives.
pub(crate) struct Dispatch {
    wake: Arc<Notify>,
    /// Asks for a last round.
    ending: CancellationToken,
    working: JoinHandle<()>,
}

impl Drop for Dispatch {
    fn drop(&mut self) {
        self.working.abort();
    }
}

struct Round {
    ledger: Ledger,
    lead: Lead,
    estate: Arc<Estate>,
    teller: Arc<dyn Teller>,
    courier: Courier,
}

impl Dispatch {
    /// Begins to deliver what `lead` queues.
    pub(crate) fn start(
        ledger: Ledger,
        lead: Lead,
        estate: Arc<Estate>,
        teller: Arc<dyn Teller>,
    ) -> Self {
        let courier = Courier::new(estate.folder.clone(), estate.environment.clone());
        let round = Round { ledger, lead, estate, teller, courier };
        let (wake, ending) = (Arc::new(Notify::new()), CancellationToken::new());
        let working = tokio::spawn(work(round, Arc::clone(&wake), ending.clone()));
        Self { wake, ending, working }
    }

    /// Says that something is queued.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Tries everything that is queued once more, for a while, and ends. What is on its way is not cut
    /// off: whoever takes it would get it twice.
    pub(crate) async fn end(mut self) {
        self.ending.cancel();
        if tokio::time::timeout(LAST_WORDS, &mut self.working).await.is_err() {
            tracing::warn!("notifications stay queued: their targets take too long");
        }
    }
}

async fn work(round: Round, wake: Arc<Notify>, ending: CancellationToken) {
    loop {
        tokio::select! {
            () = wake.notified() => {}
            () = ending.cancelled() => {}
            // What failed before is tried again.
            () = tokio::time::sleep(PAUSE) => {}
        }
        let is_last = ending.is_cancelled();
        if let Err(error) = round.deliver().await {
            tracing::warn!(%error, "notifications stay queued");
        }
        if is_last {
            return;
        }
    }
}

impl Round {
    /// Tries everything that is queued once, in its order.
    async fn deliver(&self) -> Result<(), WatchError> {
        let mut page = Page { limit: AT_ONCE, after: None, order: Order::OldestFirst };
        loop {
            let queued = self.ledger.notifications(Some(NotificationState::Queued), page).await?;
            let Some(last) = queued.last() else { return Ok(()) };
            page.after = Some(last.number);
            for notification in queued {
                self.deliver_one(notification).await?;
            }
        }
    }

    async fn deliver_one(&self, queued: airtight_store::Notification) -> Result<(), WatchError> {
        let target = self.estate.targets.iter().find(|target| target.name == queued.target);
        let delivered = match target {
            Some(target) => {
                let payload = payload(&target.address, &queued);
                self.courier.deliver(&target.address, &payload).await.map_err(|it| it.to_string())
            }
            None => Err("there is no such target any more".to_owned()),
        };
        let attempts = queued.attempts.saturating_add(1);
        let again = target.is_some() && attempts < ATTEMPTS;
        let state = match (&delivered, again) {
            (Ok(()), _) => NotificationState::Sent,
            (Err(_), true) => NotificationState::Queued,
            (Err(_), false) => NotificationState::Failed,
        };
        if let Err(error) = &delivered {
            let (target, error) = (queued.target.clone(), error.clone());
            self.teller.tell(Notice::Undelivered { target, error, again });
        }
        let delivery = Delivery { id: queued.id, state, attempts, error: delivered.err() };
        let at_ms = self.ledger.now_ms();
        let minutes = Minutes { at_ms, deliveries: vec![delivery], ..Minutes::default() };
        Ok(self.ledger.minute(self.lead, minutes).await?)
    }
}

fn payload(address: &Address, queued: &airtight_store::Notification) -> Value {
    let category = NotificationCategory::named(&queued.category);
    let notification = Notification {
        category: category.unwrap_or(NotificationCategory::HumanAttention),
        title: queued.title.clone(),
        body: queued.body.clone(),
    };
    match address {
        Address::Webhook { form: Form::Slack, .. } => slack_payload(&notification),
        Address::Webhook { form: Form::Json, .. } | Address::Command(_) => {
            generic_payload(&notification, queued.chain.as_deref(), queued.queued_at)
        }
    }
}
