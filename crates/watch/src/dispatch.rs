//! Delivers what is queued, beside everything else: no target ever holds up a session, nor another target.

use std::sync::Arc;
use std::time::Duration;

use airtight_core::watch::{Notification, NotificationCategory, generic_payload, slack_payload};
use airtight_store::{Delivery, Lead, Ledger, Minutes, NotificationState, Order, Page};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::WatchError;
use crate::estate::Estate;
use crate::notice::{Notice, Teller};
use crate::notify::{Address, Courier, Form, Target};

/// How often a target is tried: one that was restarting is back a minute later.
const ATTEMPTS: i64 = 3;

/// How long to wait before what failed is tried again.
const PAUSE: Duration = Duration::from_mins(1);

/// The same, as the ledger counts.
const PAUSE_MS: i64 = 60_000;

/// How many notifications are delivered between two looks at the queue.
const AT_ONCE: u32 = 50;

/// How long what is queued may take when the watch ends.
const LAST_WORDS: Duration = Duration::from_secs(15);

/// How long it may take to put on record what was cut off: a ledger that another process holds is
/// waited for.
const LAST_RECORD: Duration = Duration::from_secs(30);

/// Delivers for as long as it lives, each target by itself.
pub(crate) struct Dispatch {
    wakes: Vec<Arc<Notify>>,
    /// Asks for a last round.
    ending: CancellationToken,
    /// Cuts off what is on its way.
    cut: CancellationToken,
    working: JoinSet<()>,
}

/// Who delivers, and for whom.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) ledger: Ledger,
    pub(crate) lead: Lead,
    pub(crate) estate: Arc<Estate>,
    pub(crate) teller: Arc<dyn Teller>,
    /// The time of the watch, in Unix milliseconds.
    pub(crate) now: Arc<dyn Fn() -> i64 + Send + Sync>,
}

/// What one target is told.
struct Round {
    post: Post,
    courier: Courier,
    whose: Whose,
    cut: CancellationToken,
}

/// Whose notifications are delivered.
enum Whose {
    /// Those of this target.
    Of(Target),
    /// Those of targets that are not configured any more.
    Nobodys,
}

impl Dispatch {
    /// Begins to deliver what is queued.
    pub(crate) fn start(post: &Post) -> Self {
        let estate = Arc::clone(&post.estate);
        let (ending, cut) = (CancellationToken::new(), CancellationToken::new());
        let (mut wakes, mut working) = (Vec::new(), JoinSet::new());
        let targets = estate.targets.iter().cloned().map(Whose::Of);
        for whose in targets.chain([Whose::Nobodys]) {
            let courier = Courier::new(estate.folder.clone(), estate.environment.clone());
            let round = Round { post: post.clone(), courier, whose, cut: cut.clone() };
            let wake = Arc::new(Notify::new());
            drop(working.spawn(work(round, Arc::clone(&wake), ending.clone())));
            wakes.push(wake);
        }
        Self { wakes, ending, cut, working }
    }

    /// Says that something is queued.
    pub(crate) fn wake(&self) {
        for wake in &self.wakes {
            wake.notify_one();
        }
    }

    /// Tries what is queued, for a while, and ends. What a target has not taken by then is cut off, which
    /// is an attempt that failed.
    pub(crate) async fn end(mut self) {
        self.ending.cancel();
        if tokio::time::timeout(LAST_WORDS, finish(&mut self.working)).await.is_ok() {
            return;
        }
        tracing::warn!("notifications are cut off: their targets take too long");
        self.cut.cancel();
        if tokio::time::timeout(LAST_RECORD, finish(&mut self.working)).await.is_err() {
            tracing::warn!("what became of notifications is not on record");
        }
    }
}

async fn finish(working: &mut JoinSet<()>) {
    while working.join_next().await.is_some() {}
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
    /// Tries everything that is due once, in its order.
    async fn deliver(&self) -> Result<(), WatchError> {
        let mut page = Page { limit: AT_ONCE, after: None, order: Order::OldestFirst };
        loop {
            let queued =
                self.post.ledger.notifications(Some(NotificationState::Queued), page).await?;
            let Some(last) = queued.last() else { return Ok(()) };
            page.after = Some(last.number);
            for notification in queued.into_iter().filter(|it| self.is_mine(it)) {
                if self.cut.is_cancelled() {
                    return Ok(());
                }
                if is_due(&notification, (self.post.now)()) {
                    self.deliver_one(notification).await?;
                }
            }
        }
    }

    fn is_mine(&self, queued: &airtight_store::Notification) -> bool {
        match &self.whose {
            Whose::Of(target) => target.name == queued.target,
            Whose::Nobodys => self.post.estate.targets.iter().all(|it| it.name != queued.target),
        }
    }

    async fn deliver_one(&self, queued: airtight_store::Notification) -> Result<(), WatchError> {
        let (delivered, most) = match &self.whose {
            Whose::Of(target) => (self.send(target, &queued).await, ATTEMPTS),
            Whose::Nobodys => (Err("there is no such target any more".to_owned()), 0),
        };
        let attempts = queued.attempts.saturating_add(1);
        let again = attempts < most;
        let state = match (&delivered, again) {
            (Ok(()), _) => NotificationState::Sent,
            (Err(_), true) => NotificationState::Queued,
            (Err(_), false) => NotificationState::Failed,
        };
        if let Err(error) = &delivered {
            let (target, error) = (queued.target.clone(), error.clone());
            self.post.teller.tell(Notice::Undelivered { target, error, again });
        }
        let delivery = Delivery { id: queued.id, state, attempts, error: delivered.err() };
        let at_ms = (self.post.now)();
        let minutes = Minutes { at_ms, deliveries: vec![delivery], ..Minutes::default() };
        Ok(self.post.ledger.minute(self.post.lead, minutes).await?)
    }

    async fn send(
        &self,
        target: &Target,
        queued: &airtight_store::Notification,
    ) -> Result<(), String> {
        let payload = payload(&target.address, queued);
        tokio::select! {
            sent = self.courier.deliver(&target.address, &payload) => {
                sent.map_err(|error| error.to_string())
            }
            () = self.cut.cancelled() => {
                Err("it had not taken it when the watch ended".to_owned())
            }
        }
    }
}

/// Claims that it was never tried, or long enough ago.
fn is_due(queued: &airtight_store::Notification, now_ms: i64) -> bool {
    let tried_at = queued.told_at.filter(|_| queued.attempts > 0);
    tried_at.is_none_or(|at| now_ms.saturating_sub(at) >= PAUSE_MS)
}

fn payload(address: &Address, queued: &airtight_store::Notification) -> Value {
    let category = NotificationCategory::named(&queued.category);
    let notification = Notification {
        category: category.unwrap_or(NotificationCategory::HumanAttention),
        cause: String::new(),
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
