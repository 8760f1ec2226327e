//! The sessions of a watch: chains from tier to tier, with what they cost.

use airtight_core::price::Cost;
use airtight_store::{EventFilter, Order, Page, RunId, Session, SessionFilter, SessionTexts};
use axum::extract::{Path, State};
use axum::response::{Html, Response};
use maud::{Markup, html};

use super::badge::{badge, tone_of_session};
use super::run::{Stream, absent, as_plain};
use super::visit::segment;
use super::watch::Standing;
use super::{Failed, Freshness, Here, Pages, Visit, events, layout, list, markdown, text, words};

const NAMES: [&str; 3] = ["status", "tier", "chain"];

/// How many sessions of one chain are shown: a chain has a handful.
const CHAIN: u32 = 100;

/// How many events of a session are shown on its page.
const EVENTS: u32 = 50;

const STATUSES: [(&str, &str); 6] = [
    ("running", "running"),
    ("completed", "completed"),
    ("failed", "failed"),
    ("stopped", "stopped"),
    ("timed_out", "timed out"),
    ("escalated", "escalated"),
];

/// Shows all sessions.
pub(super) async fn list(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let filter = SessionFilter {
        chain: visit.text("chain"),
        status: visit.word("status", &STATUSES.map(|(word, _)| word))?,
        tier: visit.number("tier")?,
    };
    let found = pages.ledger.sessions(&filter, list::page(&visit)?).await?;
    let (rows, last) = list::shown(&found, |session| session.number);
    let standing = Standing::read(&pages).await?;
    let main = html! {
        (list::head("Sessions", &standing.lead()))
        (standing.controls(&visit))
        form.filters method="get" action="/sessions" role="search" {
            (list::select(&visit, "status", "Status", &STATUSES))
            (list::select(&visit, "tier", "Tier", &[("1", "1, observes"), ("2", "2, investigates"), ("3", "3, remediates")]))
            (list::ends(&visit, &NAMES))
        }
        section.panel aria-label="Sessions" {
            @if rows.is_empty() {
                @if visit.is_filtered(&NAMES) { (list::empty("No session is like that", "", None)) }
                @else { (list::empty("No session yet", "A watch runs sessions by schedule, or once:", Some("airtight watch --config watch.toml --once"))) }
            } @else { (table(rows, pages.ledger.now_ms())) }
            (list::pager(&visit, last))
        }
    };
    let freshness = if visit.said("after").is_some() { Freshness::Still } else { Freshness::Fresh };
    layout(&pages, &visit, (Here::Sessions, "Sessions"), freshness, &main).await
}

fn table(sessions: &[Session], now_ms: i64) -> Markup {
    html! {
        table.cards {
            thead { tr { th { "Session" } th { "Status" } th { "Summary" } th.number { "Turns" } th.number { "Took" } th.number { "Cost" } th.number { "Began" } } }
            tbody {
                @for session in sessions {
                    tr {
                        td { a.cell-main href={ "/sessions/" (segment(&session.id)) } { "Tier " (session.tier) } div.cell-sub { span.mono { (words::short(&session.id)) } @if session.parent.is_some() { " · handed on" } @else { " · " (text::line(&session.cause, 20)) } } }
                        td data-label="Status" { (status(session)) }
                        td.fill { (text::line(session.summary.as_deref().unwrap_or("–"), 300)) div.cell-sub { (text::line(&session.model, 60)) } }
                        td.number data-label="Turns" { @if let Some(turns) = session.turns { (turns) } @else { span.quiet { "–" } } }
                        td.number data-label="Took" { (took(session, now_ms)) }
                        td.number data-label="Cost" { @if let Some(cost) = session.cost_usd { (words::money(cost)) } @else { span.quiet { "–" } } }
                        td.number data-label="Began" { (words::ago(session.started_at, now_ms)) }
                    }
                }
            }
        }
    }
}

fn status(session: &Session) -> Markup {
    badge(tone_of_session(&session.status), &session.status.replace('_', " "))
}

fn took(session: &Session, now_ms: i64) -> String {
    let end = session.ended_at.or((session.status == "running").then_some(now_ms));
    end.map_or_else(|| "–".to_owned(), |end| words::span(end - session.started_at))
}

/// Shows one session. CO-101: heading, facts, report, activity, log.
pub(super) async fn show(
    State(pages): State<Pages>,
    Path(id): Path<String>,
    visit: Visit,
) -> Result<Html<String>, Failed> {
    let (session, texts) = pages.ledger.session(&id).await?;
    let page = Page { limit: CHAIN, after: None, order: Order::OldestFirst };
    let filter = SessionFilter { chain: Some(session.chain.clone()), ..SessionFilter::default() };
    let chain = pages.ledger.sessions(&filter, page).await?;
    let filter = EventFilter { session: Some(id.clone()), ..EventFilter::default() };
    let told =
        pages.ledger.watch_events(&filter, Page { limit: EVENTS, ..Page::default() }).await?;
    // A session has a run of its name, unless it never began.
    let run = pages.ledger.run(&id).await.ok().map(|run| run.summary);
    let stream =
        Stream::read(&pages, &RunId::from(id.clone()), visit.number("after")?.unwrap_or(0)).await?;
    let now_ms = pages.ledger.now_ms();
    let is_running = session.status == "running";
    let title = format!("Session of tier {}", session.tier);
    let main = html! {
        p.back { a href="/sessions" { "← Sessions" } }
        div.titled { div.row { h1 { (title) } (status(&session)) } p.quiet.small.mono { (text::line(&session.id, 80)) } }
        section.panel aria-label="Facts" { div.body { (facts(&session, run.is_some(), now_ms)) } }
        @if chain.len() > 1 || session.parent.is_some() { (chain_panel(&chain, &session)) }
        @if let Some(response) = texts.response.as_deref().filter(|it| !it.trim().is_empty()) {
            section.panel aria-labelledby="report" {
                header { h2 #report { "Report" } a.more href={ "/sessions/" (segment(&id)) "/text/response" } { "as plain text" } }
                div.body { (markdown::markdown(response)) }
            }
        }
        @if !told.is_empty() {
            section.panel aria-labelledby="events" { header { h2 #events { "Events" } } (events::table(&told, now_ms)) }
        }
        @if let Some(run) = &run { (stream.panel(run, &visit)) }
        (asked(&session, &texts))
        @if let Some(log) = &session.log { p.small.quiet { "Log: " code { (text::line(log, 300)) } } }
    };
    let freshness = if is_running { Freshness::Live } else { Freshness::Still };
    layout(&pages, &visit, (Here::Sessions, &title), freshness, &main).await
}

fn facts(session: &Session, has_run: bool, now_ms: i64) -> Markup {
    let fact = |name: &str, value: Markup| html! { div { dt { (name) } dd { (value) } } };
    html! {
        dl.facts {
            (fact("Driver", html! { (text::line(&session.driver, 40)) " " span.quiet { (text::line(&session.model, 60)) } }))
            (fact("Began because", html! { (text::line(&session.cause, 40)) }))
            (fact("Began", words::at(session.started_at)))
            (fact("Took", html! { (took(session, now_ms)) }))
            @if let Some(turns) = session.turns { (fact("Turns", html! { (turns) })) }
            @if let Some(cost) = session.cost_usd { (fact("Cost", html! { (words::money(cost)) })) }
            @if !session.extraction.is_empty() { (fact("Read from", html! { (text::line(&session.extraction, 20)) })) }
            @if session.pending { (fact("Left behind", html! { "work that had not ended" })) }
            @if has_run { (fact("Run", html! { a.mono href={ "/runs/" (segment(&session.id)) } { (words::short(&session.id)) } })) }
        }
    }
}

fn chain_panel(chain: &[Session], here: &Session) -> Markup {
    let nano: Vec<Cost> = chain.iter().filter_map(|it| it.cost_usd).collect();
    let total: f64 = nano.iter().map(|it| it.usd()).sum();
    let total = Cost::from_usd(total).unwrap_or_default();
    let unknown = chain.len() - nano.len();
    html! {
        section.panel aria-labelledby="chain" {
            header { h2 #chain { "Chain" } span.note { (words::money(total)) " in all" @if unknown > 0 { ", " (unknown) " not known" } } }
            ol.chain {
                @for session in chain {
                    li aria-current=[(session.id == here.id).then_some("true")] {
                        span.tier aria-hidden="true" { (session.tier) }
                        div {
                            div.row {
                                @if session.id == here.id { b { "Tier " (session.tier) ", this session" } }
                                @else { a href={ "/sessions/" (segment(&session.id)) } { "Tier " (session.tier) @if here.parent.as_deref() == Some(&session.id) { ", handed on to this" } @else if session.parent.as_deref() == Some(&here.id) { ", took over" } } }
                                (status(session))
                            }
                            p.cell-sub { (text::line(session.summary.as_deref().unwrap_or_default(), 240)) }
                        }
                        span.quiet.small { (words::cost(session.cost_usd)) }
                    }
                }
            }
        }
    }
}

fn asked(session: &Session, texts: &SessionTexts) -> Markup {
    let base = format!("/sessions/{}/text", segment(&session.id));
    let all = [
        ("prompt", "What was asked", &texts.prompt),
        ("context", "What it was told of the estate", &texts.context),
    ];
    html! {
        @if texts.prompt.is_some() || texts.context.is_some() {
            section.panel aria-label="What was asked" {
                div.body {
                    @for (part, name, said) in all {
                        @if let Some(said) = said {
                            details id={ "asked-" (part) } { summary { (name) } (text::block(said, text::BLOCK_LIMIT, Some(&format!("{base}/{part}")))) }
                        }
                    }
                }
            }
        }
    }
}

/// Sends one text of a session as it is.
pub(super) async fn plain(
    State(pages): State<Pages>,
    Path((id, part)): Path<(String, String)>,
) -> Result<Response, Failed> {
    let (_, texts) = pages.ledger.session(&id).await?;
    let text = match part.as_str() {
        "prompt" => texts.prompt,
        "context" => texts.context,
        "response" => texts.response,
        _ => None,
    };
    text.map(|text| as_plain(text.into_bytes())).ok_or_else(|| absent().into())
}
