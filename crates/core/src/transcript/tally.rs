//! What is known of a stream so far, and the record it becomes.

use std::collections::BTreeSet;

use serde_json::Number;

use crate::codec::Usage;
use crate::excerpt;

use super::category::{Category, Evidence};
use super::delivery::Delivery;
use super::event::{Place, Raw, RawReason};
use super::heuristics::{self, Doubt, Heuristics};
use super::meter::Meter;
use super::output::Output;
use super::record::{Exit, RawLine, Record};

/// The longest error that is told, in characters; the stream has the rest.
const ERROR_LIMIT_CHARS: usize = 4_096;

/// What stands behind an error that was cut.
const CUT: &str = " ... (truncated)";

/// What is told where a program says no more than that it failed.
const NO_DETAIL: &str = "API error (no detail)";

/// How many raw lines, warnings and pending tasks are listed: more than anybody reads.
const LISTED: usize = 100;

/// How many ids of calls and tasks are remembered, so that no stream costs endless memory.
const REMEMBERED: usize = 10_000;

/// The longest id that is remembered; those of all programs have a tenth of it.
const ID_LIMIT_BYTES: usize = 256;

/// The longest warning, in characters; the stream has the rest.
const WARNING_LIMIT_CHARS: usize = 256;

/// Why a program failed.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) message: String,
    category: Category,
    status: Option<u64>,
}

impl Failure {
    /// Decides what a failure is.
    pub(super) fn new(message: Option<&str>, evidence: Evidence<'_>) -> Self {
        let message = message.unwrap_or(NO_DETAIL);
        Self {
            category: Category::of(message, evidence),
            message: excerpt(message, ERROR_LIMIT_CHARS, CUT).into_owned(),
            status: evidence.status,
        }
    }
}

/// What is known so far.
#[derive(Debug)]
pub(super) struct Tally {
    /// What needs no second look.
    pub(super) record: Record,
    pub(super) output: Output,
    pub(super) delivery: Delivery,
    /// What was used since the program last said what it used in all.
    pub(super) meter: Meter,
    /// The final text as the program tells it, which beats what was collected.
    pub(super) result: Option<String>,
    /// The program's last word for what is wrong, told before its result.
    pub(super) error_word: Option<String>,
    /// The first failure; nothing that follows makes it undone.
    pub(super) failure: Option<Failure>,
    /// Calls that went on in the background and were not told to be complete, by their ids.
    pub(super) launches: BTreeSet<String>,
    pending_tasks: BTreeSet<String>,
    /// Whether the model called a tool that asks the user.
    pub(super) asked_user: bool,
    pub(super) lone_surrogates: u64,
    /// Numbers that are beyond all machine numbers.
    pub(super) huge_numbers: u64,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            record: Record::empty(),
            output: Output::default(),
            delivery: Delivery::default(),
            meter: Meter::default(),
            result: None,
            error_word: None,
            failure: None,
            launches: BTreeSet::new(),
            pending_tasks: BTreeSet::new(),
            asked_user: false,
            lone_surrogates: 0,
            huge_numbers: 0,
        }
    }

    /// Notes a failure, unless there was one before.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Notes something that is worth a look.
    pub(super) fn warn(&mut self, warning: &str) {
        if self.record.warnings.len() < LISTED {
            let warning = excerpt(warning, WARNING_LIMIT_CHARS, "…").into_owned();
            self.record.warnings.push(warning);
        }
    }

    /// Takes back what was said in this turn, because the request is sent again.
    pub(super) fn take_back(&mut self) {
        self.output.take_back();
        self.delivery.take_back();
    }

    /// Notes that a turn begins: what was said before it is not its answer.
    pub(super) fn begin_turn(&mut self) {
        self.result = None;
        self.output.end_turn();
        self.output.outdate();
    }

    /// Notes that the program says it is done.
    pub(super) fn end(&mut self, at: Place) {
        self.record.num_results += 1;
        self.record.result_at = Some(at);
    }

    /// Notes how long the program took by its own account.
    pub(super) fn took(&mut self, ms: Option<&Number>) {
        let seconds = ms.and_then(Number::as_f64).map(|ms| ms / 1_000.0);
        self.record.duration_seconds = seconds.or(self.record.duration_seconds);
    }

    /// Notes a call that goes on in the background.
    pub(super) fn launch(&mut self, call_id: &str) {
        remember(&mut self.launches, call_id);
    }

    /// Notes that background work began.
    pub(super) fn begin_task(&mut self, task_id: &str) {
        remember(&mut self.pending_tasks, task_id);
    }

    /// Notes that background work is over.
    pub(super) fn end_task(&mut self, task_id: &str) {
        self.pending_tasks.remove(task_id);
    }

    /// Notes that a call that went on in the background came to its end by itself.
    pub(super) fn land(&mut self, call_id: &str) {
        self.launches.remove(call_id);
    }

    /// Claims that the program says it is done, and that nothing more is to come: it has delivered, or
    /// nothing goes on in the background.
    pub(super) fn is_over(&self) -> bool {
        let has_ended = self.delivery.is_delivered() || self.pending_tasks.is_empty();
        self.record.num_results > 0 && has_ended
    }

    /// Returns what was used so far: what the program said in all, and what was told since.
    pub(super) fn used(&self) -> Usage {
        let mut used = self.record.usage;
        used.add(&self.meter.total());
        used
    }

    /// Returns everything that was said; of a program that tells its result alone, that.
    pub(super) fn words(&self) -> String {
        let output = self.output.text();
        if output.trim().is_empty() { self.result.clone().unwrap_or_default() } else { output }
    }

    /// Notes a line that is kept raw.
    pub(super) fn count_raw(&mut self, raw: &Raw) {
        self.record.lines.count_raw(raw.reason);
        if raw.reason == RawReason::Blank {
            return;
        }
        self.output.miss();
        if self.record.raw_lines.len() < LISTED {
            self.record.raw_lines.push(RawLine { at: raw.at, reason: raw.reason });
        }
    }

    /// Returns what it all comes to.
    pub(super) fn into_record(mut self, exit: Exit, heuristics: Heuristics) -> Record {
        let doubt = match heuristics {
            Heuristics::Applied => heuristics::doubt(&self),
            Heuristics::Off => None,
        };
        self.record.rejected = self.delivery.take_rejected();
        self.record.payload = std::mem::take(&mut self.delivery).into_payload();
        self.record.output = self.output.text();
        self.record.usage = self.used();
        let is_done = self.record.num_results > 0 && self.failure.is_none();
        // What a program says before it fails, or is stopped, is no answer.
        let answer = self.result.take().or_else(|| self.output.this_turn());
        // Which text had the half of a character is not known, so an answer that may be this text is none.
        let is_as_said = |text: &String| self.lone_surrogates == 0 || !text.contains('\u{fffd}');
        self.record.answer = answer.filter(|text| is_done && is_as_said(text));
        self.add_warnings(doubt.as_ref());
        let Self { mut record, failure, .. } = self;
        let ended_well = match exit {
            Exit::Code(code) => code == 0,
            Exit::Unknown => is_done,
        };
        record.succeeded = ended_well && !record.is_silent();
        record.succeeded_cleanly = record.succeeded && is_done && doubt.is_none();
        record.exit_code = match exit {
            Exit::Code(code) => Some(code),
            Exit::Unknown => None,
        };
        record.input_tokens = record.usage.input_tokens.unwrap_or(0);
        record.output_tokens = record.usage.output_tokens.unwrap_or(0);
        record.pending_tasks = self.pending_tasks.into_iter().take(LISTED).collect();
        record.error_category = doubt.map(|doubt| doubt.category);
        if let Some(Failure { message, category, status }) = failure {
            record.error = Some(message);
            record.error_category = Some(category);
            record.api_error_status = status;
        }
        record
    }

    /// Puts what is worth a look about the stream as a whole before the rest.
    fn add_warnings(&mut self, doubt: Option<&Doubt>) {
        let mut warnings: Vec<String> =
            doubt.map(|doubt| doubt.warning.clone()).into_iter().collect();
        let results = self.record.num_results;
        let pending = self.pending_tasks.len();
        let raw = self.record.lines.told();
        let (lone, huge) = (self.lone_surrogates, self.huge_numbers);
        let is_silent = results > 0 && self.failure.is_none() && self.record.is_silent();
        let dropped = self.record.harness_metadata.dropped_events_count.unwrap_or(0);
        let findings = [
            (results == 0, "no-result: the stream ends before the program says it is done".into()),
            (is_silent, "no-output: the program says it is done, and said nothing else".into()),
            (results > 1, format!("several-results: {results}; the last one counts")),
            (pending > 0, format!("pending-tasks: {pending} had not ended")),
            (dropped > 0, format!("dropped-events: {dropped}, says the program")),
            (self.output.is_cut(), "output-truncated: more was said than is kept".into()),
            (lone > 0, format!("lone-surrogates: {lone}, read as U+FFFD")),
            (huge > 0, format!("huge-numbers: {huge}, read as null")),
            (!raw.is_empty(), format!("raw-lines: {}", raw.join(", "))),
        ];
        warnings.extend(findings.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text));
        warnings.append(&mut self.record.warnings);
        self.record.warnings = warnings;
    }
}

/// Claims that an id is there, and short enough to be remembered.
pub(super) fn is_usable(id: &str) -> bool {
    (1..=ID_LIMIT_BYTES).contains(&id.len())
}

/// Adds an id, unless it is not usable, or there are too many.
fn remember(ids: &mut BTreeSet<String>, id: &str) {
    if ids.len() < REMEMBERED && is_usable(id) {
        ids.insert(id.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use crate::transcript::{Decoder, Exit, Program};

    fn answer(program: Program, lines: &[&str]) -> Option<String> {
        let mut decoder = Decoder::of(program);
        for line in lines {
            decoder.push(line.as_bytes());
            decoder.push(b"\n");
        }
        decoder.finish(Exit::Code(0)).record.answer
    }

    /// What gemini says in pieces, of which each is JSON.
    fn of_pieces(pieces: &[&str]) -> Option<String> {
        let message = |piece: &&str| {
            format!(r#"{{"type":"message","role":"assistant","content":{piece},"delta":true}}"#)
        };
        let mut lines = vec![r#"{"type":"init","session_id":"s","model":"m"}"#.to_owned()];
        lines.extend(pieces.iter().map(message));
        lines.push(r#"{"type":"result","status":"success"}"#.to_owned());
        answer(Program::Gemini, &lines.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test_case(&[r#""x\ud800y""#]; "half of one")]
    #[test_case(&[r#""x\ud83d""#, r#""\ude00y""#]; "one over two pieces")]
    fn an_answer_with_half_a_character_is_none(pieces: &[&str]) {
        assert_eq!(of_pieces(pieces), None);
    }

    #[test]
    fn a_character_that_stands_for_none_may_be_said() {
        assert_eq!(of_pieces(&["\"x\u{fffd}y\""]).as_deref(), Some("x\u{fffd}y"));
    }

    #[test_case("7")]
    #[test_case(r#"{"text":"NOT "}"#; "an object")]
    #[test_case(r#"["NOT "]"#; "a list")]
    #[test_case("null")]
    fn an_answer_of_which_a_piece_is_no_text_is_none(piece: &str) {
        assert_eq!(of_pieces(&[r#""not ""#, r#""ok""#]).as_deref(), Some("not ok"));
        assert_eq!(of_pieces(&[r#""not ""#, piece, r#""ok""#]), None);
    }

    #[test_case(r#"{"type":"text","text":["-"]},{"type":"text","text":"5"}"#, "null" => None; "a block that is no text")]
    #[test_case(r#"7,{"type":"text","text":"5"}"#, "null" => None; "a block that is none")]
    #[test_case(r#"{"type":"text","text":"5"}"#, "[\"6\"]" => None; "a result that is no text")]
    #[test_case(r#"{"type":"text","text":"5"}"#, "null" => Some("5".to_owned()); "no result")]
    #[test_case(r#"{"type":"image"},{"type":"text","text":"5"}"#, "null" => Some("5".to_owned()); "another block")]
    fn what_claude_says_in_no_text_is_missing(blocks: &str, result: &str) -> Option<String> {
        let said = format!(r#"{{"type":"assistant","message":{{"id":"m","content":[{blocks}]}}}}"#);
        let end = format!(r#"{{"type":"result","subtype":"success","result":{result}}}"#);
        answer(Program::Claude, &[&said, &end])
    }

    #[test]
    fn content_of_claude_that_is_neither_words_nor_blocks_takes_back_what_was_said_before() {
        let said = |content: &str| {
            format!(r#"{{"type":"assistant","message":{{"id":"m","content":{content}}}}}"#)
        };
        let end = r#"{"type":"result","subtype":"success"}"#;
        let (draft, strange) = (said("\"draft\""), said("7"));
        assert_eq!(answer(Program::Claude, &[&draft, end]).as_deref(), Some("draft"));
        assert_eq!(answer(Program::Claude, &[&draft, &strange, end]), None);
    }

    #[test_case(r#"{"type":"text","text":["-"]}"#)]
    #[test_case(r#""correction""#)]
    fn parts_of_opencodes_server_that_are_no_text_leave_no_answer(part: &str) {
        let served = |parts: &str| {
            format!(
                r#"{{"info":{{"id":"m","sessionID":"s","role":"assistant","finish":"stop"}},"parts":[{parts}]}}"#
            )
        };
        let text = r#"{"type":"text","text":"5"}"#;
        let whole =
            answer(Program::Opencode, &[&served(&format!(r#"{{"type":"step-start"}},{text}"#))]);
        let gap = answer(Program::Opencode, &[&served(&format!("{text},{part}"))]);
        assert_eq!((whole.as_deref(), gap), (Some("5"), None));
    }

    #[test]
    fn what_opencode_says_in_no_text_takes_back_what_was_said_before() {
        let said = |text: &str| {
            format!(r#"{{"type":"text","sessionID":"s","part":{{"type":"text","text":{text}}}}}"#)
        };
        let stop = r#"{"type":"step_finish","sessionID":"s","part":{"type":"step-finish","reason":"stop"}}"#;
        let (draft, object) = (said(r#""draft""#), said(r#"{"a":1}"#));
        let whole = answer(Program::Opencode, &[&draft, stop]);
        let gap = answer(Program::Opencode, &[&draft, &object, stop]);
        assert_eq!((whole.as_deref(), gap), (Some("draft"), None));
    }
}
