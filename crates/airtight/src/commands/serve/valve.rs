//! What may be shown of an answer before its verdict.
//!
//! Bytes pass while some completion of them can still conform to the contract itself; what completes the
//! value waits for the verdict. An answer that is adapted on its way back (a wrapper, absent members as
//! `null`) passes as a whole at the end.

use std::sync::Arc;

use airtight_agent::{Event, Journal, Observer};
use airtight_core::codec::Delta;
use airtight_core::contract::Contract;
use airtight_core::redact::Redactor;
use airtight_core::run::{EventKind, TERMINAL_TOOL};
use airtight_core::{Checker, Dialect, Plan, Progress, lower};
use airtight_serve::Growth;

use crate::ledger::Recorder;
use crate::output::{Init, Output};

/// Lets pass what may be shown.
pub(super) struct Valve {
    plan: Arc<Plan>,
    growth: Arc<Growth>,
    attempt: Attempt,
}

/// The answer that is coming in.
struct Attempt {
    /// None once nothing more of it may pass.
    checker: Option<Checker>,
    /// What was said, without the spaces between tokens.
    said: String,
    place: Place,
}

/// Where in the text the next character is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    InString,
    /// Behind a backslash.
    Escaped,
}

impl Valve {
    /// Makes a valve, unless answers of this dialect are adapted on their way back.
    pub(super) fn new(contract: &Contract, dialect: Dialect, growth: Arc<Growth>) -> Option<Self> {
        let lowering = lower(contract, dialect).ok()?;
        lowering.inverse.is_identity().then(|| {
            let plan = Arc::new(Plan::compile(contract));
            Self { attempt: Attempt::begin(&plan), plan, growth }
        })
    }

    fn restart(&mut self) {
        self.attempt = Attempt::begin(&self.plan);
    }

    fn push(&mut self, text: &str) {
        let Some(checker) = &mut self.attempt.checker else { return };
        match checker.push(text.as_bytes()) {
            Progress::Possible => self.attempt.hear(text),
            // The end of a value is for the verdict to give.
            Progress::Complete | Progress::Impossible(_) => {
                self.attempt.checker = None;
                return;
            }
        }
        let shown = self.growth.so_far();
        if let Some(more) = self.attempt.said.strip_prefix(shown.as_str()) {
            self.growth.push(more);
        } else if !shown.starts_with(self.attempt.said.as_str()) {
            // It begins otherwise than the one before, of which something was shown.
            self.attempt.checker = None;
        }
    }
}

impl Attempt {
    fn begin(plan: &Arc<Plan>) -> Self {
        let checker = Some(Checker::new(Arc::clone(plan)));
        Self { checker, said: String::new(), place: Place::Between }
    }

    fn hear(&mut self, text: &str) {
        for next in text.chars() {
            self.place = match (self.place, next) {
                (Place::Between, ' ' | '\t' | '\r' | '\n') => continue,
                (Place::Between, '"') | (Place::Escaped, _) => Place::InString,
                (Place::Between, _) | (Place::InString, '"') => Place::Between,
                (Place::InString, '\\') => Place::Escaped,
                (Place::InString, _) => Place::InString,
            };
            self.said.push(next);
        }
    }
}

/// Sees what happens in a run: the ledger, and who waits for the answer.
pub(super) struct Witness {
    recorder: Arc<Recorder>,
    /// Keeps what happens, for whoever follows the run.
    output: Output<'static>,
    valve: Option<Valve>,
    /// The call of the terminal tool that is coming in.
    call: Option<usize>,
}

impl Witness {
    pub(super) fn new(recorder: Arc<Recorder>, valve: Option<Valve>, redactor: Redactor) -> Self {
        let mut output = Output::silent(recorder.id().as_str());
        output.mask(redactor);
        output.keep_in(Arc::clone(&recorder));
        Self { recorder, output, valve, call: None }
    }

    /// Tells what the run begins with.
    pub(super) fn begin(&mut self, init: Init) {
        self.output.begin(init);
    }

    fn hear(&mut self, delta: &Delta) {
        let Some(valve) = &mut self.valve else { return };
        match delta {
            Delta::Started { .. } => {
                self.call = None;
                valve.restart();
            }
            Delta::CallStarted { index, name, .. } if name == TERMINAL_TOOL => {
                self.call = Some(*index);
                valve.restart();
            }
            Delta::CallArguments { index, text } if self.call == Some(*index) => valve.push(text),
            Delta::Text(text) if self.call.is_none() => valve.push(text),
            Delta::Text(_)
            | Delta::Thinking(_)
            | Delta::ThinkingSigned(_)
            | Delta::Opaque(_)
            | Delta::CallStarted { .. }
            | Delta::CallArguments { .. }
            | Delta::Refusal(_)
            | Delta::Usage(_)
            | Delta::Stopped(_)
            | Delta::Failed(_)
            | Delta::Unknown { .. } => {}
        }
    }
}

impl Observer for Witness {
    fn event(&mut self, event: &Event) {
        self.output.event(event);
        self.recorder.event(event);
        if let (EventKind::Delta(delta), None) = (&event.kind, &event.parent_call_id) {
            self.hear(delta);
        }
    }

    fn journal(&self) -> Option<Arc<dyn Journal>> {
        let recorder = Arc::clone(&self.recorder);
        Some(recorder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is shown of answers that are said in these pieces.
    fn shown(answers: &[&[&str]]) -> String {
        let schema = serde_json::json!({
            "type": "object",
            "properties": { "a": { "type": "string" }, "b": { "type": "integer", "maximum": 9 } },
            "required": ["a", "b"],
            "additionalProperties": false,
        });
        let contract = Contract::compile(schema).unwrap();
        let growth = Arc::new(Growth::default());
        let mut valve = Valve::new(&contract, Dialect::Anthropic, Arc::clone(&growth)).unwrap();
        for answer in answers {
            valve.restart();
            answer.iter().for_each(|piece| valve.push(piece));
        }
        growth.so_far()
    }

    #[test]
    fn the_end_of_a_value_waits_for_the_verdict() {
        assert_eq!(
            shown(&[&["{ \"a\": ", "\"x y\\\" \", ", "\"b\": 4", "}"]]),
            r#"{"a":"x y\" ","b":4"#
        );
    }

    #[test]
    fn what_cannot_conform_is_not_shown() {
        assert_eq!(shown(&[&["{\"a\":", "\"x\",", "\"c\"", ":1}"]]), r#"{"a":"x","#);
        assert_eq!(shown(&[&["Here you are: ", "{\"a\":"]]), "");
    }

    #[test]
    fn another_answer_passes_only_if_it_begins_like_what_was_shown() {
        let first: &[&str] = &["{\"a\":\"x\",", "\"b\":10}"];
        assert_eq!(shown(&[first, &["{", "\"a\":\"x\",\"b\":1"]]), r#"{"a":"x","b":1"#);
        assert_eq!(shown(&[first, &["{\"a\":\"y\",", "\"b\":1"]]), r#"{"a":"x","#);
    }
}
