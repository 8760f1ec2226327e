//! What a run tells on stdout: the answer alone, or everything that happens.
//!
//! Whatever the end is, `json` and `stream-json` have exactly one result, and it comes last.

mod care;
mod identity;
mod partial;
mod pretty;
mod repeat;
mod shapes;
mod transcript;
mod witness;

use std::sync::Arc;
use std::time::{Duration, Instant};

use airtight_agent::{Event, Observer};
use airtight_core::redact::{Redactor, terminal_arguments};
use airtight_core::run::{Denial, Outcome as RunOutcome, Report, RunError, TERMINAL_TOOL};
use airtight_core::{Advice, Document};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::advice;
use crate::cli::OutputFormat;
use crate::error::{Error, Outcome};
use crate::ledger::Recorder;
use crate::printer::{Printer, Span};
pub(crate) use care::Care;
pub(crate) use identity::uuid;
pub(crate) use pretty::pretty;
pub(crate) use shapes::{ContractName, Init, McpServer};
use shapes::{Failure, Line, PermissionDenial, RunResult, System, Usage};
pub(crate) use transcript::Pieces;
use transcript::Transcript;

/// The version of the shapes; a change that breaks readers raises it.
pub(crate) const VERSION: u8 = 1;

/// Whether the last answer of a failed run is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Raw {
    Kept,
    LeftOut,
}

/// How a run is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) format: OutputFormat,
    pub(crate) pieces: Pieces,
    pub(crate) raw: Raw,
}

/// Hears every line of a run: JSON.
pub(crate) type Listener<'l> = Box<dyn FnMut(&str) + Send + 'l>;

/// Tells a run on stdout.
pub(crate) struct Output<'p> {
    /// Absent if nothing is printed.
    printer: Option<&'p mut Printer>,
    /// Who hears every line, whatever is printed.
    listener: Option<Listener<'p>>,
    session_id: String,
    started: Instant,
    manner: Manner,
    transcript: Transcript,
    /// The elements of `json` so far.
    elements: Vec<String>,
    /// Why nothing can be printed any more; cancels the run, which nobody listens to.
    failure: Option<Error>,
    interrupt: CancellationToken,
    /// What to do if the provider refuses the key.
    key_hint: Option<String>,
    /// Who puts the run on record, and with it everything that is told.
    recorder: Option<Arc<Recorder>>,
    /// Why the end of the run is not on record.
    store_error: Option<String>,
    /// What is at stake, if anything is.
    care: Option<Care>,
}

impl<'p> Output<'p> {
    /// Starts to tell a run that began at `started`.
    pub(crate) fn new(
        printer: &'p mut Printer,
        session_id: &str,
        started: Instant,
        manner: Manner,
        interrupt: CancellationToken,
    ) -> Self {
        Self {
            printer: Some(printer),
            listener: None,
            session_id: session_id.to_owned(),
            started,
            manner,
            transcript: Transcript::new(session_id.to_owned(), manner.pieces),
            elements: Vec::new(),
            failure: None,
            interrupt,
            key_hint: None,
            recorder: None,
            store_error: None,
            care: None,
        }
    }

    /// Starts to tell a run to `listener` alone; nothing is printed.
    pub(crate) fn unprinted(session_id: &str, listener: Listener<'p>) -> Self {
        Self { listener: Some(listener), ..Self::silent(session_id) }
    }

    /// Starts to tell a run to nobody but the ledger, once it is kept there.
    pub(crate) fn silent(session_id: &str) -> Self {
        let manner = Manner { format: OutputFormat::Text, pieces: Pieces::LeftOut, raw: Raw::Kept };
        Self {
            printer: None,
            listener: None,
            session_id: session_id.to_owned(),
            started: Instant::now(),
            manner,
            transcript: Transcript::new(session_id.to_owned(), manner.pieces),
            elements: Vec::new(),
            failure: None,
            interrupt: CancellationToken::new(),
            key_hint: None,
            recorder: None,
            store_error: None,
            care: None,
        }
    }

    /// Tells how the run ended, and nothing else.
    pub(crate) fn tell_end(&mut self, report: &Report) {
        let result = self.result(report);
        self.tell(&Line::Result(Box::new(result)));
    }

    /// Says what is at stake.
    pub(crate) fn care(&mut self, care: Option<Care>) {
        self.care = care;
    }

    /// Has what is told put on record, too.
    pub(crate) fn keep_in(&mut self, recorder: Arc<Recorder>) {
        self.recorder = Some(recorder);
    }

    /// Says that the end of the run is not on record.
    pub(crate) fn unstored(&mut self, why: &str) {
        self.store_error = Some(self.masked(why));
    }

    /// Says what to do if the provider refuses the key.
    pub(crate) fn advise_on_key(&mut self, hint: String) {
        self.key_hint = Some(hint);
    }

    /// Takes secrets out of what is told; never out of the answer, which is told as it was judged.
    pub(crate) fn mask(&mut self, redactor: Redactor) {
        self.transcript.mask(redactor);
    }

    /// Tells what the run begins with.
    pub(crate) fn begin(&mut self, init: Init) {
        self.tell(&Line::System(System::Init(init)));
        self.transcript.begin();
    }

    /// Returns `text` without secrets.
    pub(crate) fn masked(&self, text: &str) -> String {
        self.transcript.masked(text)
    }

    /// Says something to people, on stderr.
    pub(crate) fn note(&mut self, spans: &[Span]) {
        if let Some(printer) = &mut self.printer {
            printer.note(spans);
        }
    }

    /// Tells how the run ended, and returns what that means.
    pub(crate) fn finish(mut self, report: &Report) -> Result<Outcome, Error> {
        let outcome = Outcome::Run(report.outcome);
        let result = self.result(report);
        self.tell(&Line::Result(Box::new(result)));
        self.conclude()?;
        if let (OutputFormat::Text, RunOutcome::Met, Some(value), Some(printer)) =
            (self.manner.format, report.outcome, &report.value, &mut self.printer)
        {
            printer.answer(&value.to_compact(), pretty)?;
            // What is still to be done, such as handing over telemetry, must not hold it back.
            printer.flush()?;
        }
        if report.outcome == RunOutcome::Met {
            return self.store_error.take().map_or(Ok(outcome), |why| Err(unrecorded(why)));
        }
        let message = report.error.as_ref().map(|error| self.told(error));
        let message = message.unwrap_or_else(|| "the run failed".to_owned());
        let message = self.care.iter().fold(message, |message, care| care.told(&message));
        let error = Error::new(outcome, message);
        let error = error.with_findings(self.store_error.iter().cloned().collect());
        Err(self.hints(report).into_iter().fold(error, Error::hint))
    }

    /// Tells that the run was refused before it began, or that we failed, and passes that on.
    pub(crate) fn refuse(mut self, error: Error) -> Result<Outcome, Error> {
        let error = error.masked(|text| self.transcript.masked(text));
        let result = self.refusal(&error);
        self.tell(&Line::Result(Box::new(result)));
        match self.conclude() {
            Err(unwritable) if !unwritable.is_broken_pipe() => Err(unwritable),
            // Who does not read the result is told on stderr all the same.
            Ok(()) | Err(_) => Err(error),
        }
    }

    fn tell(&mut self, line: &Line) {
        let kept = self.recorder.as_ref().zip(line.kind());
        if self.manner.format == OutputFormat::Text && kept.is_none() && self.listener.is_none() {
            return;
        }
        let json = line.to_json();
        if let Some(listener) = &mut self.listener {
            listener(&json);
        }
        if let Some((recorder, kind)) = kept {
            // Nobody else needs it.
            if self.manner.format == OutputFormat::Text {
                return recorder.keep(kind, json);
            }
            recorder.keep(kind, json.clone());
        }
        match self.manner.format {
            OutputFormat::Text => {}
            OutputFormat::Json => self.elements.push(json),
            OutputFormat::StreamJson => self.print(&json),
        }
    }

    fn print(&mut self, json: &str) {
        if self.failure.is_some() {
            return;
        }
        let Some(printer) = &mut self.printer else { return };
        let printed = printer.json(json).and_then(|()| printer.flush());
        if let Err(error) = printed {
            self.failure = Some(error);
            self.interrupt.cancel();
        }
    }

    /// Prints what was kept back, and says whether everything could be printed.
    fn conclude(&mut self) -> Result<(), Error> {
        if self.manner.format == OutputFormat::Json {
            let document = format!("[{}]", self.elements.join(",\n"));
            self.print(&document);
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    fn result(&self, report: &Report) -> RunResult {
        let outcome = Outcome::Run(report.outcome);
        let is_met = report.outcome == RunOutcome::Met;
        let is_lost = is_met && self.store_error.is_some();
        let value = report.value.as_ref().filter(|_| is_met).map(Document::to_compact);
        let raw_value = || value.clone().and_then(|text: String| RawValue::from_string(text).ok());
        RunResult {
            subtype: subtype(report.outcome),
            uuid: uuid(),
            session_id: self.session_id.clone(),
            run_id: self.run_id(),
            repeated: false,
            store_error: self.store_error.clone(),
            is_error: !is_met,
            outcome: outcome.name(),
            exit_code: if is_lost { Outcome::Store } else { outcome }.exit_code(),
            duration_ms: milliseconds(report.elapsed),
            duration_api_ms: milliseconds(self.transcript.waited()),
            num_turns: report.turns,
            num_tool_calls: report.tool_calls,
            num_retries: report.retries,
            unknown_events: report.unknown_events,
            structured_output: raw_value(),
            structured_result: raw_value(),
            result: value,
            rung: report.rung,
            attempts: report.attempts.iter().map(|it| self.transcript.attempt(it)).collect(),
            edits: report.edits.listed().to_vec(),
            edit_total: report.edits.total(),
            unchecked: report.unchecked.iter().map(|it| it.as_str().to_owned()).collect(),
            losses: report.losses.clone(),
            usage: Usage::from(&report.usage),
            total_cost_usd: report.cost.map(airtight_core::price::Cost::usd),
            tokens_saved: report.tokens_saved,
            harness: self.transcript.harness(),
            review: report.needs_review(),
            permission_denials: report.denials.iter().map(|it| self.denied(it)).collect(),
            error: report.error.as_ref().filter(|_| !is_met).map(|error| Failure {
                kind: outcome.name(),
                message: self.told(error),
                details: Vec::new(),
                hints: self.hints(report),
            }),
            raw: report
                .raw
                .as_deref()
                .filter(|_| !is_met && self.manner.raw == Raw::Kept)
                .map(|raw| self.transcript.masked(raw)),
        }
    }

    /// Returns what is told of an error: what the model said is quoted where it may be told.
    fn told(&self, error: &RunError) -> String {
        match self.manner.raw {
            Raw::Kept => error.told(|text| self.transcript.masked(text)),
            Raw::LeftOut => self.transcript.masked(&error.message),
        }
    }

    /// Returns what to do about the failure of a run.
    fn hints(&self, report: &Report) -> Vec<String> {
        let error = report.error.as_ref();
        let advice = error.and_then(|error| error.advice.as_ref());
        let words = advice.map(|advice| match (advice, &self.key_hint) {
            (Advice::CheckKey, Some(hint)) => hint.clone(),
            _ => advice::words(advice),
        });
        let care = self.care.iter().flat_map(|care| care.hints(report));
        words.into_iter().chain(care).map(|words| self.transcript.masked(&words)).collect()
    }

    fn run_id(&self) -> Option<String> {
        self.recorder.as_ref().map(|recorder| recorder.id().to_string())
    }

    /// Returns the result of a run that never began, or that we failed to end.
    fn refusal(&self, error: &Error) -> RunResult {
        let seen = self.transcript.seen();
        RunResult {
            subtype: "error_during_execution",
            uuid: uuid(),
            session_id: self.session_id.clone(),
            run_id: self.run_id(),
            repeated: false,
            store_error: None,
            is_error: true,
            outcome: error.kind.name(),
            exit_code: error.kind.exit_code(),
            duration_ms: milliseconds(self.started.elapsed()),
            duration_api_ms: milliseconds(self.transcript.waited()),
            num_turns: seen.turns,
            num_tool_calls: 0,
            num_retries: seen.retries,
            unknown_events: 0,
            result: None,
            structured_output: None,
            structured_result: None,
            rung: None,
            attempts: Vec::new(),
            edits: Vec::new(),
            edit_total: 0,
            unchecked: Vec::new(),
            losses: Vec::new(),
            usage: Usage::from(&seen.usage),
            // Nothing was asked, so nothing was spent; unless we failed, which may be at any time.
            total_cost_usd: (error.kind != Outcome::Machine).then_some(0.0),
            tokens_saved: 0,
            harness: self.transcript.harness(),
            review: false,
            permission_denials: Vec::new(),
            error: Some(Failure {
                kind: error.kind.name(),
                message: error.to_string(),
                details: error.findings.iter().cloned().chain(error.causes()).collect(),
                hints: error.hints.clone(),
            }),
            raw: None,
        }
    }

    /// Returns a call that was not allowed, as it is told.
    fn denied(&self, denial: &Denial) -> PermissionDenial {
        let tool_input = if denial.tool == TERMINAL_TOOL {
            terminal_arguments()
        } else {
            let input = serde_json::from_str(&denial.arguments);
            self.transcript.masked_value(input.unwrap_or_else(|_| denial.arguments.clone().into()))
        };
        PermissionDenial {
            tool_name: denial.tool.clone(),
            tool_use_id: denial.call_id.clone(),
            tool_input,
        }
    }
}

impl Observer for Output<'_> {
    fn event(&mut self, event: &Event) {
        for line in self.transcript.lines(event) {
            self.tell(&line);
        }
    }
}

/// Returns the word of other programs' streams for how a run ended.
fn subtype(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Met => "success",
        RunOutcome::TurnCap => "error_max_turns",
        RunOutcome::NoAnswer
        | RunOutcome::AttemptsExhausted
        | RunOutcome::Refused
        | RunOutcome::Truncated
        | RunOutcome::Degenerate
        | RunOutcome::Loop
        | RunOutcome::Provider
        | RunOutcome::Harness
        | RunOutcome::Auth
        | RunOutcome::Sandbox
        | RunOutcome::Config
        | RunOutcome::Budget
        | RunOutcome::Interrupted => "error_during_execution",
    }
}

/// Says that an answer was told that is not on record.
fn unrecorded(why: String) -> Error {
    Error::new(Outcome::Store, "the answer is printed and complete, and not on record")
        .with_findings(vec![why])
        .hint("keep what was printed; `airtight run --no-store` does without a record")
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
