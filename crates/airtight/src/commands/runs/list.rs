//! `airtight runs list` and `airtight runs review`.

use airtight_store::{Filter, Level, PAGE_LIMIT, Page, Review, RunState, RunSummary};

use super::Asked;
use crate::cli::ListArgs;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::printer::{Printer, Span, Tone};
use crate::when;

/// How much of a name is shown: the time to the millisecond, and a few digits of chance.
const NAME_CHARS: usize = 18;

/// Which runs are listed, beside the filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    All,
    /// Those that a person should look at.
    Flagged,
}

/// Lists runs.
pub(super) async fn run(
    args: &ListArgs,
    which: Which,
    asked: &Asked,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let review = match which {
        Which::All => None,
        Which::Flagged => Some(Review::Flagged),
    };
    let filter = Filter { review, ..args.filter.filter(asked.ledger.now_ms()) };
    let is_json = args.json || !printer.is_terminal();
    let mut rows = vec![heading()];
    let (mut left, mut after) = (args.limit, None);
    while left > 0 {
        let page = Page { limit: left.min(PAGE_LIMIT), after, ..Page::default() };
        let runs = asked.ledger.runs(&filter, page).await.map_err(asked.failed())?;
        let Some(last) = runs.last() else { break };
        after = Some(last.number);
        left = left.saturating_sub(u32::try_from(runs.len()).unwrap_or(left));
        for run in &runs {
            if is_json {
                printer.json(&serde_json::to_string(run).unwrap_or_default())?;
            } else {
                rows.push(row(run));
            }
        }
    }
    if !is_json {
        printer.table(0, &rows)?;
        tell_rest(which, rows.len() - 1, args.limit, &asked.books, printer);
    }
    Ok(Outcome::Met)
}

fn tell_rest(which: Which, listed: usize, limit: u32, books: &Books, printer: &mut Printer) {
    let hint = match (which, listed) {
        (Which::All, 0) => "no run is on record that fits".to_owned(),
        (Which::Flagged, 0) => "nothing waits for review".to_owned(),
        (_, listed) if u32::try_from(listed).is_ok_and(|listed| listed >= limit) => {
            format!("there may be more: `--limit {}`", u64::from(limit) * 10)
        }
        (Which::Flagged, _) => {
            let [accept, reject] = ["runs accept ID --edit", "runs reject ID"];
            format!("`{}` or `{}` decides", books.command(accept), books.command(reject))
        }
        (Which::All, _) => return,
    };
    printer.note(&[Span::new(Tone::Dim, hint)]);
}

fn heading() -> Vec<Span> {
    ["run", "began (UTC)", "contract", "model", "state", "rung", "tokens", "cost", "took"]
        .map(|word| Span::new(Tone::Dim, word))
        .to_vec()
}

fn row(run: &RunSummary) -> Vec<Span> {
    let (tone, state) = standing(run);
    vec![
        Span::new(Tone::Strong, short(run.id.as_str(), NAME_CHARS)),
        Span::plain(when::write(run.started_at)),
        Span::plain(contract(run)),
        Span::plain(model(run)),
        Span::new(tone, state),
        Span::plain(run.rung.as_deref().unwrap_or("-")),
        Span::plain(run.usage.total().to_string()),
        Span::plain(cost(run)),
        Span::plain(run.elapsed_ms.map_or_else(|| "-".to_owned(), when::took)),
    ]
}

/// Says how a run stands, in a word or two.
pub(super) fn standing(run: &RunSummary) -> (Tone, String) {
    let outcome = run.outcome.as_deref().unwrap_or("done");
    match (run.state, run.review) {
        (RunState::Open, _) => (Tone::Plain, "open".to_owned()),
        (RunState::Postponed, _) => (Tone::Plain, "postponed".to_owned()),
        (RunState::Unknown, _) => (Tone::Warning, "unknown".to_owned()),
        (RunState::Done, Review::Flagged) => (Tone::Warning, format!("{outcome}, to review")),
        (RunState::Done, Review::Accepted) => (Tone::Good, format!("{outcome}, accepted")),
        (RunState::Done, Review::Rejected) => (Tone::Bad, format!("{outcome}, rejected")),
        (RunState::Done, Review::None) if run.output_valid => (Tone::Good, outcome.to_owned()),
        (RunState::Done, Review::None) => (Tone::Bad, outcome.to_owned()),
    }
}

/// Names a contract: by its name, else by the beginning of its fingerprint.
pub(super) fn contract(run: &RunSummary) -> String {
    const DIGITS: usize = 12;

    match (run.contract.as_str(), run.contract_version.as_str()) {
        ("", _) => short(&run.fingerprint, DIGITS).to_owned(),
        (name, "") => name.to_owned(),
        (name, version) => format!("{name} {version}"),
    }
}

/// Names a model with who serves it.
pub(super) fn model(run: &RunSummary) -> String {
    match (run.provider.as_str(), run.model.as_str()) {
        (provider, "") => provider.to_owned(),
        (provider, model) => format!("{provider}:{model}"),
    }
}

/// Returns what a run cost, as far as it is known.
pub(super) fn cost(run: &RunSummary) -> String {
    run.cost_usd.map_or_else(|| "?".to_owned(), |cost| format!("${:.4}", cost.usd()))
}

/// Says how much of a run is stored, unless it is all of it.
pub(super) fn kept(level: Level) -> Option<&'static str> {
    match level {
        Level::Full => None,
        Level::Masked => Some("secrets are masked"),
        Level::Metadata => Some("no texts are stored"),
    }
}

fn short(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
