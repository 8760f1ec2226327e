//! What a watch tells while it goes on: one line each, for people or for programs.

use serde::Serialize;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Notice {
    /// Another process leads; this one waits.
    Standby {
        /// Host and process.
        leader: String,
    },
    /// This process leads.
    Leading {
        /// Grows with every new leader.
        fence: i64,
    },
    /// A chain that another process left is gone on with.
    Recovered {
        /// The chain.
        chain: String,
    },
    /// A chain begins.
    ChainBegan {
        /// The chain.
        chain: String,
        /// Why.
        trigger: &'static str,
    },
    /// A session begins.
    SessionBegan {
        /// The chain.
        chain: String,
        /// The session, which is the name of its run.
        session: String,
        /// Its tier.
        tier: u8,
        /// What drives the model.
        driver: String,
        /// The model.
        model: String,
        /// Where its log is.
        log: Option<String>,
    },
    /// Something that operators should see.
    Event {
        /// The session that says so, if one does.
        session: Option<String>,
        /// `info`, `warning` or `critical`.
        level: &'static str,
        /// The service that it is about.
        service: Option<String>,
        /// What happened.
        message: String,
    },
    /// A session ended, and what it yields is on record.
    SessionEnded {
        /// The session.
        session: String,
        /// Its tier.
        tier: u8,
        /// How it ended.
        status: &'static str,
        /// How its yield was found.
        extraction: &'static str,
        /// What it found and did, in short.
        summary: Option<String>,
    },
    /// A chain ended.
    ChainEnded {
        /// The chain.
        chain: String,
        /// How.
        outcome: String,
    },
    /// A target did not take a notification.
    Undelivered {
        /// The target.
        target: String,
        /// Why.
        error: String,
        /// Whether it is tried again.
        again: bool,
    },
    /// So many things that happened here were not told, for nobody took what was told before.
    Dropped {
        /// How many.
        count: u64,
    },
    /// Nothing happens until then.
    Waiting {
        /// When the next chain begins, in Unix milliseconds.
        until_ms: i64,
    },
}

impl Notice {
    /// Returns an event as it is told.
    pub(crate) fn of_stored(event: &airtight_store::NewWatchEvent) -> Self {
        let level = airtight_core::watch::Level::named(&event.level);
        Self::Event {
            session: event.session.clone(),
            level: level.unwrap_or(airtight_core::watch::Level::Info).name(),
            service: event.service.clone(),
            message: event.message.clone(),
        }
    }
}

/// Tells what happens.
pub trait Teller: Send + Sync {
    /// Tells one thing; must not wait.
    fn tell(&self, notice: Notice);
}
