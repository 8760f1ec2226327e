//! What happened in the estate that is watched.

use airtight_core::watch::Level;
use airtight_store::{EventFilter, WatchEvent};
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};

use super::visit::{address, segment};
use super::{Failed, Freshness, Here, Pages, Visit, badge, layout, list, text, words};

const NAMES: [&str; 3] = ["level", "service", "session"];

/// Shows the page.
pub(super) async fn show(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let filter = EventFilter {
        level: visit.word("level", &Level::ALL.map(Level::name))?,
        service: visit.text("service"),
        session: visit.text("session"),
        since: None,
    };
    let found = pages.ledger.watch_events(&filter, list::page(&visit)?).await?;
    let (rows, last) = list::shown(&found, |event| event.number);
    let services = pages.ledger.services().await?;
    let services: Vec<String> = services.into_iter().map(|it| it.name).collect();
    let main = html! {
        (list::head("Events", "What sessions of the watch reported"))
        form.filters method="get" action="/events" role="search" {
            (list::select(&visit, "level", "Level", &Level::ALL.map(|level| (level.name(), level.name()))))
            (list::field(&visit, "service", "Service", &services))
            (list::ends(&visit, &NAMES))
        }
        section.panel aria-label="Events" {
            @if rows.is_empty() {
                @if visit.is_filtered(&NAMES) { (list::empty("No event is like that", "", None)) }
                @else { (list::empty("No event yet", "Let a watch look after services, and what it sees is told here:", Some("airtight watch --config watch.toml --once"))) }
            } @else { (table(rows, pages.ledger.now_ms())) }
            (list::pager(&visit, last))
        }
    };
    let freshness = if visit.said("after").is_some() { Freshness::Still } else { Freshness::Fresh };
    layout(&pages, &visit, (Here::Events, "Events"), freshness, &main).await
}

/// Renders events, one a row.
pub(super) fn table(events: &[WatchEvent], now_ms: i64) -> Markup {
    html! {
        table.cards {
            thead { tr { th { "Level" } th { "Service" } th { "What happened" } th { "Told by" } th.number { "When" } } }
            tbody {
                @for event in events {
                    tr {
                        td { (badge::badge(badge::tone_of_level(&event.level), &event.level)) @if let Some(said) = &event.said_level { div.cell-sub { "said: " (text::line(said, 20)) } } }
                        td data-label="Service" {
                            @if let Some(service) = &event.service { a href=(address("/events", [("service", service.as_str())])) { (text::line(service, 60)) } }
                            @else { span.quiet { "–" } }
                        }
                        td.fill { (text::line(&event.message, 600)) }
                        td data-label="Told by" {
                            @if let Some(session) = &event.session { a.mono href={ "/sessions/" (segment(session)) } { (words::short(session)) } }
                            @else { (text::line(&event.origin, 20)) }
                        }
                        td.number data-label="When" { (words::ago(event.at, now_ms)) }
                    }
                }
            }
        }
    }
}
