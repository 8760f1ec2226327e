//! The turns of a server, and which request gets which.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::endpoint::Wire;
use crate::turn::{Repeat, Turn};

/// What a server says, request by request.
///
/// A request gets the first turn that is not used up and that accepts it. Without conditions that
/// is simply the next one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The turns, in order.
    pub turns: Vec<Turn>,
    /// What requests get for which no turn is left; an error that says so if absent.
    #[serde(default)]
    pub otherwise: Option<Turn>,
    /// Whether requests are refused that the vendor would refuse.
    #[serde(default)]
    pub checks: Checks,
}

/// Whether requests are refused that the vendor would refuse. Such a request uses up no turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checks {
    /// They are: no key, no messages, calls without results and the like.
    #[default]
    Vendor,
    /// Anything goes.
    Off,
}

impl Script {
    /// Makes a script of turns.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().collect(), ..Self::default() }
    }

    /// Sets what requests get for which no turn is left.
    #[must_use]
    pub fn otherwise(mut self, turn: Turn) -> Self {
        self.otherwise = Some(turn);
        self
    }

    /// Takes any request, also those that the vendor would refuse.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.checks = Checks::Off;
        self
    }
}

impl<T: IntoIterator<Item = Turn>> From<T> for Script {
    fn from(turns: T) -> Self {
        Self::new(turns)
    }
}

impl From<Turn> for Script {
    fn from(turn: Turn) -> Self {
        Self::new([turn])
    }
}

/// A script while it is played.
#[derive(Debug)]
pub(crate) struct Playlist(Mutex<Script>);

impl Playlist {
    /// Starts to play.
    pub(crate) fn new(script: Script) -> Self {
        Self(Mutex::new(script))
    }

    /// Adds a turn at the end.
    pub(crate) fn push(&self, turn: Turn) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).turns.push(turn);
    }

    /// Returns how many turns are left, repeated ones included.
    pub(crate) fn remaining(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).turns.len()
    }

    /// Takes the turn for a request.
    pub(crate) fn take(&self, wire: Wire, model: &str, body: &Value) -> Option<Turn> {
        let mut script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = script.turns.iter().position(|turn| turn.when.accepts(wire, model, body));
        let Some(at) = at else { return script.otherwise.clone() };
        match script.turns.get(at)?.repeat {
            Repeat::Once => Some(script.turns.remove(at)),
            Repeat::Forever => script.turns.get(at).cloned(),
        }
    }
}
