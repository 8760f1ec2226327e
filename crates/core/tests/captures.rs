//! What real agent CLIs were recorded to write, where those recordings are at hand: next to the
//! repository, or where `AIRTIGHT_CAPTURES` says.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
#![expect(clippy::print_stderr, reason = "a test that does not run says so")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use airtight_core::Contract;
use airtight_core::judge::{Allowance, Strictness, judge};
use airtight_core::transcript::{Decoder, Exit, Record};
use airtight_core::{Verdict, excerpt};
use serde_json::{Value, json};

/// Returns the recordings, or says aloud that there are none.
fn captures() -> Option<PathBuf> {
    let named = std::env::var_os("AIRTIGHT_CAPTURES").map(PathBuf::from);
    let near = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    let folder = named.unwrap_or(near);
    if !folder.is_dir() {
        eprintln!("NOT RUN: there are no recordings of agent CLIs at {}", folder.display());
        return None;
    }
    Some(folder)
}

fn record(stream: &Path) -> Record {
    let meta = fs::read(stream.with_extension("meta.json")).unwrap();
    let meta: Value = serde_json::from_slice(&meta).unwrap();
    let exit =
        meta.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let mut decoder = Decoder::default();
    decoder.push(&fs::read(stream).unwrap());
    decoder.finish(exit.map_or(Exit::Unknown, Exit::Code)).record
}

/// Says in one line what a stream comes to.
fn told(record: &Record) -> String {
    let mut line = String::new();
    let outcome = match (record.succeeded_cleanly, record.succeeded) {
        (true, _) => "clean",
        (false, true) => "doubtful",
        (false, false) => "failed",
    };
    write!(line, "{outcome}").unwrap();
    if let Some(category) = record.error_category {
        write!(line, " {}", serde_json::to_value(category).unwrap().as_str().unwrap()).unwrap();
    }
    let short = |text: &str| excerpt(&text.replace('\n', " "), 30, "…").into_owned();
    if let Some(payload) = &record.payload {
        write!(line, " payload {}", short(payload.value.get())).unwrap();
    } else if let Some(answer) = &record.answer {
        write!(line, " answer {}", short(answer)).unwrap();
    }
    let lines = record.lines;
    write!(line, " ({} lines", lines.total).unwrap();
    let raw = lines.malformed + lines.no_object + lines.unknown + lines.too_long;
    if raw > 0 {
        write!(line, ", {raw} raw").unwrap();
    }
    line + ")"
}

#[test]
fn recordings_come_to_what_is_known_of_them() {
    let Some(folder) = captures() else { return };
    let mut page = String::new();
    let mut programs: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    for program in programs.iter().filter(|path| path.is_dir()) {
        let mut streams: Vec<PathBuf> =
            fs::read_dir(program).unwrap().map(|entry| entry.unwrap().path()).collect();
        streams.retain(|path| path.extension().is_some_and(|ending| ending == "ndjson"));
        streams.sort();
        for stream in streams {
            let name = stream.strip_prefix(&folder).unwrap().with_extension("");
            writeln!(page, "{}: {}", name.display(), told(&record(&stream))).unwrap();
        }
    }
    insta::assert_snapshot!(page);
}

/// Judges what a program delivered for `{"answer": integer}`, as it stands.
fn verdict(stream: &Path) -> (Record, Verdict) {
    let schema = json!({
        "type": "object",
        "properties": { "answer": { "type": "integer" }, "note": { "type": "string" } },
        "required": ["answer"],
        "additionalProperties": false,
    });
    let contract = Contract::compile(schema).unwrap();
    let record = record(stream);
    let strict = Allowance { strictness: Strictness::Strict, ..Allowance::default() };
    let verdict = judge(&contract, record.claim().unwrap_or_default(), &strict);
    (record, verdict)
}

#[test]
fn known_lies_are_caught() {
    let Some(folder) = captures() else { return };
    let lies = [
        "qwen/number_as_string",
        "codex/plain_text_only",
        "opencode/server_schema_number_as_string",
        "claude/plain_text_only",
        "opencode/stop_max_tokens",
    ];
    for lie in lies {
        let (record, verdict) = verdict(&folder.join(lie).with_extension("ndjson"));
        assert!(record.succeeded && record.error.is_none(), "{lie}");
        assert!(matches!(verdict, Verdict::Rejected(_)), "{lie}: {verdict:?}");
    }
    for truth in ["claude/success", "codex/success", "qwen/success", "gemini/success"] {
        let (record, verdict) = verdict(&folder.join(truth).with_extension("ndjson"));
        assert!(record.succeeded_cleanly, "{truth}");
        assert!(matches!(verdict, Verdict::Accepted(_)), "{truth}");
    }
}
