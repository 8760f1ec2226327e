//! What waits for somebody's leave, and for how long that is worth anything.

use std::collections::BTreeSet;

use super::Escalate;
use crate::excerpt;
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::quote::one_line;
use crate::watch::span::span;
use crate::watch::tier::Tier;

/// What was asked for longer ago than this is not acted on, whoever gave leave: what it knows is old.
pub const LEAVE_MS: i64 = 24 * 60 * 60 * 1_000;

/// How much of the names of services is told in an event.
const NAMES_CHARS: usize = 300;

/// An escalation that waits for leave, or has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its id.
    pub id: String,
    /// Who would take over.
    pub to: Tier,
    /// What it is about.
    pub affected: Vec<String>,
    /// When it was asked for.
    pub asked_at_ms: i64,
}

impl Waiting {
    /// Claims that it was asked for too long ago to be acted on.
    pub fn is_overdue_at(&self, now_ms: i64) -> bool {
        now_ms.saturating_sub(self.asked_at_ms) > LEAVE_MS
    }

    /// Claims that `newer` asks for the same: whoever gives leave should give it to what is known now.
    pub fn is_replaced_by(&self, newer: &Escalate) -> bool {
        let names = |affected: &[String]| affected.iter().cloned().collect::<BTreeSet<_>>();
        self.to == newer.to && names(&self.affected) == names(&newer.affected)
    }

    /// Returns the event that tells that it is not acted on, although it has leave.
    pub fn overdue(&self, now_ms: i64) -> Event {
        let ago = span(now_ms.saturating_sub(self.asked_at_ms));
        let message =
            format!("{self} is declined: it was asked for {ago} ago, and what it knows is old");
        self.event(Level::Warning, message)
    }

    /// Returns the event that tells that something newer waits in its place.
    pub fn replaced(&self) -> Event {
        self.event(Level::Info, format!("{self} is declined: the same is asked for anew"))
    }

    fn event(&self, level: Level, message: String) -> Event {
        let service = self.affected.first().filter(|_| self.affected.len() == 1).cloned();
        Event { service, ..Event::of_watch(level, message) }
    }
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "an earlier escalation to {}", self.to)?;
        if self.affected.is_empty() {
            return Ok(());
        }
        let names = one_line(&self.affected.join(", "));
        write!(out, " ({})", excerpt(&names, NAMES_CHARS, "…"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(affected: &[&str]) -> Waiting {
        let affected = affected.iter().map(|name| (*name).to_owned()).collect();
        Waiting { id: "e".to_owned(), to: Tier::Investigate, affected, asked_at_ms: 0 }
    }

    #[test]
    fn leave_is_worth_something_for_a_day() {
        let waiting = waiting(&["web"]);
        assert!(!waiting.is_overdue_at(LEAVE_MS));
        assert!(waiting.is_overdue_at(LEAVE_MS + 1));
        let told = waiting.overdue(LEAVE_MS + 60_000);
        let expected = "an earlier escalation to tier 2 (web) is declined: it was asked for 1 d 1 min \
            ago, and what it knows is old";
        assert_eq!((told.message.as_str(), told.service.as_deref()), (expected, Some("web")));
    }

    #[test]
    fn the_same_services_in_any_order_are_the_same() {
        let newer = |to, affected: &[&str]| Escalate {
            to,
            affected: waiting(affected).affected,
            context: String::new(),
            events: Vec::new(),
        };
        let older = waiting(&["web", "db"]);
        assert!(older.is_replaced_by(&newer(Tier::Investigate, &["db", "web"])));
        assert!(!older.is_replaced_by(&newer(Tier::Remediate, &["db", "web"])));
        assert!(!older.is_replaced_by(&newer(Tier::Investigate, &["db"])));
        assert!(waiting(&[]).is_replaced_by(&newer(Tier::Investigate, &[])));
    }
}
