//! What a process finds that begins to lead: what the leader before left, and what operators changed.

use airtight_core::watch::{
    ActionRecord, ActionState, Chain, Event, Extraction, GONE, Level, Roll, Schedule,
    SessionEnding, settle_claims,
};
use airtight_store::{
    ActionFilter, ChainState, Check, Minutes, Order, PAGE_LIMIT, Page, Service, SessionEnd,
    SessionFilter,
};

use crate::book;
use crate::clock::Clock;
use crate::conclude::written;
use crate::error::WatchError;
use crate::notice::Notice;
use crate::staff::Staff;
use crate::watcher::{Office, SCHEDULE};

/// The services that stand in the operator's list.
const ROLL: &str = "roll";

/// Every session of a chain: there are three at most.
const SESSIONS: Page = Page { limit: PAGE_LIMIT, after: None, order: Order::OldestFirst };

impl<S: Staff, C: Clock + 'static> Office<'_, S, C> {
    /// Goes on with what a leader before left. Nothing that had begun is done again.
    pub(crate) async fn recover(&self, schedule: &mut Schedule) -> Result<(), WatchError> {
        let at_ms = self.now_ms();
        let open = ActionFilter { state: Some(ActionState::Reserved), ..ActionFilter::default() };
        let records = book::actions_of(&self.ledger, open).await?;
        let mut minutes = Minutes { at_ms, ..Minutes::default() };
        for change in settle_claims(&records, &[], at_ms) {
            book::act(&mut minutes, &change, None, 0);
        }
        if !minutes.actions.is_empty() {
            self.ledger.minute(self.leadership.lead, minutes).await?;
        }
        self.call_roll().await?;
        let Some(left) = self.ledger.open_chain().await? else { return Ok(()) };
        self.teller.tell(Notice::Recovered { chain: left.id.clone() });
        let actions = self.actions_of(&left.id).await?;
        match serde_json::from_str::<Chain>(&left.machine) {
            Ok(mut chain) => {
                chain.recovered(self.estate.policy.clone(), &actions, at_ms);
                self.perform(chain, schedule).await.map(drop)
            }
            Err(error) => self.give_up(left, &actions, &error.to_string(), schedule).await,
        }
    }

    /// Returns what the sessions of a chain did to services.
    async fn actions_of(&self, chain: &str) -> Result<Vec<ActionRecord>, WatchError> {
        let of_chain = SessionFilter { chain: Some(chain.to_owned()), ..SessionFilter::default() };
        let mut actions = Vec::new();
        for session in self.ledger.sessions(&of_chain, SESSIONS).await? {
            let own = ActionFilter { session: Some(session.id), ..ActionFilter::default() };
            actions.extend(book::actions_of(&self.ledger, own).await?);
        }
        Ok(actions)
    }

    /// Ends a chain that cannot be read: of another version, or damaged. Its session is lost, and what was
    /// done is looked at again.
    async fn give_up(
        &self,
        left: airtight_store::Chain,
        actions: &[ActionRecord],
        why: &str,
        schedule: &mut Schedule,
    ) -> Result<(), WatchError> {
        let at_ms = self.now_ms();
        let message = format!("a chain that was left cannot be gone on with: {why}");
        let event = Event::of_watch(Level::Critical, message);
        let mut acted_on: Vec<String> = actions.iter().map(|it| it.service.clone()).collect();
        acted_on.sort_unstable();
        acted_on.dedup();
        self.verify(schedule, &acted_on, at_ms);
        let running = SessionFilter {
            chain: Some(left.id.clone()),
            status: Some("running".to_owned()),
            ..SessionFilter::default()
        };
        let lost = |session: airtight_store::Session| SessionEnd {
            id: session.id,
            status: SessionEnding::Lost.status().name().to_owned(),
            extraction: Extraction::None.name().to_owned(),
            ..SessionEnd::default()
        };
        let ended = self.ledger.sessions(&running, SESSIONS).await?.into_iter().map(lost).collect();
        let events = vec![book::event(&event, None, &left.id, event.origin.name())];
        let chain = Some(ChainState {
            id: left.id,
            cause: left.cause,
            machine: left.machine,
            started_at: left.started_at,
            ended_at: Some(at_ms),
        });
        let marks = vec![(SCHEDULE.to_owned(), written(schedule)?)];
        let minutes = Minutes { at_ms, chain, ended, events, marks, ..Minutes::default() };
        Ok(self.ledger.minute(self.leadership.lead, minutes).await?)
    }

    /// Marks services as gone that were taken out of the operator's list. Their history stays.
    async fn call_roll(&self) -> Result<(), WatchError> {
        let Some(list) = &self.estate.services else { return Ok(()) };
        let stored = self.ledger.mark(ROLL).await?;
        let stored = stored.and_then(|stored| serde_json::from_str::<Roll>(&stored).ok());
        let before = stored.unwrap_or_default();
        let mut roll = before.clone();
        let services = self.ledger.services().await?;
        let known = services.iter().filter(|it| it.status != GONE).map(|it| it.name.as_str());
        let gone = roll.call(known, list);
        if roll == before {
            return Ok(());
        }
        let at_ms = self.now_ms();
        let mut minutes = Minutes { at_ms, ..Minutes::default() };
        minutes.marks.push((ROLL.to_owned(), written(&roll)?));
        for name in gone {
            let message = format!("{name} is not in the list of services any more");
            let event =
                Event { service: Some(name.clone()), ..Event::of_watch(Level::Info, message) };
            minutes.events.push(book::event_of_watch(&event));
            minutes.services.push(parted(&name, at_ms));
            minutes.checks.push(Check {
                service: name,
                status: GONE.to_owned(),
                checked_at: at_ms,
                ..Check::default()
            });
        }
        let told = minutes.events.clone();
        self.ledger.minute(self.leadership.lead, minutes).await?;
        for event in &told {
            self.teller.tell(Notice::of_stored(event));
        }
        Ok(())
    }
}

/// Returns a service as it is once it is gone: whatever it was before says nothing about one that may come
/// back under its name.
fn parted(name: &str, at_ms: i64) -> Service {
    Service {
        name: name.to_owned(),
        status: GONE.to_owned(),
        changed_at: at_ms,
        checked_at: at_ms,
        ..Service::default()
    }
}
