//! Who decides about commands before they run.
//!
//! The rule it protects: whatever is done to a service is on record before it is done, so that no crash
//! grants one more, and what exceeds the limits is not done. What is not understood is let pass and
//! told; what cannot be put on record is not done.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use airtight_agent::{Effect, Guard, Guarding, Subject, Veto};
use airtight_core::message::{ToolCall, ToolResult, ToolStatus};
use airtight_core::watch::{
    ActionState, CommandAction, CommandNote, CooldownVerdict, Denied, Event, Level, Tier,
    WatchMode, changing_program, judge_command, recognise, removes_everything,
};
use airtight_store::{ActionEnd, Lead, Ledger, Minutes, NewAction, Reserved};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::bell::Bell;
use crate::book;
use crate::call::commands;
use crate::door::{Call, Porter};
use crate::error::WatchError;
use crate::estate::Estate;
use crate::files::own_file;
use crate::notice::{Notice, Teller};

/// How often a decision is made anew because something else was done meanwhile.
const OVERTAKEN_LIMIT: u8 = 10;

/// The tool by whose name commands are denied, whoever runs them.
pub const SHELL: &str = "run_shell_command";

/// Who is named where a call is denied.
const NAME: &str = "cooldown";

/// The time, in Unix milliseconds.
type Now = dyn Fn() -> i64 + Send + Sync;

/// Whether a command may run, or why not; nothing if something else was done meanwhile.
type Decided = Result<Option<Result<(), String>>, WatchError>;

/// Decides about the commands of one session.
pub struct Gatekeeper {
    ledger: Ledger,
    lead: Lead,
    estate: Arc<Estate>,
    teller: Arc<dyn Teller>,
    now: Arc<Now>,
    session: String,
    chain: String,
    tier: Tier,
    /// Cancelled when the session is ended before its own end.
    interrupt: CancellationToken,
    bell: Arc<Bell>,
    /// What was put on record for calls that are under way.
    reserved: Mutex<HashMap<String, Vec<String>>>,
}

impl fmt::Debug for Gatekeeper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Gatekeeper").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Whose commands are decided about.
pub(crate) struct Post {
    pub(crate) session: String,
    pub(crate) chain: String,
    pub(crate) tier: Tier,
    pub(crate) interrupt: CancellationToken,
    pub(crate) bell: Arc<Bell>,
}

impl Gatekeeper {
    pub(crate) fn new(
        (ledger, lead): (Ledger, Lead),
        estate: Arc<Estate>,
        teller: Arc<dyn Teller>,
        now: Arc<Now>,
        Post { session, chain, tier, interrupt, bell }: Post,
    ) -> Self {
        let reserved = Mutex::default();
        Self { ledger, lead, estate, teller, now, session, chain, tier, interrupt, bell, reserved }
    }

    /// Decides whether the call `id` with this command may happen, and puts on record what it does.
    pub async fn admit(&self, id: &str, command: &str) -> Result<(), String> {
        let subject = Subject::Command(command.to_owned());
        let denied = self.estate.denied(self.tier);
        denied
            .decide(SHELL, Effect::Executes, Some(&subject))
            .map_err(|denied| format!("{} must not do this: {denied}", self.tier))?;
        if removes_everything(command) {
            return Err("nobody must do this: it removes what cannot be put back".to_owned());
        }
        if self.tier == Tier::Observe
            && let Some(program) = changing_program(command)
        {
            return Err(format!("tier 1 changes nothing: by `{program}` it only looks"));
        }
        for _ in 0..OVERTAKEN_LIMIT {
            match self.decide(id, command).await {
                Ok(Some(decided)) => return decided,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "an action cannot be put on record");
                    return Err(format!(
                        "this cannot be put on record, so it must not be done: {error}"
                    ));
                }
            }
        }
        Err("too much is done to services at once; try again later".to_owned())
    }

    /// Returns nothing if something else was done meanwhile.
    async fn decide(&self, id: &str, command: &str) -> Decided {
        let now_ms = (self.now)();
        let limits = &self.estate.limits;
        let (records, last) = book::actions(&self.ledger, limits, now_ms).await?;
        let services = book::services(&self.ledger).await?;
        let mut recognised = recognise(command);
        for action in &mut recognised.actions {
            // As it is on record: a name that is masked there would never be found.
            action.service = self.ledger.redactor().mask(&action.service).into_owned();
        }
        let verdict = judge_command(recognised, &records, &services, limits, now_ms);
        if let CooldownVerdict::NotAnAction { notes } = &verdict
            && notes.is_empty()
        {
            return Ok(Some(Ok(())));
        }
        if let Some((level, why)) = self.refusal(&verdict) {
            return self.refuse(level, why, command, now_ms).await;
        }
        match verdict {
            CooldownVerdict::Repeated { .. } => {
                self.refuse(Level::Warning, IN_A_LOOP, command, now_ms).await
            }
            CooldownVerdict::Own { .. } => {
                self.refuse(Level::Warning, OWN_PROGRAM, command, now_ms).await
            }
            CooldownVerdict::NotAnAction { notes } => {
                self.note(&notes, now_ms).await?;
                Ok(Some(Ok(())))
            }
            CooldownVerdict::Allow { reserve, notes } => {
                let actions = reserve.iter().map(|action| self.action(action, command)).collect();
                match self.ledger.reserve(self.lead, actions, last, now_ms).await? {
                    Reserved::Overtaken => return Ok(None),
                    Reserved::Done(ids) => drop(self.reserved().insert(id.to_owned(), ids)),
                }
                self.note(&notes, now_ms).await?;
                Ok(Some(Ok(())))
            }
            CooldownVerdict::Deny(denied) => self.deny(denied, now_ms).await,
        }
    }

    /// Leaves an event of a command that must not run, and says so to the session.
    async fn refuse(&self, level: Level, why: &str, command: &str, now_ms: i64) -> Decided {
        let shown = airtight_core::excerpt(command, TOLD_LIMIT_CHARS, "…");
        self.leave(Event::of_watch(level, format!("{why}: {shown}")), now_ms).await?;
        Ok(Some(Err(why.to_owned())))
    }

    /// Leaves what a command leaves for which there is no room, and says so to the session.
    async fn deny(&self, denied: Denied, now_ms: i64) -> Decided {
        let events = vec![self.event(&denied.event())];
        let mut minutes = Minutes { at_ms: now_ms, events, ..Minutes::default() };
        let mut ringing = self.bell.ringing().await;
        ringing.ring(&mut minutes, [denied.notification()], Some(&self.chain));
        self.tell(&denied.event());
        self.ledger.minute(self.lead, minutes).await?;
        ringing.rung();
        Ok(Some(Err(denied.reason)))
    }

    /// Decides whether a call may write what it writes: the files of the watch are not a session's.
    async fn admit_file(&self, tool: &str, input: &Value) -> Result<(), String> {
        let Estate { own_files, folder, .. } = &*self.estate;
        let Some(own) = own_file(own_files, folder, tool, input) else { return Ok(()) };
        let why = "this file belongs to the watch, and no session may write it".to_owned();
        let event = Event::of_watch(Level::Warning, format!("{why}: {}", own.display()));
        if let Err(error) = self.leave(event, (self.now)()).await {
            tracing::warn!(%error, "what a session tried is not on record");
        }
        Err(why)
    }

    /// Puts on record what came of the call `id`.
    pub async fn close(&self, id: &str, state: ActionState, error: Option<&str>) {
        let Some(ids) = self.reserved().remove(id) else { return };
        let end = |id| ActionEnd { id, state, error: error.map(str::to_owned) };
        let actions = ids.into_iter().map(end).collect();
        let minutes = Minutes { at_ms: (self.now)(), actions, ..Minutes::default() };
        if let Err(error) = self.ledger.minute(self.lead, minutes).await {
            // It stays reserved, and counts.
            tracing::warn!(%error, "what came of an action is not on record");
        }
    }

    /// Returns why a command that acts on services must not run, however much room there is.
    fn refusal(&self, verdict: &CooldownVerdict) -> Option<(Level, &'static str)> {
        if matches!(verdict, CooldownVerdict::Deny(_) | CooldownVerdict::Own { .. }) {
            return None;
        }
        if self.estate.policy.escalation.mode == WatchMode::DryRun {
            return Some((Level::Info, "this is a dry run: nothing is done to services"));
        }
        let why = "tier 1 changes nothing: a higher tier may do this, so ask for one";
        (self.tier == Tier::Observe).then_some((Level::Warning, why))
    }

    /// Claims that something is being done to a service.
    pub(crate) fn is_acting(&self) -> bool {
        !self.reserved().is_empty()
    }

    fn action(&self, action: &CommandAction, command: &str) -> NewAction {
        NewAction {
            service: action.service.clone(),
            kind: action.action.name().to_owned(),
            tier: i64::from(self.tier.number()),
            session: Some(self.session.clone()),
            command: Some(command.to_owned()),
        }
    }

    /// Leaves an event for each thing that is let pass without being understood.
    async fn note(&self, notes: &[CommandNote], now_ms: i64) -> Result<(), WatchError> {
        for note in notes {
            self.leave(note.event(), now_ms).await?;
        }
        Ok(())
    }

    async fn leave(&self, event: Event, now_ms: i64) -> Result<(), WatchError> {
        self.tell(&event);
        let events = vec![self.event(&event)];
        let minutes = Minutes { at_ms: now_ms, events, ..Minutes::default() };
        Ok(self.ledger.minute(self.lead, minutes).await?)
    }

    fn event(&self, event: &Event) -> airtight_store::NewWatchEvent {
        book::event(event, Some(&self.session), &self.chain, event.origin.name())
    }

    fn tell(&self, event: &Event) {
        self.teller.tell(Notice::Event {
            session: Some(self.session.clone()),
            level: event.level.name(),
            service: event.service.clone(),
            message: event.message.clone(),
        });
    }

    fn reserved(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<String>>> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a session is told whose action stands in a loop.
const IN_A_LOOP: &str =
    "this acts on services in a loop, which cannot be counted: do it once, and look";

/// What a session is told that would decide about itself.
const OWN_PROGRAM: &str = "no session may start `airtight`, by which people decide about sessions: \
    what you ask for is in your report, and somebody looks at it";

/// How much of a command is told.
const TOLD_LIMIT_CHARS: usize = 200;

impl Guard for Gatekeeper {
    fn before<'a>(&'a self, call: &'a ToolCall) -> Guarding<'a, Result<(), Veto>> {
        Box::pin(async move {
            let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            let veto = |why| Veto { hook: NAME.to_owned(), why };
            self.admit_file(&call.name, &input).await.map_err(veto)?;
            let Some(command) = commands(&call.name, &input) else { return Ok(()) };
            self.admit(&call.id, &command).await.map_err(veto)
        })
    }

    fn after<'a>(&'a self, call: &'a ToolCall, result: &'a ToolResult) -> Guarding<'a, ()> {
        Box::pin(async move {
            match result.status {
                ToolStatus::Done => self.close(&call.id, ActionState::Success, None).await,
                // Whoever was cut off while it acted does not know what came of it.
                ToolStatus::Failed | ToolStatus::Skipped if self.interrupt.is_cancelled() => {
                    let why = "the session was ended while this was done";
                    self.close(&call.id, ActionState::Unknown, Some(why)).await;
                }
                ToolStatus::Failed | ToolStatus::Skipped => {
                    let why = airtight_core::excerpt(&result.content, ERROR_LIMIT_CHARS, "…");
                    self.close(&call.id, ActionState::Failure, Some(&why)).await;
                }
            }
        })
    }
}

/// How much of what a command said is kept where it failed.
const ERROR_LIMIT_CHARS: usize = 500;

impl Porter for Gatekeeper {
    async fn ask(&self, call: Call) -> Option<String> {
        if let Err(why) = self.admit_file(&call.tool_name, &call.tool_input).await {
            return Some(why);
        }
        let command = commands(&call.tool_name, &call.tool_input)?;
        // A call without a name is closed with the session.
        let id = call.tool_use_id.unwrap_or_else(book::fresh);
        self.admit(&id, &command).await.err()
    }
}
