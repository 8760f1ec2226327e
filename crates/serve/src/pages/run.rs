//! One run: what it came to, and how. While it goes on, what happens; afterwards the value, what was said,
//! and what lies between.

mod activity;
mod attempts;
mod growing;
mod outcome;

use airtight_store::{Attempt, Decision, Run, RunState, RunSummary};
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use maud::{Markup, html};

use super::overview::{driver, title};
use super::visit::segment;
use super::{Failed, Freshness, Here, Pages, Visit, badge, change, layout, text, words};
use crate::problem::Problem;

pub(super) use activity::Stream;
pub(super) use outcome::{violations, violations_of};

/// Shows the page.
pub(super) async fn show(
    State(pages): State<Pages>,
    Path(id): Path<String>,
    visit: Visit,
) -> Result<Html<String>, Failed> {
    let run = pages.ledger.run(&id).await?;
    let summary = &run.summary;
    let attempts = pages.ledger.attempts(&summary.id).await?;
    let decisions = pages.ledger.decisions(&summary.id).await?;
    let stream = Stream::read(&pages, &summary.id, visit.number("after")?.unwrap_or(0)).await?;
    let is_open = summary.state == RunState::Open;
    let name = title(summary);
    let main = html! {
        p.back { a href="/runs" { "← Runs" } }
        (heading(summary))
        section.panel aria-label="Facts" { div.body { (facts(summary)) } }
        @if is_open {
            (growing::panel(pages.ledger.draft_of(&summary.id).await?.as_deref()))
            (stream.panel(summary, &visit))
            (attempts::panel(&run, &attempts))
        } @else {
            (outcome::panel(&run, &attempts))
            (attempts::panel(&run, &attempts))
            (stream.panel(summary, &visit))
        }
        (outcome::unchecked(&run))
        (outcome::losses(&run))
        (asked(&run))
        (decided(&decisions))
    };
    let freshness = if is_open { Freshness::Live } else { Freshness::Still };
    layout(&pages, &visit, (Here::Runs, &name), freshness, &main).await
}

/// Sends the rows of the activity behind an event, for the script.
pub(super) async fn activity(
    State(pages): State<Pages>,
    Path(id): Path<String>,
    visit: Visit,
) -> Result<Html<String>, Failed> {
    let run = pages.ledger.summary(&id).await?;
    let stream = Stream::read(&pages, &run.id, visit.number("after")?.unwrap_or(0)).await?;
    let is_over = run.state != RunState::Open;
    let draft = pages.ledger.draft_of(&run.id).await?;
    let shown = html! {
        ol data-over[is_over] { (stream.rows()) }
        (growing::panel(draft.as_deref()))
    };
    Ok(Html(shown.into_string()))
}

/// Sends one text of a run as it is, to be read and not obeyed.
pub(super) async fn plain(
    State(pages): State<Pages>,
    Path((id, part)): Path<(String, String)>,
) -> Result<Response, Failed> {
    let run = pages.ledger.run(&id).await?;
    let text = match part.as_str() {
        "prompt" => run.prompt.map(String::into_bytes),
        "system" => run.system.map(String::into_bytes),
        "input" => run.input,
        "output" => run.output,
        "value" => run.parsed_output.map(String::into_bytes),
        "errors" => run.output_errors.map(String::into_bytes),
        part => match part.split_once('-').map(|(kind, number)| (kind, number.parse::<i64>())) {
            Some(("attempt", Ok(number))) => {
                let attempts = pages.ledger.attempts(&run.summary.id).await?;
                attempts.into_iter().find(|it| it.number == number).and_then(|it| it.output)
            }
            Some(("event", Ok(number))) => {
                let events = pages.ledger.events(&run.summary.id, number - 1, 1).await?;
                events
                    .into_iter()
                    .find(|it| it.number == number)
                    .and_then(|it| it.body)
                    .map(String::into_bytes)
            }
            _ => None,
        },
    };
    text.map(as_plain).ok_or_else(|| absent().into())
}

/// Returns bytes as plain text: no browser guesses at anything else.
pub(super) fn as_plain(bytes: Vec<u8>) -> Response {
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    ([(CONTENT_TYPE, kind)], bytes).into_response()
}

pub(super) fn absent() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not_found", "this text is not on record")
}

fn heading(run: &RunSummary) -> Markup {
    html! {
        div.titled {
            div.row { h1 { (title(run)) } (badge::run(run)) @if let Some(review) = badge::review(run.review) { (review) } }
            p.quiet.small.mono { (text::line(run.id.as_str(), 80)) }
        }
    }
}

fn facts(run: &RunSummary) -> Markup {
    let fact = |name: &str, value: Markup| html! { div { dt { (name) } dd { (value) } } };
    let tokens = |tokens: Option<u64>| tokens.map_or_else(|| "unknown".to_owned(), words::count);
    let contract = if run.contract.is_empty() {
        run.fingerprint.get(..12).unwrap_or(&run.fingerprint)
    } else {
        &run.contract
    };
    html! {
        dl.facts {
            (fact("Contract", html! {
                a href={ "/contracts/" (segment(contract)) } { (text::line(contract, 60)) }
                @if !run.contract_version.is_empty() { " " span.quiet { (text::line(&run.contract_version, 20)) } }
            }))
            (fact("Driver", html! { (driver(run)) }))
            (fact("Asked by", html! { (text::line(&run.mode, 40)) }))
            @if let Some(rung) = &run.rung { (fact("Obtained by", html! { span.tag { (text::line(rung, 20)) } })) }
            (fact("Attempts", html! { (run.attempts) @if run.early_cancels > 0 { span.quiet { ", " (run.early_cancels) " stopped early" } } }))
            (fact("Began", words::at(run.started_at)))
            @if let Some(ms) = run.elapsed_ms { (fact("Took", html! { (words::span(ms)) })) }
            (fact("Tokens in, out", html! { (tokens(run.usage.input_tokens)) ", " (tokens(run.usage.output_tokens)) }))
            (fact("Cost", html! { (words::cost(run.cost_usd)) }))
            @if run.tokens_saved > 0 { (fact("Tokens saved", html! { "about " (words::count(words::whole(run.tokens_saved))) })) }
            @if let Some(batch) = &run.batch {
                (fact("Batch", html! { a href=(super::visit::address("/runs", [("batch", batch.as_str())])) { (text::line(batch, 60)) } }))
            }
            @if let Some(parent) = &run.parent {
                (fact("Belongs to", html! { a.mono href={ "/runs/" (segment(parent.as_str())) } { (words::short(parent.as_str())) } }))
            }
            @if let Some(owner) = &run.owner { (fact("Process", html! { (text::line(owner, 60)) })) }
        }
    }
}

/// Renders what was asked, folded.
fn asked(run: &Run) -> Markup {
    let base = format!("/runs/{}/text", segment(run.summary.id.as_str()));
    let input = run.input.as_deref().map(text::of_bytes);
    let texts = [
        ("prompt", "Prompt", run.prompt.as_deref()),
        ("system", "Standing instructions", run.system.as_deref()),
        ("input", "Document", input.as_deref()),
    ];
    let texts: Vec<_> =
        texts.into_iter().filter_map(|(part, name, said)| Some((part, name, said?))).collect();
    html! {
        @if !texts.is_empty() {
            section.panel aria-labelledby="asked" {
                header { h2 #asked { "What was asked" } }
                div.body {
                    @for (part, name, said) in &texts {
                        details id={ "asked-" (part) } open[*part == "prompt"] {
                            summary { (name) " " span.quiet.small { (words::counted(u64::try_from(said.len()).unwrap_or(0), "byte", "bytes")) } }
                            (text::block(said, text::BLOCK_LIMIT, Some(&format!("{base}/{part}"))))
                        }
                    }
                }
            }
        }
    }
}

fn decided(decisions: &[Decision]) -> Markup {
    html! {
        @if !decisions.is_empty() {
            section.panel aria-labelledby="decided" {
                header { h2 #decided { "What people decided" } }
                ul.attempts {
                    @for decision in decisions {
                        li {
                            div.row {
                                b { (text::line(decision.review.name(), 20)) } span.quiet { "by " (text::line(&decision.who, 80)) }
                                span.quiet.small { (words::at(decision.at)) }
                            }
                            @if let Some(note) = &decision.note { p { (text::line(note, 400)) } }
                            @if let (Some(before), Some(after)) = (&decision.before, &decision.after) {
                                @if let Some(diff) = change::change(&change::spread(before), &change::spread(after)) { (diff) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns what an attempt said: its own words, or those of the run if it said the same.
fn said<'r>(run: &'r Run, attempt: &'r Attempt, is_last: bool) -> Option<&'r [u8]> {
    attempt.output.as_deref().or_else(|| run.output.as_deref().filter(|_| is_last))
}
