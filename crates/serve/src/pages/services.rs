//! How the services are that are watched, since when, and every check of them.

use std::collections::BTreeMap;

use airtight_store::{Check, Page, Service};
use axum::extract::{Path, State};
use axum::response::Html;
use maud::{Markup, html};

use super::badge::{badge, tone_of_service};
use super::visit::{address, segment};
use super::{Failed, Freshness, Here, Pages, Visit, chart, layout, list, text, words};

/// How many checks the timeline of a service shows.
const TIMELINE: u32 = 40;

/// Shows services, by name.
pub(super) async fn list(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let limit = u32::try_from(list::ROWS + 1).unwrap_or(u32::MAX);
    let found = pages.ledger.services_after(visit.after(), limit).await?;
    let shown = found.get(..list::ROWS).unwrap_or(&found);
    let next = shown.last().filter(|_| found.len() > shown.len()).map(|it| it.name.as_str());
    let mut rows = Vec::with_capacity(shown.len());
    for service in shown {
        rows.push((service, checks(&pages, &service.name).await?));
    }
    let states = pages.ledger.service_states().await?;
    let now_ms = pages.ledger.now_ms();
    let main = html! {
        (list::head("Services", &lead(&states)))
        section.panel aria-label="Services" {
            @if rows.is_empty() && visit.after().is_some() {
                (list::empty("No service comes after that", "", None))
            } @else if rows.is_empty() {
                (list::empty("No service has been checked yet", "Name services in a file, and let a watch look after them:", Some("airtight watch --config watch.toml --once")))
            } @else {
                table.cards {
                    thead { tr { th { "Service" } th { "State" } th { "Last checks, newest right" } th.number { "In a row" } th.number { "Since" } th.number { "Checked" } } }
                    tbody { @for (service, checks) in &rows { (row(service, checks, now_ms)) } }
                }
            }
            (list::pager_by_name(&visit, next))
        }
    };
    layout(&pages, &visit, (Here::Services, "Services"), Freshness::Fresh, &main).await
}

/// Says how all services are together.
fn lead(states: &BTreeMap<String, i64>) -> String {
    let all: i64 = states.values().sum();
    match (all, all - states.get("healthy").unwrap_or(&0)) {
        (0, _) => "What the watch looks after".to_owned(),
        (_, 0) => "All are healthy".to_owned(),
        (all, sick) => format!("{sick} of {all} are not healthy"),
    }
}

async fn checks(pages: &Pages, service: &str) -> Result<Vec<Check>, Failed> {
    let page = Page { limit: TIMELINE, ..Page::default() };
    let mut checks = pages.ledger.service_checks(Some(service), page).await?;
    checks.reverse();
    Ok(checks)
}

fn row(service: &Service, checks: &[Check], now_ms: i64) -> Markup {
    html! {
        tr {
            td { a.cell-main href={ "/services/" (segment(&service.name)) } { (text::line(&service.name, 80)) } div.cell-sub { (text::line(service.detail.as_deref().unwrap_or_default(), 120)) } }
            td data-label="State" { (badge(tone_of_service(&service.status), &service.status)) }
            td data-label="Checks" { (timeline(service, checks)) }
            td.number data-label="In a row" { (service.healthy_streak.max(service.unhealthy_streak)) }
            td.number data-label="Since" { (words::ago(service.changed_at, now_ms)) }
            td.number data-label="Checked" { (words::ago(service.checked_at, now_ms)) }
        }
    }
}

fn timeline(service: &Service, checks: &[Check]) -> Markup {
    let tones: Vec<&'static str> = checks
        .iter()
        .map(|it| match tone_of_service(&it.status).class() {
            "plain" => "unknown",
            tone => tone,
        })
        .collect();
    let well = checks.iter().filter(|it| it.status == "healthy").count();
    let told = format!(
        "{}: {well} of the last {} checks were healthy",
        text::line(&service.name, 40),
        checks.len()
    );
    chart::strip(&tones, &told)
}

/// Shows one service with its checks.
pub(super) async fn show(
    State(pages): State<Pages>,
    Path(name): Path<String>,
    visit: Visit,
) -> Result<Html<String>, Failed> {
    let service = pages.ledger.service(&name).await?;
    let found = pages.ledger.service_checks(Some(&name), list::page(&visit)?).await?;
    let (rows, last) = list::shown(&found, |check| check.number);
    let drawn = checks(&pages, &name).await?;
    let now_ms = pages.ledger.now_ms();
    let title = text::line(&service.name, 80);
    let fact = |name: &str, value: Markup| html! { div { dt { (name) } dd { (value) } } };
    let main = html! {
        p.back { a href="/services" { "← Services" } }
        div.titled { div.row { h1 { (title) } (badge(tone_of_service(&service.status), &service.status)) } (timeline(&service, &drawn)) }
        section.panel aria-label="Facts" { div.body { dl.facts {
            (fact("Healthy in a row", html! { (service.healthy_streak) }))
            (fact("Not healthy in a row", html! { (service.unhealthy_streak) }))
            (fact("In this state since", words::at(service.changed_at)))
            (fact("Checked", words::at(service.checked_at)))
            @if let Some(cleared) = service.cleared_at { (fact("Cooldowns count from", words::at(cleared))) }
            (fact("More", html! { a href=(address("/events", [("service", service.name.as_str())])) { "events" } ", " a href=(address("/cooldowns", [("service", service.name.as_str())])) { "actions" } ", " a href=(address("/memories", [("service", service.name.as_str())])) { "memories" } }))
        } } }
        section.panel aria-labelledby="checks" {
            header { h2 #checks { "Checks" } }
            table.cards {
                thead { tr { th { "State" } th { "What was seen" } th { "Session" } th.number { "When" } } }
                tbody {
                    @for check in rows {
                        tr {
                            td { (badge(tone_of_service(&check.status), &check.status)) }
                            td.fill { (text::line(check.detail.as_deref().unwrap_or("–"), 400)) }
                            td data-label="Session" { @if let Some(session) = &check.session { a.mono href={ "/sessions/" (segment(session)) } { (words::short(session)) } } @else { span.quiet { "–" } } }
                            td.number data-label="When" { (words::ago(check.checked_at, now_ms)) }
                        }
                    }
                }
            }
            (list::pager(&visit, last))
        }
    };
    layout(&pages, &visit, (Here::Services, &title), Freshness::Fresh, &main).await
}
