//! Hooks that cannot do their part, told to the user: a guard that nobody hears guards nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::command::Ended;
use super::{Hook, HookEvent};

/// A hook that failed, and what that meant for the run.
///
/// What the hook wrote is not in it: hooks see arguments that no record may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFault {
    event: HookEvent,
    /// Whole: half a secret cannot be told from other text, and would not be masked.
    command: String,
    ended: FaultyEnd,
}

/// How a hook failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultyEnd {
    /// With a code that is neither consent nor objection.
    Code(i32),
    /// By a signal.
    Signal,
    /// It took longer than it may.
    TimedOut { seconds: u64 },
    /// It never ran.
    NotStarted,
}

impl FaultyEnd {
    fn of(hook: &Hook, ended: &Ended) -> Option<Self> {
        match ended {
            Ended::Exited { code: Some(0 | 2), .. } => None,
            Ended::Exited { code: Some(code), .. } => Some(Self::Code(*code)),
            Ended::Exited { code: None, .. } => Some(Self::Signal),
            Ended::TimedOut => Some(Self::TimedOut { seconds: hook.timeout.as_secs() }),
            Ended::NotStarted => Some(Self::NotStarted),
        }
    }
}

impl fmt::Display for HookFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "hook `{}` ({}) ", self.command, self.event.name())?;
        match self.ended {
            FaultyEnd::Code(code) => write!(out, "exited with {code}")?,
            FaultyEnd::Signal => out.write_str("was ended by a signal")?,
            FaultyEnd::TimedOut { seconds } => write!(out, "gave no answer within {seconds} s")?,
            FaultyEnd::NotStarted => out.write_str("could not be started")?,
        }
        out.write_str(match (self.ended, self.event) {
            (FaultyEnd::TimedOut { .. } | FaultyEnd::NotStarted, HookEvent::PreToolUse) => {
                ", which counts as an objection"
            }
            _ => ", which counts as no objection",
        })
    }
}

/// The hooks of a run that failed, each told once. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct HookFaults(Arc<Mutex<Faults>>);

#[derive(Debug, Default)]
struct Faults {
    /// The places of the hooks that failed, in the list of all.
    known: BTreeSet<usize>,
    untold: Vec<HookFault>,
}

impl HookFaults {
    /// Returns what was not returned before.
    pub fn take(&self) -> Vec<HookFault> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).untold)
    }

    /// Keeps how the hook at `place` ended if it failed for the first time.
    pub(super) fn keep(&self, place: usize, hook: &Hook, ended: &Ended) {
        let Some(ended) = FaultyEnd::of(hook, ended) else { return };
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.known.insert(place) {
            let command = hook.command.trim().to_owned();
            let fault = HookFault { event: hook.event, command, ended };
            tracing::warn!(%fault, "a hook failed");
            faults.untold.push(fault);
        }
    }
}
