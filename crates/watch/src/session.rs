//! One session: begun on record, worked on by the staff, and ended in one transaction with its run.

use std::sync::Arc;
use std::time::Duration;

use airtight_agent::{CommandEnd, CommandPlace, run_command};
use airtight_core::watch::{
    Brief, Chain, Event, Finished, HandoffFile, Known, Level, MarkerReader, Record, Retold,
    SessionEnding, Step, memory_block, response_text, session_context,
};
use airtight_store::{Minutes, NewSession, StoreError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::book;
use crate::clock::Clock;
use crate::door::Door;
use crate::error::WatchError;
use crate::guard::{Gatekeeper, Post};
use crate::handoff;
use crate::log::SessionLog;
use crate::notice::Notice;
use crate::staff::{Assignment, Performed, Staff, Witness};
use crate::watcher::Office;

/// How long the hook before a session may take.
const PRE_SESSION_TIMEOUT: Duration = Duration::from_mins(1);

/// How long the staff has to end a session that was interrupted: programs are asked, then killed.
const GRACE: Duration = Duration::from_secs(30);

/// How long nobody looks at the clock while a session goes on.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(10);

/// What a tier is asked where nobody asks for anything else.
const ROUTINE: &str = "Do your task for the estate that is described here.";

/// Why a session was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interruption {
    /// It was not.
    None,
    /// An operator stopped it.
    Stopped,
    /// It took too long.
    TimedOut,
    /// Another process leads.
    Replaced,
}

impl<S: Staff, C: Clock + 'static> Office<'_, S, C> {
    /// Performs the session that `chain` asks for, to its end on record.
    pub(crate) async fn session(&self, chain: &mut Chain, brief: &Brief) -> Result<(), WatchError> {
        if self.stop.is_cancelled() || self.ledger.is_stop_asked(chain.id()).await? {
            chain.stopped(self.now_ms())?;
            return Ok(());
        }
        if let Err(why) = self.ask_hook(brief).await {
            chain.aborted(&why, self.now_ms())?;
            return Ok(());
        }
        let id = self.ledger.new_id().to_string();
        let mut log = self.open_log();
        let context = self.context(brief).await?;
        let prompt = self.prompt(brief, &context);
        self.enter(chain, brief, &id, (&log, &context, &prompt)).await?;
        let before = handoff::trace(self.estate.handoff.as_deref());
        let (performed, interruption) = self.attend(brief, &id, prompt, &mut log).await;
        if interruption == Interruption::Replaced {
            return Err(WatchError::Replaced);
        }
        let handoff = handoff::read(self.estate.handoff.as_deref(), before.as_ref());
        let finished = finished(&performed, interruption, handoff);
        let finished = Finished { retold: self.retell(&performed).await, ..finished };
        self.end(chain, (&id, &log), performed, finished).await
    }

    /// Asks the command that may refuse a session.
    async fn ask_hook(&self, brief: &Brief) -> Result<(), String> {
        let Some(command) = &self.estate.pre_session else { return Ok(()) };
        let input = json!({
            "hook_event_name": "PreSession",
            "chain_id": brief.chain_id,
            "tier": brief.tier.number(),
            "trigger": brief.trigger.name(),
            "affected": brief.affected,
        });
        let place =
            CommandPlace { folder: &self.estate.folder, environment: &self.estate.environment };
        match run_command(command, &input.to_string(), PRE_SESSION_TIMEOUT, place).await {
            CommandEnd::Exited { code: Some(0), .. } => Ok(()),
            CommandEnd::Exited { code, stderr } => {
                let code = code.map_or("a signal".to_owned(), |code| code.to_string());
                Err(format!("the hook before it ended with {code}: {stderr}"))
            }
            CommandEnd::TimedOut => Err("the hook before it did not end in time".to_owned()),
            CommandEnd::NotStarted => Err("the hook before it cannot be started".to_owned()),
        }
    }

    /// A disk that refuses costs the log, not the session, whose end says so.
    fn open_log(&self) -> SessionLog {
        SessionLog::create(&self.estate.logs, self.now_ms(), self.estate.redactor.clone())
    }

    async fn context(&self, brief: &Brief) -> Result<String, WatchError> {
        let memories = book::memories(&self.ledger).await?;
        let budget = self.estate.memory_budget_tokens;
        let block = memory_block(&memories, budget, self.now_ms());
        let escalation = brief.escalation.as_deref();
        Ok(session_context(&self.estate.surroundings, block.as_ref(), escalation))
    }

    /// Puts together what is asked. What sessions wrote is data in it, and never an instruction.
    fn prompt(&self, brief: &Brief, context: &str) -> String {
        let request = brief.request.as_deref().unwrap_or(ROUTINE);
        let services = self.estate.services.as_deref().map(str::trim).filter(|it| !it.is_empty());
        let services = services.map(|services| format!("## Services\n\n{services}"));
        let parts = [Some(request.to_owned()), services, Some(context.to_owned())];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }

    /// Puts it on record before anything is done.
    async fn enter(
        &self,
        chain: &mut Chain,
        brief: &Brief,
        id: &str,
        (log, context, prompt): (&SessionLog, &str, &str),
    ) -> Result<(), WatchError> {
        let at_ms = self.now_ms();
        chain.began(id, at_ms)?;
        let who = self.staff.who(brief.tier);
        let log = log.path().map(|path| path.display().to_string());
        let session = NewSession {
            id: id.to_owned(),
            chain: brief.chain_id.clone(),
            parent: brief.parent.clone(),
            tier: i64::from(brief.tier.number()),
            cause: brief.trigger.name().to_owned(),
            driver: who.driver.clone(),
            model: who.model.clone(),
            log: log.clone(),
            prompt: Some(prompt.to_owned()),
            context: Some(context.to_owned()),
        };
        let chain = Some(self.chain_state(chain, None)?);
        let minutes = Minutes { at_ms, chain, begun: Some(session), ..Minutes::default() };
        self.ledger.minute(self.leadership.lead, minutes).await?;
        self.teller.tell(Notice::SessionBegan {
            chain: brief.chain_id.clone(),
            session: id.to_owned(),
            tier: brief.tier.number(),
            driver: who.driver,
            model: who.model,
            log,
        });
        Ok(())
    }

    /// Has the staff do the work, no longer than it may take.
    async fn attend(
        &self,
        brief: &Brief,
        id: &str,
        prompt: String,
        log: &mut SessionLog,
    ) -> (Performed, Interruption) {
        let began_at_ms = self.now_ms();
        let interrupt = CancellationToken::new();
        let guard = Arc::new(self.gatekeeper(brief, id, interrupt.clone()));
        let door = Door::open(Arc::clone(&guard));
        let door = door.inspect_err(|error| tracing::warn!(%error, "no door for agent CLIs")).ok();
        let assignment = Assignment {
            session: id.to_owned(),
            tier: brief.tier,
            task: self.estate.task(brief.tier).to_owned(),
            prompt,
            guard: Arc::clone(&guard),
            door: door.as_ref().map(|door| door.path().to_owned()),
            interrupt: interrupt.clone(),
        };
        let clock = Arc::clone(&self.clock);
        let mut witness = Log { log, now: Box::new(move || clock.now_ms()) };
        let mut performing = std::pin::pin!(self.staff.perform(assignment, &mut witness));
        let interruption = tokio::select! {
            biased;
            performed = &mut performing => return (performed, Interruption::None),
            () = self.leadership.lost.cancelled() => Interruption::Replaced,
            () = self.stop.cancelled() => Interruption::Stopped,
            () = self.told_to_stop(&brief.chain_id) => Interruption::Stopped,
            () = self.overdue(began_at_ms) => Interruption::TimedOut,
        };
        let is_acting = guard.is_acting();
        interrupt.cancel();
        let ended = tokio::time::timeout(GRACE, &mut performing).await;
        let mut performed = ended.unwrap_or_else(|_| {
            let why = "the session did not end when it was told to".to_owned();
            Performed::failed(self.ledger.clone(), why)
        });
        // What it was doing to a service may go on without it.
        performed.pending |= is_acting;
        (performed, interruption)
    }

    /// Waits until somebody wants the chain stopped. CO-110.
    async fn told_to_stop(&self, chain: &str) {
        loop {
            tokio::time::sleep(self.estate.look_every).await;
            match self.ledger.is_stop_asked(chain).await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "nobody knows whether it is to stop"),
            }
        }
    }

    /// Waits until a session has had its time by the clock of the watch, which counts the time that a
    /// machine sleeps; timers do not.
    async fn overdue(&self, began_at_ms: i64) {
        let limit_ms = i64::try_from(self.estate.session_limit.as_millis()).unwrap_or(i64::MAX);
        loop {
            let left = began_at_ms.saturating_add(limit_ms).saturating_sub(self.now_ms());
            let Some(left) = u64::try_from(left).ok().filter(|left| *left > 0) else { return };
            tokio::time::sleep(Duration::from_millis(left).min(LOOK_AT_CLOCK)).await;
        }
    }

    fn gatekeeper(&self, brief: &Brief, id: &str, interrupt: CancellationToken) -> Gatekeeper {
        let clock = Arc::clone(&self.clock);
        let (session, chain) = (id.to_owned(), brief.chain_id.clone());
        let bell = Arc::clone(&self.bell);
        let post = Post { session, chain, tier: brief.tier, interrupt, bell };
        Gatekeeper::new(
            (self.ledger.clone(), self.leadership.lead),
            Arc::clone(&self.estate),
            Arc::clone(&self.teller),
            Arc::new(move || clock.now_ms()),
            post,
        )
    }

    /// Puts the end on record: what the session yields, its run and the chain, together.
    async fn end(
        &self,
        chain: &mut Chain,
        (id, log): (&str, &SessionLog),
        mut performed: Performed,
        finished: Finished,
    ) -> Result<(), WatchError> {
        let at_ms = self.now_ms();
        let beside = self.beside(id, at_ms).await?;
        let known = beside.known(self.ledger.redactor());
        let before = chain.clone();
        let mut drawn = self.draw_up(chain, (&finished, &known), (&performed, log), at_ms)?;
        if let Some((_, minutes)) = &drawn
            && let Err(error @ StoreError::TooLarge { .. }) = self.ledger.takes(minutes)
        {
            // What one session says must not end the watch.
            *chain = before;
            performed.failure = Some(format!("what it yields cannot be kept: {error}"));
            let finished =
                Finished { cost: finished.cost, ..Finished::without_answer(Performed::FAILED) };
            performed.said.clear();
            performed.result = None;
            drawn = self.draw_up(chain, (&finished, &known), (&performed, log), at_ms)?;
        }
        let Some((record, mut minutes)) = drawn else { return Ok(()) };
        let mut ringing = self.bell.ringing().await;
        ringing.ring(&mut minutes, record.notifications.clone(), Some(chain.id()));
        self.settle(id, performed.account.as_ref(), &minutes).await?;
        ringing.rung();
        self.tell(&record);
        self.dispatch.wake();
        Ok(())
    }

    /// Draws up what is written of a session that ended, with the chain after it.
    fn draw_up(
        &self,
        chain: &mut Chain,
        (finished, known): (&Finished, &Known<'_>),
        (performed, log): (&Performed, &SessionLog),
        at_ms: i64,
    ) -> Result<Option<(Record, Minutes)>, WatchError> {
        chain.finished(finished, known, at_ms)?;
        let Step::Record(mut record) = chain.step() else { return Ok(None) };
        chain.performed(at_ms)?;
        if let (Some(failure), Some(session)) = (&performed.failure, &record.session) {
            let message = format!("{} failed: {failure}", session.tier);
            record.events.push(Event::of_watch(Level::Critical, message));
        }
        if let Some(fault) = log.fault() {
            record.events.push(Event::of_watch(Level::Warning, fault.to_string()));
        }
        let mut minutes = book::minutes(chain.id(), &record, at_ms);
        minutes.chain = Some(self.chain_state(chain, None)?);
        complete(&mut minutes, performed);
        Ok(Some((*record, minutes)))
    }

    /// Tells what is on record now.
    pub(crate) fn tell(&self, record: &Record) {
        let session = record.session.as_ref();
        for event in &record.events {
            self.teller.tell(Notice::Event {
                session: session.map(|session| session.id.clone()),
                level: event.level.name(),
                service: event.service.clone(),
                message: event.message.clone(),
            });
        }
        for note in &record.notes {
            tracing::warn!("{note}");
        }
        if let Some(session) = session {
            self.teller.tell(Notice::SessionEnded {
                session: session.id.clone(),
                tier: session.tier.number(),
                status: session.status.name(),
                extraction: session.extraction.name(),
                summary: session.summary.clone(),
            });
        }
    }
}

/// Puts together what a session came to.
fn finished(performed: &Performed, interruption: Interruption, handoff: HandoffFile) -> Finished {
    let mut reader = MarkerReader::default();
    for block in &performed.said {
        reader.push(block);
        reader.end_block();
    }
    Finished {
        ending: match interruption {
            Interruption::None => performed.ending,
            Interruption::Stopped | Interruption::Replaced => SessionEnding::Stopped,
            Interruption::TimedOut => SessionEnding::TimedOut,
        },
        payload: performed.payload.clone(),
        markers: reader.finish(),
        handoff,
        cost: performed.cost,
        retold: Retold::Not,
    }
}

/// Adds what only the performance knows.
fn complete(minutes: &mut Minutes, performed: &Performed) {
    for end in &mut minutes.ended {
        let summary = end.summary.clone();
        let result = performed.result.as_deref();
        let response = response_text(result, &performed.said, summary.as_deref());
        end.response = response.map(str::to_owned);
        end.turns = performed.turns;
        end.cost = performed.cost;
        end.pending = performed.pending;
    }
}

/// Writes the lines of a session to its log.
struct Log<'l> {
    log: &'l mut SessionLog,
    now: Box<dyn Fn() -> i64 + Send>,
}

impl Witness for Log<'_> {
    fn line(&mut self, json: &str) {
        self.log.line((self.now)(), json);
    }
}
