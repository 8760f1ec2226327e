//! The attempts of a run: what each said, how it was judged, and what is wrong with it.

use airtight_store::{Attempt, Run};
use maud::{Markup, html};

use super::super::visit::segment;
use super::super::{badge, text, words};
use super::outcome::violations;
use super::said;

/// Renders the attempts, if they say more than the run itself.
pub(super) fn panel(run: &Run, attempts: &[Attempt]) -> Markup {
    let is_plain = attempts.iter().all(|it| it.violations.is_none() && it.error.is_none());
    if attempts.is_empty() || (attempts.len() == 1 && is_plain) {
        return html! {};
    }
    let last = attempts.iter().map(|it| it.number).max();
    html! {
        section.panel aria-labelledby="attempts" {
            header { h2 #attempts { "Attempts" } span.note { (words::counted(u64::try_from(attempts.len()).unwrap_or(0), "request", "requests")) } }
            ol.attempts { @for attempt in attempts { (row(run, attempt, Some(attempt.number) == last)) } }
        }
    }
}

fn row(run: &Run, attempt: &Attempt, is_last: bool) -> Markup {
    let address =
        format!("/runs/{}/text/attempt-{}", segment(run.summary.id.as_str()), attempt.number);
    let own = attempt.output.is_some();
    let took = attempt.ended_at.map(|end| words::span(end - attempt.started_at));
    let tokens = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), words::count);
    html! {
        li {
            div.row {
                b { "№ " (attempt.number) }
                (badge::ending(attempt.state, attempt.ending.as_deref()))
                @if let Some(rung) = &attempt.rung { span.tag { (text::line(rung, 20)) } }
                @if !attempt.purpose.is_empty() { span.quiet { "for " (text::line(&attempt.purpose, 40)) } }
                span.quiet.small {
                    (text::line(&attempt.model, 60)) " · "
                    (tokens(attempt.usage.input_tokens)) " in, " (tokens(attempt.usage.output_tokens)) " out"
                    @if let Some(took) = &took { " · " (took) }
                    " · " (words::cost(attempt.cost_usd))
                }
            }
            @if let Some(error) = &attempt.error { p.small { (text::line(error, 600)) } }
            @if let Some(wrong) = &attempt.violations { (violations(wrong)) }
            @if let Some(said) = said(run, attempt, is_last).filter(|_| own || attempt.violations.is_some()) {
                details id={ "attempt-" (attempt.number) } {
                    summary.small { "What it said" }
                    (text::block(&text::of_bytes(said), text::RESULT_LIMIT, own.then_some(address.as_str())))
                }
            }
        }
    }
}
