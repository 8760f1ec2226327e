//! Judges a command before it runs: what it would do to services, and whether there is room for that.

use serde::{Deserialize, Serialize};

use super::command::{CommandAction, CommandNote, Recognised};
use super::window::{CooldownLimits, Room, room};
use super::{ActionRecord, ActionState, CooldownAction};
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::notification::{Notification, NotificationCategory};
use crate::watch::services::ServiceState;
use crate::watch::span::span;

/// Whether a command may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CooldownVerdict {
    /// It acts on no service, as far as it is understood.
    NotAnAction {
        /// What is not understood.
        notes: Vec<CommandNote>,
    },
    /// It may, once all of these are on record as reserved.
    Allow {
        /// What it does.
        reserve: Vec<CommandAction>,
        /// What is not understood.
        notes: Vec<CommandNote>,
    },
    /// It must not run.
    Deny(Denied),
    /// It must not run: what it does to services is in a loop, and cannot be counted.
    Repeated {
        /// What it does again and again.
        command: String,
    },
    /// It must not run: it starts this very program, by which people decide about sessions.
    Own {
        /// How it starts it.
        command: String,
    },
}

/// Why a command must not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// The service.
    pub service: String,
    /// What would be done to it.
    pub action: CooldownAction,
    /// What the session is told.
    pub reason: String,
    /// When it may be done again; nothing if never.
    pub until_ms: Option<i64>,
}

impl Denied {
    /// Returns the event that tells of it.
    pub fn event(&self) -> Event {
        let service = Some(self.service.clone());
        Event { service, ..Event::of_watch(Level::Warning, self.reason.clone()) }
    }

    /// Returns the notification that somebody must look.
    pub fn notification(&self) -> Notification {
        Notification {
            category: NotificationCategory::HumanAttention,
            cause: format!("cooldown {} {}", self.service, self.action),
            title: format!("Needs human attention: {}", self.service),
            body: self.reason.clone(),
        }
    }
}

/// Judges a command by what is `recognised` in it, the `records` of what was done and the states of
/// `services`.
///
/// All that it does counts together, in its order: the second restart in one line is the second. Names are
/// compared as they are: whoever masks them on record masks them here.
pub fn judge_command(
    recognised: Recognised,
    records: &[ActionRecord],
    services: &[ServiceState],
    limits: &CooldownLimits,
    now_ms: i64,
) -> CooldownVerdict {
    if let Some(command) = recognised.own {
        return CooldownVerdict::Own { command };
    }
    if let Some(command) = recognised.repeated {
        return CooldownVerdict::Repeated { command };
    }
    if recognised.actions.is_empty() {
        return CooldownVerdict::NotAnAction { notes: recognised.notes };
    }
    let mut planned: Vec<ActionRecord> = Vec::new();
    for action in &recognised.actions {
        let known = records.iter().chain(&planned).filter(|it| it.service == action.service);
        let known: Vec<&ActionRecord> = known.collect();
        let state = services.iter().find(|state| state.name == action.service);
        let cleared_at = state.and_then(|state| state.cleared_at_ms);
        let window = limits.window(action.action.counter());
        if let Room::Full { done, until_ms } =
            room(&known, action.action, window, cleared_at, now_ms)
        {
            let times = if done == 1 { "once".to_owned() } else { format!("{done} times") };
            let within = span(window.within_ms);
            let until = match until_ms {
                Some(until) => {
                    format!("Not before {} from now", span(until.saturating_sub(now_ms)))
                }
                None => "Never by a session".to_owned(),
            };
            let CommandAction { service, action, .. } = action;
            let reason = format!(
                "cooldown: no {action} of {service}: it was acted on {times} within {within}, and at \
                 most {} are allowed. {until}. Do not try another way: it needs human attention",
                window.most
            );
            let (service, action) = (service.clone(), *action);
            return CooldownVerdict::Deny(Denied { service, action, reason, until_ms });
        }
        planned.push(ActionRecord {
            id: String::new(),
            service: action.service.clone(),
            action: action.action,
            at_ms: now_ms,
            state: ActionState::Reserved,
            session_id: None,
        });
    }
    CooldownVerdict::Allow { reserve: recognised.actions, notes: recognised.notes }
}
