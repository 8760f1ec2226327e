//! `airtight runs show`: everything about one run.

use airtight_store::{Attempt, AttemptState, Decision, Run};
use serde::Deserialize;

use super::Asked;
use super::list::{contract, cost, kept, model, standing};
use crate::cli::ShowArgs;
use crate::error::{Error, Outcome};
use crate::output::pretty;
use crate::printer::{Printer, Span, Tone};
use crate::when;

/// How many events are in memory at once.
const EVENTS_AT_ONCE: u32 = 500;

/// How many changes are listed for people.
const LISTED: usize = 20;

/// Shows one run.
pub(super) async fn run(
    args: &ShowArgs,
    asked: &Asked,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let run = asked.ledger.run(&args.id).await.map_err(asked.failed())?;
    if args.raw {
        return raw(&run, printer);
    }
    if args.events {
        return events(&run, asked, printer).await;
    }
    let attempts = asked.ledger.attempts(&run.summary.id).await.map_err(asked.failed())?;
    let decisions = asked.ledger.decisions(&run.summary.id).await.map_err(asked.failed())?;
    if args.json || !printer.is_terminal() {
        printer.json(&document(&run, &attempts, &decisions))?;
    } else {
        header(&run, printer)?;
        list_attempts(&attempts, printer)?;
        list_wrongs(&run, printer)?;
        list_decisions(&decisions, printer)?;
        value(&run, asked, printer)?;
    }
    Ok(Outcome::Met)
}

/// Prints what the model said: byte for byte to a pipe, line by line to a terminal.
fn raw(run: &Run, printer: &mut Printer) -> Result<Outcome, Error> {
    let Some(output) = &run.output else {
        let message = format!("run `{}` has no output on record", run.summary.id);
        let why = kept(run.summary.store).unwrap_or("the model said nothing, or it is not over");
        return Err(Error::new(Outcome::Rejected, message).with_findings(vec![why.to_owned()]));
    };
    if !printer.is_terminal() {
        printer.verbatim(output)?;
        return Ok(Outcome::Met);
    }
    for line in String::from_utf8_lossy(output).lines() {
        printer.line(&[Span::plain(line)])?;
    }
    Ok(Outcome::Met)
}

async fn events(run: &Run, asked: &Asked, printer: &mut Printer) -> Result<Outcome, Error> {
    let mut after = 0;
    loop {
        let page = asked.ledger.events(&run.summary.id, after, EVENTS_AT_ONCE).await;
        let page = page.map_err(asked.failed())?;
        let Some(last) = page.last() else { return Ok(Outcome::Met) };
        after = last.number;
        for event in &page {
            let kind = || serde_json::json!({ "type": event.kind }).to_string();
            printer.json(&event.body.clone().unwrap_or_else(kind))?;
        }
    }
}

/// Returns the run as one JSON object. Texts are put together, so that no number passes through a
/// machine type.
fn document(run: &Run, attempts: &[Attempt], decisions: &[Decision]) -> String {
    let run = serde_json::to_string(run).unwrap_or_default();
    let attempts = serde_json::to_string(attempts).unwrap_or_default();
    let decisions = serde_json::to_string(decisions).unwrap_or_default();
    let run = run.strip_suffix('}').unwrap_or(&run);
    format!("{run},\"attemptLog\":{attempts},\"decisions\":{decisions}}}")
}

fn header(run: &Run, printer: &mut Printer) -> Result<(), Error> {
    let summary = &run.summary;
    let (tone, state) = standing(summary);
    let mut rows = vec![
        ("run", Span::new(Tone::Strong, summary.id.as_str())),
        ("state", Span::new(tone, state)),
        ("contract", Span::plain(format!("{} ({})", contract(summary), summary.fingerprint))),
        ("model", Span::plain(format!("{}, by {}", model(summary), summary.mode))),
        ("began", Span::plain(format!("{} UTC", when::write(summary.started_at)))),
    ];
    let mut add = |name, text: Option<String>| {
        rows.extend(text.map(|text| (name, Span::plain(text))));
    };
    add("took", summary.elapsed_ms.map(when::took));
    add("rung", summary.rung.clone());
    add("tokens", Some(tokens(run)));
    add("cost", Some(cost(summary)));
    add("key", summary.key.clone().filter(|key| key != summary.id.as_str()));
    add("parent", summary.parent.as_ref().map(ToString::to_string));
    add("batch", summary.batch.clone());
    add("at it", summary.owner.clone());
    add("kept", kept(summary.store).map(str::to_owned));
    add("until", summary.expires_at.map(|at| format!("{} UTC", when::write(at))));
    add("asked", run.prompt.clone());
    let rows: Vec<Vec<Span>> =
        rows.into_iter().map(|(name, span)| vec![Span::new(Tone::Dim, name), span]).collect();
    printer.table(0, &rows)
}

fn tokens(run: &Run) -> String {
    let usage = run.summary.usage;
    let (input, output) = (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0));
    let saved = run.summary.tokens_saved;
    let saved = if saved > 0 { format!(", about {saved} saved") } else { String::new() };
    format!("{input} in, {output} out{saved}")
}

fn list_attempts(attempts: &[Attempt], printer: &mut Printer) -> Result<(), Error> {
    printer.line(&[])?;
    let mut rows = Vec::new();
    for attempt in attempts {
        let (tone, ending) = match (attempt.state, attempt.ending.as_deref()) {
            (AttemptState::Open, _) => (Tone::Plain, "open"),
            (AttemptState::Unknown, _) => (Tone::Warning, "unknown: it may have been paid"),
            (AttemptState::Stray, _) => (Tone::Warning, "stray: it came too late"),
            (AttemptState::Closed, Some("accepted")) => (Tone::Good, "accepted"),
            (AttemptState::Closed, ending) => (Tone::Plain, ending.unwrap_or("closed")),
        };
        let took = attempt.ended_at.map(|end| when::took(end - attempt.started_at));
        rows.push(vec![
            Span::new(Tone::Dim, format!("attempt {}", attempt.number)),
            Span::new(tone, ending),
            Span::plain(attempt.rung.as_deref().unwrap_or("-")),
            Span::plain(took.unwrap_or_default()),
            Span::plain(attempt.purpose.as_str()),
        ]);
        rows.extend(attempt.error.iter().map(|error| indented(error)));
        let wrongs = wrongs(attempt.violations.as_deref());
        rows.extend(wrongs.iter().map(|wrong| indented(wrong)));
    }
    printer.table(0, &rows)
}

fn indented(text: &str) -> Vec<Span> {
    vec![Span::plain(""), Span::new(Tone::Warning, text)]
}

/// A violation as the ledger has it.
#[derive(Debug, Deserialize)]
struct Wrong {
    #[serde(default)]
    pointer: String,
    #[serde(default)]
    message: String,
}

/// What is wrong with the output, as the ledger has it.
#[derive(Debug, Deserialize)]
struct Errors {
    #[serde(default)]
    message: String,
}

/// A change as the ledger has it.
#[derive(Debug, Deserialize)]
struct Change {
    kind: String,
    #[serde(default)]
    pointer: Option<String>,
    #[serde(default)]
    to: Option<String>,
    #[serde(default)]
    version: Option<String>,
}

fn wrongs(json: Option<&str>) -> Vec<String> {
    let read: Vec<Wrong> =
        json.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let told = |wrong: &Wrong| match wrong.pointer.as_str() {
        "" => wrong.message.clone(),
        pointer => format!("{pointer}: {}", wrong.message),
    };
    read.iter().take(LISTED).map(told).collect()
}

fn list_wrongs(run: &Run, printer: &mut Printer) -> Result<(), Error> {
    let read = |text: &String| serde_json::from_str::<Errors>(text).ok();
    if let Some(errors) = run.output_errors.as_ref().and_then(read) {
        printer.line(&[Span::new(Tone::Bad, "failed: "), Span::plain(errors.message)])?;
    }
    let changes =
        run.edits.as_deref().and_then(|text| serde_json::from_str::<Vec<Change>>(text).ok());
    for change in changes.iter().flatten().take(LISTED) {
        let told = |word: &str, what: &Option<String>| {
            let what = what.as_ref().filter(|what| !what.is_empty());
            what.map(|what| format!(" {word} {what}")).unwrap_or_default()
        };
        let [place, to] = [told("at", &change.pointer), told("to", &change.to)];
        let text = format!("{}{place}{to}{}", change.kind, told("of version", &change.version));
        printer.line(&[Span::new(Tone::Warning, "edit: "), Span::plain(text)])?;
    }
    list_unchecked(run, printer)
}

/// Lists the places of an extracted value that nobody could look up in what the model said.
fn list_unchecked(run: &Run, printer: &mut Printer) -> Result<(), Error> {
    let read = |text: &str| serde_json::from_str::<Vec<String>>(text).ok();
    let places = run.unchecked.as_deref().and_then(read).unwrap_or_default();
    for place in places.iter().take(LISTED) {
        let place = if place.is_empty() { "(root)" } else { place.as_str() };
        printer.line(&[Span::new(Tone::Warning, "unchecked: "), Span::plain(place)])?;
    }
    Ok(())
}

fn list_decisions(decisions: &[Decision], printer: &mut Printer) -> Result<(), Error> {
    for decision in decisions {
        let why = decision.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        let text = format!("by {} at {} UTC{why}", decision.who, when::write(decision.at));
        let word = format!("{} ", decision.review.name());
        printer.line(&[Span::new(Tone::Strong, word), Span::plain(text)])?;
    }
    Ok(())
}

fn value(run: &Run, asked: &Asked, printer: &mut Printer) -> Result<(), Error> {
    printer.line(&[])?;
    match &run.parsed_output {
        Some(value) => printer.json(&pretty(value)),
        None if run.output.is_some() => {
            let command = asked.books.command(&format!("runs show {} --raw", run.summary.id));
            let hint = format!("`{command}` prints what the model said");
            printer.line(&[Span::new(Tone::Dim, hint)])
        }
        None => Ok(()),
    }
}
