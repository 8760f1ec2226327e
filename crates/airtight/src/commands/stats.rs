//! `airtight stats`: how often runs fail, how long they take and what they cost.

mod plot;

use airtight_store::{Drift, Interval, Stat, StatsFilter};
use serde_json::{Map, Value};
use tokio::runtime;

use super::runs::Asked;
use crate::cli::{Grouping, StatsArgs};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span, Tone};
use crate::when;

/// What counts as recent where a provider is compared with its own history.
const RECENT_MS: i64 = 86_400_000;

/// From this rate on, it is shown as a problem.
const HIGH: f64 = 0.1;

/// Runs what was typed.
pub(super) fn run(
    args: &StatsArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let asked = Asked::to_read(&args.ledger, environment).await?;
        answer(args, &asked, environment, printer).await
    })
}

async fn answer(
    args: &StatsArgs,
    asked: &Asked,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let now_ms = asked.ledger.now_ms();
    let filter = StatsFilter {
        since: args.since.map(|when| when.at_ms(now_ms)),
        until: args.until.map(|when| when.at_ms(now_ms)),
        provider: args.provider.clone(),
        model: args.model.clone(),
        contract: args.contract.clone(),
        contract_version: None,
    };
    let groups: Vec<_> = args.by.iter().map(|by| by.group_by()).collect();
    let stats = asked.ledger.stats(&filter, &groups).await.map_err(asked.failed())?;
    if let Some(path) = &args.svg {
        let bars: Vec<(String, &Stat)> =
            stats.iter().map(|stat| (name(&args.by, stat).join(" · "), stat)).collect();
        let path = environment.resolve(&path.to_string_lossy());
        std::fs::write(&path, plot::svg(&bars)).map_err(|error| {
            let message = format!("the plot cannot be written: `{}`", path.display());
            Error::new(Outcome::Machine, message).caused_by(error)
        })?;
    }
    if args.json || !printer.is_terminal() {
        for stat in &stats {
            printer.json(&document(&args.by, stat))?;
        }
    } else {
        table(&args.by, &stats, printer)?;
    }
    let drifts = asked.ledger.drifts(now_ms - RECENT_MS).await.map_err(asked.failed())?;
    for (provider, model, drift) in &drifts {
        printer.note(&[
            Span::new(Tone::Warning, "warning:"),
            Span::plain(told(provider, model, drift)),
        ]);
    }
    Ok(Outcome::Met)
}

/// Returns what a group shares, in words.
fn name(by: &[Grouping], stat: &Stat) -> Vec<String> {
    by.iter().zip(&stat.group).map(|(by, word)| spelt(*by, word)).collect()
}

fn spelt(by: Grouping, word: &str) -> String {
    match (by, word.parse::<i64>()) {
        (Grouping::Day, Ok(at_ms)) => when::date(at_ms),
        (Grouping::Hour, Ok(at_ms)) => {
            let written = when::write(at_ms);
            written.strip_suffix(":00").unwrap_or(&written).to_owned()
        }
        (_, _) if word.is_empty() => "-".to_owned(),
        (_, _) => word.to_owned(),
    }
}

/// Returns a group as JSON, with what it shares under names.
fn document(by: &[Grouping], stat: &Stat) -> String {
    let mut document = Map::new();
    for (by, word) in by.iter().zip(&stat.group) {
        // What has no name stays nameless, for programs.
        let word = if word.is_empty() { String::new() } else { spelt(*by, word) };
        document.insert(by.name().to_owned(), Value::from(word));
    }
    if let Ok(Value::Object(numbers)) = serde_json::to_value(stat) {
        document.extend(numbers.into_iter().filter(|(name, _)| name != "group"));
    }
    Value::Object(document).to_string()
}

fn table(by: &[Grouping], stats: &[Stat], printer: &mut Printer) -> Result<(), Error> {
    if stats.is_empty() {
        printer.note(&[Span::new(Tone::Dim, "no finished run is on record that fits")]);
        return Ok(());
    }
    let words =
        ["runs", "failed", "95 % interval", "p50", "p95", "tokens", "cost", "stopped early"];
    let heading = by.iter().map(|by| by.name()).chain(words);
    let mut rows = vec![heading.map(|word| Span::new(Tone::Dim, word)).collect::<Vec<_>>()];
    for stat in stats {
        let mut row: Vec<Span> =
            name(by, stat).into_iter().map(|word| Span::new(Tone::Strong, word)).collect();
        let tone = if stat.failure.rate >= HIGH { Tone::Warning } else { Tone::Plain };
        row.extend([
            Span::plain(stat.runs.to_string()),
            Span::new(tone, percent(stat.failure.rate)),
            Span::plain(interval(&stat.failure)),
            Span::plain(milliseconds(stat.p50_ms)),
            Span::plain(milliseconds(stat.p95_ms)),
            Span::plain((stat.input_tokens + stat.output_tokens).to_string()),
            Span::plain(cost(stat)),
            Span::plain(early(stat)),
        ]);
        rows.push(row);
    }
    printer.table(0, &rows)
}

fn percent(rate: f64) -> String {
    format!("{:.1} %", rate * 100.0)
}

fn interval(interval: &Interval) -> String {
    format!("{:.1} – {}", interval.low * 100.0, percent(interval.high))
}

fn milliseconds(ms: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "latencies are within 30 years")]
    when::took(ms.round() as i64)
}

fn cost(stat: &Stat) -> String {
    let known = format!("${:.4}", stat.cost_usd.usd());
    if stat.unpriced == 0 { known } else { format!("{known}, {} unknown", stat.unpriced) }
}

fn early(stat: &Stat) -> String {
    match stat.early_cancels {
        0 => "-".to_owned(),
        count => format!("{count} (about {} tokens saved)", stat.tokens_saved),
    }
}

fn told(provider: &str, model: &str, drift: &Drift) -> String {
    format!(
        " {provider}:{model} fails in {} of its runs of the last day, after {} before",
        percent(drift.recent.rate),
        percent(drift.history.rate)
    )
}
