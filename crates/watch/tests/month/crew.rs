//! The staff: looks at the world, repairs what it may, and reports; killed now and then at the worst points.

use std::process::Command;
use std::sync::Arc;

use airtight_core::watch::{
    ActionState, AgentResponse, Escalation, EscalationRequest, Event, KeyedMemory, Level, Payload,
    ServiceCheck, ServiceStatus, SessionEnding, Tier,
};
use airtight_store::{Lead, Ledger, Minutes};
use airtight_watch::{Account, Assignment, NoRun, Performed, Settling, Staff, Who, Witness};

use crate::chance::Chance;
use crate::memories::{self, BUDGET_TOKENS};
use crate::world::{DAY_MS, Fault, Line, OUTAGE_MS, SERVICES, Said, World};

/// The lives that end by chance; the last one comes to its end.
pub(crate) const DEADLY_LIVES: usize = 60;

/// How seldom a process ends where it acts, and elsewhere.
const WHILE_ACTING: u64 = 25;
const ANYWHERE: u64 = 120;

pub(crate) struct Crew {
    pub(crate) world: Arc<World>,
    pub(crate) ledger: Ledger,
    pub(crate) chance: Arc<Chance>,
    pub(crate) fate: Fate,
}

/// Whether this life ends at some point.
#[derive(Clone)]
pub(crate) struct Fate {
    pub(crate) chance: Arc<Chance>,
    pub(crate) is_deadly: bool,
}

impl Fate {
    /// Perhaps the process ends here, as by the kernel when memory is short.
    fn tempt(&self, once_in: u64) {
        if self.is_deadly && self.chance.is_one_in(once_in) {
            let own = std::process::id().to_string();
            drop(Command::new("kill").args(["-9", &own]).status());
            loop {
                std::thread::park();
            }
        }
    }
}

impl Crew {
    fn look(&self) -> Vec<ServiceCheck> {
        let check = |name: &str| {
            if self.world.fault(name) == Fault::None && self.chance.is_one_in(40) {
                let is_broken = self.chance.is_one_in(3);
                let fault = if is_broken { Fault::Broken } else { Fault::Hung };
                self.world.write(&Line::Service { name: name.to_owned(), fault });
            }
            let is_fine = self.world.fault(name) == Fault::None;
            ServiceCheck {
                name: name.to_owned(),
                status: if is_fine { ServiceStatus::Healthy } else { ServiceStatus::Down },
                detail: None,
            }
        };
        SERVICES.map(check).to_vec()
    }

    /// Tries everything that may help with what is down.
    async fn repair(&self, assignment: &Assignment) {
        for name in SERVICES {
            let restart = format!("docker restart {name}");
            self.act(assignment, name, ("restart", &restart)).await;
            if assignment.tier == Tier::Remediate {
                let deploy = format!("helm upgrade {name} ./charts/{name}");
                self.act(assignment, name, ("redeployment", &deploy)).await;
            }
        }
    }

    async fn act(&self, assignment: &Assignment, name: &str, (action, command): (&str, &str)) {
        let fault = self.world.fault(name);
        if fault == Fault::None {
            return;
        }
        let call = format!("{}-{name}-{action}", assignment.session);
        self.fate.tempt(WHILE_ACTING);
        if assignment.guard.admit(&call, command).await.is_err() {
            return;
        }
        self.fate.tempt(WHILE_ACTING);
        self.world.write(&Line::Did {
            session: assignment.session.clone(),
            service: name.to_owned(),
            action: action.to_owned(),
        });
        let helps = fault == Fault::Hung || action == "redeployment";
        let is_mended = helps && !self.chance.is_one_in(4);
        if is_mended {
            self.world.write(&Line::Service { name: name.to_owned(), fault: Fault::None });
        }
        self.fate.tempt(WHILE_ACTING);
        let came_to = if is_mended { ActionState::Success } else { ActionState::Failure };
        assignment.guard.close(&call, came_to, None).await;
        self.fate.tempt(WHILE_ACTING);
    }

    fn report(&self, tier: Tier, session: &str) -> AgentResponse {
        let checks = self.look();
        let down: Vec<&ServiceCheck> =
            checks.iter().filter(|it| it.status != ServiceStatus::Healthy).collect();
        let event = |check: &&ServiceCheck| {
            let message = format!("{session} saw {} down", check.name);
            Event::of_session(Level::Critical, Some(&check.name), message)
        };
        let mut events: Vec<Event> = down.iter().map(event).collect();
        events.push(Event::of_session(Level::Info, None, format!("{session} looked")));
        let escalation = if down.is_empty() {
            Escalation::NotNeeded
        } else {
            Escalation::Needed(EscalationRequest {
                reason: Some("something is down".to_owned()),
                context: None,
                failed_checks: Vec::new(),
            })
        };
        let memories = memories::claims(tier, &self.chance, self.world.now());
        let memories = memories.into_iter().map(|(key, value)| KeyedMemory { key, value });
        AgentResponse {
            summary: format!("{} are down", down.len()),
            events,
            memories: memories.collect(),
            escalation,
            services_checked: checks,
        }
    }
}

impl Staff for Crew {
    fn who(&self, _tier: Tier) -> Who {
        Who { driver: "simulated".to_owned(), model: "none".to_owned() }
    }

    async fn perform(&self, assignment: Assignment, witness: &mut dyn Witness) -> Performed {
        let session = assignment.session.clone();
        self.world.write(&Line::Began { session: session.clone() });
        self.fate.tempt(ANYWHERE);
        witness.line("{}");
        memories::assert_told(&assignment.prompt, BUDGET_TOKENS);
        self.world.pass_to(self.world.now() + 60_000);
        if OUTAGE_MS.contains(&self.world.now()) {
            return Performed::failed(self.ledger.clone(), "nobody answers".to_owned());
        }
        if assignment.tier > Tier::Observe {
            self.repair(&assignment).await;
        }
        let response = self.report(assignment.tier, &session);
        let said = Said {
            session,
            tier: assignment.tier.number(),
            events: response.events.iter().map(|event| event.message.clone()).collect(),
            memories: response
                .memories
                .iter()
                .map(|it| (it.key.clone(), it.value.clone()))
                .collect(),
        };
        let account = Ending {
            world: Arc::clone(&self.world),
            fate: self.fate.clone(),
            said,
            inner: NoRun(self.ledger.clone()),
        };
        Performed {
            ending: SessionEnding::FINE,
            payload: Payload::Accepted(Box::new(response)),
            said: Vec::new(),
            result: None,
            failure: None,
            turns: Some(1),
            cost: None,
            pending: false,
            account: Box::new(account),
        }
    }
}

/// Writes down what a session says before it is on record, and that it is afterwards.
struct Ending {
    world: Arc<World>,
    fate: Fate,
    said: Said,
    inner: NoRun,
}

impl Account for Ending {
    fn settle(&self, lead: Lead, minutes: Minutes) -> Settling<'_> {
        Box::pin(async move {
            let session = self.said.session.clone();
            self.world.write(&Line::Said(self.said.clone()));
            self.fate.tempt(ANYWHERE);
            self.inner.settle(lead, minutes).await?;
            self.fate.tempt(ANYWHERE);
            self.world.write(&Line::Kept { session });
            self.fate.tempt(ANYWHERE);
            Ok(())
        })
    }
}

/// Returns the day of the month, from 0.
pub(crate) fn day(at_ms: i64) -> i64 {
    (at_ms - crate::world::BEGIN_MS) / DAY_MS
}
