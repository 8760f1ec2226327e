//! Waits until the watch begins with what it was asked. What would have to wait for something else is taken
//! back: nobody who was told that nothing was begun is surprised later.

use std::time::Duration;

use airtight_store::{StoreError, Wish};
use tokio::time::{Instant, sleep};

use super::{BUSY, Follower, LOOK_EVERY, Trouble, UNWATCHED};

/// Said where whoever leads does not begin.
const LATE: &str = "The watch did not begin, and the request was taken back. Ask again; \
    `airtight watch status` shows how it stands.";

/// How long the watch may take to begin: it looks every two seconds.
const BEGINNING: Duration = Duration::from_secs(30);

/// What became of a wish.
enum Fate {
    /// This chain.
    Begun(String),
    /// Nothing, for this reason.
    TakenBack(&'static str),
    /// Nothing yet.
    Waits,
}

impl Follower {
    /// Waits until a chain begins with the wish, and returns it; else tells why none does.
    pub(super) async fn begun(&mut self, wish: &str) -> Result<Option<String>, Trouble> {
        let deadline = Instant::now() + BEGINNING;
        loop {
            let is_late = Instant::now() >= deadline || self.ending.is_cancelled();
            match self.ask_for(wish, is_late.then_some(LATE)).await {
                Ok(Fate::Begun(chain)) => return Ok(Some(chain)),
                Ok(Fate::TakenBack(why)) => return self.say(why).await.map(|()| None),
                Ok(Fate::Waits) => {}
                Err(error) if is_late => {
                    let words = format!("Nobody knows whether the watch begins: {error}");
                    return self.say(&words).await.map(|()| None);
                }
                Err(error) => tracing::warn!(%error, "nobody knows whether the watch begins"),
            }
            tokio::select! {
                () = self.ending.cancelled(), if !is_late => {}
                () = sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Looks what became of a wish, and takes it back if it would have to wait; `late` says that it has.
    async fn ask_for(&self, wish: &str, late: Option<&'static str>) -> Result<Fate, StoreError> {
        match self.ledger.wish_named(wish).await? {
            Some(Wish { chain: Some(chain), .. }) => return Ok(Fate::Begun(chain)),
            Some(Wish { chain: None, .. }) => {}
            // Taken back, and the answer to that was lost.
            None => return Ok(Fate::TakenBack(LATE)),
        }
        let now_ms = self.ledger.now_ms();
        let leader = self.ledger.leader().await?.filter(|leader| leader.leased_until > now_ms);
        let why = if leader.is_none() {
            Some(UNWATCHED)
        } else if self.ledger.open_chain().await?.is_some() {
            Some(BUSY)
        } else {
            late
        };
        let Some(why) = why else { return Ok(Fate::Waits) };
        // What begins at the same moment is found the next time.
        let is_taken_back = self.ledger.withdraw_wish(wish).await?;
        Ok(if is_taken_back { Fate::TakenBack(why) } else { Fate::Waits })
    }
}
