//! How often answers were right, by whom, how fast and at what cost: from tallies that outlive the runs.

use std::collections::BTreeMap;

use airtight_store::{GroupBy, Stat, StatsFilter};
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};

use super::chart::{self, Column};
use super::overview::rounded;
use super::visit::{address, segment};
use super::words::{self, DAY};
use super::{Failed, Freshness, Here, Pages, Visit, badge, layout, list, text};

const NAMES: [&str; 4] = ["span", "provider", "model", "contract"];

/// The spans that can be looked at, in days.
const SPANS: [(&str, i64); 4] = [("1", 1), ("7", 7), ("30", 30), ("365", 365)];

/// Up to so many days, hours are told apart.
const HOURLY_DAYS: i64 = 1;

const HOUR: i64 = 3_600_000;

/// What is shown.
struct Figures {
    whole: Option<Stat>,
    columns: Vec<Column>,
    costs: Vec<(String, f64)>,
    models: Vec<Stat>,
    contracts: Vec<Stat>,
}

/// Shows the page.
pub(super) async fn show(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let days = visit.choice("span", &SPANS)?.unwrap_or(30);
    let figures = figures(&pages, &visit, days).await?;
    let since = pages.ledger.now_ms() - DAY;
    let drifts = pages.ledger.drifts(since).await?;
    let words = [("1", "24 hours"), ("7", "7 days"), ("30", "30 days"), ("365", "a year")];
    let main = html! {
        (list::head("Statistics", "Failure rates with their 95 % intervals"))
        form.filters method="get" action="/stats" role="search" {
            (list::select(&visit, "span", "Span", &words))
            (list::field(&visit, "provider", "Provider", &[]))
            (list::field(&visit, "model", "Model", &[]))
            (list::field(&visit, "contract", "Contract", &[]))
            (list::ends(&visit, &NAMES))
        }
        @for (provider, model, drift) in &drifts {
            p.notice.warn role="status" {
                "The failure rate of " b { (text::line(provider, 40)) ":" (text::line(model, 60)) } " has risen from "
                (words::percent(drift.history.rate)) " to " (words::percent(drift.recent.rate)) " in the last day."
            }
        }
        @match &figures.whole {
            None => section.panel { (list::empty("Nothing to count", "Every run that ends is counted. From a terminal:", Some("airtight stats"))) },
            Some(whole) => (shown(whole, &figures, days)),
        }
    };
    layout(&pages, &visit, (Here::Stats, "Statistics"), Freshness::Fresh, &main).await
}

async fn figures(pages: &Pages, visit: &Visit, days: i64) -> Result<Figures, Failed> {
    let now_ms = pages.ledger.now_ms();
    let since = now_ms - days * DAY;
    let filter = StatsFilter {
        since: Some(since),
        until: None,
        provider: visit.text("provider"),
        model: visit.text("model"),
        contract: visit.text("contract"),
        contract_version: None,
    };
    let (by, step) = if days <= HOURLY_DAYS { (GroupBy::Hour, HOUR) } else { (GroupBy::Day, DAY) };
    let times = pages.ledger.stats(&filter, &[by]).await?;
    let by_time: BTreeMap<i64, &Stat> =
        times.iter().filter_map(|stat| Some((stat.group.first()?.parse().ok()?, stat))).collect();
    // What is before the first run says nothing.
    let first = by_time.keys().next().copied().unwrap_or(now_ms).max(since.div_euclid(step) * step);
    let places: Vec<i64> =
        (0..).map(|n| first + n * step).take_while(|at| *at <= now_ms).take(400).collect();
    let label = |at: i64| {
        if step == HOUR {
            airtight_core::calendar::rfc3339(at).get(11..16).unwrap_or_default().to_owned()
        } else {
            words::day(at)
        }
    };
    let columns = places.iter().map(|at| {
        let stat = by_time.get(at);
        let failed = stat.map_or(0, |it| it.failed);
        Column {
            label: label(*at),
            valid: stat.map_or(0, |it| it.runs.saturating_sub(it.failed)),
            failed,
        }
    });
    let costs =
        places.iter().map(|at| (label(*at), by_time.get(at).map_or(0.0, |it| it.cost_usd.usd())));
    Ok(Figures {
        columns: columns.collect(),
        costs: costs.collect(),
        whole: pages.ledger.stats(&filter, &[]).await?.into_iter().next(),
        models: pages.ledger.stats(&filter, &[GroupBy::Provider, GroupBy::Model]).await?,
        contracts: pages.ledger.stats(&filter, &[GroupBy::Contract]).await?,
    })
}

fn shown(whole: &Stat, figures: &Figures, days: i64) -> Markup {
    let tile = |name: &str, value: String| html! { div.tile { dt { (name) } dd { (value) } } };
    let told = format!("runs over {days} days: {} in all, {} failed", whole.runs, whole.failed);
    let cost = if whole.unpriced > 0 {
        format!("≥ {}", words::money(whole.cost_usd))
    } else {
        words::money(whole.cost_usd)
    };
    html! {
        dl.tiles aria-label="All of them" {
            (tile("Runs", words::count(whole.runs)))
            (tile("Valid", words::percent(1.0 - whole.failure.rate)))
            (tile("Cost", cost))
            (tile("Attempts for each run", per_run(whole)))
            (tile("Median", words::span(rounded(whole.p50_ms))))
            (tile("95 of 100 within", words::span(rounded(whole.p95_ms))))
            (tile("Tokens in", words::count(whole.input_tokens)))
            (tile("Tokens out", words::count(whole.output_tokens)))
        }
        div.columns {
            section.panel aria-labelledby="over-time" {
                header { h2 #over-time { "Runs" } span.more.legend { span { "valid" } span.ko { "not valid" } } }
                div.body { (chart::columns(&figures.columns, &told)) }
            }
            section.panel aria-labelledby="costs" {
                header { h2 #costs { "Cost" } span.note { "as far as it is known" } }
                div.body { (chart::line(&figures.costs, &format!("cost over {days} days"), |usd| format!("${usd:.2}"))) }
            }
        }
        section.panel aria-labelledby="models" {
            header { h2 #models { "By model" } }
            (table(&figures.models, "Model", |stat| {
                let [provider, model] = [0, 1].map(|place| stat.group.get(place).map_or("", String::as_str));
                (format!("{}:{}", text::line(provider, 30), text::line(model, 60)), address("/runs", [("provider", provider), ("q", model)]))
            }))
        }
        section.panel aria-labelledby="contracts" {
            header { h2 #contracts { "By contract" } }
            (table(&figures.contracts, "Contract", |stat| {
                let name = stat.group.first().map_or("", String::as_str);
                if name.is_empty() { ("without a name".to_owned(), "/contracts".to_owned()) } else { (text::line(name, 60), format!("/contracts/{}", segment(name))) }
            }))
        }
        div.columns {
            (shares("outcomes", "How runs ended", whole.runs, &whole.outcomes, |word| address("/runs", [("outcome", word)])))
            (shares("rungs", "How values were obtained", whole.runs - whole.failed, &whole.rungs, |_| "/runs?valid=valid".to_owned()))
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean to one digit")]
fn per_run(stat: &Stat) -> String {
    format!("{:.1}", stat.attempts as f64 / stat.runs.max(1) as f64)
}

/// Renders groups, one a row; `name` says what each is called and where it leads.
pub(super) fn table(
    stats: &[Stat],
    heading: &str,
    name: impl Fn(&Stat) -> (String, String),
) -> Markup {
    html! {
        table.cards {
            thead { tr { th { (heading) } th.number { "Runs" } th { "Failed" } th.number { "Attempts" } th.number { "Median" } th.number { "95 of 100" } th.number { "Cost" } } }
            tbody {
                @for stat in stats {
                    @let (shown, to) = name(stat);
                    tr {
                        td { a.cell-main href=(to) { (shown) } }
                        td.number data-label="Runs" { (words::count(stat.runs)) }
                        td data-label="Failed" { div.bar { (chart::rate(stat.failure.low, stat.failure.rate, stat.failure.high)) (words::percent(stat.failure.rate)) } }
                        td.number data-label="Attempts" { (per_run(stat)) }
                        td.number data-label="Median" { (words::span(rounded(stat.p50_ms))) }
                        td.number data-label="95 of 100" { (words::span(rounded(stat.p95_ms))) }
                        td.number data-label="Cost" { (words::money(stat.cost_usd)) }
                    }
                }
            }
        }
    }
}

fn shares(
    id: &str,
    heading: &str,
    all: u64,
    counts: &BTreeMap<String, u64>,
    to: impl Fn(&str) -> String,
) -> Markup {
    let mut counts: Vec<(&String, &u64)> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    html! {
        section.panel aria-labelledby=(id) {
            header { h2 id=(id) { (heading) } }
            @if counts.is_empty() { (list::empty("None", "", None)) }
            @else {
                table.cards {
                    thead { tr { th { "Word" } th { "Share" } th.number { "Runs" } } }
                    tbody {
                        @for (word, count) in counts {
                            tr {
                                td { a href=(to(word)) { (badge::badge(if word == "met" { badge::Tone::Good } else { badge::Tone::Plain }, word)) } }
                                td data-label="Share" { (chart::share(share(*count, all), 160, &words::percent(share(*count, all)))) }
                                td.number data-label="Runs" { (words::count(*count)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
fn share(count: u64, all: u64) -> f64 {
    count as f64 / all.max(1) as f64
}
