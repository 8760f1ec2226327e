//! Which names can be asked for: those that somebody stands behind now.
//!
//! Weights are fetched and programs installed while a server runs, so it looks again; but not for every
//! request, since it reads the files of all contracts.

use std::sync::Arc;
use std::time::Duration;

use airtight_core::transcript::Program;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::bench::{CLI_SUFFIX, EMBEDDED, USUAL, Workshop};
use crate::source::ContractSource;

/// How long a list stands: shorter than it takes to set something up and ask for it.
const STANDS: Duration = Duration::from_secs(5);

/// A list, and when it was made.
type Dated = (Instant, Vec<String>);

/// The last list.
#[derive(Debug, Default)]
pub(super) struct Listing(Arc<Mutex<Option<Dated>>>);

impl Listing {
    /// Returns the names; who comes while they are looked for waits for the same list, also if the one
    /// who came first has gone.
    pub(super) async fn names(&self, workshop: &Workshop) -> Vec<String> {
        let mut last = Arc::clone(&self.0).lock_owned().await;
        if let Some((made_at, names)) = &*last
            && made_at.elapsed() < STANDS
        {
            return names.clone();
        }
        let workshop = workshop.clone();
        let looking = spawn_blocking(move || {
            let found = names(&workshop);
            last.insert((Instant::now(), found)).1.clone()
        });
        looking.await.unwrap_or_default()
    }
}

fn names(workshop: &Workshop) -> Vec<String> {
    let usual = [USUAL, EMBEDDED].map(str::to_owned);
    let programs = Program::ALL.map(|program| format!("{}{CLI_SUFFIX}", program.name()));
    let contracts = ContractSource::names(&workshop.environment);
    let all = usual.into_iter().chain(programs).chain(contracts);
    all.filter(|name| workshop.answers_by(name)).collect()
}
