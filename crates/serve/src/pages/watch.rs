//! What a person may ask of the watch: to look now, or to stop. CO-105, CO-110.

use airtight_core::watch::Tier;
use airtight_store::{Chain, Leader, Wish};
use axum::extract::{Request, State};
use axum::response::Redirect;
use maud::{Markup, html};

use super::form::Form;
use super::{Failed, Pages, Visit, text, words};
use crate::act::{self, REQUEST_LIMIT};
use crate::problem::Problem;

/// How the watch stands.
pub(super) struct Standing {
    leader: Option<Leader>,
    chain: Option<Chain>,
    wish: Option<Wish>,
    now_ms: i64,
}

impl Standing {
    pub(super) async fn read(pages: &Pages) -> Result<Self, Failed> {
        let now_ms = pages.ledger.now_ms();
        let leader = pages.ledger.leader().await?.filter(|it| it.leased_until > now_ms);
        let chain = pages.ledger.open_chain().await?;
        Ok(Self { leader, chain, wish: pages.ledger.next_wish().await?, now_ms })
    }

    /// Says who leads.
    pub(super) fn lead(&self) -> String {
        match &self.leader {
            Some(leader) => format!("{} leads the watch", text::line(&leader.owner, 80)),
            None => "Nobody leads the watch now".to_owned(),
        }
    }

    /// Renders what may be asked for now; nothing if nobody would do it.
    pub(super) fn controls(&self, visit: &Visit) -> Markup {
        html! {
            @if self.leader.is_some() {
                section.panel aria-labelledby="now" {
                    header { h2 #now { "Now" } span.note { (self.note()) } }
                    div.body {
                        @if !visit.may_change() { p { a.button href=(super::layout::login(visit)) { "Log in to start or stop a chain" } } }
                        @else if self.chain.is_some() {
                            form method="post" action="/watch/stop" { button.danger type="submit" { "Stop it" } }
                        } @else if self.wish.is_none() { (ask()) }
                    }
                }
            }
        }
    }

    fn note(&self) -> Markup {
        html! {
            @if let Some(chain) = &self.chain { "a chain goes on, begun " (words::ago(chain.started_at, self.now_ms)) }
            @else if self.wish.is_some() { "a chain was asked for, and begins within seconds" }
            @else { "nothing goes on" }
        }
    }
}

fn ask() -> Markup {
    html! {
        form.filters method="post" action="/watch/look" {
            div.grow { label for="w-prompt" { "What to do (empty: the usual)" } input #w-prompt name="prompt" maxlength=(REQUEST_LIMIT) autocomplete="off"; }
            div {
                label for="w-tier" { "Tier that begins" }
                select #w-tier name="tier" {
                    @for tier in Tier::ALL { option value=(tier.number()) { (tier.to_string()) } }
                }
            }
            div.ends { button.primary type="submit" { "Look now" } }
        }
    }
}

/// Has the watch look now.
pub(super) async fn look(State(pages): State<Pages>, request: Request) -> Result<Redirect, Failed> {
    let form = Form::read(request).await?;
    let no_tier = || Problem::request("`tier` is 1, 2 or 3").at("tier");
    let tier = match form.said("tier") {
        Some(tier) => {
            tier.parse::<u8>().ok().and_then(|it| Tier::try_from(it).ok()).ok_or_else(no_tier)?
        }
        None => Tier::Observe,
    };
    let prompt = form.text("prompt");
    if prompt.as_ref().is_some_and(|it| it.chars().count() > REQUEST_LIMIT) {
        let message = format!("what to do is at most {REQUEST_LIMIT} characters long");
        return Err(Problem::request(message).at("prompt").into());
    }
    act::look_now(&pages.ledger, tier, prompt).await.map_err(Problem::from)?;
    Ok(Redirect::to("/sessions"))
}

/// Stops what the watch does now.
pub(super) async fn stop(State(pages): State<Pages>) -> Result<Redirect, Failed> {
    act::stop_chain(&pages.ledger).await.map_err(Problem::from)?;
    Ok(Redirect::to("/sessions"))
}
