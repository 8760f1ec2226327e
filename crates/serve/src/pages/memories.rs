//! What sessions learnt, how far it is trusted, and what people make of it.

use airtight_core::watch::{Category, Trust};
use airtight_store::{Memory, MemoryFilter};
use axum::extract::{Path, Request, State};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use super::form::Form;
use super::visit::segment;
use super::{Failed, Freshness, Here, Pages, Visit, badge, chart, layout, list, text, words};
use crate::act::{self, MemoryChanges, MemoryDraft, Refusal};
use crate::problem::Problem;

const NAMES: [&str; 3] = ["service", "category", "trust"];
const TRUSTS: [(&str, Trust); 3] =
    [("trusted", Trust::Trusted), ("pending", Trust::Pending), ("rejected", Trust::Rejected)];

/// What is typed into a form, to be shown again.
#[derive(Debug, Default)]
struct Typed {
    service: String,
    category: String,
    observation: String,
    confidence: String,
    problem: Option<String>,
}

/// Shows all memories, and the form for another.
pub(super) async fn list(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    all(&pages, &visit, &Typed { confidence: "0.7".to_owned(), ..Typed::default() }).await
}

async fn all(pages: &Pages, visit: &Visit, typed: &Typed) -> Result<Html<String>, Failed> {
    let filter = MemoryFilter {
        service: visit.text("service"),
        category: visit.text("category"),
        trust: visit.choice("trust", &TRUSTS)?,
        least: None,
    };
    let found = pages.ledger.memories(&filter, list::page(visit)?).await?;
    let (rows, last) = list::shown(&found, |memory| memory.number);
    let categories: Vec<(&str, &str)> =
        Category::ALL.iter().map(|it| (it.name(), it.name())).collect();
    let main = html! {
        (list::head("Memories", "What the watch learnt; it fades unless it is confirmed"))
        form.filters method="get" action="/memories" role="search" {
            (list::field(visit, "service", "Service", &[]))
            (list::select(visit, "category", "Category", &categories))
            (list::select(visit, "trust", "Trust", &TRUSTS.map(|(word, _)| (word, word))))
            (list::ends(visit, &NAMES))
        }
        section.panel aria-label="Memories" {
            @if rows.is_empty() {
                @if visit.is_filtered(&NAMES) { (list::empty("No memory is like that", "", None)) }
                @else { (list::empty("No memory yet", "Sessions of a watch learn; you can also write one down below.", Some("airtight watch --config watch.toml"))) }
            } @else { (table(rows, pages.ledger.now_ms())) }
            (list::pager(visit, last))
        }
        section.panel aria-labelledby="another" {
            header { h2 #another { "Write one down" } span.note { "sessions are told what is trusted" } }
            div.body {
                @if let Some(problem) = &typed.problem { p.notice.bad role="alert" { (text::line(problem, 400)) } }
                @if visit.may_change() {
                    form method="post" action="/memories" { (fields(typed)) div.field.row { button.primary type="submit" { "Remember" } } }
                } @else { p { a.button.primary href=(super::layout::login(visit)) { "Log in to write" } } }
            }
        }
    };
    // Somebody may be writing.
    let freshness = if typed.problem.is_some() { Freshness::Still } else { Freshness::Fresh };
    layout(pages, visit, (Here::Memories, "Memories"), freshness, &main).await
}

fn table(memories: &[Memory], now_ms: i64) -> Markup {
    html! {
        table.cards {
            thead { tr { th { "About" } th { "Observation" } th { "Confidence" } th { "Trust" } th { "Learnt by" } th.number { "Confirmed" } } }
            tbody { @for memory in memories { (row(memory, now_ms)) } }
        }
    }
}

fn row(memory: &Memory, now_ms: i64) -> Markup {
    let (worth, is_active) = worth(memory, now_ms);
    html! {
        tr.faded[!is_active] {
            td { a.cell-main href={ "/memories/" (segment(&memory.id)) } { (text::line(memory.service.as_deref().unwrap_or("general"), 60)) } div.cell-sub { (text::line(&memory.category, 40)) } }
            td.fill { (text::line(&memory.observation, 600)) }
            td data-label="Confidence" { (confidence(worth)) @if !is_active { div.cell-sub { "inactive" } } }
            td data-label="Trust" { (trust(memory.trust)) }
            td data-label="Learnt by" {
                @if let Some(session) = &memory.session { a.mono href={ "/sessions/" (segment(session)) } { (words::short(session)) } } @else { "an operator" }
            }
            td.number data-label="Confirmed" { (words::ago(memory.reinforced_at, now_ms)) }
        }
    }
}

fn confidence(worth: f64) -> Markup {
    html! { div.bar { (chart::share(worth, 64, &format!("confidence {worth:.2}"))) (format!("{worth:.2}")) } }
}

fn trust(trust: Trust) -> Markup {
    let tone = match trust {
        Trust::Trusted => badge::Tone::Good,
        Trust::Pending => badge::Tone::Warn,
        Trust::Rejected => badge::Tone::Plain,
    };
    badge::badge(tone, trust.name())
}

/// Returns what a memory is worth by now, and whether it is told; one that only a newer version understands
/// is worth what is stored.
fn worth(memory: &Memory, now_ms: i64) -> (f64, bool) {
    match memory.clone().known() {
        Some(known) => (known.confidence_at(now_ms).ratio(), known.is_active_at(now_ms)),
        None => (f64::from(u16::try_from(memory.confidence).unwrap_or(0)) / 1_000.0, true),
    }
}

/// Shows one memory, to be changed.
pub(super) async fn edit(
    State(pages): State<Pages>,
    Path(id): Path<String>,
    visit: Visit,
) -> Result<Html<String>, Failed> {
    let memory = pages.ledger.memory(&id).await?;
    let typed = Typed {
        service: memory.service.clone().unwrap_or_default(),
        category: memory.category.clone(),
        observation: memory.observation.clone(),
        confidence: format!("{:.2}", worth(&memory, pages.ledger.now_ms()).0),
        problem: None,
    };
    one(&pages, &visit, &memory, &typed).await
}

async fn one(
    pages: &Pages,
    visit: &Visit,
    memory: &Memory,
    typed: &Typed,
) -> Result<Html<String>, Failed> {
    let (worth, is_active) = worth(memory, pages.ledger.now_ms());
    let address = format!("/memories/{}", segment(&memory.id));
    let main = html! {
        p.back { a href="/memories" { "← Memories" } }
        div.titled {
            div.row { h1 { "A memory of " (text::line(memory.service.as_deref().unwrap_or("everything"), 60)) } (trust(memory.trust)) @if !is_active { (badge::badge(badge::Tone::Plain, "inactive")) } }
            p.small.quiet { "learnt " (words::at(memory.created_at)) ", confirmed " (words::at(memory.reinforced_at)) }
        }
        @if let Some(problem) = &typed.problem { p.notice.bad role="alert" { (text::line(problem, 400)) } }
        section.panel aria-label="The memory" {
            div.body {
                (confidence(worth))
                @if visit.may_change() {
                    form method="post" action=(address) {
                        (fields(typed))
                        div.field.row {
                            button.primary type="submit" name="do" value="save" { "Save" }
                            @if memory.trust == Trust::Pending {
                                button type="submit" name="do" value="trust" { "Trust it" }
                                button type="submit" name="do" value="reject" { "Reject it" }
                            }
                            button.danger type="submit" name="do" value="delete" { "Delete" }
                        }
                    }
                } @else {
                    p { (text::line(&memory.observation, 1_000)) }
                    p { a.button.primary href=(super::layout::login(visit)) { "Log in to change it" } }
                }
            }
        }
    };
    layout(pages, visit, (Here::Memories, "A memory"), Freshness::Still, &main).await
}

fn fields(typed: &Typed) -> Markup {
    html! {
        div.filters {
            div { label for="m-service" { "Service (empty: general)" } input #m-service name="service" value=(typed.service) autocomplete="off"; }
            div {
                label for="m-category" { "Category" }
                select #m-category name="category" {
                    @for category in Category::ALL { option value=(category.name()) selected[category.name() == typed.category] { (category.name()) } }
                }
            }
            div { label for="m-confidence" { "Confidence, 0 to 1" } input #m-confidence name="confidence" type="number" min="0" max="1" step="0.01" value=(typed.confidence); }
        }
        div.field { label for="m-observation" { "Observation" } textarea #m-observation name="observation" rows="3" maxlength="1000" { (typed.observation) } }
    }
}

fn typed(form: &Form, problem: Option<String>) -> Typed {
    Typed {
        service: form.text("service").unwrap_or_default(),
        category: form.text("category").unwrap_or_default(),
        observation: form.text("observation").unwrap_or_default(),
        confidence: form.text("confidence").unwrap_or_default(),
        problem,
    }
}

/// Returns the confidence that was typed; nothing if none was.
fn ratio(form: &Form) -> Result<Option<f64>, Refusal> {
    let Some(typed) = form.text("confidence") else { return Ok(None) };
    typed.parse::<f64>().map(Some).map_err(|_| Refusal::Request {
        parameter: "confidence",
        message: "a confidence is a number from 0 to 1".to_owned(),
    })
}

/// Writes a memory down.
pub(super) async fn add(
    State(pages): State<Pages>,
    visit: Visit,
    request: Request,
) -> Result<Response, Failed> {
    let form = Form::read(request).await?;
    let adding = async {
        let draft = MemoryDraft {
            service: form.text("service"),
            category: form.text("category").unwrap_or_default(),
            observation: form.text("observation").unwrap_or_default(),
            confidence: ratio(&form)?,
        };
        act::add_memory(&pages.ledger, draft).await
    };
    match adding.await {
        Ok(_) => Ok(Redirect::to("/memories").into_response()),
        Err(refusal @ Refusal::Request { .. }) => {
            let again = typed(&form, Some(refusal.to_string()));
            Ok(all(&pages, &visit, &again).await?.into_response())
        }
        Err(refusal) => Err(Problem::from(refusal).into()),
    }
}

/// Changes or deletes a memory.
pub(super) async fn change(
    State(pages): State<Pages>,
    Path(id): Path<String>,
    visit: Visit,
    request: Request,
) -> Result<Response, Failed> {
    let form = Form::read(request).await?;
    let ledger = &pages.ledger;
    let judged = |trust: Trust| MemoryChanges { trust: Some(trust), ..MemoryChanges::default() };
    let changing = async {
        match form.said("do") {
            Some("delete") => return act::delete_memory(ledger, &id).await,
            Some("trust") => act::edit_memory(ledger, &id, judged(Trust::Trusted)).await,
            Some("reject") => act::edit_memory(ledger, &id, judged(Trust::Rejected)).await,
            _ => act::edit_memory(ledger, &id, changes(&form, &pages, &id).await?).await,
        }
        .map(drop)
    };
    match changing.await {
        Ok(()) => Ok(Redirect::to("/memories").into_response()),
        Err(refusal @ Refusal::Request { .. }) => {
            let memory = ledger.memory(&id).await?;
            let again = typed(&form, Some(refusal.to_string()));
            Ok(one(&pages, &visit, &memory, &again).await?.into_response())
        }
        Err(refusal) => Err(Problem::from(refusal).into()),
    }
}

/// Returns what was changed; a confidence that stands as it was shown is not confirmed by saving.
async fn changes(form: &Form, pages: &Pages, id: &str) -> Result<MemoryChanges, Refusal> {
    let memory = pages.ledger.memory(id).await?;
    let shown = format!("{:.2}", worth(&memory, pages.ledger.now_ms()).0);
    let is_same = form.text("confidence").is_some_and(|typed| typed == shown);
    Ok(MemoryChanges {
        service: Some(form.text("service")),
        category: form.text("category"),
        observation: Some(form.text("observation").unwrap_or_default()),
        confidence: if is_same { None } else { ratio(form)? },
        trust: None,
    })
}
