//! A staff that does as it is told, one act for each session.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use airtight_core::watch::{
    ActionState, AgentResponse, Escalation, EscalationRequest, Event, Level, Payload, ServiceCheck,
    ServiceStatus, SessionEnding, Tier,
};
use airtight_store::{Lead, Ledger, Minutes, StoreError};
use airtight_watch::{Account, Assignment, NoRun, Performed, Settling, Staff, Who, Witness};
use sqlx::{AnyConnection, Connection as _};
use tokio::sync::Notify;

/// What a session does.
pub(crate) enum Act {
    /// Says this.
    Says(AgentResponse),
    /// Runs these commands, then says that all is well.
    Runs(&'static [&'static str]),
    /// Never comes back: its watch is gone meanwhile.
    Hangs,
    /// Says this, and its watch is gone once that is on record.
    SaysLast(AgentResponse),
    /// Says this to a ledger that fails so often before it takes it.
    SaysTo(AgentResponse, u32),
    /// Says this, and another process holds the ledger at this URL from then on.
    SaysThenHolds(AgentResponse, String),
}

pub(crate) struct Crew {
    ledger: Ledger,
    acts: Mutex<VecDeque<Act>>,
    /// Told when the watch is gone.
    pub(crate) gone: Arc<Notify>,
    /// Whether each command was admitted.
    pub(crate) admitted: Arc<Mutex<Vec<bool>>>,
    /// Who holds the ledger.
    pub(crate) holder: Arc<Mutex<Option<AnyConnection>>>,
}

impl Crew {
    pub(crate) fn new(ledger: Ledger, acts: impl IntoIterator<Item = Act>) -> Self {
        Self {
            ledger,
            acts: Mutex::new(acts.into_iter().collect()),
            gone: Arc::default(),
            admitted: Arc::default(),
            holder: Arc::default(),
        }
    }

    fn performed(&self, response: AgentResponse, after: After) -> Performed {
        let inner = NoRun(self.ledger.clone());
        Performed {
            ending: SessionEnding::FINE,
            payload: Payload::Accepted(Box::new(response)),
            said: Vec::new(),
            result: None,
            failure: None,
            turns: Some(1),
            cost: None,
            pending: false,
            account: Box::new(Ending { inner, after }),
        }
    }
}

impl Staff for Crew {
    fn who(&self, _tier: Tier) -> Who {
        Who { driver: "told".to_owned(), model: "none".to_owned() }
    }

    async fn perform(&self, assignment: Assignment, _witness: &mut dyn Witness) -> Performed {
        let act = self.acts.lock().unwrap().pop_front();
        let Some(act) = act else { panic!("nobody expects a session of {}", assignment.tier) };
        match act {
            Act::Says(response) => self.performed(response, After::Nothing),
            Act::Runs(commands) => {
                for (place, command) in commands.iter().enumerate() {
                    let call = format!("{}-{place}", assignment.session);
                    let admitted = assignment.guard.admit(&call, command).await;
                    assignment.guard.close(&call, ActionState::Success, None).await;
                    self.admitted.lock().unwrap().push(admitted.is_ok());
                }
                self.performed(well(), After::Nothing)
            }
            Act::Hangs => {
                self.gone.notify_one();
                std::future::pending().await
            }
            Act::SaysLast(response) => {
                self.performed(response, After::Gone(Arc::clone(&self.gone)))
            }
            Act::SaysTo(response, times) => {
                self.performed(response, After::Failing(AtomicU32::new(times)))
            }
            Act::SaysThenHolds(response, url) => {
                self.performed(response, After::Held(url, Arc::clone(&self.holder)))
            }
        }
    }
}

/// What becomes of the ledger when a session is on record.
enum After {
    Nothing,
    Gone(Arc<Notify>),
    /// It fails before that, so often.
    Failing(AtomicU32),
    Held(String, Arc<Mutex<Option<AnyConnection>>>),
}

struct Ending {
    inner: NoRun,
    after: After,
}

impl Account for Ending {
    fn settle(&self, lead: Lead, minutes: Minutes) -> Settling<'_> {
        Box::pin(async move {
            if let After::Failing(times) = &self.after
                && times.load(Ordering::SeqCst) > 0
            {
                times.fetch_sub(1, Ordering::SeqCst);
                return Err(StoreError::Locked);
            }
            self.inner.settle(lead, minutes).await?;
            match &self.after {
                After::Nothing | After::Failing(_) => Ok(()),
                After::Gone(gone) => {
                    gone.notify_one();
                    std::future::pending().await
                }
                After::Held(url, holder) => {
                    let held = hold(url).await;
                    *holder.lock().unwrap() = Some(held);
                    Ok(())
                }
            }
        })
    }
}

/// Holds a ledger, as a process does that writes to it.
async fn hold(url: &str) -> AnyConnection {
    let mut connection = AnyConnection::connect(url).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
    connection
}

/// A report that all is well.
pub(crate) fn well() -> AgentResponse {
    AgentResponse {
        summary: "all is well".to_owned(),
        events: vec![Event::of_session(Level::Info, None, "looked")],
        memories: Vec::new(),
        escalation: Escalation::NotNeeded,
        services_checked: Vec::new(),
    }
}

/// A report that `web` is down, and that the next tier is needed.
pub(crate) fn down() -> AgentResponse {
    AgentResponse {
        summary: "web is down".to_owned(),
        escalation: Escalation::Needed(EscalationRequest {
            reason: Some("web is down".to_owned()),
            context: None,
            failed_checks: Vec::new(),
        }),
        services_checked: vec![ServiceCheck {
            name: "web".to_owned(),
            status: ServiceStatus::Down,
            detail: None,
        }],
        ..well()
    }
}
