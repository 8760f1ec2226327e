//! What may be shown of an answer before its verdict.
//!
//! Bytes pass while some completion of them can still conform to the contract itself; what completes the
//! value waits for the verdict. An answer that is adapted on its way back (a wrapper, absent members as
//! `null`) passes as a whole at the end.

use std::sync::Arc;

use airtight_agent::{Event, Journal, Observer, Piece, Spoken};
use airtight_core::codec::Delta;
use airtight_core::contract::Contract;
use airtight_core::redact::Redactor;
use airtight_core::run::EventKind;
use airtight_core::{Checker, Dialect, Plan, Progress};
use airtight_serve::Growth;

use crate::ledger::Recorder;
use crate::output::{Init, Output};

/// Lets pass what may be shown.
pub(super) struct Valve {
    plan: Arc<Plan>,
    growth: Arc<Growth>,
    /// Everything that passed.
    shown: String,
    attempt: Attempt,
}

/// The answer that is coming in.
struct Attempt {
    /// None once nothing more of it may pass.
    checker: Option<Checker>,
    /// What was said, without the spaces between tokens.
    said: String,
    /// How many bytes of it are known to be those that were shown.
    matched: usize,
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
        let lowering = contract.lowered(dialect).ok()?;
        lowering.inverse.is_identity().then(|| {
            let plan = contract.plan();
            Self { attempt: Attempt::begin(&plan), plan, growth, shown: String::new() }
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
        self.show();
    }

    /// Shows what is new, if all that came before it was shown. Only what is new is looked at.
    fn show(&mut self) {
        let Self { growth, shown, attempt, .. } = self;
        let both = attempt.said.len().min(shown.len());
        let of_both = attempt.matched..both;
        if attempt.said.as_bytes().get(of_both.clone()) != shown.as_bytes().get(of_both) {
            // It begins otherwise than the one before, of which something was shown.
            attempt.checker = None;
            return;
        }
        attempt.matched = both;
        let more = attempt.said.get(shown.len()..).unwrap_or_default();
        growth.push(more);
        shown.push_str(more);
    }
}

impl Attempt {
    fn begin(plan: &Arc<Plan>) -> Self {
        let checker = Some(Checker::new(Arc::clone(plan)));
        Self { checker, said: String::new(), matched: 0, place: Place::Between }
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
    spoken: Spoken,
}

impl Witness {
    pub(super) fn new(recorder: Arc<Recorder>, valve: Option<Valve>, redactor: Redactor) -> Self {
        let mut output = Output::silent(recorder.id().as_str());
        output.mask(redactor);
        output.keep_in(Arc::clone(&recorder));
        Self { recorder, output, valve, spoken: Spoken::default() }
    }

    /// Tells what the run begins with.
    pub(super) fn begin(&mut self, init: Init) {
        self.output.begin(init);
    }

    fn hear(&mut self, delta: &Delta) {
        let Some(valve) = &mut self.valve else { return };
        match self.spoken.hear(delta) {
            Piece::Anew => valve.restart(),
            Piece::More(text) => valve.push(text),
            Piece::Other => {}
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
