//! The pages: what the agents did, what they are doing now, what failed and why, and what to do about it.
//!
//! Every page is rendered by the server and works without JavaScript; the script only keeps it fresh. The
//! rule it protects: whatever a model, a tool or a user said is shown, bounded, and obeyed by nobody: not
//! by HTML, not by a terminal, not by the reader's eye.
//!
//! ```text
//! request ─► visit (who, what is asked) ─► ledger ─► page (maud) ─► layout
//! ```

mod assets;
mod badge;
mod change;
mod chart;
mod contracts;
mod cooldowns;
mod events;
mod failed;
mod form;
mod layout;
mod list;
mod login;
mod markdown;
mod memories;
mod overview;
mod queue;
mod run;
mod runs;
mod services;
mod sessions;
mod settings;
mod stats;
mod text;
mod tree;
mod visit;
mod watch;
mod words;

use std::sync::Arc;

use airtight_store::{Filter, Ledger, Page, Review};
use axum::Router;
use axum::middleware::from_fn;
use axum::routing::{get, post};

use crate::desk::Desk;
use crate::token::Token;

use failed::Failed;
pub(crate) use failed::page as fault;
use layout::{Freshness, Here, layout};
pub(crate) use text::harmless;
use visit::Visit;

/// What the pages work with.
#[derive(Clone)]
pub(crate) struct Pages {
    pub(crate) ledger: Ledger,
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) token: Token,
}

/// Returns the routes of the pages.
pub(crate) fn routes(pages: Pages) -> Router {
    Router::new()
        .route("/", get(overview::show))
        .route("/runs", get(runs::show))
        .route("/runs/{id}", get(run::show))
        .route("/runs/{id}/activity", get(run::activity))
        .route("/runs/{id}/text/{part}", get(run::plain))
        .route("/contracts", get(contracts::list))
        .route("/contracts/{name}", get(contracts::show))
        .route("/queue", get(queue::list))
        .route("/queue/{id}", get(queue::show).post(queue::decide))
        .route("/escalations/{id}", post(queue::answer))
        .route("/events", get(events::show))
        .route("/memories", get(memories::list).post(memories::add))
        .route("/memories/{id}", get(memories::edit).post(memories::change))
        .route("/services", get(services::list))
        .route("/services/{name}", get(services::show))
        .route("/sessions", get(sessions::list))
        .route("/sessions/{id}", get(sessions::show))
        .route("/sessions/{id}/text/{part}", get(sessions::plain))
        .route("/watch/look", post(watch::look))
        .route("/watch/stop", post(watch::stop))
        .route("/cooldowns", get(cooldowns::show))
        .route("/stats", get(stats::show))
        .route("/settings", get(settings::show))
        .route("/login", get(login::show))
        .route("/assets/{name}", get(assets::send))
        .layer(from_fn(failed::dress))
        .with_state(pages)
}

/// How many runs waiting for a person the menu counts; more are "99+".
const COUNTED: u32 = 100;

impl Pages {
    /// Counts the runs that wait for a person, as far as the menu tells.
    async fn waiting(&self) -> Result<usize, Failed> {
        let filter = Filter { review: Some(Review::Flagged), ..Filter::default() };
        let page = Page { limit: COUNTED, ..Page::default() };
        Ok(self.ledger.runs(&filter, page).await?.len())
    }
}
