//! The run itself, and everyone who watches it.

use std::sync::Arc;

use airtight_agent::provider::Provider;
use airtight_agent::{Agent, Event, HookFaults, Journal, Observer, Recording, Subagents};
use airtight_core::batch::Prices;
use airtight_core::run::{self, Job, Report, Run};

use super::entry::{self, Entry, Opened};
use super::equipment::Unpacked;
use super::limit::Limit;
use super::live::Live;
use super::prepared::Prepared;
use crate::advice;
use crate::error::{Error, Outcome};
use crate::ledger::{Recorder, unstored};
use crate::output::{ContractName, Init, Output, VERSION, uuid};
use crate::printer::{Span, Tone};

/// Whether warnings are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notes {
    Told,
    LeftOut,
}

/// Everyone who watches.
pub(super) struct Watchers<'o, 'p> {
    pub(super) output: &'o mut Output<'p>,
    pub(super) live: Option<Live>,
    pub(super) recording: Option<Recording>,
    /// Who puts the run on record.
    pub(super) recorder: Option<Arc<Recorder>>,
    pub(super) notes: Notes,
    /// Hooks that failed and are not told yet.
    pub(super) faults: HookFaults,
}

impl Observer for Watchers<'_, '_> {
    fn event(&mut self, event: &Event) {
        self.output.event(event);
        if let Some(recorder) = &self.recorder {
            recorder.event(event);
        }
        if let Some(live) = &mut self.live {
            live.event(event);
        }
        if let Some(recording) = &mut self.recording {
            recording.event(event);
        }
        self.tell_faults();
    }

    fn journal(&self) -> Option<Arc<dyn Journal>> {
        let recorder = self.recorder.clone()?;
        Some(recorder)
    }
}

impl Watchers<'_, '_> {
    /// Has the run put on record from here on.
    fn record(&mut self, recorder: Arc<Recorder>) {
        self.output.keep_in(Arc::clone(&recorder));
        if recorder.is_taken_over() {
            self.warn(&[format!(
                "run `{}` is done again: a process began it and is gone, and what it sent may have \
                 been answered and paid",
                recorder.id()
            )]);
        }
        self.recorder = Some(recorder);
    }

    /// Tells what deserves a warning; the transcript has it also where nobody wants to be told.
    fn warn(&mut self, notes: &[String]) {
        if let Some(recording) = &mut self.recording {
            for note in notes {
                recording.note(note);
            }
        }
        if self.notes == Notes::LeftOut || notes.is_empty() {
            return;
        }
        let output = &mut *self.output;
        let mut tell = || {
            for note in notes {
                let text = Span::plain(format!(" {}", output.masked(note)));
                output.note(&[Span::new(Tone::Warning, "warning:"), text]);
            }
        };
        match &self.live {
            Some(live) => live.aside(tell),
            None => tell(),
        }
    }

    fn tell_faults(&mut self) {
        let faults: Vec<String> = self.faults.take().iter().map(ToString::to_string).collect();
        self.warn(&faults);
    }

    /// Tells what is left, and why the transcript is incomplete, if it is.
    fn close(&mut self) {
        self.tell_faults();
        let failure = self.recording.as_ref().and_then(Recording::failure);
        if let Some(error) = failure.map(ToString::to_string) {
            self.warn(&[format!("the transcript is incomplete: {error}")]);
        }
    }
}

/// What came of the wish to perform a run.
pub(super) enum Performed {
    /// It is over.
    Over(Box<Report>),
    /// Its idempotency key has an answer, so nothing was asked.
    Known(Box<airtight_store::Run>),
}

impl Prepared {
    /// Performs the run to its end, and puts it on record.
    pub(super) async fn perform(
        self,
        session_id: &str,
        watchers: &mut Watchers<'_, '_>,
        limit: &Limit,
    ) -> Result<Performed, Error> {
        watchers.warn(&self.notes);
        let ledger = self.open_ledger(limit).await?;
        let performing = self.perform_in(ledger.as_ref(), session_id, watchers, limit);
        let performed = Box::pin(performing).await;
        if let Some(Opened { ledger, .. }) = ledger {
            ledger.close().await;
        }
        performed
    }

    async fn perform_in(
        self,
        ledger: Option<&Opened>,
        session_id: &str,
        watchers: &mut Watchers<'_, '_>,
        limit: &Limit,
    ) -> Result<Performed, Error> {
        let entry = ledger.map(|ledger| (ledger, self.entry()));
        let unpacked = tokio::select! {
            biased;
            error = limit.reached() => return Err(error),
            unpacked = self.equipment.unpack(session_id) => unpacked,
        };
        watchers.warn(&unpacked.notes());
        watchers.faults = unpacked.hooks.faults();
        let contract = ContractName {
            name: self.contract.name().map(str::to_owned),
            fingerprint: self.contract.fingerprint().to_string(),
        };
        let mut init = init(session_id, &self.driver.to_string(), contract, &unpacked);
        let mut agent = Agent::new(self.provider, unpacked.toolbox, unpacked.hooks);
        agent.retries = self.driver.retries(&self.config);
        agent.extractor = self.extractor;
        agent.subagents = unpacked
            .subagents
            .map(|subagents| Subagents { price: self.price, ..subagents }.like(&self.policy));
        let tools = agent.specs();
        let run = Run::new(Job {
            contract: Some(self.contract),
            dialect: agent.provider.dialect(),
            model: agent.provider.model().to_owned(),
            mode: self.driver.mode(&self.config),
            system: self.system,
            prompt: self.prompt,
            tools,
            terminal: unpacked.terminal,
            policy: self.policy,
            price: self.price,
            account: agent.provider.account(),
            source: self.source.map(|(source, _)| source),
            check: self.check,
            extractor: agent.extractor.as_ref().map(Provider::extractor),
        })
        .map_err(refused)?;
        init.tools = run.tools().map(|tool| tool.name.clone()).collect();
        if let Some(hint) = self.key_hint {
            watchers.output.advise_on_key(hint);
        }
        if let Some((ledger, new)) = entry {
            let extractor = agent.extractor.as_ref().and_then(Provider::price);
            let prices = Prices { model: self.price, extractor };
            match entry::enter(ledger, new, prices, self.redactor, limit).await? {
                Entry::Known(run) => return Ok(Performed::Known(run)),
                Entry::Fresh(recorder) => watchers.record(recorder),
            }
        }
        init.run_id = watchers.recorder.as_ref().map(|recorder| recorder.id().to_string());
        watchers.output.begin(init);
        let report = drive(&agent, run, watchers, limit).await;
        watchers.close();
        drop(agent);
        unpacked.mcp.close().await;
        Ok(Performed::Over(Box::new(report)))
    }

    async fn open_ledger(&self, limit: &Limit) -> Result<Option<Opened>, Error> {
        let Some(books) = self.books.clone() else { return Ok(None) };
        let ledger = tokio::select! {
            biased;
            error = limit.reached() => return Err(error),
            opened = books.open(self.redactor.clone()) => opened?,
        };
        Ok(Some(Opened { books, ledger }))
    }
}

/// Has the agent perform `run`, and puts its end on record.
async fn drive(agent: &Agent, run: Run, watchers: &mut Watchers<'_, '_>, limit: &Limit) -> Report {
    let recorder = watchers.recorder.clone();
    let driven = agent.drive_since(limit.started, run, watchers, limit.interrupt.clone());
    let driven = Box::pin(driven);
    let Some(recorder) = recorder else { return driven.await };
    let report = recorder.during(driven).await;
    if let Err(error) = recorder.finish(&report, None).await {
        watchers.output.unstored(&unstored(&error));
    }
    report
}

fn init(session_id: &str, model: &str, contract: ContractName, unpacked: &Unpacked) -> Init {
    Init {
        uuid: uuid(),
        session_id: session_id.to_owned(),
        run_id: None,
        version: VERSION,
        airtight_version: env!("CARGO_PKG_VERSION").to_owned(),
        cwd: unpacked.workspace.display().to_string(),
        model: model.to_owned(),
        tools: Vec::new(),
        mcp_servers: unpacked.servers(),
        permission_mode: unpacked.permission_mode.to_owned(),
        contract,
        slash_commands: Vec::new(),
        agents: Vec::new(),
    }
}

fn refused(error: run::RunError) -> Error {
    let refusal = Error::new(Outcome::Run(error.outcome), error.message);
    error.advice.iter().map(advice::words).fold(refusal, Error::hint)
}
