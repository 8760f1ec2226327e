//! What was done to services: on record before it was done, and counted against what may be done.

use airtight_core::watch::ActionState;
use airtight_store::{Action, ActionFilter};
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};

use super::badge::{Tone, badge};
use super::visit::segment;
use super::{Failed, Freshness, Here, Pages, Visit, layout, list, text, words};

const NAMES: [&str; 2] = ["service", "state"];
const STATES: [(&str, ActionState); 4] = [
    ("reserved", ActionState::Reserved),
    ("success", ActionState::Success),
    ("failure", ActionState::Failure),
    ("unknown", ActionState::Unknown),
];

/// Shows the page.
pub(super) async fn show(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let filter = ActionFilter {
        service: visit.text("service"),
        state: visit.choice("state", &STATES)?,
        ..ActionFilter::default()
    };
    let found = pages.ledger.actions(&filter, list::page(&visit)?).await?;
    let (rows, last) = list::shown(&found, |action| action.number);
    let services = pages.ledger.services().await?;
    let services: Vec<String> = services.into_iter().map(|it| it.name).collect();
    let main = html! {
        (list::head("Cooldowns", "Restarts and redeployments, and what they count against"))
        form.filters method="get" action="/cooldowns" role="search" {
            (list::field(&visit, "service", "Service", &services))
            (list::select(&visit, "state", "Came to", &STATES.map(|(word, _)| (word, word))))
            (list::ends(&visit, &NAMES))
        }
        section.panel aria-label="Actions" {
            @if rows.is_empty() {
                @if visit.is_filtered(&NAMES) { (list::empty("No action is like that", "", None)) }
                @else { (list::empty("Nothing was done to any service", "Sessions of tiers 2 and 3 may act; each action is on record before it is done:", Some("airtight watch cooldowns"))) }
            } @else { (table(rows, pages.ledger.now_ms())) }
            (list::pager(&visit, last))
        }
    };
    let freshness = if visit.said("after").is_some() { Freshness::Still } else { Freshness::Fresh };
    layout(&pages, &visit, (Here::Cooldowns, "Cooldowns"), freshness, &main).await
}

fn table(actions: &[Action], now_ms: i64) -> Markup {
    html! {
        table.cards {
            thead { tr { th { "Service" } th { "Action" } th { "Came to" } th { "Command" } th.number { "Tier" } th { "Session" } th.number { "When" } } }
            tbody {
                @for action in actions {
                    tr {
                        td { a.cell-main href={ "/services/" (segment(&action.service)) } { (text::line(&action.service, 60)) } }
                        td data-label="Action" { (text::line(&action.kind, 30)) }
                        td data-label="Came to" { (state(action.state)) @if let Some(error) = &action.error { div.cell-sub { (text::line(error, 160)) } } }
                        td.fill { code { (text::line(action.command.as_deref().unwrap_or("–"), 200)) } }
                        td.number data-label="Tier" { (action.tier) }
                        td data-label="Session" { @if let Some(session) = &action.session { a.mono href={ "/sessions/" (segment(session)) } { (words::short(session)) } } @else { span.quiet { "–" } } }
                        td.number data-label="When" { (words::ago(action.reserved_at, now_ms)) }
                    }
                }
            }
        }
    }
}

fn state(state: ActionState) -> Markup {
    let tone = match state {
        ActionState::Reserved => Tone::Info,
        ActionState::Success => Tone::Good,
        ActionState::Failure => Tone::Bad,
        ActionState::Unknown => Tone::Warn,
    };
    badge(tone, state.name())
}
