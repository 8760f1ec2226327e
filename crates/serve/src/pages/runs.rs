//! All runs: filtered, searched, newest first.

use std::collections::BTreeSet;

use airtight_core::run::Outcome;
use airtight_store::{Filter, KnownContract, Review, RunState, RunSummary, Validity};
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};

use super::overview::{driver, title};
use super::visit::segment;
use super::{Failed, Freshness, Here, Pages, Visit, badge, layout, list, text, words};

const STATES: [(&str, RunState); 4] = [
    ("open", RunState::Open),
    ("done", RunState::Done),
    ("postponed", RunState::Postponed),
    ("unknown", RunState::Unknown),
];
const VALIDITIES: [(&str, Validity); 2] =
    [("valid", Validity::Valid), ("invalid", Validity::Invalid)];
const REVIEWS: [(&str, Review); 3] =
    [("flagged", Review::Flagged), ("accepted", Review::Accepted), ("rejected", Review::Rejected)];

/// What the form can say.
const NAMES: [&str; 9] =
    ["q", "contract", "driver", "provider", "state", "valid", "review", "outcome", "batch"];

/// How many contracts the form suggests: the newest, so that not all need be read.
const SUGGESTED: u32 = 100;

/// Shows the page.
pub(super) async fn show(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let filter = Filter {
        search: visit.text("q"),
        contract: visit.text("contract"),
        driver: visit.text("driver"),
        provider: visit.text("provider"),
        outcome: visit.word("outcome", &Outcome::ALL.map(Outcome::name))?,
        batch: visit.text("batch"),
        state: visit.choice("state", &STATES)?,
        valid: visit.choice("valid", &VALIDITIES)?,
        review: visit.choice("review", &REVIEWS)?,
        ..Filter::default()
    };
    let found = pages.ledger.runs(&filter, list::page(&visit)?).await?;
    let (rows, last) = list::shown(&found, |run| run.number);
    let known = suggestions(pages.ledger.contracts(None, None, SUGGESTED).await?);
    let main = html! {
        (list::head("Runs", "Every job that was put to a model, and what came of it"))
        form.filters method="get" action="/runs" role="search" {
            div.grow {
                label for="f-q" { "Search names, models, batches" }
                input #f-q type="search" name="q" value=[visit.said("q")] autocomplete="off";
            }
            (list::field(&visit, "contract", "Contract", &known))
            (list::select(&visit, "driver", "Driver", &DRIVERS))
            (list::select(&visit, "state", "State", &STATE_WORDS))
            (list::select(&visit, "valid", "Output", &[("valid", "valid"), ("invalid", "not valid")]))
            (list::ends(&visit, &NAMES))
        }
        (also(&visit))
        section.panel aria-label="Runs" {
            @if rows.is_empty() { (nothing(&visit)) } @else { (table(rows, pages.ledger.now_ms())) }
            (list::pager(&visit, last))
        }
    };
    let freshness = if visit.said("after").is_some() { Freshness::Still } else { Freshness::Fresh };
    layout(&pages, &visit, (Here::Runs, "Runs"), freshness, &main).await
}

/// Returns what contracts go by, each once.
fn suggestions(known: Vec<KnownContract>) -> Vec<String> {
    let title = |it: KnownContract| if it.name.is_empty() { it.fingerprint } else { it.name };
    let titles: BTreeSet<String> = known.into_iter().map(title).collect();
    titles.into_iter().collect()
}

const DRIVERS: [(&str, &str); 7] = [
    ("api", "model API"),
    ("embedded", "embedded model"),
    ("claude", "claude"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("opencode", "opencode"),
    ("qwen", "qwen"),
];
const STATE_WORDS: [(&str, &str); 4] = [
    ("open", "running"),
    ("done", "over"),
    ("postponed", "postponed"),
    ("unknown", "process gone"),
];

/// Says what is filtered by that the form has no field for.
fn also(visit: &Visit) -> Markup {
    html! {
        @for name in ["provider", "outcome", "review", "batch"] {
            @if let Some(value) = visit.said(name) {
                p.small { span.quiet { "Only " (name) " " } b { (text::line(value, 80)) } " · " a href=(visit.with(name, "")) { "any" } }
            }
        }
    }
}

fn nothing(visit: &Visit) -> Markup {
    if visit.is_filtered(&NAMES) || visit.said("after").is_some() {
        return list::empty("No run is like that", "Other runs may be: clear the filter.", None);
    }
    let command = "airtight run --json-schema '{\"type\": \"object\"}' \"Say hello as JSON\"";
    list::empty(
        "No run yet",
        "Type this in a terminal; the run appears here while it goes on.",
        Some(command),
    )
}

/// Renders runs, one a row.
pub(super) fn table(runs: &[RunSummary], now_ms: i64) -> Markup {
    html! {
        table.cards {
            thead { tr { th { "Run" } th { "Came to" } th { "Driver" } th { "Rung" } th.number { "Attempts" } th.number { "Took" } th.number { "Cost" } th.number { "Began" } } }
            tbody { @for run in runs { (row(run, now_ms)) } }
        }
    }
}

fn row(run: &RunSummary, now_ms: i64) -> Markup {
    let took = run.elapsed_ms.or_else(|| run.ended_at.map(|end| end - run.started_at));
    let took = match (took, run.state) {
        (Some(ms), _) => words::span(ms),
        (None, RunState::Open) => words::span(now_ms - run.started_at),
        (None, _) => String::new(),
    };
    html! {
        tr {
            td {
                a.cell-main href={ "/runs/" (segment(run.id.as_str())) } { (title(run)) }
                div.cell-sub.mono { (words::short(run.id.as_str())) @if let Some(batch) = &run.batch { " · " (text::line(batch, 40)) } }
            }
            td data-label="Came to" { div.row { (badge::run(run)) @if let Some(review) = badge::review(run.review) { (review) } } }
            td data-label="Driver" { (driver(run)) }
            td data-label="Rung" { @if let Some(rung) = &run.rung { span.tag { (text::line(rung, 20)) } } @else { span.quiet { "–" } } }
            td.number data-label="Attempts" { (run.attempts) }
            td.number data-label="Took" { (took) }
            td.number data-label="Cost" { @if let Some(cost) = run.cost_usd { (words::money(cost)) } @else { span.quiet { "–" } } }
            td.number data-label="Began" { (words::ago(run.started_at, now_ms)) }
        }
    }
}
