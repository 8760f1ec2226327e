//! Places where a stream waits for the test.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// A place where streams wait until the test lets them go on.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Sides>);

#[derive(Debug)]
struct Sides {
    open: watch::Sender<bool>,
    arrivals: watch::Sender<usize>,
}

impl Gate {
    fn new() -> Self {
        Self(Arc::new(Sides { open: watch::Sender::new(false), arrivals: watch::Sender::new(0) }))
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Waits until a stream has reached the gate.
    pub async fn reached(&self) {
        self.reached_by(1).await;
    }

    /// Waits until so many streams have reached the gate.
    pub async fn reached_by(&self, streams: usize) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _seen = self.0.arrivals.subscribe().wait_for(|seen| *seen >= streams).await.is_ok();
    }

    /// Waits at the gate as a stream does.
    pub(crate) async fn pass(&self) {
        self.0.arrivals.send_modify(|seen| *seen += 1);
        let _opened = self.0.open.subscribe().wait_for(|open| *open).await.is_ok();
    }
}

/// All gates of a server, by name. A gate exists as soon as somebody names it.
#[derive(Debug, Default)]
pub(crate) struct Gates(Mutex<HashMap<String, Gate>>);

impl Gates {
    /// Returns the gate of this name.
    pub(crate) fn named(&self, name: &str) -> Gate {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(name.to_owned()).or_insert_with(Gate::new).clone()
    }
}
