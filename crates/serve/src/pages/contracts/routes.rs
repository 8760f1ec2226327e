//! How a contract travels to each kind of provider: the table of `airtight check`.

use airtight_core::Contract;
use airtight_core::lower::{EnforcedBy, Fit, Loss, Narrowing, Portability, lower, portability};
use maud::{Markup, html};

use super::super::badge::{Tone, badge};
use super::super::text;

/// How many losses of one dialect are listed.
const LISTED: usize = 40;

/// Renders the table.
pub(super) fn panel(contract: &Contract) -> Markup {
    html! {
        section.panel aria-labelledby="routes" {
            header { h2 #routes { "Portability" } span.note { "what each dialect of JSON Schema makes of it; the verdict here enforces the rest" } }
            table.cards {
                thead { tr { th { "Dialect" } th { "Fit" } th.number { "Not enforced" } th.number { "Cannot be said" } th { "Notes" } } }
                tbody { @for route in portability(contract) { (row(contract, &route)) } }
            }
        }
    }
}

fn row(contract: &Contract, route: &Portability) -> Markup {
    let (tone, word) = match route.fit {
        Fit::Accepted => (Tone::Good, "accepted"),
        Fit::Adapted => (Tone::Warn, "adapted"),
        Fit::Refused => (Tone::Bad, "refused"),
    };
    let (losses, narrowings) = match lower(contract, route.dialect) {
        Ok(lowering) => (lowering.losses, lowering.narrowings),
        Err(_) => (Vec::new(), Vec::new()),
    };
    html! {
        tr {
            td { span.cell-main { (route.dialect.name()) } }
            td data-label="Fit" { (badge(tone, word)) }
            td.number data-label="Not enforced" { (route.losses) }
            td.number data-label="Cannot be said" { (route.narrowings) }
            td.fill {
                @if route.notes.is_empty() && losses.is_empty() && narrowings.is_empty() { span.quiet { "–" } }
                @for note in &route.notes { div { (text::line(note, 300)) } }
                @if !losses.is_empty() || !narrowings.is_empty() {
                    details id={ "route-" (route.dialect.name()) } {
                        summary.small { "What is lost" }
                        ul.violations {
                            @for loss in losses.iter().take(LISTED) { (lost(loss)) }
                            @for narrowing in narrowings.iter().take(LISTED) { (narrowed(narrowing)) }
                        }
                    }
                }
            }
        }
    }
}

fn lost(loss: &Loss) -> Markup {
    let instead = match loss.enforced_by {
        EnforcedBy::Description => "told to the model in words",
        EnforcedBy::VerdictOnly => "unknown to the model",
    };
    html! { li { code { (place(&loss.pointer.to_string())) } span { span.tag { (text::line(&loss.keyword, 40)) } " " span.quiet { (instead) } } } }
}

fn narrowed(narrowing: &Narrowing) -> Markup {
    html! { li { code { (place(&narrowing.pointer.to_string())) } span { "cannot say " (narrowing.unsayable.words()) } } }
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "(root)".to_owned() } else { text::line(pointer, 120) }
}
