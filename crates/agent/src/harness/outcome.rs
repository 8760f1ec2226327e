//! What a call of a program comes to: success is a conjunction, and the exit code is evidence only.

use airtight_core::codec::{FailureKind, ProviderFailure, Reply, Stop, TIMEOUT};
use airtight_core::excerpt;
use airtight_core::message::{Block, ToolCall};
use airtight_core::run::{Claim, TERMINAL_TOOL};
use airtight_core::transcript::{Category, Ending, Program, Record};

use super::child::{Deadline, Ended, How};
use super::hearing::{Reason, SETBACK_LIMIT};
use super::session::{Counted, Left};
use super::{Harness, codex, failure};
use crate::provider::{End, Exchange};

/// The longest error that a record tells, as of those that programs tell themselves.
const ERROR_LIMIT_CHARS: usize = 4_096;

impl Harness {
    /// Makes an exchange of what a program said and how it ended.
    pub(super) fn conclude(
        &self,
        mut record: Record,
        ended: &Ended,
        (reason, calls): (&Reason, u64),
        before: Option<&Counted>,
    ) -> Exchange {
        self.complete(&mut record, ended);
        let end = self.end(&record, ended, reason);
        let reply = reply(&record, &end, calls, before);
        self.blame(&mut record, &end, ended.how);
        Exchange { reply, end, record: Some(Box::new(record)) }
    }

    /// Adds what only the one who started the program knows.
    fn complete(&self, record: &mut Record, ended: &Ended) {
        record.program_version =
            record.program_version.take().or_else(|| self.0.installed.version.clone());
        record.model = record.model.take().or_else(|| self.0.model.clone());
        record.duration_seconds = Some(ended.elapsed.as_secs_f64());
        let finding = match ended.how {
            How::Exited => None,
            How::ExitForced => Some("exit-forced: it said that it is done, and did not exit"),
            How::TimedOut(_) => Some("timeout: it was stopped"),
            How::TooMuch => Some("too-much: it wrote more than is read, and was stopped"),
            How::Cancelled => Some("cancelled: it was stopped"),
        };
        let heard = format!(" after {} bytes", ended.stdout_bytes);
        record.warnings.extend(finding.map(|finding| finding.to_owned() + &heard));
        if record.ending() == Ending::Done && ended.exit_code.is_some_and(|code| code != 0) {
            let code = ended.exit_code.unwrap_or_default();
            record.warnings.push(format!("exit-code: {code} after it said that it is done"));
        }
        record.warnings.extend(ended.warnings.iter().cloned());
        if self.program() == Program::Codex {
            codex::complete(&mut record.harness_metadata, &self.0);
            record.warnings.extend(codex::deprecations(&ended.stderr));
        }
        if !ended.stderr.trim().is_empty() {
            record.warnings.push(format!("stderr: {}", ended.stderr.trim()));
        }
    }

    /// Adds why the call failed, where the program did not say it. A deadline that passed counts
    /// before what the program said while it was stopped; an answer that stands is doubtful at most.
    ///
    /// Only now: what the program said itself has to decide how it ended.
    fn blame(&self, record: &mut Record, end: &End, how: How) {
        let failure = match (end, how) {
            (End::Failed(failure), _) => failure,
            (End::Whole, How::TimedOut(_)) => {
                record.error_category = record.error_category.or(Some(Category::Timeout));
                return;
            }
            (End::Whole | End::Stopped, _) => return,
        };
        let Some(category) = category(failure) else { return };
        let told = failure.message.strip_prefix(self.program().name());
        let told = told.and_then(|told| told.strip_prefix(": ")).unwrap_or(&failure.message);
        if category == Category::Timeout {
            let said = record.error.take();
            record.warnings.extend(said.map(|said| format!("error: {said}")));
        } else if record.error.is_some() {
            return;
        }
        record.error = Some(excerpt(told, ERROR_LIMIT_CHARS, " ... (truncated)").into_owned());
        record.error_category = Some(category);
    }

    /// Says how the call ended; what the program said before decides over how it was ended.
    fn end(&self, record: &Record, ended: &Ended, reason: &Reason) -> End {
        let name = self.program().name();
        let failed =
            |kind, message: String| End::Failed(failure(kind, format!("{name}: {message}")));
        match reason {
            Reason::NoTool => {
                let message = "it does not offer its model the tool for the answer; it may have \
                               dropped the schema";
                return failed(FailureKind::Program, message.to_owned());
            }
            Reason::Stuck(why) => {
                let why = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
                let message = format!(
                    "its request failed {SETBACK_LIMIT} times in a row, and it was stopped{why}"
                );
                return failed(FailureKind::Overload, message);
            }
            Reason::None | Reason::Unwanted => {}
        }
        if record.payload.as_ref().is_some_and(|payload| may_be_rounded(payload.value.get())) {
            let message =
                "its answer has a number of more than 15 digits, which it may have rounded";
            return failed(FailureKind::Rejected, message.to_owned());
        }
        let told = record.error.clone().unwrap_or_default();
        match (record.ending(), ended.how) {
            (_, How::Cancelled) => End::Stopped,
            (Ending::Done | Ending::Prose, _) => End::Whole,
            (Ending::Rejected, _) => failed(FailureKind::Rejected, told),
            (Ending::TurnCap, _) => {
                failed(FailureKind::TurnCap, "it has no answer after its last turn".to_owned())
            }
            (Ending::Budget, _) => failed(FailureKind::Budget, said(&told, ended)),
            (Ending::Failed(_), _) if record.stop() == Stop::Refusal => End::Whole,
            // The result line was lost or never came, and the call that was accepted was not. An error
            // that is told after the deadline is about being stopped.
            (Ending::Unfinished, How::Exited | How::TooMuch)
            | (Ending::Unfinished | Ending::Failed(_), How::TimedOut(_))
                if record.payload.is_some() =>
            {
                End::Whole
            }
            // What went wrong may be that it was stopped.
            (Ending::Failed(_) | Ending::Unfinished, How::TimedOut(deadline)) => {
                self.timed_out(deadline, &told)
            }
            (Ending::Failed(category), _) => self.failed(category, record),
            (Ending::Unfinished, How::TooMuch) => {
                failed(FailureKind::Program, "it wrote more than is read".to_owned())
            }
            (Ending::Unfinished, How::Exited | How::ExitForced) => {
                let code = ended.exit_code.map_or("?".to_owned(), |code| code.to_string());
                let why = said("", ended);
                let message = format!("it exited with {code} before it said that it is done{why}");
                failed(self.early_exit(ended), message)
            }
        }
    }

    /// Reads the exit codes of programs that end before they begin.
    fn early_exit(&self, ended: &Ended) -> FailureKind {
        match (self.program(), ended.exit_code) {
            (Program::Gemini, Some(41)) => FailureKind::Auth,
            _ => FailureKind::Program,
        }
    }

    fn failed(&self, category: Category, record: &Record) -> End {
        let name = self.program().name();
        let message = format!("{name}: {}", record.error.as_deref().unwrap_or_default());
        let status = record.api_error_status.and_then(|status| u16::try_from(status).ok());
        let kind = match (category, status) {
            (Category::RateLimit, _) => FailureKind::RateLimit,
            (Category::Auth, _) => FailureKind::Auth,
            (Category::Subprocess | Category::Timeout, _) => FailureKind::Program,
            (_, Some(408 | 409 | 500..)) => FailureKind::Overload,
            // Where nobody says that the provider is to blame, waiting may not help.
            (Category::Api | Category::Interactive | Category::BackgroundTask, _) => {
                FailureKind::Request
            }
        };
        End::Failed(ProviderFailure { status, ..failure(kind, message) })
    }

    /// Says that a deadline passed, with what the program `told` of why, if anything.
    fn timed_out(&self, deadline: Deadline, told: &str) -> End {
        let (name, silence) = (self.program().name(), self.silence(deadline));
        let why = if told.is_empty() { String::new() } else { format!(": {told}") };
        let failure = failure(FailureKind::Program, format!("{name}: {silence}{why}"));
        End::Failed(ProviderFailure { code: Some(TIMEOUT.to_owned()), ..failure })
    }

    fn silence(&self, deadline: Deadline) -> String {
        let limits = &self.0.deadlines;
        match deadline {
            Deadline::FirstLine => format!("it said nothing for {} s", limits.first_line.as_secs()),
            Deadline::Idle => format!("it fell silent for {} s", limits.idle.as_secs()),
            Deadline::Total => format!("it took longer than {} s", limits.total.as_secs()),
        }
    }
}

/// Returns what kind of failure a record tells, where the program itself told none; nothing if other
/// members of the record tell it, or if it is we who object.
fn category(failure: &ProviderFailure) -> Option<Category> {
    match failure.kind {
        FailureKind::Program if failure.code.as_deref() == Some(TIMEOUT) => Some(Category::Timeout),
        FailureKind::Program => Some(Category::Subprocess),
        FailureKind::Auth => Some(Category::Auth),
        FailureKind::RateLimit => Some(Category::RateLimit),
        FailureKind::Overload | FailureKind::Request => Some(Category::Api),
        FailureKind::Unreachable
        | FailureKind::Network
        | FailureKind::Stalled
        | FailureKind::Malformed
        | FailureKind::Unfit
        | FailureKind::Rejected
        | FailureKind::TurnCap
        | FailureKind::Budget => None,
    }
}

/// Returns what a program said on stderr, where it said nothing else.
fn said(told: &str, ended: &Ended) -> String {
    match (told, ended.stderr.trim()) {
        ("", "") => String::new(),
        ("", stderr) => format!(": {stderr}"),
        (told, _) => told.to_owned(),
    }
}

/// Makes a reply of what a program said.
fn reply(record: &Record, end: &End, calls: u64, before: Option<&Counted>) -> Reply {
    let is_whole = *end == End::Whole;
    let answer = answer(record, is_whole);
    // A line that could not be read may have told of a call.
    let calls = calls.saturating_add(record.lines.malformed);
    // A session in which nothing was said or done has nothing to go on with.
    let is_worth = answer.is_some() || calls > 0;
    let left = is_worth.then(|| Left::block(calls, before, record)).flatten();
    let (usage, cost) = Counted::since(before, record);
    Reply {
        id: record.session_id.clone(),
        model: record.model.clone(),
        blocks: left.into_iter().chain(answer).collect(),
        stop: is_whole.then(|| record.stop()),
        refusal: None,
        usage,
        cost,
        claim: match record.ending() {
            Ending::Done => Claim::Success,
            Ending::Prose
            | Ending::Rejected
            | Ending::TurnCap
            | Ending::Budget
            | Ending::Failed(_)
            | Ending::Unfinished => Claim::None,
        },
        unknown: record.lines.unknown,
    }
}

/// Returns the payload as a call of the tool for it, also one that the program rejected and gave up on,
/// else the text: the answer if the program is done, or whatever was said before it failed.
fn answer(record: &Record, is_whole: bool) -> Option<Block> {
    let rejected = record.rejected.as_ref().filter(|_| record.ending() == Ending::Rejected);
    if let Some(payload) = record.payload.as_ref().or(rejected) {
        return Some(Block::Call(ToolCall {
            id: format!("line_{}", payload.at.line),
            name: TERMINAL_TOOL.to_owned(),
            arguments: payload.value.get().to_owned(),
            signature: None,
        }));
    }
    let text = match &record.answer {
        Some(answer) if is_whole => answer.clone(),
        // What was said before its last turn is not the answer of that.
        None if is_whole && record.ending() == Ending::Done => String::new(),
        Some(_) | None => record.output.clone(),
    };
    (!text.is_empty()).then_some(Block::Text(text))
}

/// Claims that `json` holds a number of more digits than every double keeps.
///
/// Programs in JavaScript read what their model said and write it again. What they made of a longer
/// number cannot be told from what the model said, so it is refused.
fn may_be_rounded(json: &str) -> bool {
    const KEPT: usize = 15;
    let (mut digits, mut is_text, mut is_escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            // Zeros in front are no digits of the number.
            b'0' if digits == 0 => {}
            b'0'..=b'9' => digits += 1,
            b'.' | b'-' => {}
            _ => digits = 0,
        }
        if digits > KEPT {
            return true;
        }
    }
    false
}
