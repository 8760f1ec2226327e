//! Follows an answer while it is said, and says when nothing can save it any more.
//!
//! The watch sees only where it may judge: answers in the contract's own shape, which the provider
//! was asked to hold to the schema, while a re-ask is left. A cancelled answer thus costs a re-ask
//! at worst, never the run. [`certainty`](super::certainty) has the rule for what is certain.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::codec::Delta;
use crate::contract::Contract;
use crate::judge::Strictness;
use crate::stream::{Follower, Impossible, Plan, Progress};

use super::certainty::is_certain;

/// Follows one streamed answer and says when it cannot conform any more.
#[derive(Debug)]
pub struct Watch(Sight);

#[derive(Debug)]
enum Sight {
    Blind,
    Text(Box<(Guard, Lane)>),
    Calls { guard: Guard, tool: String, lanes: BTreeMap<usize, Lane> },
}

/// What an answer is followed by.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) contract: Arc<Contract>,
    pub(super) plan: Arc<Plan>,
    pub(super) strictness: Strictness,
    pub(super) calls: Calls,
}

/// Whether calls may follow the text that is watched, which make it no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    Possible,
    Impossible,
}

/// One answer, as far as it was said; nothing once it need not be followed any more.
#[derive(Debug)]
struct Lane(Option<(Follower, usize)>);

impl Watch {
    /// Returns a watch that never objects.
    pub(super) fn blind() -> Self {
        Self(Sight::Blind)
    }

    /// Returns a watch over the text of a turn.
    pub(super) fn over_text(guard: Guard) -> Self {
        let lane = Lane::begin(&guard);
        Self(Sight::Text(Box::new((guard, lane))))
    }

    /// Returns a watch over the arguments of every call of `tool`.
    pub(super) fn over_calls(guard: Guard, tool: &str) -> Self {
        Self(Sight::Calls { guard, tool: tool.to_owned(), lanes: BTreeMap::new() })
    }

    /// Reads the next delta.
    pub fn push(&mut self, delta: &Delta) -> Option<Impossible> {
        match (&mut self.0, delta) {
            (Sight::Text(watched), Delta::Text(text)) => {
                let (guard, lane) = watched.as_mut();
                lane.push(text, guard)
            }
            (Sight::Calls { guard, tool, lanes }, Delta::CallStarted { index, name, .. })
                if name == tool =>
            {
                lanes.insert(*index, Lane::begin(guard));
                None
            }
            (Sight::Calls { guard, lanes, .. }, Delta::CallArguments { index, text }) => {
                lanes.get_mut(index)?.push(text, guard)
            }
            _ => None,
        }
    }
}

impl Lane {
    fn begin(guard: &Guard) -> Self {
        Self(Some((Follower::new(guard.plan.clone()), 0)))
    }

    fn push(&mut self, piece: &str, guard: &Guard) -> Option<Impossible> {
        let (follower, before) = self.0.as_mut()?;
        let Progress::Impossible(impossible) = follower.push(piece.as_bytes()) else {
            *before += piece.len();
            return None;
        };
        let impossible = *impossible.clone();
        let within = impossible.offset.checked_sub(*before);
        let byte = within.and_then(|offset| piece.as_bytes().get(offset)).copied();
        let is_certain = is_certain(guard, &impossible, byte, follower.growing());
        self.0 = None;
        is_certain.then_some(impossible)
    }
}
