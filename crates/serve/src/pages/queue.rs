//! What waits for a person: runs without an accepted value, and escalations that ask for leave.
//!
//! A value that is typed here is judged by the contract that the run had, as it stands. Only the contract
//! decides, whoever proposes.

use airtight_store::{
    Escalation, EscalationFilter, EscalationState, Filter, Page, Review, Run, RunState,
};
use axum::extract::{Path, Request, State};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use super::form::Form;
use super::overview::{driver, title};
use super::visit::segment;
use super::{Failed, Freshness, Here, Pages, Visit, badge, change, layout, list, run, text, words};
use crate::act::{self, Decided, Leave, Refusal, Wanted};
use crate::desk::Violation;
use crate::problem::Problem;

/// Whose decisions made here are, unless somebody is named.
const WHO: &str = "dashboard";

/// How many escalations are listed.
const ESCALATIONS: u32 = 50;

/// Shows what waits.
pub(super) async fn list(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let flagged = Filter { review: Some(Review::Flagged), ..Filter::default() };
    let found = pages.ledger.runs(&flagged, list::page(&visit)?).await?;
    let (rows, last) = list::shown(&found, |run| run.number);
    let proposed = EscalationFilter { state: Some(EscalationState::Proposed), since: None };
    let page = Page { limit: ESCALATIONS, ..Page::default() };
    let proposed = pages.ledger.escalations(&proposed, page).await?;
    let now_ms = pages.ledger.now_ms();
    let main = html! {
        (list::head("Review queue", "What the machines could not settle"))
        @if !proposed.is_empty() {
            section.panel aria-labelledby="escalations" {
                header { h2 #escalations { "Escalations that ask for leave" } }
                ul.feed { @for it in &proposed { (escalation(it, &visit, now_ms)) } }
            }
        }
        section.panel aria-labelledby="runs" {
            header { h2 #runs { "Runs without an accepted value" } }
            @if rows.is_empty() {
                (list::empty("Nothing waits for review", "A run comes here when the model said something and none of it was accepted. From a terminal:", Some("airtight runs list --flagged")))
            } @else {
                table.cards {
                    thead { tr { th { "Run" } th { "Came to" } th { "Driver" } th.number { "Attempts" } th.number { "Ended" } th { span.unseen { "Review" } } } }
                    tbody {
                        @for run in rows {
                            @let address = format!("/queue/{}", segment(run.id.as_str()));
                            tr {
                                td { a.cell-main href=(address) { (title(run)) } div.cell-sub.mono { (words::short(run.id.as_str())) } }
                                td data-label="Came to" { (badge::run(run)) }
                                td data-label="Driver" { (driver(run)) }
                                td.number data-label="Attempts" { (run.attempts) }
                                td.number data-label="Ended" { (words::ago(run.ended_at.unwrap_or(run.started_at), now_ms)) }
                                td { a.button href=(address) { "Review" span.unseen { " " (title(run)) } } }
                            }
                        }
                    }
                }
            }
            (list::pager(&visit, last))
        }
    };
    layout(&pages, &visit, (Here::Queue, "Review queue"), Freshness::Fresh, &main).await
}

/// Renders an escalation that asks for leave, with the answers for whoever may give them.
pub(super) fn escalation(it: &Escalation, visit: &Visit, now_ms: i64) -> Markup {
    let context = it.context.as_deref().unwrap_or_default();
    html! {
        li {
            span.mark.bad aria-hidden="true" {}
            div.what {
                div.cell-main { "Tier " (it.tier) " wants to take over " (text::line(&it.affected.join(", "), 80)) }
                div.cell-sub { (text::line(context, 160)) @if !context.is_empty() { " · " } a href={ "/sessions/" (segment(&it.session)) } { "session" } }
                @if visit.may_change() {
                    form.inline method="post" action={ "/escalations/" (segment(&it.id)) } {
                        button.primary type="submit" name="leave" value="given" { "Give leave" }
                        button type="submit" name="leave" value="declined" { "Decline" }
                    }
                } @else { a.small href=(super::layout::login(visit)) { "Log in to answer" } }
            }
            (words::ago(it.at, now_ms))
        }
    }
}

/// Answers an escalation.
pub(super) async fn answer(
    State(pages): State<Pages>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Redirect, Failed> {
    let form = Form::read(request).await?;
    let leave = match form.said("leave") {
        Some("given") => Leave::Given,
        Some("declined") => Leave::Declined,
        _ => return Err(Problem::request("`leave` is `given` or `declined`").at("leave").into()),
    };
    act::answer_escalation(&pages.ledger, &id, leave).await.map_err(Problem::from)?;
    Ok(Redirect::to("/queue"))
}

/// What the form of a review shows beside the run.
struct Draft {
    value: String,
    note: String,
    /// What came of judging the value, if it was judged.
    verdict: Option<Result<(), Vec<Violation>>>,
    problem: Option<String>,
}

/// Shows one run for review.
pub(super) async fn show(
    State(pages): State<Pages>,
    Path(id): Path<String>,
    visit: Visit,
) -> Result<Html<String>, Failed> {
    let run = pages.ledger.run(&id).await?;
    let value = run.parsed_output.clone().or_else(|| said(&run)).unwrap_or_else(|| "{}".to_owned());
    let draft =
        Draft { value: change::spread(&value), note: String::new(), verdict: None, problem: None };
    review(&pages, &visit, &run, &draft).await
}

/// Returns what the model said, to begin with.
fn said(run: &Run) -> Option<String> {
    Some(text::of_bytes(run.output.as_deref()?).trim().to_owned())
}

/// Judges, accepts or rejects.
pub(super) async fn decide(
    State(pages): State<Pages>,
    Path(id): Path<String>,
    visit: Visit,
    request: Request,
) -> Result<Response, Failed> {
    let form = Form::read(request).await?;
    let run = pages.ledger.run(&id).await?;
    let name = run.summary.id.as_str().to_owned();
    let value = form.said("value").unwrap_or_default().to_owned();
    let note = form.text("note");
    let decided = |wanted: Wanted| Decided {
        wanted,
        who: form.text("by").unwrap_or_else(|| WHO.to_owned()),
        note: note.clone(),
    };
    let outcome = match form.said("do") {
        Some("judge") => {
            let proposal = crate::desk::Proposal::Value(value.clone());
            act::judge(&pages.ledger, pages.desk.as_ref(), &name, proposal).await.map(|_| None)
        }
        Some("accept") => {
            let wanted = decided(Wanted::AcceptValue(value.clone()));
            act::decide(&pages.ledger, pages.desk.as_ref(), &name, wanted).await.map(Some)
        }
        Some("reject") => {
            act::decide(&pages.ledger, pages.desk.as_ref(), &name, decided(Wanted::Reject))
                .await
                .map(Some)
        }
        _ => return Err(Problem::request("`do` is `judge`, `accept` or `reject`").at("do").into()),
    };
    let (verdict, problem) = match outcome {
        Ok(Some(_)) => {
            return Ok(Redirect::to(&format!("/runs/{}", segment(&name))).into_response());
        }
        Ok(None) => (Some(Ok(())), None),
        Err(Refusal::Unfit(violations)) => (Some(Err(violations)), None),
        Err(refusal) => (None, Some(refusal.to_string())),
    };
    let draft = Draft { value, note: note.unwrap_or_default(), verdict, problem };
    Ok(review(&pages, &visit, &run, &draft).await?.into_response())
}

async fn review(
    pages: &Pages,
    visit: &Visit,
    found: &Run,
    draft: &Draft,
) -> Result<Html<String>, Failed> {
    let summary = &found.summary;
    let name = format!("Review {}", title(summary));
    let id = segment(summary.id.as_str());
    let said = found.output.as_deref().map(text::of_bytes);
    let main = html! {
        p.back { a href="/queue" { "← Review queue" } }
        div.titled {
            div.row { h1 { (name) } (badge::run(summary)) @if let Some(review) = badge::review(summary.review) { (review) } }
            p.small { a href={ "/runs/" (id) } { "The run, with everything that happened" } span.quiet { " · " (driver(summary)) } }
        }
        (told(draft))
        div.columns {
            section.panel aria-labelledby="edit" {
                header { h2 #edit { "The value" } span.note { "judged by the contract as it stands" } }
                div.body { (editor(visit, found, draft, &id)) }
            }
            div.stack {
                @if let Some(errors) = &found.output_errors {
                    section.panel aria-labelledby="wrong" {
                        header { h2 #wrong { "What is wrong with the last answer" } }
                        div.body { (run::violations(&run::violations_of(errors))) }
                    }
                }
                @if let Some(said) = &said {
                    section.panel aria-labelledby="said" {
                        header { h2 #said { "What the model said" } a.more href={ "/runs/" (id) "/text/output" } { "as plain text" } }
                        div.body { (text::block(said, text::BLOCK_LIMIT, None)) }
                    }
                }
            }
        }
    };
    layout(pages, visit, (Here::Queue, &name), Freshness::Still, &main).await
}

/// Says what came of judging.
fn told(draft: &Draft) -> Markup {
    html! {
        div data-verdict aria-live="polite" {
            @if let Some(problem) = &draft.problem { p.notice.bad role="alert" { (text::line(problem, 600)) } }
            @match &draft.verdict {
                Some(Ok(())) => p.notice.good role="status" { "The value satisfies the contract. It is not accepted yet." },
                Some(Err(violations)) => div.notice.bad role="alert" {
                    p { "The value does not satisfy the contract." }
                    ul.violations {
                        @for it in violations {
                            li { code { (text::line(if it.pointer.is_empty() { "(root)" } else { &it.pointer }, 120)) } span { (text::line(&it.message, 400)) " " span.tag { (text::line(&it.keyword, 40)) } } }
                        }
                    }
                },
                None => {},
            }
        }
    }
}

fn editor(visit: &Visit, run: &Run, draft: &Draft, id: &str) -> Markup {
    let rows = draft.value.lines().count().clamp(8, 24);
    if run.summary.state != RunState::Done {
        return html! { p.quiet { "The run is not over; there is nothing to decide yet." } };
    }
    html! {
        form method="post" action={ "/queue/" (id) } {
            div.field {
                label for="value" { "Value (JSON)" }
                textarea #value name="value" data-judged rows=(rows) spellcheck="false" autocomplete="off" readonly[!visit.may_change()] { (text::escaped(&draft.value)) }
            }
            @if visit.may_change() {
                div.field { label for="note" { "Why (kept with the decision)" } input #note name="note" value=(draft.note) maxlength="2000"; }
                div.field.row {
                    button.primary type="submit" name="do" value="accept" { "Accept this value" }
                    button type="submit" name="do" value="judge" { "Only judge it" }
                    button.danger type="submit" name="do" value="reject" { "Reject the run" }
                }
            } @else {
                p.field { a.button.primary href=(super::layout::login(visit)) { "Log in to decide" } }
            }
        }
    }
}
