//! The first page: how things stand, what runs now, what needs a person, what happened lately.

use airtight_core::watch::Trust;
use airtight_store::{
    EscalationFilter, EscalationState, EventFilter, Filter, GroupBy, MemoryFilter, Page, Review,
    RunState, RunSummary, SessionFilter, Stat, StatsFilter, WatchOverview,
};
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};

use super::visit::segment;
use super::words::{self, DAY};
use super::{Failed, Freshness, Here, Pages, Visit, badge, chart, layout, list, queue, text};

/// How many things of one kind the feed may hold, and how many it shows. CO-100: 40.
const FEED: usize = 40;
/// How many runs that go on are listed.
const RUNNING: u32 = 12;
/// How many things that need a person are listed.
const WAITING: u32 = 6;
/// How far back the failure rates of providers go.
const SPAN_MS: i64 = 7 * DAY;

/// Shows the page.
pub(super) async fn show(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let overview = pages.ledger.watch_overview().await?;
    let providers = providers(&pages).await?;
    let running = Filter { state: Some(RunState::Open), ..Filter::default() };
    let running = pages.ledger.runs(&running, few(RUNNING)).await?;
    let waiting = waiting(&pages, &visit).await?;
    let feed = feed(&pages).await?;
    let is_empty = feed.is_empty() && running.is_empty();
    let main = html! {
        div.head { h1 { "Overview" } p.lead { (lead(&pages).await?) } }
        @if is_empty { section.panel { (welcome()) } }
        (tiles(&overview))
        div.columns.wide-left {
            div.stack {
                section.panel aria-labelledby="running" {
                    header { h2 #running { "Running now" } a.more href="/runs?state=open" { "All running" } }
                    (now(&running, pages.ledger.now_ms()))
                }
                section.panel aria-labelledby="providers" {
                    header { h2 #providers { "Failure rate by provider" } span.note { "7 days" } a.more href="/stats" { "Statistics" } }
                    (providers_table(&providers))
                }
            }
            section.panel aria-labelledby="waiting" {
                header { h2 #waiting { "Needs a person" } a.more href="/queue" { "Review queue" } }
                (waiting)
            }
        }
        section.panel aria-labelledby="feed" {
            header { h2 #feed { "Activity" } span.note { "the last " (feed.len()) } }
            @if feed.is_empty() {
                (list::empty("Nothing has happened yet", "Runs, sessions and events appear here as they happen.", None))
            } @else {
                ul.feed { @for entry in &feed { (entry.render(pages.ledger.now_ms())) } }
            }
        }
    };
    layout(&pages, &visit, (Here::Overview, "Overview"), Freshness::Fresh, &main).await
}

fn few(limit: u32) -> Page {
    Page { limit, ..Page::default() }
}

/// Says what the last day came to.
async fn lead(pages: &Pages) -> Result<String, Failed> {
    let since = pages.ledger.now_ms() - DAY;
    let filter = StatsFilter { since: Some(since), ..StatsFilter::default() };
    let stats = pages.ledger.stats(&filter, &[]).await?;
    let Some(stat) = stats.first() else {
        return Ok("No run has ended in the last day".to_owned());
    };
    let valid = words::percent(1.0 - stat.failure.rate);
    let runs = words::counted(stat.runs, "run", "runs");
    Ok(format!("{runs} in 24 h, {valid} valid, {} spent", words::money(stat.cost_usd)))
}

fn welcome() -> Markup {
    html! {
        div.empty {
            strong { "This ledger is empty" }
            p { "Have a model answer by a contract, and it appears here:" }
            code { "airtight run --json-schema '{\"type\": \"object\"}' \"Say hello as JSON\"" }
            p { "Or let a program that speaks OpenAI's format use this server:" }
            code { "export OPENAI_BASE_URL=http://127.0.0.1:7377/v1" }
        }
    }
}

/// The tiles of CO-102.
fn tiles(overview: &WatchOverview) -> Markup {
    let count = |number: i64| words::count(words::whole(number));
    let tile = |name: &str, value: Markup| html! { div.tile { dt { (name) } dd { (value) } } };
    let cost = if overview.unpriced > 0 {
        format!("≥ {}", words::money(overview.cost))
    } else {
        words::money(overview.cost)
    };
    html! {
        dl.tiles aria-label="The watch in numbers" {
            (tile("Root sessions", html! { (count(overview.roots)) }))
            (tile("Handed on", html! { (count(overview.children)) }))
            (tile("Tier 3 sessions", html! { (count(overview.third_tier)) }))
            (tile("Roots completed", html! { (count(overview.completed_roots)) small { " / " (count(overview.roots)) } }))
            (tile("Cost of the watch", html! { (cost) }))
            div.tile.alarm[overview.critical > 0] { dt { "Critical events, 24 h" } dd { (count(overview.critical)) } }
            (tile("Active memories", html! { (count(overview.active_memories)) }))
            (tile("Mean session", html! { (words::span(overview.mean_ms)) }))
        }
    }
}

/// What is known of a provider, and how its failure rate moved.
struct Provider {
    stat: Stat,
    rates: Vec<f64>,
}

async fn providers(pages: &Pages) -> Result<Vec<Provider>, Failed> {
    let since = pages.ledger.now_ms() - SPAN_MS;
    let filter = StatsFilter { since: Some(since), ..StatsFilter::default() };
    let hours = pages.ledger.stats(&filter, &[GroupBy::Provider, GroupBy::Hour]).await?;
    let totals = pages.ledger.stats(&filter, &[GroupBy::Provider]).await?;
    let rates = |stat: &Stat| {
        let own = hours.iter().filter(|hour| hour.group.first() == stat.group.first());
        let mut own: Vec<(i64, f64)> = own
            .map(|hour| {
                (hour.group.get(1).and_then(|it| it.parse().ok()).unwrap_or(0), hour.failure.rate)
            })
            .collect();
        own.sort_by_key(|(hour, _)| *hour);
        own.into_iter().map(|(_, rate)| rate).collect()
    };
    Ok(totals.into_iter().map(|stat| Provider { rates: rates(&stat), stat }).collect())
}

fn providers_table(providers: &[Provider]) -> Markup {
    if providers.is_empty() {
        let why = "Rates appear when runs have ended.";
        return list::empty("No run has ended this week", why, None);
    }
    html! {
        table.cards {
            thead { tr { th { "Provider" } th.number { "Runs" } th { "Failed" } th { "By hour" } th.number { "Median" } th.number { "Cost" } } }
            tbody {
                @for Provider { stat, rates } in providers {
                    @let name = stat.group.first().map_or("", String::as_str);
                    @let name = if name.is_empty() { "unnamed" } else { name };
                    tr {
                        td { a.cell-main href=(super::visit::address("/stats", [("provider", name)])) { (text::line(name, 40)) } }
                        td.number data-label="Runs" { (words::count(stat.runs)) }
                        td data-label="Failed" { div.bar { (chart::rate(stat.failure.low, stat.failure.rate, stat.failure.high)) (words::percent(stat.failure.rate)) } }
                        td data-label="By hour" { (chart::spark(rates, &format!("failure rate of {name} by hour"))) }
                        td.number data-label="Median" { (words::span(rounded(stat.p50_ms))) }
                        td.number data-label="Cost" { (words::money(stat.cost_usd)) }
                    }
                }
            }
        }
    }
}

/// Returns milliseconds as a whole number.
#[expect(clippy::cast_possible_truncation, reason = "a span of time that is shown")]
pub(super) fn rounded(ms: f64) -> i64 {
    ms.round() as i64
}

fn now(running: &[RunSummary], now_ms: i64) -> Markup {
    if running.is_empty() {
        return list::empty("Nothing runs", "", None);
    }
    html! {
        ul.feed {
            @for run in running {
                li {
                    span.mark.info aria-hidden="true" {}
                    div.what {
                        a.cell-main href={ "/runs/" (segment(run.id.as_str())) } { (title(run)) }
                        div.cell-sub { (driver(run)) @if let Some(owner) = &run.owner { " · " (text::line(owner, 60)) } }
                    }
                    span.quiet.small { (words::span(now_ms - run.started_at)) }
                }
            }
        }
    }
}

/// Returns what a run is called: the name of its contract, else that it is a run.
pub(super) fn title(run: &RunSummary) -> String {
    match run.contract.as_str() {
        "" => format!("run {}", words::short(run.id.as_str())),
        name => text::line(name, 80),
    }
}

/// Returns who answers in a run.
pub(super) fn driver(run: &RunSummary) -> String {
    let named = match (run.provider.as_str(), run.model.as_str()) {
        ("", "") => run.driver.clone(),
        ("", model) => model.to_owned(),
        (provider, "") => provider.to_owned(),
        (provider, model) => format!("{provider}:{model}"),
    };
    text::line(&named, 80)
}

async fn waiting(pages: &Pages, visit: &Visit) -> Result<Markup, Failed> {
    let flagged = Filter { review: Some(Review::Flagged), ..Filter::default() };
    let flagged = pages.ledger.runs(&flagged, few(WAITING)).await?;
    let proposed = EscalationFilter { state: Some(EscalationState::Proposed), since: None };
    let proposed = pages.ledger.escalations(&proposed, few(WAITING)).await?;
    let pending = MemoryFilter { trust: Some(Trust::Pending), ..MemoryFilter::default() };
    let pending = pages.ledger.memories(&pending, few(WAITING)).await?;
    if flagged.is_empty() && proposed.is_empty() && pending.is_empty() {
        return Ok(list::empty(
            "Nothing waits for you",
            "Runs without an accepted value, and escalations that ask for leave, wait here.",
            None,
        ));
    }
    let now_ms = pages.ledger.now_ms();
    Ok(html! {
        ul.feed {
            @for escalation in &proposed { (queue::escalation(escalation, visit, now_ms)) }
            @for run in &flagged {
                li {
                    span.mark.warn aria-hidden="true" {}
                    div.what {
                        a.cell-main href={ "/queue/" (segment(run.id.as_str())) } { "Review " (title(run)) }
                        div.cell-sub { (badge::standing(run).1) " · " (driver(run)) }
                    }
                    (words::ago(run.ended_at.unwrap_or(run.started_at), now_ms))
                }
            }
            @for memory in &pending {
                li {
                    span.mark aria-hidden="true" {}
                    div.what {
                        a.cell-main href={ "/memories/" (segment(&memory.id)) } { "Judge a memory" }
                        div.cell-sub { (text::line(&memory.observation, 120)) }
                    }
                    (words::ago(memory.created_at, now_ms))
                }
            }
        }
    })
}

/// One line of the feed.
struct Entry {
    at: i64,
    tone: &'static str,
    address: String,
    words: String,
    more: String,
}

impl Entry {
    fn render(&self, now_ms: i64) -> Markup {
        html! {
            li {
                span class={ "mark " (self.tone) } aria-hidden="true" {}
                div.what { a.cell-main href=(self.address) { (self.words) } div.cell-sub { (self.more) } }
                (words::ago(self.at, now_ms))
            }
        }
    }
}

async fn feed(pages: &Pages) -> Result<Vec<Entry>, Failed> {
    let page = few(u32::try_from(FEED).unwrap_or(u32::MAX));
    let done = Filter { state: Some(RunState::Done), ..Filter::default() };
    let mut feed: Vec<Entry> = Vec::new();
    for run in pages.ledger.runs(&done, page).await? {
        let (tone, word) = badge::standing(&run);
        feed.push(Entry {
            at: run.ended_at.unwrap_or(run.started_at),
            tone: tone.class(),
            address: format!("/runs/{}", segment(run.id.as_str())),
            words: format!("{}: {}", title(&run), text::line(word, 40)),
            more: format!(
                "{} · {}",
                driver(&run),
                words::counted(words::whole(run.attempts), "attempt", "attempts")
            ),
        });
    }
    for event in pages.ledger.watch_events(&EventFilter::default(), page).await? {
        let service = event.service.as_deref().map(|it| format!("{}: ", text::line(it, 40)));
        feed.push(Entry {
            at: event.at,
            tone: badge::tone_of_level(&event.level).class(),
            address: super::visit::address("/events", [("level", event.level.as_str())]),
            words: format!("{}{}", service.unwrap_or_default(), text::line(&event.message, 160)),
            more: format!("{} event of the watch", text::line(&event.level, 20)),
        });
    }
    for session in pages.ledger.sessions(&SessionFilter::default(), page).await? {
        feed.push(Entry {
            at: session.ended_at.unwrap_or(session.started_at),
            tone: badge::tone_of_session(&session.status).class(),
            address: format!("/sessions/{}", segment(&session.id)),
            words: format!("Session of tier {}: {}", session.tier, text::line(&session.status, 20)),
            more: session.summary.as_deref().map(|it| text::line(it, 160)).unwrap_or_default(),
        });
    }
    feed.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    feed.truncate(FEED);
    Ok(feed)
}
