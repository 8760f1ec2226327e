//! A record for people.

use airtight_core::transcript::Record;
use airtight_core::{Verdict, excerpt};

use crate::error::Error;
use crate::explain;
use crate::printer::{Printer, Span, Tone};

/// How much of an answer is shown, in characters.
const ANSWER_LIMIT_CHARS: usize = 200;

/// Prints a record, and the verdict on it if there is one.
pub(super) fn print(
    record: &Record,
    verdict: Option<&Verdict>,
    printer: &mut Printer,
) -> Result<(), Error> {
    let mut rows = vec![row("program", Tone::Plain, program(record)), outcome(record)];
    let mut fact = |name: &str, value: Option<String>| {
        rows.extend(value.map(|value| row(name, Tone::Plain, value)));
    };
    fact("error", record.error.clone());
    fact("payload", record.payload.as_ref().map(|payload| shown(payload.value.get())));
    fact("answer", record.answer.as_deref().filter(|_| record.payload.is_none()).map(shown));
    fact("session", record.session_id.clone());
    fact("stopped", record.stop_reason.clone());
    fact("turns", record.num_turns.map(|turns| turns.to_string()));
    fact("tokens", Some(format!("{} in, {} out", record.input_tokens, record.output_tokens)));
    fact("cost", record.total_cost_usd.as_ref().map(|cost| format!("{cost} USD")));
    fact("time", record.duration_seconds.map(|seconds| format!("{seconds} s")));
    let lines = &record.lines;
    fact("lines", Some(format!("{}, {} of them events", lines.total, lines.stream_events)));
    rows.extend(record.warnings.iter().map(|text| row("warning", Tone::Warning, text.clone())));
    rows.extend(verdict.map(judged));
    printer.table(0, &rows)
}

fn row(name: &str, tone: Tone, value: impl AsRef<str>) -> Vec<Span> {
    vec![Span::new(Tone::Dim, name), Span::new(tone, value)]
}

fn program(record: &Record) -> String {
    let name = record.program.map_or("unknown", airtight_core::transcript::Program::name);
    let version = record.program_version.as_deref().unwrap_or_default();
    let model = record.model.as_ref().map(|model| format!("with {model}")).unwrap_or_default();
    let words = [name, version, &model];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn outcome(record: &Record) -> Vec<Span> {
    let (tone, word) = match (record.succeeded_cleanly, record.succeeded) {
        (true, _) => (Tone::Good, "says it succeeded"),
        (false, true) => (Tone::Warning, "says it succeeded, which is doubtful"),
        (false, false) if record.num_results == 0 => (Tone::Bad, "did not say how it ended"),
        (false, false) => (Tone::Bad, "failed"),
    };
    row("outcome", tone, word)
}

fn judged(verdict: &Verdict) -> Vec<Span> {
    match verdict {
        Verdict::Accepted(accepted) if accepted.edits.is_empty() => {
            row("verdict", Tone::Good, "accepted as it stands")
        }
        Verdict::Accepted(accepted) => {
            let text = format!("accepted after {} edits", accepted.edits.total());
            row("verdict", Tone::Warning, text)
        }
        Verdict::Rejected(rejected) => {
            row("verdict", Tone::Bad, format!("rejected: {}", explain::rejection(&rejected.reason)))
        }
    }
}

fn shown(text: &str) -> String {
    excerpt(text, ANSWER_LIMIT_CHARS, "…").into_owned()
}
