//! What is on record at the end, read whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use airtight_store::{
    Action, ActionFilter, Chain, Check, Escalation, EscalationFilter, EventFilter, Ledger,
    Location, Memory, MemoryFilter, Notification, Order, PAGE_LIMIT, Page, Session, SessionFilter,
    WatchEvent,
};

use crate::world::{HOUR_MS, Line, Said, World};

/// Everything that the ledger has.
pub(crate) struct Ledgered {
    pub(crate) sessions: Vec<Session>,
    /// What each session was asked, by its name.
    pub(crate) prompts: BTreeMap<String, String>,
    pub(crate) events: Vec<WatchEvent>,
    pub(crate) chains: Vec<Chain>,
    pub(crate) actions: Vec<Action>,
    pub(crate) escalations: Vec<Escalation>,
    pub(crate) checks: Vec<Check>,
    pub(crate) memories: Vec<Memory>,
    pub(crate) notifications: Vec<Notification>,
}

/// Reads page after page.
macro_rules! all {
    ($ask:expr) => {{
        let mut rows = Vec::new();
        loop {
            let after = rows.last().map(number);
            let page = Page { limit: PAGE_LIMIT, after, order: Order::OldestFirst };
            let more = $ask(page).await.unwrap();
            if more.is_empty() {
                break rows;
            }
            rows.extend(more);
        }
    }};
}

/// Rows are ordered by their numbers.
trait Numbered {
    fn number(&self) -> i64;
}

macro_rules! numbered {
    ($($row:ty),*) => { $(impl Numbered for $row { fn number(&self) -> i64 { self.number } })* };
}

numbered!(Session, WatchEvent, Chain, Action, Escalation, Check, Memory, Notification);

fn number(row: &impl Numbered) -> i64 {
    row.number()
}

impl Ledgered {
    pub(crate) async fn read(folder: &Path) -> Self {
        let location = Location::Sqlite(folder.join("ledger.db"));
        let ledger = Ledger::open(&location).await.unwrap();
        let (every_session, every_event) = (SessionFilter::default(), EventFilter::default());
        let (every_action, every_memory) = (ActionFilter::default(), MemoryFilter::default());
        let every_escalation = EscalationFilter::default();
        let sessions: Vec<Session> = all!(|page| ledger.sessions(&every_session, page));
        let mut prompts = BTreeMap::new();
        for session in sessions.iter().filter(|it| it.cause == "verification") {
            let (_, texts) = ledger.session(&session.id).await.unwrap();
            prompts.insert(session.id.clone(), texts.prompt.unwrap());
        }
        let record = Self {
            sessions,
            prompts,
            events: all!(|page| ledger.watch_events(&every_event, page)),
            chains: all!(|page| ledger.chains(page)),
            actions: all!(|page| ledger.actions(&every_action, page)),
            escalations: all!(|page| ledger.escalations(&every_escalation, page)),
            checks: all!(|page| ledger.service_checks(None, page)),
            memories: all!(|page| ledger.memories(&every_memory, page)),
            notifications: all!(|page| ledger.notifications(None, page)),
        };
        ledger.close().await;
        record
    }

    /// Returns the sessions whose yield is on record, with what they said, in their order.
    pub(crate) fn kept<'a>(
        &'a self,
        world: &'a World,
    ) -> impl Iterator<Item = (&'a Session, &'a Said)> {
        let said: BTreeMap<&str, &Said> =
            world.said().map(|said| (said.session.as_str(), said)).collect();
        let kept = self.sessions.iter().filter(|it| it.extraction == "structured");
        kept.map(move |session| (session, said[session.id.as_str()]))
    }

    /// P1: every session that began is on record once and is over, and none was begun twice.
    pub(crate) fn assert_sessions(&self, world: &World) {
        assert!(self.sessions.len() > 750, "{} sessions", self.sessions.len());
        let mut began = BTreeSet::new();
        for line in &world.lines {
            if let Line::Began { session } = line {
                assert!(began.insert(session.as_str()), "{session} was begun twice");
            }
        }
        let stored: BTreeSet<&str> = self.sessions.iter().map(|it| it.id.as_str()).collect();
        assert!(began.is_subset(&stored), "a session is lost");
        assert!(self.sessions.iter().all(|it| it.status != "running"));
        assert!(self.chains.iter().all(|it| it.ended_at.is_some()));
        let tiers = [1, 2, 3].map(|tier| self.sessions.iter().filter(|it| it.tier == tier).count());
        assert!(tiers.iter().all(|count| *count > 5), "{tiers:?}");
    }

    /// P1: what a session yields is on record whole and once, or not at all; what it was told is kept, is.
    pub(crate) fn assert_events(&self, world: &World) {
        let mut stored: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for event in self.events.iter().filter(|it| it.origin == "structured") {
            let session = event.session.as_deref().unwrap();
            stored.entry(session).or_default().push(&event.message);
        }
        let kept: BTreeMap<&str, &Said> =
            self.kept(world).map(|(session, said)| (session.id.as_str(), said)).collect();
        for said in world.said() {
            let id = said.session.as_str();
            let expected: Vec<&str> = said.events.iter().map(String::as_str).collect();
            match stored.remove(id) {
                Some(events) => assert_eq!(events, expected, "{id}"),
                None => assert!(!world.is_kept(id), "the events of {id} are lost"),
            }
            assert!(!world.is_kept(id) || kept.contains_key(id), "{id} is kept and not on record");
        }
        assert_eq!(stored, BTreeMap::new(), "nobody said this");
    }

    /// CO-71, S1: an escalation is acted on once, and three to a tier within an hour at most.
    pub(crate) fn assert_escalations(&self) {
        let escalated: BTreeSet<&str> = self
            .sessions
            .iter()
            .filter(|it| it.status == "escalated")
            .map(|it| it.id.as_str())
            .collect();
        let from: Vec<&str> = self.escalations.iter().map(|it| it.session.as_str()).collect();
        assert_eq!(from.iter().copied().collect::<BTreeSet<_>>(), escalated);
        assert_eq!(from.len(), escalated.len(), "one of them twice");
        let mut parents: Vec<&str> =
            self.sessions.iter().filter_map(|it| it.parent.as_deref()).collect();
        let all = parents.len();
        parents.sort_unstable();
        parents.dedup();
        assert_eq!(parents.len(), all, "one session follows another");
        for tier in [2, 3] {
            let at: Vec<i64> =
                self.escalations.iter().filter(|it| it.tier == tier).map(|it| it.at).collect();
            assert!(at.len() > 5, "{} escalations to tier {tier}", at.len());
            assert!(at.windows(4).all(|four| four[3] - four[0] >= HOUR_MS), "tier {tier}: {at:?}");
        }
    }
}
