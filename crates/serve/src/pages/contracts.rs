//! The contracts on record: their versions, what changed between them, how they travel to providers, and how
//! often answers met them.

mod evolution;
mod routes;

use airtight_core::Contract;
use airtight_store::{ContractEntry, ContractRow, GroupBy, KnownContract, StatsFilter};
use axum::extract::{Path, State};
use axum::response::Html;
use maud::{Markup, html};

use super::visit::{address, segment};
use super::{Failed, Freshness, Here, Pages, Visit, change, layout, list, stats, text, words};

/// How many versions of one contract are listed.
const VERSIONS: usize = 100;

/// Shows all contracts.
pub(super) async fn list(State(pages): State<Pages>, visit: Visit) -> Result<Html<String>, Failed> {
    let limit = u32::try_from(list::ROWS + 1).unwrap_or(u32::MAX);
    let found = pages.ledger.catalogue(visit.after(), limit).await?;
    let rows = found.get(..list::ROWS).unwrap_or(&found);
    let next = rows.last().filter(|_| found.len() > rows.len()).map(|it| it.title.clone());
    let stats = pages.ledger.stats(&StatsFilter::default(), &[GroupBy::Contract]).await?;
    let runs = |entry: &ContractEntry| {
        let own = |it: &&airtight_store::Stat| {
            !entry.name.is_empty() && it.group.first() == Some(&entry.name)
        };
        stats.iter().find(own)
    };
    let now_ms = pages.ledger.now_ms();
    let main = html! {
        (list::head("Contracts", "What answers had to satisfy"))
        section.panel aria-label="Contracts" {
            @if rows.is_empty() {
                (list::empty("No contract is on record yet", "Every run brings its contract along. To see how one travels to each provider:", Some("airtight check contract.json")))
            } @else {
                table.cards {
                    thead { tr { th { "Contract" } th.number { "Versions" } th.number { "Runs" } th { "Failed" } th.number { "Last new" } } }
                    tbody {
                        @for entry in rows {
                            tr {
                                td { a.cell-main href={ "/contracts/" (segment(&entry.title)) } { (name_of(entry)) } @if entry.name.is_empty() { div.cell-sub { "without a name" } } }
                                td.number data-label="Versions" { (entry.versions) }
                                @match runs(entry) {
                                    Some(stat) => {
                                        td.number data-label="Runs" { (words::count(stat.runs)) }
                                        td data-label="Failed" { div.bar { (super::chart::rate(stat.failure.low, stat.failure.rate, stat.failure.high)) (words::percent(stat.failure.rate)) } }
                                    },
                                    None => { td.number data-label="Runs" { span.quiet { "–" } } td data-label="Failed" { span.quiet { "–" } } },
                                }
                                td.number data-label="Last new" { (words::ago(entry.last_seen_at, now_ms)) }
                            }
                        }
                    }
                }
            }
            (list::pager_by_name(&visit, next.as_deref()))
        }
    };
    layout(&pages, &visit, (Here::Contracts, "Contracts"), Freshness::Fresh, &main).await
}

fn name_of(entry: &ContractEntry) -> String {
    if entry.name.is_empty() { short(&entry.title) } else { text::line(&entry.name, 80) }
}

/// Returns the digits that people know a fingerprint by.
fn short(fingerprint: &str) -> String {
    fingerprint.get(..12).unwrap_or(fingerprint).to_owned()
}

/// Shows one contract.
pub(super) async fn show(
    State(pages): State<Pages>,
    Path(name): Path<String>,
    visit: Visit,
) -> Result<Html<String>, Failed> {
    let mut versions = pages.ledger.contract_versions(&name).await?;
    versions.truncate(VERSIONS);
    let at = |wanted: &str| versions.iter().position(|it| it.fingerprint.starts_with(wanted));
    let chosen = visit.said("version").and_then(at).unwrap_or(0);
    let Some(known) = versions.get(chosen) else { return Err(super::run::absent().into()) };
    let row = pages.ledger.contract_version(known).await?;
    let before = visit.said("from").and_then(at).unwrap_or(chosen + 1);
    let before = match versions.get(before).filter(|it| it.fingerprint != row.fingerprint) {
        Some(before) => Some(pages.ledger.contract_version(before).await?),
        None => None,
    };
    let stats = match row.name.as_str() {
        "" => Vec::new(),
        name => {
            let filter = StatsFilter { contract: Some(name.to_owned()), ..StatsFilter::default() };
            pages.ledger.stats(&filter, &[GroupBy::Version]).await?
        }
    };
    let title = if row.name.is_empty() {
        format!("Contract {}", short(&row.fingerprint))
    } else {
        text::line(&row.name, 80)
    };
    let after = row.clone();
    // Comparing and lowering may take a while: not on the threads that answer.
    let examined = tokio::task::spawn_blocking(move || examine(&after, before.as_ref()));
    let examined = examined
        .await
        .unwrap_or_else(|_| html! { p.notice.bad { "The contract could not be examined." } });
    let main = html! {
        p.back { a href="/contracts" { "← Contracts" } }
        div.titled {
            div.row { h1 { (title) } @if !row.version.is_empty() { span.tag { (text::line(&row.version, 40)) } } }
            p.small { span.quiet.mono { (short(&row.fingerprint)) } " · " a href=(address("/runs", [("contract", if row.name.is_empty() { row.fingerprint.as_str() } else { row.name.as_str() })])) { "its runs" } }
        }
        @if versions.len() > 1 { (versions_panel(&name, &versions, chosen, pages.ledger.now_ms())) }
        (examined)
        @if !stats.is_empty() {
            section.panel aria-labelledby="rates" {
                header { h2 #rates { "Failure rates by version" } }
                (stats::table(&stats, "Version", |stat| {
                    let version = stat.group.first().map_or("", String::as_str);
                    let shown = if version.is_empty() { "without a version" } else { version };
                    (text::line(shown, 40), address("/runs", [("contract", row.name.as_str()), ("valid", "invalid")]))
                }))
            }
        }
        section.panel aria-labelledby="schema" {
            header { h2 #schema { "Schema" } }
            div.body { (text::block(&change::spread(&row.schema), 20_000, None)) }
        }
    };
    layout(&pages, &visit, (Here::Contracts, &title), Freshness::Still, &main).await
}

fn versions_panel(name: &str, versions: &[KnownContract], chosen: usize, now_ms: i64) -> Markup {
    let path = format!("/contracts/{}", segment(name));
    html! {
        section.panel aria-labelledby="versions" {
            header { h2 #versions { "Versions" } span.note { (words::counted(u64::try_from(versions.len()).unwrap_or(0), "on record", "on record")) } }
            table.cards {
                thead { tr { th { "Version" } th { "Fingerprint" } th.number { "First seen" } th { span.unseen { "Compare" } } } }
                tbody {
                    @for (index, row) in versions.iter().enumerate() {
                        @let own = short(&row.fingerprint);
                        @let shown = if row.version.is_empty() { "without a version".to_owned() } else { text::line(&row.version, 40) };
                        tr {
                            td { @if index == chosen { b { (shown) } } @else { a href=(address(&path, [("version", own.as_str())])) { (shown) } } }
                            td.mono data-label="Fingerprint" { (own) }
                            td.number data-label="First seen" { (words::ago(row.first_seen_at, now_ms)) }
                            td { @if let (true, Some(newest)) = (index != chosen, versions.get(chosen)) { a href=(address(&path, [("version", short(&newest.fingerprint).as_str()), ("from", own.as_str())])) { "Compare with this" span.unseen { " " (shown) } } } }
                        }
                    }
                }
            }
        }
    }
}

/// Renders what core finds out about a contract, and about the way from an earlier version.
fn examine(row: &ContractRow, before: Option<&ContractRow>) -> Markup {
    let Some(contract) = Contract::again(row.schema.as_bytes()) else {
        return html! { p.notice.warn role="status" { "This version of airtight cannot read the contract any more; it is shown as it was written." } };
    };
    let earlier = before.and_then(|it| Some((it, Contract::again(it.schema.as_bytes())?)));
    html! {
        @if let Some((before, old)) = &earlier { (evolution::panel((before, old), (row, &contract))) }
        (routes::panel(&contract))
    }
}
